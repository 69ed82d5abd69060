//! Plain maps in shards, each behind a mutex.

use std::sync::{Mutex, MutexGuard, TryLockError};

use ledgers_kit::{
    Account, Answer, Drawn, FILLER, LockWaits, Map, Record, State, Store, Transaction, Work,
    apply_all, wait,
};

/// A mutex on cache lines of its own: processors fetch lines in pairs.
#[repr(align(128))]
struct Shard<V>(Mutex<Map<V>>);

/// Accounts and records that all threads share.
pub struct Shards {
    accounts: Vec<Shard<Account>>,
    records: Vec<Shard<Record>>,
    watch: bool,
}

impl Shards {
    /// With every opening balance, and room for all clients and records in `shards` equal parts.
    pub fn open(drawn: &Drawn, shards: usize, watch: bool) -> Self {
        let accounts = empty(drawn.clients.len(), shards);
        let mut records: Vec<Shard<Record>> = empty(drawn.transactions(), shards);
        for shard in &mut records {
            let map = shard.0.get_mut().expect(UNPOISONED);
            map.extend((0..map.capacity() as u32).map(|tx| (tx, FILLER)));
            map.clear();
        }
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
        let accounts = self.accounts.iter().flat_map(|shard| {
            let map = shard.0.lock().expect(UNPOISONED);
            map.iter().map(|(&client, &account)| (client, account)).collect::<Vec<_>>()
        });
        let records = self.records.iter().map(|shard| shard.0.lock().expect(UNPOISONED).len());
        Answer::new(accounts, records.sum())
    }
}

const UNPOISONED: &str = "no change of an account or a record panics";

fn empty<V>(capacity: usize, shards: usize) -> Vec<Shard<V>> {
    let room = capacity.div_ceil(shards);
    let shard = || Shard(Mutex::new(Map::with_capacity_and_hasher(room, Default::default())));
    (0..shards).map(|_| shard()).collect()
}

/// One thread's way to the store.
struct Handle<'a> {
    store: &'a Shards,
    waits: LockWaits,
}

impl<'a> Handle<'a> {
    /// Locks the shard of a key. Clients and transaction ids are dense, so their low bits spread
    /// evenly, and hashing twice would only cost.
    #[inline]
    fn lock<V>(&mut self, shards: &'a [Shard<V>], key: u32) -> MutexGuard<'a, Map<V>> {
        let mutex = &shards[key as usize & (shards.len() - 1)].0;
        if !self.store.watch {
            return mutex.lock().expect(UNPOISONED);
        }
        match mutex.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::WouldBlock) => {
                wait(&mut self.waits, || mutex.lock().expect(UNPOISONED))
            }
            Err(TryLockError::Poisoned(_)) => panic!("{UNPOISONED}"),
        }
    }
}

impl Store for Handle<'_> {
    #[inline]
    fn account(&mut self, client: u32, change: impl FnOnce(&mut Account)) {
        change(self.lock(&self.store.accounts, client).entry(client).or_default());
    }

    #[inline]
    fn insert(&mut self, tx: u32, record: Record) {
        self.lock(&self.store.records, tx).insert(tx, record);
    }

    #[inline]
    fn settle(&mut self, tx: u32, state: State) -> i64 {
        let mut records = self.lock(&self.store.records, tx);
        records.get_mut(&tx).expect("its stream inserted it before").settle(state)
    }
}
