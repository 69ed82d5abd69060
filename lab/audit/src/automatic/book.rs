//! What was checked, and what came of it.

use std::collections::{BTreeMap, BTreeSet};

use super::found::Found;
use crate::document::SentenceKind;
use crate::{Coverage, Document};

/// Where a number stands: its line, and its column, or [`PROSE`] and its value in a sentence.
type Spot = (usize, u64);

/// What a check said of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// Its name says how it follows from others, and which others is not clear.
    Untied,
    Agrees,
    Disagrees,
}

/// The findings in the making and the numbers behind them.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) found: Vec<Found>,
    numbers: BTreeMap<Spot, Outcome>,
    /// Files that something of the document was held against.
    tied: BTreeSet<String>,
}

/// A number's spot in prose is told by its bits, which no column index reaches.
fn bits(value: f64) -> u64 {
    value.to_bits() | 1 << 63
}

impl Book {
    /// A cell that follows from others as its name says, or does not.
    pub(crate) fn cell(&mut self, line: usize, column: usize, wrong: Option<Found>) {
        self.note((line, column as u64), wrong);
    }

    /// A number of a sentence.
    pub(crate) fn stated(&mut self, line: usize, value: f64, wrong: Option<Found>) {
        self.note((line, bits(value)), wrong);
    }

    /// A claim without a number of its own.
    pub(crate) fn claim(&mut self, wrong: Option<Found>) {
        self.found.extend(wrong);
    }

    /// A file that something of the document was held against.
    pub(crate) fn tie(&mut self, file: &str) {
        if !self.tied.contains(file) {
            self.tied.insert(file.to_owned());
        }
    }

    /// Whether something of the document was held against a file.
    pub(crate) fn is_tied(&self, file: &str) -> bool {
        self.tied.contains(file)
    }

    /// A cell of which it is not clear what it follows from.
    pub(crate) fn untied(&mut self, line: usize, column: usize) {
        self.numbers.entry((line, column as u64)).or_insert(Outcome::Untied);
    }

    fn note(&mut self, spot: Spot, wrong: Option<Found>) {
        let outcome = if wrong.is_some() { Outcome::Disagrees } else { Outcome::Agrees };
        let known = self.numbers.entry(spot).or_insert(outcome);
        *known = outcome.max(*known);
        self.found.extend(wrong);
    }

    /// How many of a document's numbers were checked.
    pub(crate) fn coverage(&self, document: &Document) -> Coverage {
        let cells = document.tables.iter().flat_map(|table| &table.rows).flat_map(|r| &r.cells);
        let in_tables = cells.filter(|cell| !cell.numbers.is_empty()).count();
        let prose = document.prose.iter().filter(|one| one.kind == SentenceKind::Prose);
        let in_prose = prose.flat_map(|one| &one.numbers).filter(|n| n.unit.is_some()).count();
        let count = |wanted| self.numbers.values().filter(|outcome| **outcome == wanted).count();
        Coverage {
            numbers: (in_tables + in_prose).max(self.numbers.len()),
            agree: count(Outcome::Agrees),
            untied: count(Outcome::Untied),
            disagree: count(Outcome::Disagrees),
        }
    }
}
