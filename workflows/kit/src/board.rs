//! Tasks in the memory of one process: what is ready, who waits, what was done.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use crate::{Computer, Done, Graph, Job, Progress, RunError, StepId, StepRow, Task, now_ns};

/// When a task was handed in, and when the back end had taken it over; both lie before the present
/// run for a task that an earlier one left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// `task_submitted_ns`.
    pub submitted_ns: i64,
    /// `task_accepted_ns`.
    pub accepted_ns: i64,
}

/// One lock over everything: a transition takes well under a microsecond, and a worker takes its
/// next step under the same hold that records its last.
#[derive(Debug)]
pub(crate) struct Board {
    graph: Arc<Graph>,
    state: Mutex<State>,
    /// There is a step to do, or nothing more to do.
    work: Condvar,
    /// A task is complete, or nothing more will be.
    told: Condvar,
}

#[derive(Debug, Default)]
struct State {
    tasks: HashMap<u32, Entry>,
    queue: VecDeque<Queued>,
    rows: Vec<StepRow>,
    complete: Vec<u32>,
    idle: usize,
    stopped: bool,
    failure: Option<String>,
}

#[derive(Debug)]
struct Entry {
    task: Task,
    accepted: Accepted,
    /// By step.
    created_ns: Vec<i64>,
}

#[derive(Debug)]
struct Queued {
    task: u32,
    job: Job,
    enqueued_ns: i64,
}

/// A step that one worker has and no other.
#[derive(Debug)]
pub(crate) struct Claimed {
    task: u32,
    job: Job,
    created_ns: i64,
    enqueued_ns: i64,
    claimed_ns: i64,
}

impl Claimed {
    /// Does the step. Until it is recorded, `recorded_ns` is when it was finished.
    ///
    /// # Errors
    /// As [`Computer::compute`].
    pub(crate) fn perform(self, computer: &mut Computer) -> Result<StepRow, RunError> {
        let Done { value, started_ns, finished_ns } = computer.compute(&self.job)?;
        let StepId { step, part } = self.job.id;
        Ok(StepRow {
            task: self.task,
            step,
            part,
            created_ns: self.created_ns,
            enqueued_ns: self.enqueued_ns,
            claimed_ns: self.claimed_ns,
            started_ns,
            finished_ns,
            recorded_ns: finished_ns,
            value,
            claims: 1,
        })
    }
}

impl Board {
    pub(crate) fn new(graph: &Arc<Graph>) -> Self {
        Self {
            graph: Arc::clone(graph),
            state: Mutex::default(),
            work: Condvar::new(),
            told: Condvar::new(),
        }
    }

    /// When a task was accepted, if an earlier run left it. The client, which asks for it only now,
    /// is told of its completion even if that was before.
    pub(crate) fn known(&self, task: u32) -> Option<Accepted> {
        let mut state = self.lock();
        let entry = state.tasks.get(&task)?;
        let (accepted, is_complete) = (entry.accepted, entry.task.is_complete());
        if is_complete {
            state.complete.push(task);
        }
        Some(accepted)
    }

    /// Takes a task that is not known yet.
    pub(crate) fn accept(&self, task: u32, input: u64, submitted_ns: i64) -> Accepted {
        let (fresh, progress) = Task::new(&self.graph, input);
        let mut state = self.lock();
        let accepted = Accepted { submitted_ns, accepted_ns: now_ns() };
        let created_ns = vec![accepted.accepted_ns; self.graph.shape().steps.len()];
        state.tasks.insert(task, Entry { task: fresh, accepted, created_ns });
        state.apply(task, progress, accepted.accepted_ns);
        self.wake(&state);
        accepted
    }

    /// Records a step that an earlier run did.
    pub(crate) fn restore(&self, row: StepRow) -> Result<(), RunError> {
        let mut state = self.lock();
        state.record(&row)?;
        let of = |queued: &Queued| (queued.task, queued.job.id.step, queued.job.id.part);
        state.queue.retain(|queued| of(queued) != (row.task, row.step, row.part));
        state.rows.push(row);
        Ok(())
    }

