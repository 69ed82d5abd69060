//! Worker threads over tasks in this process's memory, and a log that may outlive it.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::board::Board;
use crate::{Accepted, Computer, Counters, Graph, RunError, StepRow, Workload, caught};

/// Where a transition is written before anybody acts on it.
pub trait Log: Send + Sync + 'static {
    /// Returns when it would not be lost any more that the task was taken over.
    ///
    /// # Errors
    /// It could not be written.
    fn accepted(&self, task: u32, input: u64, submitted_ns: i64) -> Result<(), RunError>;

    /// Returns when the step's value would not be lost any more. That other steps may be done now
    /// follows from it and is not written.
    ///
    /// # Errors
    /// It could not be written.
    fn recorded(&self, row: &StepRow) -> Result<(), RunError>;

    /// As `BackEnd::bare_ns`.
    ///
    /// # Errors
    /// It could not be made durable.
    fn bare_ns(&self) -> Result<Option<u64>, RunError> {
        Ok(None)
    }

    /// As `BackEnd::counters`.
    fn counters(&self) -> Counters {
        Counters::new()
    }
}

/// Tasks in this process's memory, with threads that do their steps. Ends its threads when dropped.
pub struct Pool<L> {
    board: Arc<Board>,
    log: Arc<L>,
    threads: Vec<JoinHandle<()>>,
}

impl<L: Log> Pool<L> {
    /// Without threads, so that what an earlier run left can be put in first.
    pub fn new(graph: &Arc<Graph>, log: L) -> Self {
        Self { board: Arc::new(Board::new(graph)), log: Arc::new(log), threads: Vec::new() }
    }

    /// A task that an earlier run accepted.
    pub fn restore_task(&self, task: u32, input: u64, submitted_ns: i64) {
        self.board.accept(task, input, submitted_ns);
    }

    /// A step that an earlier run recorded.
    ///
    /// # Errors
    /// It cannot have been done, or it is there twice.
    pub fn restore_step(&self, row: StepRow) -> Result<(), RunError> {
        self.board.restore(row)
    }

    /// Starts the worker threads, and what they compute with.
    ///
    /// # Errors
    /// The system does not give a thread, or as [`Computer::start`].
    pub fn start(mut self, workload: &Workload) -> Result<Self, RunError> {
        for worker in 0..workload.workers {
            let computer = Computer::start(workload)?;
            let (board, log) = (Arc::clone(&self.board), Arc::clone(&self.log));
            let thread = std::thread::Builder::new().name(format!("worker-{worker}"));
            let thread = thread.spawn(move || guarded(&board, &*log, computer));
            let thread = thread.map_err(RunError::setup)?;
            self.threads.push(thread);
        }
        Ok(self)
    }

    /// As `BackEnd::submit`.
    ///
    /// # Errors
    /// The log could not be written.
    pub fn submit(&self, task: u32, input: u64, submitted_ns: i64) -> Result<Accepted, RunError> {
        if let Some(accepted) = self.board.known(task) {
            return Ok(accepted);
        }
        self.log.accepted(task, input, submitted_ns)?;
        Ok(self.board.accept(task, input, submitted_ns))
    }

    /// Tasks that have become complete since the last call; waits for one if `wait` says so.
    ///
    /// # Errors
    /// A worker could not go on.
    pub fn complete(&self, wait: bool) -> Result<Vec<u32>, RunError> {
        self.board.complete(wait)
    }

    /// The log.
    pub fn log(&self) -> &L {
        &self.log
    }

    /// Ends the threads, and gives all steps.
    pub fn finish(self) -> Vec<StepRow> {
        let board = Arc::clone(&self.board);
        drop(self);
        board.take_rows()
    }
}

impl<L> Drop for Pool<L> {
    fn drop(&mut self) {
        self.board.stop();
        for thread in self.threads.drain(..) {
            // A worker that panicked has said so on the board.
            let _ = thread.join();
        }
    }
}

/// A worker's error and its panic end on the board.
fn guarded<L: Log>(board: &Board, log: &L, mut computer: Computer) {
    if let Err(error) = caught(|| work(board, log, &mut computer)) {
        board.fail(&error);
    }
}

fn work<L: Log>(board: &Board, log: &L, computer: &mut Computer) -> Result<(), RunError> {
    let mut next = board.claim();
    while let Some(claimed) = next {
        let row = claimed.perform(computer)?;
        log.recorded(&row)?;
        next = board.record_and_claim(row);
    }
    Ok(())
}
