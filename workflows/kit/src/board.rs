//! Tasks in the memory of one process: what is ready, who waits, what was done, and what does not
//! count before it is written.

use std::collections::{HashMap, VecDeque};
use std::mem::take;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::{
    Accepted, Computer, Done, Graph, Job, Log, Progress, RunError, StepId, StepRow, Submission,
    Task, Transition, now_ns,
};

/// One lock over everything: a transition takes well under a microsecond, and a worker takes its
/// next step under the same hold that hands in its last.
///
/// Group commit as databases have it (DeWitt et al. 1984, "Implementation techniques for main
/// memory database systems"): while one thread writes, the transitions of all others collect, and
/// the next write takes them all. A worker does not wait for its own; it takes another step. Who
/// finds no other step, and nobody at one, writes: then a transition that is alone is written by
/// the thread that made it, and many that are made at once are written together.
#[derive(Debug)]
pub(crate) struct Board<L> {
    graph: Arc<Graph>,
    log: L,
    state: Mutex<State>,
    /// There is a step to do, something to write, or nothing more to do.
    work: Condvar,
    /// A task is accepted or complete, or nothing more will be.
    told: Condvar,
    /// Workers are at steps while something is to be written, or nothing more is done.
    late: Condvar,
}

#[derive(Debug, Default)]
struct State {
    tasks: HashMap<u32, Entry>,
    queue: VecDeque<Queued>,
    rows: Vec<StepRow>,
    complete: Vec<u32>,
    /// Handed in, in order; none of it counts.
    unwritten: Vec<Transition>,
    writing: bool,
    /// Writes that were begun.
    writes: u64,
    /// How long those who are at steps may hold up a write: half of what the last one took, as
    /// PostgreSQL's manual advises for `commit_delay`.
    patience: Duration,
    /// Workers that are at a step.
    at_steps: usize,
    /// Workers that wait.
    idle: usize,
    /// Whoever writes for workers that are at steps waits to be asked.
    spare: bool,
    /// The client waits for its tasks to be written.
    accepting: bool,
    stopped: bool,
    failure: Option<String>,
}

/// What a worker does next.
#[derive(Debug)]
pub(crate) enum Turn {
    Step(Claimed),
    Write(Vec<Transition>),
    End,
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
    /// Of which task, and which of its steps.
    pub(crate) fn step(&self) -> (u32, StepId) {
        (self.task, self.job.id)
    }

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

impl<L: Log> Board<L> {
    pub(crate) fn new(graph: &Arc<Graph>, log: L) -> Self {
        Self {
            graph: Arc::clone(graph),
            log,
            state: Mutex::default(),
            work: Condvar::new(),
            told: Condvar::new(),
            late: Condvar::new(),
        }
    }

    pub(crate) fn log(&self) -> &L {
        &self.log
    }

    /// Takes what an earlier run wrote.
    pub(crate) fn restore(&self, transition: Transition) -> Result<(), RunError> {
        let mut state = self.lock();
        state.count(&self.graph, transition, now_ns())?;
        if let Transition::Recorded(row) = transition {
            let place = |queued: &Queued| (queued.task, queued.job.id.step, queued.job.id.part);
            state.queue.retain(|queued| place(queued) != (row.task, row.step, row.part));
        }
        Ok(())
    }

    /// Takes tasks over: all of them are written on return. Of one that an earlier run left the
    /// client, which asks for it only now, is told that it is complete even if that was before.
    pub(crate) fn accept(&self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        let mut state = self.lock();
        let mut last = None;
        for &submission in tasks {
            match state.tasks.get(&submission.task).map(|entry| entry.task.is_complete()) {
                Some(true) => state.complete.push(submission.task),
                Some(false) => {}
                None => {
                    self.hand_in(&mut state, Transition::Accepted(submission));
                    last = Some(submission.task);
                }
            }
        }
        // They are written in order.
        while last.is_some_and(|last| !state.tasks.contains_key(&last)) {
            state.check()?;
            state = match state.next_batch() {
                Some(batch) => self.write(state, &batch),
                None => {
                    self.wake(&mut state);
                    state.accepting = true;
                    self.wait(&self.told, state)
                }
            };
        }
        state.accepting = false;
        self.wake(&mut state);
        Ok(tasks.iter().map(|one| state.tasks[&one.task].accepted).collect())
    }