    /// Waits for a step to do; `None` when there is nothing more to do.
    pub(crate) fn claim(&self) -> Option<Claimed> {
        self.claim_from(self.lock())
    }

    /// Records a step, and takes the next one to do.
    pub(crate) fn record_and_claim(&self, row: StepRow) -> Option<Claimed> {
        let mut state = self.lock();
        let recorded_ns = match state.record(&row) {
            Ok(recorded_ns) => recorded_ns,
            Err(error) => {
                drop(state);
                self.fail(&error);
                return None;
            }
        };
        state.rows.push(StepRow { recorded_ns, ..row });
        if !state.complete.is_empty() {
            self.told.notify_one();
        }
        self.claim_from(state)
    }

    fn claim_from(&self, mut state: MutexGuard<'_, State>) -> Option<Claimed> {
        loop {
            if state.stopped {
                return None;
            }
            if let Some(Queued { task, job, enqueued_ns }) = state.queue.pop_front() {
                self.wake(&state);
                let created_ns = state.tasks[&task].created_ns[job.id.step as usize];
                let claimed_ns = now_ns();
                return Some(Claimed { task, job, created_ns, enqueued_ns, claimed_ns });
            }
            state.idle += 1;
            state = self.work.wait(state).expect("no thread panics while it holds the board");
            state.idle -= 1;
        }
    }

    fn wake(&self, state: &State) {
        for _ in 0..state.queue.len().min(state.idle) {
            self.work.notify_one();
        }
    }

    /// Tasks that have become complete since the last call; waits for one if `wait` says so.
    pub(crate) fn complete(&self, wait: bool) -> Result<Vec<u32>, RunError> {
        let mut state = self.lock();
        loop {
            if let Some(failure) = &state.failure {
                return Err(RunError::Failed(failure.clone()));
            }
            if !wait || !state.complete.is_empty() {
                return Ok(std::mem::take(&mut state.complete));
            }
            state = self.told.wait(state).expect("no thread panics while it holds the board");
        }
    }

    /// Nothing more is done, for this reason.
    pub(crate) fn fail(&self, error: &RunError) {
        let mut state = self.lock();
        state.failure.get_or_insert_with(|| error.to_string());
        state.stopped = true;
        self.work.notify_all();
        self.told.notify_all();
    }

    /// Nothing more is done.
    pub(crate) fn stop(&self) {
        self.lock().stopped = true;
        self.work.notify_all();
    }

    /// All steps that were done.
    pub(crate) fn take_rows(&self) -> Vec<StepRow> {
        std::mem::take(&mut self.lock().rows)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it holds the board")
    }
}

impl State {
    /// Moves the task on, and says when that was.
    fn record(&mut self, row: &StepRow) -> Result<i64, RunError> {
        let unknown = || RunError::failed(format!("task {} is not known", row.task));
        let entry = self.tasks.get_mut(&row.task).ok_or_else(unknown)?;
        let id = StepId { step: row.step, part: row.part };
        let progress = entry
            .task
            .record(id, row.value)
            .map_err(|refused| RunError::failed(format!("task {}: {refused}", row.task)))?;
        let now_ns = now_ns();
        self.apply(row.task, progress, now_ns);
        Ok(now_ns)
    }

    fn apply(&mut self, task: u32, progress: Progress, now_ns: i64) {
        let entry = self.tasks.get_mut(&task).expect("only a known task makes progress");
        for step in progress.created {
            entry.created_ns[step as usize] = now_ns;
        }
        let queued = progress.ready.into_iter();
        self.queue.extend(queued.map(|job| Queued { task, job, enqueued_ns: now_ns }));
        if progress.complete {
            self.complete.push(task);
        }
    }
}
