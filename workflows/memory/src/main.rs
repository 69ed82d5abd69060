//! The floor: tasks in memory, worker threads, nothing durable. What a journal or a database adds,
//! it adds to this.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use workflows_kit::{
    Accepted, BackEnd, Graph, Identity, Log, Pool, RunError, StepRow, Submission, Transition,
    Workload, variant_main,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<Memory>(&IDENTITY)
}

struct Memory(Pool<Nowhere>);

/// Nothing is written, and nothing outlives the process.
struct Nowhere;

impl Log for Nowhere {
    const WRITES: bool = false;

    fn write(&self, _: &[Transition]) -> Result<(), RunError> {
        Ok(())
    }
}

impl BackEnd for Memory {
    const TAKES_COMPUTER: bool = true;
    const BARE: Option<&'static str> = None;

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        Pool::new(graph, Nowhere).start(workload).map(Self)
    }

    fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        self.0.submit(tasks)
    }

    fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        self.0.complete(true)
    }

    fn look(&mut self, _: &[u32]) -> Result<Vec<u32>, RunError> {
        self.0.complete(false)
    }

    fn finish(self) -> Result<Vec<StepRow>, RunError> {
        Ok(self.0.finish())
    }
}
