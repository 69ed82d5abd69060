//! The ledger and the streams: what must hold for any data and any order of the streams.

use std::collections::{BTreeMap, BTreeSet};

use ledgers_kit::{
    Answer, Contention, Dash, Data, Drawn, Kind, Kinds, Plain, Store, Transaction, Work, apply,
    apply_all,
};
use proptest::prelude::*;

const CONTENTIONS: [Contention; 3] = [Contention::Disjoint, Contention::Hot, Contention::Zipf];

fn any_data() -> impl Strategy<Value = Data> {
    let contention = prop::sample::select(CONTENTIONS.to_vec());
    let kinds = prop::sample::select(vec![Kinds::Deposits, Kinds::Mixed]);
    (any::<u64>(), 1..20u32, 1..60u32, contention, kinds).prop_map(
        |(seed, streams, transactions, contention, kinds)| Data {
            seed,
            streams,
            transactions,
            contention,
            kinds,
        },
    )
}

/// Applies one transaction of the stream that `choices` names, until all are applied.
fn interleave(store: &mut impl Store, drawn: &Drawn, choices: &[usize]) {
    let mut streams: Vec<_> = drawn.streams.iter().map(|stream| stream.iter()).collect();
    for choice in choices.iter().cycle().take(3 * drawn.transactions()) {
        let stream = choice % streams.len();
        streams[stream].next().into_iter().for_each(|transaction| apply(store, transaction));
    }
    for transaction in streams.into_iter().flatten() {
        apply(store, transaction);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_interleaving_leaves_the_sequential_answer(
        data in any_data(),
        choices in prop::collection::vec(any::<usize>(), 1..300),
    ) {
        let drawn = Drawn::new(&data);
        let oracle = Answer::oracle(&drawn);
        let mut ledger = Plain::whole(&drawn);
        interleave(&mut ledger, &drawn, &choices);
        prop_assert_eq!(ledger.answer(), oracle);
    }

    #[test]
    fn the_shared_maps_leave_it_too(data in any_data(), watch in any::<bool>()) {
        let drawn = Drawn::new(&data);
        let store = Dash::open(&drawn, 4, watch);
        let waits = store.apply_all(&drawn.streams, Work::NONE);
        prop_assert_eq!((waits.count, waits.ns), (0, 0));
        prop_assert_eq!(store.answer(), Answer::oracle(&drawn));
    }

    #[test]
    fn money_is_conserved_and_no_withdrawal_is_refused(data in any_data()) {
        let drawn = Drawn::new(&data);
        let answer = Answer::oracle(&drawn);
        prop_assert!(answer.is_conserved());
        let sum = |kind| {
            let all = drawn.streams.iter().flatten().filter(|t: &&Transaction| t.kind == kind);
            all.map(|transaction| transaction.amount).sum::<i64>()
        };
        let opening: i64 = drawn.opening.values().sum();
        prop_assert_eq!(answer.withdrawn, sum(Kind::Withdrawal));
        prop_assert_eq!(answer.deposited, sum(Kind::Deposit) + opening);
        prop_assert_eq!(answer.accounts as usize, drawn.clients.len());
    }

    #[test]
    fn a_dispute_is_of_an_earlier_deposit_of_its_stream_and_client(data in any_data()) {
        let drawn = Drawn::new(&data);
        let mut ids = BTreeSet::new();
        for stream in &drawn.streams {
            prop_assert_eq!(stream.len(), data.transactions as usize);
            let mut deposits = BTreeMap::new();
            for Transaction { tx, client, kind, .. } in stream {
                match kind {
                    Kind::Deposit | Kind::Withdrawal => prop_assert!(ids.insert(*tx)),
                    _ => prop_assert_eq!(deposits.get(tx), Some(client)),
                }
                if *kind == Kind::Deposit {
                    deposits.insert(*tx, *client);
                }
            }
        }
    }
}

fn draw(contention: Contention, kinds: Kinds) -> Drawn {
    Drawn::new(&Data { seed: 1, streams: 20, transactions: 5_000, contention, kinds })
}

#[test]
fn a_ledger_of_five_transactions_is_as_on_paper() {
    let transaction = |kind, tx, amount| Transaction { amount, tx, client: 3, kind };
    let stream = [
        transaction(Kind::Deposit, 0, 70_000),
        transaction(Kind::Deposit, 1, 20_000),
        transaction(Kind::Withdrawal, 2, 15_000),
        transaction(Kind::Dispute, 1, 0),
        transaction(Kind::Dispute, 0, 0),
        transaction(Kind::Resolve, 0, 0),
        transaction(Kind::Chargeback, 1, 0),
        // More than there is.
        transaction(Kind::Withdrawal, 3, 55_001),
    ];
    let mut ledger = Plain::default();
    apply_all(&mut ledger, &[stream.to_vec()], Work::NONE);
    let (client, account) = ledger.accounts().next().unwrap();
    assert_eq!((client, account.available, account.held), (3, 55_000, 0));
    assert_eq!((account.deposited, account.withdrawn), (90_000, 15_000));
    assert_eq!((account.charged_back, account.locked), (20_000, true));
    assert_eq!(ledger.records(), 4);
    assert!(ledger.answer().is_conserved());
}

#[test]
fn mixed_streams_have_the_shares_that_they_promise() {
    let drawn = draw(Contention::Zipf, Kinds::Mixed);
    let share = |kinds: &[Kind]| {
        let all = drawn.streams.iter().flatten();
        all.filter(|transaction| kinds.contains(&transaction.kind)).count() * 100 / 100_000
    };
    assert!((69..=71).contains(&share(&[Kind::Deposit])));
    assert!((24..=26).contains(&share(&[Kind::Withdrawal])));
    assert!((4..=5).contains(&share(&[Kind::Dispute, Kind::Resolve, Kind::Chargeback])));
    assert!(share(&[Kind::Resolve]) >= 1);
    let answer = Answer::oracle(&drawn);
    assert!(answer.charged_back > 0 && answer.held > 0);
}

#[test]
fn a_store_by_itself_is_put_to_and_asked_in_turn_and_moves_no_money() {
    for contention in CONTENTIONS {
        let drawn = draw(contention, Kinds::Storage);
        let answer = Answer::oracle(&drawn);
        assert_eq!((answer.records, answer.total, answer.deposited), (50_000, 0, 0));
        assert!(answer.accounts > 0 && answer.is_conserved());
        let store = Dash::open(&drawn, 4, false);
        store.apply_all(&drawn.streams, Work::NONE);
        assert_eq!(store.answer(), answer);
    }
}

#[test]
fn clients_are_as_contended_as_they_promise() {
    assert_eq!(draw(Contention::Hot, Kinds::Deposits).clients, BTreeSet::from([1]));
    let disjoint = draw(Contention::Disjoint, Kinds::Deposits);
    assert_eq!(disjoint.clients, (1..=20).collect());
    assert!(disjoint.streams.iter().all(|s| s.iter().all(|t| t.client == s[0].client)));
    let zipf = draw(Contention::Zipf, Kinds::Deposits);
    let count = |client| zipf.streams.iter().flatten().filter(|t| t.client == client).count();
    // The harmonic number of 1,000 is 7.485: client 1 has 13.36 % of 100,000, client 10 a tenth.
    assert!((13_000..13_700).contains(&count(1)), "{}", count(1));
    assert!((1_220..1_450).contains(&count(10)), "{}", count(10));
    assert_eq!(zipf.clients.last(), Some(&1_000));
}
