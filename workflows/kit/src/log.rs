//! What must not be lost before anybody acts on it.

use crate::{RunError, StepRow};

/// A task as its client hands it in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submission {
    /// Its number.
    pub task: u32,
    /// What its first steps take.
    pub input: u64,
    /// `task_submitted_ns`.
    pub submitted_ns: i64,
}

/// When a task was handed in, and when the back end had taken it over; both lie before the present
/// run for a task that an earlier one left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// `task_submitted_ns`.
    pub submitted_ns: i64,
    /// `task_accepted_ns`.
    pub accepted_ns: i64,
}

/// From these alone the state of all tasks follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transition {
    /// A task was taken over.
    Accepted(Submission),
    /// A step has a value. That other steps may be done now follows from it.
    Recorded(StepRow),
}

/// Where transitions are written before they count.
pub trait Log: Send + Sync + 'static {
    /// Whether anything is written. Where nothing is, a transition counts at once.
    const WRITES: bool;

    /// Returns when none of these would be lost any more. One thread at a time calls it.
    ///
    /// # Errors
    /// They could not be written. It is not called again then.
    fn write(&self, batch: &[Transition]) -> Result<(), RunError>;
}
