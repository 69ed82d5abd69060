//! The ledger: what a transaction does to an account and to the records.
//!
//! All of it commutes between streams: balances are sums, and `locked` is set and never read. A
//! chargeback therefore marks the account and refuses nothing later; refusing would make the
//! answer depend on which stream came first, and with it on the scheduler that is measured.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::hint::black_box;

use crate::{Kind, Transaction, Work};

/// The hash of every map of every variant: std's SipHash with fixed keys, so that runs differ in
/// nothing that was drawn.
pub type Hasher = BuildHasherDefault<DefaultHasher>;

/// A plain map with that hash.
pub type Map<V> = HashMap<u32, V, Hasher>;

/// A client's balances, in 1/10,000 of a unit. Always
/// `available + held = deposited - withdrawn - charged_back`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// May be withdrawn.
    pub available: i64,
    /// Under dispute.
    pub held: i64,
    /// Ever deposited, with the opening balance.
    pub deposited: i64,
    /// Ever withdrawn.
    pub withdrawn: i64,
    /// Ever charged back.
    pub charged_back: i64,
    /// A deposit was charged back.
    pub locked: bool,
}

/// What is kept of a deposit or a withdrawal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// In 1/10,000; what a withdrawal took is positive too.
    pub amount: i64,
    /// Whose.
    pub client: u32,
    /// What became of it.
    pub state: State,
}

/// What became of a deposit or a withdrawal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing since, or a dispute was resolved.
    Settled,
    /// Its amount is held.
    Disputed,
    /// Its amount was taken back.
    ChargedBack,
}

/// Where accounts and records live. A handle on a store that threads share implements it as well,
/// and locks inside each call: no call holds what another needs.
pub trait Store {
    /// Changes the account of `client`, which begins empty where there is none.
    fn account(&mut self, client: u32, change: impl FnOnce(&mut Account));
    /// Keeps a record under an id that no other record has.
    fn insert(&mut self, tx: u32, record: Record);
    /// Changes the record of an earlier transaction of the same stream and gives its amount.
    fn settle(&mut self, tx: u32, state: State) -> i64;
}

/// A record to fill a store with before it is emptied again. Reserved memory is no memory yet: the
/// kernel gives each page at the first write, which can cost more than a hundred transactions.
pub const FILLER: Record = Record { amount: 0, client: 0, state: State::Settled };

/// Applies whole streams, each in its order.
#[inline]
pub fn apply_all(store: &mut impl Store, streams: &[Vec<Transaction>], mut work: Work) {
    // Two loops: a flattened iterator would cost as much as the harness does.
    for stream in streams {
        for transaction in stream {
            work.spin();
            apply(store, transaction);
        }
    }
}

/// Applies one transaction: one change of an account, one insert or change of a record; or one of
/// the two where the store is asked by itself.
#[inline]
pub fn apply(store: &mut impl Store, transaction: &Transaction) {
    let Transaction { tx, client, amount, kind } = *transaction;
    match kind {
        Kind::Deposit => {
            store.account(client, |account| account.deposit(amount));
            store.insert(tx, Record { amount, client, state: State::Settled });
        }
        Kind::Withdrawal => {
            store.account(client, |account| account.withdraw(amount));
            store.insert(tx, Record { amount, client, state: State::Settled });
        }
        Kind::Dispute => {
            let amount = store.settle(tx, State::Disputed);
            store.account(client, |account| account.dispute(amount));
        }
        Kind::Resolve => {
            let amount = store.settle(tx, State::Settled);
            store.account(client, |account| account.resolve(amount));
        }
        Kind::Chargeback => {
            let amount = store.settle(tx, State::ChargedBack);
            store.account(client, |account| account.charge_back(amount));
        }
        Kind::Put => store.insert(tx, Record { amount, client, state: State::Settled }),
        Kind::Get => store.account(client, |account| {
            black_box(account.available);
        }),
    }
}

impl Account {
    /// Adds to what is available.
    #[inline]
    pub fn deposit(&mut self, amount: i64) {
        self.available += amount;
        self.deposited += amount;
    }

    /// Takes from what is available; more than that is refused.
    #[inline]
    pub fn withdraw(&mut self, amount: i64) {
        if self.available >= amount {
            self.available -= amount;
            self.withdrawn += amount;
        }
    }

    /// Holds a deposit.
    #[inline]
    pub fn dispute(&mut self, amount: i64) {
        self.available -= amount;
        self.held += amount;
    }

    /// Gives a held deposit free.
    #[inline]
    pub fn resolve(&mut self, amount: i64) {
        self.held -= amount;
        self.available += amount;
    }

    /// Takes a held deposit back and marks the account.
    #[inline]
    pub fn charge_back(&mut self, amount: i64) {
        self.held -= amount;
        self.charged_back += amount;
        self.locked = true;
    }

    /// What the client owns.
    pub fn total(&self) -> i64 {
        self.available + self.held
    }
}

impl Record {
    /// Changes the state and gives the amount.
    #[inline]
    pub fn settle(&mut self, state: State) -> i64 {
        self.state = state;
        self.amount
    }
}
