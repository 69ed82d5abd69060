//! Accounts and records of one owner, without any lock.

use crate::{Account, Answer, Drawn, FILLER, Map, Record, State, Store};

/// Accounts and records of one owner.
#[derive(Debug, Default)]
pub struct Plain {
    accounts: Map<Account>,
    records: Map<Record>,
}

impl Plain {
    /// The whole ledger of a run, with every opening balance and room for all.
    pub fn whole(drawn: &Drawn) -> Self {
        let opening = drawn.opening.iter().map(|(&client, &amount)| (client, amount));
        Self::open(opening, drawn.clients.len(), drawn.transactions())
    }

    /// With these opening balances, and room for so many accounts and records.
    pub fn open(
        opening: impl IntoIterator<Item = (u32, i64)>,
        accounts: usize,
        records: usize,
    ) -> Self {
        let mut ledger = Self::default();
        ledger.accounts.reserve(accounts);
        ledger.records.reserve(records);
        ledger.records.extend((0..records as u32).map(|tx| (tx, FILLER)));
        ledger.records.clear();
        for (client, amount) in opening {
            ledger.account(client, |account| account.deposit(amount));
        }
        ledger
    }

    /// Every client's account, in no order.
    pub fn accounts(&self) -> impl Iterator<Item = (u32, Account)> {
        self.accounts.iter().map(|(&client, &account)| (client, account))
    }

    /// How many records it keeps.
    pub fn records(&self) -> usize {
        self.records.len()
    }

    /// What it holds.
    pub fn answer(&self) -> Answer {
        Answer::new(self.accounts(), self.records())
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