    /// Hands in what a worker has done, and says what it does next.
    pub(crate) fn turn(&self, done: Option<StepRow>) -> Turn {
        let mut state = self.lock();
        if let Some(row) = done {
            state.at_steps -= 1;
            self.hand_in(&mut state, Transition::Recorded(row));
        }
        self.next(state)
    }

    /// Writes, and says what the worker does next.
    pub(crate) fn write_and_turn(&self, batch: &[Transition]) -> Turn {
        self.next(self.written(batch))
    }

    /// Writes when all workers have been at steps for a while, until nothing more is done.
    pub(crate) fn write_late(&self) {
        let mut state = self.lock();
        while !state.stopped {
            if state.unwritten.is_empty() || state.writing {
                state.spare = true;
                state = self.wait(&self.late, state);
                continue;
            }
            let (writes, patience) = (state.writes, state.patience);
            let nobody = |state: &mut State| !state.stopped && state.writes == writes;
            let waited = self.late.wait_timeout_while(state, patience, nobody);
            state = waited.expect("no thread panics while it holds the board").0;
            if nobody(&mut state) {
                let batch = state.begin_to_write();
                state = self.write(state, &batch);
                self.wake(&mut state);
            }
        }
    }

    fn hand_in(&self, state: &mut State, transition: Transition) {
        if L::WRITES {
            state.unwritten.push(transition);
        } else {
            self.count(state, [transition]);
        }
    }

    fn write<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        batch: &[Transition],
    ) -> MutexGuard<'a, State> {
        drop(state);
        self.written(batch)
    }

    /// Writes without the lock, so that others can hand in; then it counts.
    fn written(&self, batch: &[Transition]) -> MutexGuard<'_, State> {
        let from = Instant::now();
        let written = self.log.write(batch);
        let patience = from.elapsed() / 2;
        let mut state = self.lock();
        state.writing = false;
        state.patience = patience;
        match written {
            Ok(()) => self.count(&mut state, batch.iter().copied()),
            Err(error) => self.fail_as(&mut state, &error),
        }
        state
    }

    fn count(&self, state: &mut State, batch: impl IntoIterator<Item = Transition>) {
        let now_ns = now_ns();
        let recorded = |one| match one {
            Transition::Recorded(row) => {
                Transition::Recorded(StepRow { recorded_ns: now_ns, ..row })
            }
            accepted => accepted,
        };
        let mut batch = batch.into_iter().map(recorded);
        let counted = batch.try_for_each(|one| state.count(&self.graph, one, now_ns));
        if let Err(error) = counted {
            self.fail_as(state, &error);
        }
        if state.accepting || !state.complete.is_empty() {
            self.told.notify_one();
        }
    }

    fn next(&self, mut state: MutexGuard<'_, State>) -> Turn {
        loop {
            if state.stopped {
                return Turn::End;
            }
            if let Some(Queued { task, job, enqueued_ns }) = state.queue.pop_front() {
                state.at_steps += 1;
                self.wake(&mut state);
                let created_ns = state.tasks[&task].created_ns[job.id.step as usize];
                let claimed_ns = now_ns();
                return Turn::Step(Claimed { task, job, created_ns, enqueued_ns, claimed_ns });
            }
            if let Some(batch) = state.next_batch() {
                return Turn::Write(batch);
            }
            self.wake(&mut state);
            state.idle += 1;
            state = self.wait(&self.work, state);
            state.idle -= 1;
        }
    }

    /// Wakes as many as there is something to do for.
    fn wake(&self, state: &mut State) {
        let to_do = state.queue.len() + usize::from(state.may_write());
        for _ in 0..to_do.min(state.idle) {
            self.work.notify_one();
        }
        if state.spare && !state.writing && !state.unwritten.is_empty() {
            state.spare = false;
            self.late.notify_one();
        }
    }

    /// Tasks that have become complete since the last call; waits for one if `wait` says so.
    pub(crate) fn complete(&self, wait: bool) -> Result<Vec<u32>, RunError> {
        let mut state = self.lock();
        loop {
            state.check()?;
            if !wait || !state.complete.is_empty() {
                return Ok(take(&mut state.complete));
            }
            state = self.wait(&self.told, state);
        }
    }

    /// Nothing more is done, for this reason.
    pub(crate) fn fail(&self, error: &RunError) {
        self.fail_as(&mut self.lock(), error);
    }

    fn fail_as(&self, state: &mut State, error: &RunError) {
        state.failure.get_or_insert_with(|| error.to_string());
        self.stop_as(state);
    }

    /// Nothing more is done.
    pub(crate) fn stop(&self) {
        self.stop_as(&mut self.lock());
    }

    fn stop_as(&self, state: &mut State) {
        state.stopped = true;
        for waiting in [&self.work, &self.told, &self.late] {
            waiting.notify_all();
        }
    }

    /// All steps that were done.
    pub(crate) fn take_rows(&self) -> Vec<StepRow> {
        take(&mut self.lock().rows)
    }

    fn wait<'a>(&self, on: &Condvar, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        on.wait(state).expect("no thread panics while it holds the board")
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics while it holds the board")
    }
}

