//! The measured loop.

use std::sync::Arc;

use lab_protocol::ledgers::Workload;
use lab_protocol::ledgers::names;
use lab_variant::Numbers;

use crate::costs::{Costs, whole_run};
use crate::{Answer, Drawn, LockWaits, RunError, Streams, Work, now_ns};

/// What a variant is: a store, and a way to bring streams to it.
pub trait Variant: Sized {
    /// Accounts and records of one repetition.
    type Store;

    /// Builds the runtime, once a run and outside everything that is timed.
    ///
    /// # Errors
    /// [`RunError::Unsupported`] where the workload makes no sense here, [`RunError::Failed`].
    fn new(workload: &Workload) -> Result<Self, RunError>;

    /// Worker threads, as the runtime says.
    fn workers(&self) -> usize;

    /// Shards of the store, where it has them.
    fn shards(&self) -> Option<usize> {
        None
    }

    /// What the runtime tells of itself, in numbers that grow from call to call.
    fn runtime_readings(&self) -> Vec<(&'static str, i64)> {
        Vec::new()
    }

    /// Makes the store of a repetition: capacity reserved, opening balances in place. Not timed.
    fn prepare(&self, drawn: &Drawn) -> Self::Store;

    /// Applies all streams and returns when the last transaction is applied and nobody holds the
    /// streams or the store any more. This is what is timed.
    fn process(&self, store: &mut Self::Store, streams: &Arc<Streams>, work: Work) -> LockWaits;

    /// What the store holds; `None` where there is no ledger. Not timed.
    fn answer(&self, store: &Self::Store) -> Option<Answer>;
}

/// Runs every repetition and checks its answer.
pub(crate) fn measure<V: Variant>(workload: &Workload) -> Result<Numbers, RunError> {
    let mut costs = Costs::open();
    let variant = V::new(workload)?;
    let (work, work_ps) = Work::calibrate(workload.work_ns);
    let drawn = Drawn::new(&workload.data);
    let oracle = Answer::oracle(&drawn);
    let mut measured = Numbers::default();
    let mut runtime = Vec::new();
    for repetition in 0..workload.warmup_repetitions + workload.repetitions {
        let Repetition { answer, row, waits } =
            repeat(&variant, &drawn, work, &mut costs, &mut runtime);
        if let Some(answer) = answer {
            check(repetition, answer, &oracle)?;
        }
        if repetition >= workload.warmup_repetitions {
            push(&mut measured, row);
            if workload.watch_locks {
                push(&mut measured, waits.columns());
            }
        }
    }
    // A Tokio worker tells what it did when it parks, and that may be after the repetition: so it
    // is read as late as can be, before the next one.
    runtime.push(variant.runtime_readings());
    for pair in runtime.windows(2).skip(workload.warmup_repetitions as usize) {
        push(&mut measured, difference(&pair[0], &pair[1]));
    }
    let shards = variant.shards().map(|shards| (names::SHARDS, shards as u64));
    let own = [(names::WORKERS, variant.workers() as u64), (names::WORK_MEASURED_PS, work_ps)];
    let counters = own.into_iter().chain(shards).chain(whole_run());
    measured.counters = counters.map(|(name, value)| (name.to_owned(), value)).collect();
    Ok(measured)
}

