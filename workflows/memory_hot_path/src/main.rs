//! `memory` with something beside each step: both sides of the optimisations that the published
//! report names, made again, for their code lies in another system (TAS-162, 134, 163, 164). What a
//! step costs more with one side than with the other is what the change is worth to a step that
//! does nothing else.

#![forbid(unsafe_code)]

mod beside;

use std::process::ExitCode;
use std::sync::Arc;

use workflows_kit::{
    Accepted, BackEnd, Graph, Identity, Log, Pool, RunError, StepRow, Submission, Transition,
    Workload, run_folder, variant_main,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<HotPath>(&IDENTITY)
}

struct HotPath(Pool<Nowhere>);

/// Nothing is written, and nothing outlives the process.
struct Nowhere;

impl Log for Nowhere {
    const WRITES: bool = false;

    fn write(&self, _: &[Transition]) -> Result<(), RunError> {
        Ok(())
    }
}

impl BackEnd for HotPath {
    const TAKES_COMPUTER: bool = true;
    const TAKES_BESIDE: bool = true;
    const BARE: Option<&'static str> = None;

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        let before = beside::of(workload.beside, run_folder(workload)?)?;
        Pool::new(graph, Nowhere).start_with(workload, &before).map(Self)
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
