//! Worker threads over tasks in this process's memory, and a log that may outlive it.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::board::{Board, Turn};
use crate::{Accepted, Computer, Graph, Log, RunError, StepId, StepRow, Submission, Transition};
use crate::{Workload, caught};

/// What a worker does before each step, given the task and the step.
pub type BeforeStep = Arc<dyn Fn(u32, StepId) + Send + Sync>;

/// Tasks in this process's memory, with threads that do their steps. Ends its threads when dropped.
pub struct Pool<L: Log> {
    board: Arc<Board<L>>,
    threads: Vec<JoinHandle<()>>,
}

impl<L: Log> Pool<L> {
    /// Without threads, so that what an earlier run left can be put in first.
    pub fn new(graph: &Arc<Graph>, log: L) -> Self {
        Self { board: Arc::new(Board::new(graph, log)), threads: Vec::new() }
    }

    /// Takes what an earlier run wrote, in order.
    ///
    /// # Errors
    /// A step cannot have been done, or it is there twice.
    pub fn restore(&self, transition: Transition) -> Result<(), RunError> {
        self.board.restore(transition)
    }

    /// Starts the worker threads, and what they compute with.
    ///
    /// # Errors
    /// The system does not give a thread, or as [`Computer::start`].
    pub fn start(self, workload: &Workload) -> Result<Self, RunError> {
        let nothing: BeforeStep = Arc::new(|_: u32, _: StepId| ());
        self.start_with(workload, &nothing)
    }

    /// The same with something that workers do before each step.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_with(
        mut self,
        workload: &Workload,
        before: &BeforeStep,
    ) -> Result<Self, RunError> {
        for worker in 0..workload.workers {
            let mut computer = Computer::start(workload, worker)?;
            let before = Arc::clone(before);
            let body = move |board: &Board<L>| work(board, &mut computer, &before);
            self.spawn(format!("worker-{worker}"), body)?;
        }
        if L::WRITES {
            self.spawn("writer".to_owned(), |board| {
                board.write_late();
                Ok(())
            })?;
        }
        Ok(self)
    }

    /// A thread whose error and whose panic end on the board.
    fn spawn(
        &mut self,
        name: String,
        body: impl FnOnce(&Board<L>) -> Result<(), RunError> + Send + 'static,
    ) -> Result<(), RunError> {
        let board = Arc::clone(&self.board);
        let guarded = move || {
            if let Err(error) = caught(|| body(&board)) {
                board.fail(&error);
            }
        };
        let thread = std::thread::Builder::new().name(name).spawn(guarded);
        self.threads.push(thread.map_err(RunError::setup)?);
        Ok(())
    }

    /// As `BackEnd::submit`.
    ///
    /// # Errors
    /// The log could not be written.
    pub fn submit(&self, tasks: &[Submission]) -> Result<Vec<Accepted>, RunError> {
        self.board.accept(tasks)
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
        self.board.log()
    }

    /// Ends the threads, and gives all steps.
    pub fn finish(self) -> Vec<StepRow> {
        let board = Arc::clone(&self.board);
        drop(self);
        board.take_rows()
    }
}

impl<L: Log> Drop for Pool<L> {
    fn drop(&mut self) {
        self.board.stop();
        for thread in self.threads.drain(..) {
            // One that panicked has said so on the board.
            let _ = thread.join();
        }
    }
}

fn work<L: Log>(
    board: &Board<L>,
    computer: &mut Computer,
    before: &BeforeStep,
) -> Result<(), RunError> {
    let mut turn = board.turn(None);
    loop {
        turn = match turn {
            Turn::Step(claimed) => {
                let (task, step) = claimed.step();
                before(task, step);
                board.turn(Some(claimed.perform(computer)?))
            }
            Turn::Write(batch) => board.write_and_turn(&batch),
            Turn::End => return Ok(()),
        };
    }
}
