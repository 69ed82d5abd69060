//! Who says, while a sweep runs, which declared questions are still open.

use lab_record::{Run, Samples};

use crate::Cell;

/// Judges the rounds of a sweep; the driver asks it and knows no metric and no test.
pub trait Referee {
    /// Takes a run of the blocks, before any round.
    fn map(&mut self, run: &Run, samples: &Samples);
    /// No further run of the blocks comes: what the rounds are about may be chosen by them.
    fn mapped(&mut self);
    /// Whether a question still needs a variant's runs in a cell; nobody's once it is decided.
    /// Questions are counted as in [`lab_record::Analysis::questions`].
    fn wants(&self, question: usize, variant: &str, cell: &Cell) -> bool;
    /// Takes the runs of a finished round.
    fn take(&mut self, question: usize, rows: Vec<(Run, Samples)>);
}
