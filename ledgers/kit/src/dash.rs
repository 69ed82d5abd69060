//! The store of the variants that share two `DashMap`s, as the published benchmark has it.

use std::thread::available_parallelism;

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use crate::waits::wait;
use crate::{
    Account, Answer, Drawn, FILLER, Hasher, LockWaits, Record, RunError, State, Store, Transaction,
    Work, apply_all,
};

/// Accounts and records that all threads share.
#[derive(Debug)]
pub struct Dash {
    accounts: DashMap<u32, Account, Hasher>,
    records: DashMap<u32, Record, Hasher>,
    watch: bool,
}

/// Shards where the workload leaves them to the library. dashmap does not tell its choice, so the
/// rule of its `default_shard_amount` is repeated here: four per CPU, up to a power of two.
pub fn default_shards() -> usize {
    (available_parallelism().map_or(1, usize::from) * 4).next_power_of_two()
}

/// Shards of a dashmap: what the workload says, or [`default_shards`].
///
/// # Errors
/// [`RunError::Unsupported`] for a single shard, which dashmap refuses.
pub fn dash_shards(wanted: Option<u32>) -> Result<usize, RunError> {
    match wanted {
        Some(1) => Err(RunError::unsupported("a dashmap has at least 2 shards, not 1")),
        Some(shards) => Ok(shards as usize),
        None => Ok(default_shards()),
    }
}

impl Dash {
    /// With every opening balance, and room for all clients and records. `watch` says whether
    /// waiting for a lock is counted and timed.
    pub fn open(drawn: &Drawn, shards: usize, watch: bool) -> Self {
        let (clients, hasher) = (drawn.clients.len(), Hasher::default());
        let accounts = DashMap::with_capacity_and_hasher_and_shard_amount(clients, hasher, shards);
        let records = DashMap::with_capacity_and_hasher_and_shard_amount(
            drawn.transactions(),
            Hasher::default(),
            shards,
        );
        for tx in 0..drawn.transactions() as u32 {
            records.insert(tx, FILLER);
        }
        records.clear();
        let store = Self { accounts, records, watch };
        let mut handle = Handle { store: &store, waits: LockWaits::default() };
        for (&client, &amount) in &drawn.opening {
            handle.account(client, |account| account.deposit(amount));
        }
        store
    }

    /// Applies whole streams, and gives what this thread waited for locks.
    pub fn apply_all(&self, streams: &[Vec<Transaction>], work: Work) -> LockWaits {
        let mut handle = Handle { store: self, waits: LockWaits::default() };
        apply_all(&mut handle, streams, work);
        handle.waits
    }

    /// What it holds.
    pub fn answer(&self) -> Answer {
        let accounts = self.accounts.iter().map(|entry| (*entry.key(), *entry.value()));
        Answer::new(accounts, self.records.len())
    }
}

/// One thread's way to the store.
struct Handle<'a> {
    store: &'a Dash,
    waits: LockWaits,
}

impl<'a> Handle<'a> {
    #[inline]
    fn entry<V>(&mut self, map: &'a DashMap<u32, V, Hasher>, key: u32) -> Entry<'a, u32, V> {
        if !self.store.watch {
            return map.entry(key);
        }
        map.try_entry(key).unwrap_or_else(|| wait(&mut self.waits, || map.entry(key)))
    }
}

impl Store for Handle<'_> {
    #[inline]
    fn account(&mut self, client: u32, change: impl FnOnce(&mut Account)) {
        change(&mut self.entry(&self.store.accounts, client).or_default());
    }

    #[inline]
    fn insert(&mut self, tx: u32, record: Record) {
        if self.store.watch {
            self.entry(&self.store.records, tx).insert(record);
        } else {
            self.store.records.insert(tx, record);
        }
    }

    #[inline]
    fn settle(&mut self, tx: u32, state: State) -> i64 {
        match self.entry(&self.store.records, tx) {
            Entry::Occupied(mut record) => record.get_mut().settle(state),
            Entry::Vacant(_) => panic!("its stream inserted record {tx} before"),
        }
    }
}
