//! Accounts and records of one owner, without any lock.

use crate::{Account, Answer, Drawn, Map, Record, State, Store};

/// Accounts and records of one owner.
#[derive(Debug, Default)]
pub struct Plain {
    /// By client.
    pub accounts: Map<Account>,
    /// By transaction id.
    pub records: Map<Record>,
}

impl Plain {
    /// Empty, with room for so many.
    pub fn with_capacity(accounts: usize, records: usize) -> Self {
        let mut ledger = Self::default();
        ledger.accounts.reserve(accounts);
        ledger.records.reserve(records);
        ledger
    }

    /// With every opening balance, and room for all clients and so many records.
    pub fn open(drawn: &Drawn, records: usize) -> Self {
        let mut ledger = Self::with_capacity(drawn.clients.len(), records);
        for (&client, &amount) in &drawn.opening {
            ledger.account(client, |account| account.deposit(amount));
        }
        ledger
    }

    /// What it holds.
    pub fn answer(&self) -> Answer {
        let accounts = self.accounts.iter().map(|(&client, &account)| (client, account));
        Answer::new(accounts, self.records.len())
    }
}

impl Store for Plain {
    #[inline]
    fn account(&mut self, client: u32, change: impl FnOnce(&mut Account)) {
        change(self.accounts.entry(client).or_default());
    }

    #[inline]
    fn insert(&mut self, tx: u32, record: Record) {
        self.records.insert(tx, record);
    }

    #[inline]
    fn settle(&mut self, tx: u32, state: State) -> i64 {
        let record = self.records.get_mut(&tx).expect("its stream inserted it before");
        record.settle(state)
    }
}
