//! The transactions of a run, drawn from its seed.

use std::collections::{BTreeMap, BTreeSet};

use lab_protocol::ledgers::{Contention, Data, Kinds};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{RngCore, SeedableRng};

/// One transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transaction {
    /// In 1/10,000 of a unit; 0 where the record says how much.
    pub amount: i64,
    /// Its own id; of a dispute and what follows one, the id of the deposit.
    pub tx: u32,
    /// Whose account.
    pub client: u32,
    /// What it does.
    pub kind: Kind,
}

/// What a transaction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Brings money.
    Deposit,
    /// Takes money.
    Withdrawal,
    /// Holds an earlier deposit of the same stream and client.
    Dispute,
    /// Ends a dispute: the deposit stays.
    Resolve,
    /// Ends a dispute: the deposit is taken back.
    Chargeback,
    /// No transaction: keeps a record.
    Put,
    /// No transaction: looks an account up, which begins empty where there is none.
    Get,
}

/// The streams; within one, transactions are applied in order.
pub type Streams = Vec<Vec<Transaction>>;

/// The transactions of a run, and what there has to be before the first of them.
#[derive(Debug)]
pub struct Drawn {
    /// All streams.
    pub streams: Streams,
    /// Opening balances by client, in 1/10,000: what the client will withdraw in sum, so that no
    /// order of the streams makes a withdrawal fail. They are no transactions and have no record.
    pub opening: BTreeMap<u32, i64>,
    /// All clients of all streams.
    pub clients: BTreeSet<u32>,
}

/// One unit of money.
const UNIT: u32 = 10_000;
/// Clients among which Zipf's law chooses.
const ZIPF_CLIENTS: u32 = 1_000;
/// Amounts of mixed streams are 1/10,000 to so many units.
const UNITS_MAX: u32 = 100;

impl Drawn {
    /// Draws them; the same data gives the same transactions on every machine.
    pub fn new(data: &Data) -> Self {
        let zipf = zipf_weights();
        let streams: Streams = (0..data.streams).map(|index| stream(data, index, &zipf)).collect();
        let mut opening = BTreeMap::new();
        let mut clients = BTreeSet::new();
        let mut last = 0;
        for transaction in streams.iter().flatten() {
            if transaction.client != last {
                last = transaction.client;
                clients.insert(last);
            }
            if transaction.kind == Kind::Withdrawal {
                *opening.entry(transaction.client).or_insert(0) += transaction.amount;
            }
        }
        Self { streams, opening, clients }
    }

    /// Transactions in all streams: the records for which a store reserves room.
    pub fn transactions(&self) -> usize {
        self.streams.iter().map(Vec::len).sum()
    }
}

/// Deposits of one stream that are under dispute or may become so, each a transaction id and its
/// client.
#[derive(Default)]
struct Deposits {
    settled: Vec<(u32, u32)>,
    disputed: Vec<(u32, u32)>,
}

fn stream(data: &Data, index: u32, zipf: &[u64]) -> Vec<Transaction> {
    // The odd constant of SplitMix64 keeps the seeds of neighbouring streams far apart.
    let spread = u64::from(index).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut random = Pcg64::seed_from_u64(data.seed ^ spread);
    let mut deposits = Deposits::default();
    let first = index * data.transactions;
    let ids = first..first + data.transactions;
    ids.map(|tx| {
        let client = match data.contention {
            Contention::Disjoint => index + 1,
            Contention::Hot => 1,
            Contention::Zipf => zipf_client(&mut random, zipf),
        };
        match data.kinds {
            Kinds::Deposits => {
                Transaction { amount: i64::from(UNIT), tx, client, kind: Kind::Deposit }
            }
            Kinds::Mixed => mixed(&mut random, tx, client, &mut deposits),
            Kinds::Storage => {
                let kind = if (tx - first).is_multiple_of(2) { Kind::Put } else { Kind::Get };
                Transaction { amount: i64::from(UNIT), tx, client, kind }
            }
        }
    })
    .collect()
}

/// 70 % deposits, 25 % withdrawals; the rest disputes a deposit or ends a dispute, and is a
/// deposit where there is none yet.
fn mixed(random: &mut Pcg64, tx: u32, client: u32, deposits: &mut Deposits) -> Transaction {
    let percent = below(random, 100);
    let amount = i64::from(1 + below(random, UNITS_MAX * UNIT));
    if (70..95).contains(&percent) {
        return Transaction { amount, tx, client, kind: Kind::Withdrawal };
    }
    if percent >= 95 {
        if below(random, 2) == 0 && !deposits.disputed.is_empty() {
            let (tx, client) = take(random, &mut deposits.disputed);
            let kind = if below(random, 4) == 0 { Kind::Chargeback } else { Kind::Resolve };
            return Transaction { amount: 0, tx, client, kind };
        }
        if !deposits.settled.is_empty() {
            let (tx, client) = take(random, &mut deposits.settled);
            deposits.disputed.push((tx, client));
            return Transaction { amount: 0, tx, client, kind: Kind::Dispute };
        }
    }
    deposits.settled.push((tx, client));
    Transaction { amount, tx, client, kind: Kind::Deposit }
}

fn take(random: &mut Pcg64, from: &mut Vec<(u32, u32)>) -> (u32, u32) {
    let index = below(random, from.len() as u32);
    from.swap_remove(index as usize)
}

/// Sums of 1/1, 1/2, …, 1/1000 in units of 2^-32, rounded down.
fn zipf_weights() -> Vec<u64> {
    let weights = (1..=u64::from(ZIPF_CLIENTS)).map(|rank| (1 << 32) / rank);
    weights
        .scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect()
}

/// A client from 1 (the most frequent) to 1,000.
fn zipf_client(random: &mut Pcg64, weights: &[u64]) -> u32 {
    let all = u128::from(*weights.last().expect("there are 1,000 weights"));
    let drawn = ((u128::from(random.next_u64()) * all) >> 64) as u64;
    1 + weights.partition_point(|&sum| sum <= drawn) as u32
}

/// A number below `end`. Not rand's: its way from bits to a range may change between releases.
fn below(random: &mut Pcg64, end: u32) -> u32 {
    ((u64::from(random.next_u32()) * u64::from(end)) >> 32) as u32
}
