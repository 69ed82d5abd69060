//! Workers over a log that shows what was written, when, and together with what.

use std::sync::{Arc, Mutex};

use lab_protocol::workflows::{Beside, Operation, Shape, Step, Wire, Worker, Workload};
use workflows_kit::{Graph, Log, Pool, RunError, StepRow, Submission, Transition, now_ns};

/// Each batch, and when its write returned.
#[derive(Default)]
struct Writes {
    batches: Mutex<Vec<(Vec<Transition>, i64)>>,
    /// After so many nothing can be written any more.
    fails_after: Option<usize>,
}

impl Log for Writes {
    const WRITES: bool = true;

    fn write(&self, batch: &[Transition]) -> Result<(), RunError> {
        let mut batches = self.batches.lock().unwrap();
        if self.fails_after == Some(batches.len()) {
            batches.push((Vec::new(), 0));
            return Err(RunError::failed("the disk is full"));
        }
        batches.push((batch.to_vec(), now_ns()));
        Ok(())
    }
}

fn shape(operations: &[Operation]) -> Shape {
    let steps = (0u32..).zip(operations).map(|(index, &operation)| Step {
        name: format!("step_{index}"),
        after: index.checked_sub(1).into_iter().collect(),
        operation,
        when: None,
        parts_of: None,
    });
    Shape { name: "chain".to_owned(), steps: steps.collect() }
}

fn pool(shape: &Shape, workers: u32, log: Writes) -> Pool<Writes> {
    let workload = Workload {
        seed: 1,
        shape: shape.clone(),
        warmup_tasks: 0,
        tasks: 1,
        in_flight: 1,
        poll_ms: 0,
        workers,
        processes: 0,
        wire: Wire::Pipe,
        fallback_ms: 0,
        beside: Beside::Nothing,
        worker: Worker::Native,
        worker_folder: String::new(),
        folder: String::new(),
    };
    Pool::new(&Arc::new(Graph::new(shape)), log).start(&workload).unwrap()
}

fn tasks(count: u32) -> Vec<Submission> {
    let one = |task| Submission { task, input: 3, submitted_ns: now_ns() };
    (0..count).map(one).collect()
}

/// Waits for so many, then ends the pool: its rows, and what was written.
fn finish(pool: Pool<Writes>, count: usize) -> (Vec<StepRow>, Vec<(Vec<Transition>, i64)>) {
    let mut complete = 0;
    while complete < count {
        complete += pool.complete(true).unwrap().len();
    }
    let batches = pool.log().batches.lock().unwrap().clone();
    (pool.finish(), batches)
}

#[test]
fn tasks_that_are_handed_in_together_are_written_together_and_their_steps_share_writes() {
    let pool = pool(&shape(&[Operation::Square; 4]), 2, Writes::default());
    pool.submit(&tasks(64)).unwrap();
    let (rows, batches) = finish(pool, 64);
    assert_eq!(batches[0].0.len(), 64);
    assert!(batches[0].0.iter().all(|one| matches!(one, Transition::Accepted(_))));
    let written: usize = batches.iter().map(|(batch, _)| batch.len()).sum();
    assert_eq!((rows.len(), written), (4 * 64, 5 * 64));
    assert!(batches.len() < written / 2, "{} writes of {written} records", batches.len());
}

#[test]
fn nothing_is_acted_on_before_it_is_written() {
    let pool = pool(&shape(&[Operation::Square; 3]), 3, Writes::default());
    let mut accepted = Vec::new();
    for some in tasks(60).chunks(20) {
        accepted.extend(pool.submit(some).unwrap());
    }
    let (rows, batches) = finish(pool, 60);
    let written_ns = |is_one: &dyn Fn(&Transition) -> bool| {
        let mut found = batches.iter().filter(|(batch, _)| batch.iter().any(is_one));
        let (_, written_ns) = found.next().expect("all is written");
        assert!(found.next().is_none(), "written twice");
        *written_ns
    };
    let taken_ns = |task: u32| {
        written_ns(&|one| matches!(one, Transition::Accepted(other) if other.task == task))
    };
    for (task, accepted) in (0..).zip(&accepted) {
        assert!(
            accepted.accepted_ns >= taken_ns(task),
            "{task} was accepted before it was written"
        );
    }
    for row in &rows {
        let before_ns = match row.step.checked_sub(1) {
            None => taken_ns(row.task),
            Some(before) => written_ns(&|one| {
                matches!(one, Transition::Recorded(other)
                    if (other.task, other.step) == (row.task, before))
            }),
        };
        assert!(row.claimed_ns >= before_ns, "{row:?} was claimed before what it waits for counts");
    }
}

#[test]
fn a_worker_that_is_at_a_long_step_does_not_hold_up_what_it_did_before() {
    // The second step takes some tenths of a second, in which the first of another is long written.
    let shape = shape(&[Operation::Constant(7), Operation::SumRows(100_000_000)]);
    let pool = pool(&shape, 1, Writes::default());
    pool.submit(&tasks(2)).unwrap();
    let (rows, batches) = finish(pool, 2);
    let long_end = rows.iter().filter(|row| row.step == 1).map(|row| row.finished_ns).max();
    let is_first = |one: &Transition| matches!(one, Transition::Recorded(row) if row.step == 1);
    let first_long = batches.iter().find(|(batch, _)| batch.iter().any(is_first)).unwrap();
    assert!(first_long.1 < long_end.unwrap(), "the first long step waited for the second");
}

#[test]
fn after_a_write_that_failed_nothing_is_written_and_everybody_is_told() {
    let log = Writes { fails_after: Some(2), ..Writes::default() };
    let pool = pool(&shape(&[Operation::Square; 4]), 2, log);
    pool.submit(&tasks(8)).unwrap();
    let told = loop {
        match pool.complete(true) {
            Ok(_) => {}
            Err(error) => break error.to_string(),
        }
    };
    assert!(told.contains("the disk is full"), "{told}");
    let late = [Submission { task: 99, input: 1, submitted_ns: 0 }];
    assert!(pool.submit(&late).is_err());
    assert_eq!(pool.log().batches.lock().unwrap().len(), 3, "written after a failure");
}
