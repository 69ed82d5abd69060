//! Tasks in memory, and a journal from which they can be had again.
//!
//! Two transitions are written: a task was taken over, and a step has a value. What may be done
//! next follows from these; who has claimed a step does not outlive the process and is not written.
//! A transition is synced before anybody acts on it; transitions that wait at the same time share
//! one write and one `fdatasync`. Started again on the same folder, it goes on where it stopped.

#![forbid(unsafe_code)]

mod journal;
mod line;
mod recovery;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use workflows_kit::{
    Accepted, BackEnd, Counters, Graph, Identity, Log, Pool, RunError, StepRow, Submission,
    Transition, Workload, run_folder, variant_main,
};

use journal::{Bare, Journal};
use line::Record;

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<Journalled>(&IDENTITY)
}

struct Journalled {
    pool: Pool<Transitions>,
    bare: Bare,
}

struct Transitions(Journal);

impl Log for Transitions {
    const WRITES: bool = true;

    fn write(&self, batch: &[Transition]) -> Result<(), RunError> {
        self.0.append(batch.iter().map(Record::from))
    }
}

impl BackEnd for Journalled {
    const TAKES_COMPUTER: bool = true;
    const BARE: Option<&'static str> = Some("bare_sync_ns");

    fn start(workload: &Workload, graph: &Arc<Graph>) -> Result<Self, RunError> {
        survive_a_full_disk()?;
        let folder = run_folder(workload)?;
        let (journal, left) = Journal::open(&folder.join("journal"), identity(workload))?;
        let pool = Pool::new(graph, Transitions(journal));
        for record in left {
            match record {
                Record::Open { .. } => {}
                Record::Task(submission) => pool.restore(Transition::Accepted(submission))?,
                Record::Step(row) => pool.restore(Transition::Recorded(row))?,
            }
        }
        Ok(Self {
            pool: pool.start(workload)?,
            bare: Bare::create(folder, workload.in_flight as usize)?,
        })
    }

    fn submit(&mut self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        self.pool.submit(tasks)
    }

    fn wait(&mut self) -> Result<Vec<u32>, RunError> {
        self.pool.complete(true)
    }

    fn look(&mut self, _: &[u32]) -> Result<Vec<u32>, RunError> {
        self.pool.complete(false)
    }

    fn bare_ns(&mut self) -> Result<Option<u64>, RunError> {
        self.bare.append_ns().map(Some)
    }

    fn counters(&self) -> Counters {
        Counters::from([("syncs", self.pool.log().0.syncs())])
    }

    fn finish(self) -> Result<Vec<StepRow>, RunError> {
        Ok(self.pool.finish())
    }
}

/// What tasks there are and what their steps compute: a journal of others is not gone on with.
fn identity(workload: &Workload) -> u64 {
    let text = serde_json::to_string(&(workload.seed, &workload.shape, workload.tasks))
        .expect("numbers and a shape have only string keys");
    xxhash_rust::xxh64::xxh64(text.as_bytes(), 0)
}

/// By default a write beyond the limit of a file's size ends the process; with a handler, whatever
/// it does, the write fails like that on a full disk.
fn survive_a_full_disk() -> Result<(), RunError> {
    let signal = signal_hook::consts::SIGXFSZ;
    signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))
        .map(drop)
        .map_err(RunError::setup)
}
