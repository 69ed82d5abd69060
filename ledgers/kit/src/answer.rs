//! What a repetition left, and what it had to leave.

use lab_protocol::ledgers::names;

use xxhash_rust::xxh64::Xxh64;

use crate::{Account, Drawn, Plain, Work, apply_all};

/// What a repetition left; amounts in 1/10,000 of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// xxh64, seed 0, over each account in order of the clients: client (u32), available, held,
    /// deposited, withdrawn, charged back (i64 each), locked (one byte), little endian.
    pub hash: u64,
    /// Accounts.
    pub accounts: u64,
    /// Records.
    pub records: u64,
    /// What all clients own.
    pub total: i64,
    /// The part of it under dispute.
    pub held: i64,
    /// Ever deposited, opening balances included.
    pub deposited: i64,
    /// Ever withdrawn.
    pub withdrawn: i64,
    /// Ever charged back.
    pub charged_back: i64,
}

impl Answer {
    /// Of accounts in any order and a number of records.
    pub fn new(accounts: impl IntoIterator<Item = (u32, Account)>, records: usize) -> Self {
        let mut accounts: Vec<(u32, Account)> = accounts.into_iter().collect();
        accounts.sort_unstable_by_key(|&(client, _)| client);
        let sum = |balance: fn(&Account) -> i64| accounts.iter().map(|(_, a)| balance(a)).sum();
        Self {
            hash: hash(&accounts),
            accounts: accounts.len() as u64,
            records: records as u64,
            total: sum(Account::total),
            held: sum(|account| account.held),
            deposited: sum(|account| account.deposited),
            withdrawn: sum(|account| account.withdrawn),
            charged_back: sum(|account| account.charged_back),
        }
    }

    /// What one thread leaves that applies stream after stream.
    pub fn oracle(drawn: &Drawn) -> Self {
        let mut ledger = Plain::whole(drawn);
        apply_all(&mut ledger, &drawn.streams, Work::NONE);
        ledger.answer()
    }

    /// Whether money came from nowhere or went there.
    pub fn is_conserved(&self) -> bool {
        self.total == self.deposited - self.withdrawn - self.charged_back
    }

    /// The columns' names and this answer's row.
    pub(crate) fn columns(&self) -> [(&'static str, i64); 8] {
        [
            (names::ANSWER_HASH, self.hash.cast_signed()),
            (names::ANSWER_ACCOUNTS, self.accounts.cast_signed()),
            (names::ANSWER_RECORDS, self.records.cast_signed()),
            (names::ANSWER_TOTAL, self.total),
            (names::ANSWER_HELD, self.held),
            (names::ANSWER_DEPOSITED, self.deposited),
            (names::ANSWER_WITHDRAWN, self.withdrawn),
            (names::ANSWER_CHARGED_BACK, self.charged_back),
        ]
    }
}

fn hash(accounts: &[(u32, Account)]) -> u64 {
    let mut hash = Xxh64::new(0);
    for (client, account) in accounts {
        let Account { available, held, deposited, withdrawn, charged_back, locked } = account;
        hash.update(&client.to_le_bytes());
        for balance in [available, held, deposited, withdrawn, charged_back] {
            hash.update(&balance.to_le_bytes());
        }
        hash.update(&[u8::from(*locked)]);
    }
    hash.digest()
}
