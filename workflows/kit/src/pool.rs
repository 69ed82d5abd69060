//! Worker threads over tasks in this process's memory, and a log that may outlive it.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::board::{Board, Turn};
use crate::{Accepted, Computer, Graph, Log, RunError, StepRow, Submission, Transition};
use crate::{Workload, caught};

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
    pub fn start(mut self, workload: &Workload) -> Result<Self, RunError> {
        for worker in 0..workload.workers {
            let mut computer = Computer::start(workload)?;
            let body = move |board: &Board<L>| work(board, &mut computer);
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

fn work<L: Log>(board: &Board<L>, computer: &mut Computer) -> Result<(), RunError> {
    let mut turn = board.turn(None);
    loop {
        turn = match turn {
            Turn::Step(claimed) => board.turn(Some(claimed.perform(computer)?)),
            Turn::Write(batch) => board.write_and_turn(&batch),
            Turn::End => return Ok(()),
        };
    }
}
