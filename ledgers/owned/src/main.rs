//! Each worker owns accounts and streams, so there is no lock at all. A record is asked for by its
//! own stream alone, so first each worker keeps the records of its streams and finds out which
//! owner's each transaction is; then every owner applies all transactions to its accounts, each
//! stream's in its order. Nothing is copied but the amounts that only a record tells.
//!
//! With one hot account the second part is one worker's, but it is only sums: what takes time, a
//! record's way into a large table, is shared evenly whoever the client is.

#![forbid(unsafe_code)]

use std::hint::black_box;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::Arc;

use ledgers_kit::{
    Account, Answer, Drawn, Identity, Kind, LockWaits, Plain, Record, RunError, State, Store,
    Streams, Transaction, Variant, Work, Workload, deal, variant_main, without_locks,
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

    /// The same room in sum as in every store, for each worker what its streams and clients need.
    fn prepare(&self, drawn: &Drawn) -> Vec<Plain> {
        let owners = self.workers();
        let open = |(me, job): (usize, Range<usize>)| {
            let mine = |client: u32| owner(client, owners) == me;
            let clients = drawn.clients.iter().filter(|&&client| mine(client));
            let opening = drawn.opening.iter().map(|(&client, &amount)| (client, amount));
            let opening = opening.filter(|&(client, _)| mine(client));
            let records = drawn.streams[job].iter().map(Vec::len).sum();
            Plain::open(opening, clients.count(), records)
        };
        shares(drawn.streams.len(), owners).enumerate().map(open).collect()
    }

    fn process(&self, ledgers: &mut Vec<Plain>, streams: &Arc<Streams>, work: Work) -> LockWaits {
        let owners = ledgers.len();
        self.runtime.block_on(async {
            let keep = |(mut ledger, job): (Plain, Range<usize>)| {
                let streams = Arc::clone(streams);
                tokio::spawn(async move {
                    let kept = keep_records(&mut ledger, &streams, job, owners, work);
                    (ledger, kept)
                })
            };
            let jobs = shares(streams.len(), owners);
            let keepers: Vec<_> = ledgers.drain(..).zip(jobs).map(keep).collect();
            let (kept_by, routes): (Vec<Plain>, Vec<_>) = all(keepers).await.into_iter().unzip();
            let routes = Arc::new(routes);
            let apply = |(me, mut ledger): (usize, Plain)| {
                let (streams, routes) = (Arc::clone(streams), Arc::clone(&routes));
                tokio::spawn(async move {
                    routes.iter().for_each(|kept| apply_own(&mut ledger, &streams, &kept[me]));
                    ledger
                })
            };
            let appliers: Vec<_> = kept_by.into_iter().enumerate().map(apply).collect();
            *ledgers = all(appliers).await;
        });
        LockWaits::default()
    }

    fn answer(&self, ledgers: &Vec<Plain>) -> Option<Answer> {
        let accounts = ledgers.iter().flat_map(Plain::accounts);
        Some(Answer::new(accounts, ledgers.iter().map(Plain::records).sum()))
    }
}

/// The streams whose records each worker keeps; none for some where there are fewer streams.
fn shares(streams: usize, owners: usize) -> impl Iterator<Item = Range<usize>> {
    deal(streams, owners).chain(std::iter::repeat(0..0)).take(owners)
}

/// Who owns a client's account.
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

/// What some streams have for one owner, in order.
#[derive(Default)]
struct Route {
    runs: Vec<Run>,
    /// The amounts of the disputes and of what follows them.
    settled: Vec<i64>,
}

/// Keeps the records of some streams; gives what they have for each owner.
fn keep_records(
    ledger: &mut Plain,
    streams: &Streams,
    job: Range<usize>,
    owners: usize,
    mut work: Work,
) -> Vec<Route> {
    let mut routes: Vec<Route> = (0..owners).map(|_| Route::default()).collect();
    for stream in job.start as u32..job.end as u32 {
        let mut start = 0;
        // Asking once for all neighbours of one client spares a division per transaction.
        for same in streams[stream as usize].chunk_by(|a, b| a.client == b.client) {
            let Route { runs, settled } = &mut routes[owner(same[0].client, owners)];
            for transaction in same {
                work.spin();
                settled.extend(keep(ledger, transaction));
            }
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

/// Makes or changes the record of one transaction; gives the amount that only the record tells.
#[inline]
fn keep(ledger: &mut Plain, transaction: &Transaction) -> Option<i64> {
    let Transaction { tx, client, amount, kind } = *transaction;
    match kind {
        Kind::Deposit | Kind::Withdrawal | Kind::Put => {
            ledger.insert(tx, Record { amount, client, state: State::Settled });
            None
        }
        Kind::Get => None,
        Kind::Dispute => Some(ledger.settle(tx, State::Disputed)),
        Kind::Resolve => Some(ledger.settle(tx, State::Settled)),
        Kind::Chargeback => Some(ledger.settle(tx, State::ChargedBack)),
    }
}

/// Applies what some streams have for this owner to its accounts, one look-up for all neighbours
/// of one client.
fn apply_own(ledger: &mut Plain, streams: &Streams, route: &Route) {
    let mut settled = route.settled.iter();
    for run in &route.runs {
        for same in run.of(streams).chunk_by(|a, b| a.client == b.client) {
            ledger.account(same[0].client, |account| {
                same.iter().for_each(|transaction| change(account, transaction, &mut settled));
            });
        }
    }
}

#[inline]
fn change<'a>(
    account: &mut Account,
    transaction: &Transaction,
    settled: &mut impl Iterator<Item = &'a i64>,
) {
    let mut amount = || *settled.next().expect("each dispute left its amount");
    match transaction.kind {
        Kind::Deposit => account.deposit(transaction.amount),
        Kind::Withdrawal => account.withdraw(transaction.amount),
        Kind::Dispute => account.dispute(amount()),
        Kind::Resolve => account.resolve(amount()),
        Kind::Chargeback => account.charge_back(amount()),
        Kind::Put => {}
        Kind::Get => {
            black_box(account.available);
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