impl State {
    fn check(&self) -> Result<(), RunError> {
        self.failure.clone().map_or(Ok(()), |failure| Err(RunError::Failed(failure)))
    }

    /// Whether somebody who has nothing else to do is to write now.
    fn may_write(&self) -> bool {
        let all_rest = self.queue.is_empty() && self.at_steps == 0;
        all_rest && !self.writing && !self.unwritten.is_empty() && !self.stopped
    }

    fn next_batch(&mut self) -> Option<Vec<Transition>> {
        self.may_write().then(|| self.begin_to_write())
    }

    fn begin_to_write(&mut self) -> Vec<Transition> {
        self.writing = true;
        self.writes += 1;
        take(&mut self.unwritten)
    }

    /// Makes a transition count from now on.
    fn count(&mut self, graph: &Arc<Graph>, one: Transition, now_ns: i64) -> Result<(), RunError> {
        match one {
            Transition::Accepted(submission) => self.accept(graph, submission, now_ns),
            Transition::Recorded(row) => {
                self.record(&row, now_ns)?;
                self.rows.push(row);
            }
        }
        Ok(())
    }

    fn accept(&mut self, graph: &Arc<Graph>, submission: Submission, now_ns: i64) {
        let Submission { task, input, submitted_ns } = submission;
        let (fresh, progress) = Task::new(graph, input);
        let accepted = Accepted { submitted_ns, accepted_ns: now_ns };
        let created_ns = vec![now_ns; graph.shape().steps.len()];
        self.tasks.insert(task, Entry { task: fresh, accepted, created_ns });
        self.apply(task, progress, now_ns);
    }

    fn record(&mut self, row: &StepRow, now_ns: i64) -> Result<(), RunError> {
        let unknown = || RunError::failed(format!("task {} is not known", row.task));
        let entry = self.tasks.get_mut(&row.task).ok_or_else(unknown)?;
        let id = StepId { step: row.step, part: row.part };
        let progress = entry
            .task
            .record(id, row.value)
            .map_err(|refused| RunError::failed(format!("task {}: {refused}", row.task)))?;
        self.apply(row.task, progress, now_ns);
        Ok(())
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