fn push(measured: &mut Numbers, row: impl IntoIterator<Item = (&'static str, i64)>) {
    for (name, value) in row {
        measured.samples.entry(name.to_owned()).or_default().push(value);
    }
}

type Row = Vec<(&'static str, i64)>;

/// What a repetition left and what it cost.
struct Repetition {
    answer: Option<Answer>,
    row: Row,
    waits: LockWaits,
}

fn repeat<V: Variant>(
    variant: &V,
    drawn: &Drawn,
    work: Work,
    costs: &mut Costs,
    runtime: &mut Vec<Row>,
) -> Repetition {
    let mut store = variant.prepare(drawn);
    let streams = Arc::new(drawn.streams.clone());
    runtime.push(variant.runtime_readings());
    let costs_before = costs.read();
    let start = now_ns();
    let waits = variant.process(&mut store, &streams, work);
    let elapsed_ns = now_ns() - start;
    let costs_after = costs.read();
    let answer = variant.answer(&store);
    let streams = Arc::into_inner(streams).expect("a task still holds the streams");
    let start = now_ns();
    drop(store);
    drop(streams);
    let mut row = vec![(names::ELAPSED_NS, elapsed_ns), (names::TEARDOWN_NS, now_ns() - start)];
    row.extend(difference(&costs_before, &costs_after));
    row.extend(answer.iter().flat_map(Answer::columns));
    Repetition { answer, row, waits }
}

fn difference(before: &[(&'static str, i64)], after: &[(&'static str, i64)]) -> Row {
    before.iter().zip(after).map(|(before, after)| (after.0, after.1 - before.1)).collect()
}

fn check(repetition: u32, found: Answer, oracle: &Answer) -> Result<(), RunError> {
    if !found.is_conserved() {
        let Answer { total, deposited, withdrawn, charged_back, .. } = found;
        return Err(RunError::failed(format!(
            "repetition {repetition} breaks the conservation law: total {total}, deposited \
             {deposited}, withdrawn {withdrawn}, charged back {charged_back}"
        )));
    }
    if found != *oracle {
        return Err(RunError::failed(format!(
            "repetition {repetition} left {found:?}, the sequential oracle {oracle:?}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use lab_protocol::ledgers::{Contention, Data, Kinds, Spawn, Workers};

    use super::*;
    use crate::{Plain, Store, apply_all};

    /// One thread; `FAULT` is what it does wrong in its third repetition.
    struct Faulty<const FAULT: u8>(AtomicU32);

    const NOTHING: u8 = 0;
    const LOSES_A_DEPOSIT: u8 = 1;
    const MAKES_MONEY: u8 = 2;

    impl<const FAULT: u8> Variant for Faulty<FAULT> {
        type Store = Plain;

        fn new(_: &Workload) -> Result<Self, RunError> {
            Ok(Self(AtomicU32::new(0)))
        }

        fn workers(&self) -> usize {
            1
        }

        fn prepare(&self, drawn: &Drawn) -> Plain {
            Plain::whole(drawn)
        }

        fn process(&self, ledger: &mut Plain, streams: &Arc<Streams>, work: Work) -> LockWaits {
            let third = self.0.fetch_add(1, Ordering::Relaxed) == 2;
            let lost = usize::from(third && FAULT == LOSES_A_DEPOSIT);
            apply_all(ledger, &streams[lost..], work);
            if third && FAULT == MAKES_MONEY {
                ledger.account(1, |account| account.available += 1);
            }
            LockWaits { count: 5, ns: 70 }
        }

        fn runtime_readings(&self) -> Vec<(&'static str, i64)> {
            vec![("repetitions_begun", i64::from(self.0.load(Ordering::Relaxed)))]
        }

        fn answer(&self, ledger: &Plain) -> Option<Answer> {
            Some(ledger.answer())
        }
    }

    fn workload(watch_locks: bool) -> Workload {
        let (contention, kinds) = (Contention::Disjoint, Kinds::Deposits);
        Workload {
            data: Data { seed: 1, streams: 4, transactions: 1, contention, kinds },
            work_ns: 0,
            workers: Workers::Count(1),
            pinned: false,
            spawn: Spawn::Stream,
            shards: None,
            watch_locks,
            warmup_repetitions: 1,
            repetitions: 3,
        }
    }

    #[test]
    fn repetitions_after_the_warm_up_are_rows() {
        let measured = measure::<Faulty<NOTHING>>(&workload(true)).unwrap();
        let column = |key: &str| measured.samples[key].clone();
        assert_eq!(column("answer_total"), [40_000; 3]);
        assert_eq!(column("repetitions_begun"), [1; 3]);
        assert_eq!((column("lock_waits"), column("lock_wait_ns")), (vec![5; 3], vec![70; 3]));
        assert!(measured.samples.values().all(|rows| rows.len() == 3));
        let unwatched = measure::<Faulty<NOTHING>>(&workload(false)).unwrap();
        assert!(!unwatched.samples.contains_key("lock_waits"));
    }

    #[test]
    fn a_wrong_answer_fails_the_run_and_names_the_repetition() {
        let error = measure::<Faulty<LOSES_A_DEPOSIT>>(&workload(false)).unwrap_err();
        assert!(error.to_string().starts_with("repetition 2 left Answer {"), "{error}");
        let error = measure::<Faulty<MAKES_MONEY>>(&workload(false)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "repetition 2 breaks the conservation law: total 40001, deposited 40000, \
             withdrawn 0, charged back 0"
        );
    }
}
