//! Each worker owns its accounts and records, so there is no lock at all. First all workers find
//! out which owner's each transaction is (a stream with one client goes whole, one with several is
//! split in its order), then every owner applies its own. Nothing is copied.

use std::ops::Range;
use std::process::ExitCode;
use std::sync::Arc;

use ledgers_kit::{
    Answer, Drawn, Identity, LockWaits, Plain, RunError, Streams, Transaction, Variant, Work,
    Workload, apply, deal, variant_main, without_locks,
};
use ledgers_tokio_runtime::{readings, runtime};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

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
        let mut records = vec![0; owners];
        for transaction in drawn.streams.iter().flatten() {
            records[owner(transaction.client, owners)] += 1;
        }
        let open = |me| {
            let mine = |client: u32| owner(client, owners) == me;
            let clients = drawn.clients.iter().filter(|&&client| mine(client));
            let opening = drawn.opening.iter().map(|(&client, &amount)| (client, amount));
            let opening = opening.filter(|&(client, _)| mine(client));
            Plain::open(opening, clients.count(), records[me])
        };
        (0..owners).map(open).collect()
    }

    fn process(&self, ledgers: &mut Vec<Plain>, streams: &Arc<Streams>, work: Work) -> LockWaits {
        let owners = ledgers.len();
        self.runtime.block_on(async {
            let route = |job| {
                let streams = Arc::clone(streams);
                tokio::spawn(async move { route(&streams, job, owners) })
            };
            let routers: Vec<_> = deal(streams.len(), owners).map(route).collect();
            let routes = Arc::new(all(routers).await);
            let apply = |(me, mut ledger): (usize, Plain)| {
                let (streams, routes) = (Arc::clone(streams), Arc::clone(&routes));
                tokio::spawn(async move {
                    let runs = routes.iter().flat_map(|router| &router[me]);
                    apply_own(&mut ledger, runs.map(|run| run.of(&streams)), work);
                    ledger
                })
            };
            let workers: Vec<_> = ledgers.drain(..).enumerate().map(apply).collect();
            *ledgers = all(workers).await;
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
    // In 32 bits, because a division of 64 takes several times as long.
    (client % owners as u32) as usize
}

/// Neighbours in a stream whose clients have one owner.
struct Run {
    stream: u32,
    start: u32,
    end: u32,
}

impl Run {
    fn of<'a>(&self, streams: &'a Streams) -> &'a [Transaction] {
        &streams[self.stream as usize][self.start as usize..self.end as usize]
    }
}

/// For each owner, what of some streams is its clients', in order.
fn route(streams: &Streams, job: Range<usize>, owners: usize) -> Vec<Vec<Run>> {
    let mut routes: Vec<Vec<Run>> = (0..owners).map(|_| Vec::new()).collect();
    for stream in job.start as u32..job.end as u32 {
        let mut start = 0;
        // Asking once for all neighbours of one client spares a division per transaction.
        for same in streams[stream as usize].chunk_by(|a, b| a.client == b.client) {
            let runs = &mut routes[owner(same[0].client, owners)];
            let end = start + same.len() as u32;
            match runs.last_mut() {
                Some(last) if last.stream == stream && last.end == start => last.end = end,
                _ => runs.push(Run { stream, start, end }),
            }
            start = end;
        }
    }
    routes
}

fn apply_own<'a>(
    ledger: &mut Plain,
    runs: impl Iterator<Item = &'a [Transaction]>,
    mut work: Work,
) {
    for run in runs {
        for transaction in run {
            work.spin();
            apply(ledger, transaction);
        }
    }
}

/// What all tasks return, in their order.
async fn all<T>(tasks: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut results = Vec::with_capacity(tasks.len());
    for task in tasks {
        results.push(task.await.expect("a task does not panic"));
    }
    results
}
