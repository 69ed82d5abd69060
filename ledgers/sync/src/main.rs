//! The floor: one thread, no runtime, plain maps. What threads and locks add, they add to this.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use ledgers_kit::{
    Answer, Drawn, Identity, LockWaits, Pins, Plain, RunError, Streams, Variant, Work, Workers,
    Workload, apply_all, variant_main, without_locks,
};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main::<Sync>(&IDENTITY)
}

struct Sync;

impl Variant for Sync {
    type Store = Plain;

    fn new(workload: &Workload) -> Result<Self, RunError> {
        without_locks(workload)?;
        if !matches!(workload.workers, Workers::Count(1) | Workers::CurrentThread) {
            return Err(RunError::unsupported(
                "this variant has one thread: set workers to 1 or current_thread",
            ));
        }
        Pins::new(workload.pinned).pin_this_thread();
        Ok(Self)
    }

    fn workers(&self) -> usize {
        1
    }

    fn prepare(&self, drawn: &Drawn) -> Plain {
        Plain::whole(drawn)
    }

    fn process(&self, ledger: &mut Plain, streams: &Arc<Streams>, work: Work) -> LockWaits {
        apply_all(ledger, streams, work);
        LockWaits::default()
    }

    fn answer(&self, ledger: &Plain) -> Option<Answer> {
        Some(ledger.answer())
    }
}
