//! Each worker owns its accounts and records, so there is no lock at all. Every owner reads all
//! streams and takes what is its clients': a stream with one client goes whole, one with several
//! is split in its order. That costs each owner a comparison per transaction of the others, and
//! no queue, no copy and no waiting.

use std::process::ExitCode;
use std::sync::Arc;

use ledgers_kit::{
    Answer, Drawn, Identity, LockWaits, Pins, Plain, RunError, Streams, Variant, Work, Workers,
    Workload, apply, variant_main, without_locks,
};
use tokio::runtime::{Builder, Runtime};

const IDENTITY: Identity =
    Identity { variant: "owned", measures: "ledgers-owned", version: "0.1.0", features: &[] };

fn main() -> ExitCode {
    variant_main::<Owned>(&IDENTITY)
}

struct Owned {
    runtime: Runtime,
}

impl Variant for Owned {
    type Store = Vec<Plain>;

    fn new(workload: &Workload) -> Result<Self, RunError> {
        without_locks(workload)?;
        Ok(Self { runtime: runtime(workload)? })
    }

    fn workers(&self) -> usize {
        self.runtime.metrics().num_workers()
    }

    fn runtime_readings(&self) -> Vec<(&'static str, i64)> {
        readings(&self.runtime)
    }

    /// The same room in sum as in every store, for each owner what its clients need of it.
    fn prepare(&self, drawn: &Drawn) -> Vec<Plain> {
        let owners = self.workers();
        let mut ledgers: Vec<Plain> = Vec::new();
        for me in 0..owners {
            let mine = |client: u32| owner(client, owners) == me;
            let clients = drawn.clients.iter().filter(|&&client| mine(client));
            let all = drawn.streams.iter().flatten();
            let records = all.filter(|transaction| mine(transaction.client));
            let opening = drawn.opening.iter().map(|(&client, &amount)| (client, amount));
            let opening = opening.filter(|&(client, _)| mine(client));
            ledgers.push(Plain::open(opening, clients.count(), records.count()));
        }
        ledgers
    }

    fn process(&self, ledgers: &mut Vec<Plain>, streams: &Arc<Streams>, work: Work) -> LockWaits {
        let owners = ledgers.len();
        self.runtime.block_on(async {
            let spawn = |(me, mut ledger): (usize, Plain)| {
                let streams = Arc::clone(streams);
                tokio::spawn(async move {
                    apply_own(&mut ledger, me, owners, &streams, work);
                    ledger
                })
            };
            let tasks: Vec<_> = ledgers.drain(..).enumerate().map(spawn).collect();
            for task in tasks {
                ledgers.push(task.await.expect("an owner does not panic"));
            }
        });
        LockWaits::default()
    }

    fn answer(&self, ledgers: &Vec<Plain>) -> Option<Answer> {
        let accounts = ledgers.iter().flat_map(Plain::accounts);
        Some(Answer::new(accounts, ledgers.iter().map(Plain::records).sum()))
    }
}

/// Who owns a client's account and records.
fn owner(client: u32, owners: usize) -> usize {
    client as usize % owners
}

fn apply_own(ledger: &mut Plain, me: usize, owners: usize, streams: &Streams, work: Work) {
    for stream in streams {
        // Asking once for all neighbours of one client spares a division per transaction.
        for same in stream.chunk_by(|a, b| a.client == b.client) {
            if owner(same[0].client, owners) == me {
                for transaction in same {
                    work.spin();
                    apply(ledger, transaction);
                }
            }
        }
    }
}

fn runtime(workload: &Workload) -> Result<Runtime, RunError> {
    let pins = Pins::new(workload.pinned);
    let mut builder = match workload.workers {
        Workers::CurrentThread => {
            pins.pin_this_thread();
            Builder::new_current_thread()
        }
        Workers::Count(_) | Workers::Default => Builder::new_multi_thread(),
    };
    if let Workers::Count(count) = workload.workers {
        builder.worker_threads(count as usize);
    }
    builder.on_thread_start(move || pins.pin_this_thread()).build().map_err(RunError::setup)
}

/// What the workers tell of themselves, in sum.
fn readings(runtime: &Runtime) -> Vec<(&'static str, i64)> {
    let metrics = runtime.metrics();
    let sum = |reading: &dyn Fn(usize) -> u64| {
        (0..metrics.num_workers()).map(reading).sum::<u64>().cast_signed()
    };
    vec![
        ("tokio_parks", sum(&|worker| metrics.worker_park_count(worker))),
        (
            "tokio_busy_ns",
            sum(&|worker| metrics.worker_total_busy_duration(worker).as_nanos() as u64),
        ),
        #[cfg(tokio_unstable)]
        ("tokio_steals", sum(&|worker| metrics.worker_steal_count(worker))),
        #[cfg(tokio_unstable)]
        ("tokio_polls", sum(&|worker| metrics.worker_poll_count(worker))),
        #[cfg(tokio_unstable)]
        ("tokio_overflows", sum(&|worker| metrics.worker_overflow_count(worker))),
        #[cfg(tokio_unstable)]
        ("tokio_local_schedules", sum(&|worker| metrics.worker_local_schedule_count(worker))),
    ]
}
