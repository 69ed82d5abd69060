//! Checks of a whole document that need no claim file: tables are understood by the words of
//! their headers, and what is not understood is left alone.

mod against;
mod arrows;
mod below;
mod book;
mod bounds_in_cells;
mod column;
mod comparison;
mod counts;
mod delta_rows;
mod derived;
mod detail;
mod efficiency;
mod formula;
mod found;
mod fractions;
mod grid;
mod group;
mod impossible;
mod inverse;
mod lexicon;
mod link;
mod parts;
mod quantity;
mod ranking;
mod raw_alone;
mod raw_grid;
mod raw_tables;
mod records;
mod relative;
mod repeated;
mod role;
mod rules;
mod runs;
mod sentence;
mod significance;
mod sizes;
mod spreads;
mod statistic;
mod stems;
mod tie;
mod totals;
mod twice;
mod widths;
mod words;

use serde::Serialize;

use crate::mapping::Mapping;
use crate::{Document, Finding, Raw, Table};
use book::Book;
use found::Found;
use grid::Grid;
use link::Labelled;
use tie::Tied;

/// Longer tables are listings, of which no sentence tells a row.
const MOST_ROWS: usize = 400;

/// What came of a document.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Audit {
    /// The worst first.
    pub findings: Vec<Finding>,
    /// How many of its numbers were checked.
    pub coverage: Coverage,
    /// Raw and results files of which nothing could be tied to the document.
    #[serde(skip)]
    pub untied: Vec<String>,
}

/// How many of a document's numbers were checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Cells with numbers, and numbers with units in sentences.
    pub numbers: usize,
    /// Follow from what they are said to be of.
    pub agree: usize,
    /// Are said to follow from others; which others is not clear.
    pub untied: usize,
    /// Do not follow.
    pub disagree: usize,
}

impl Coverage {
    /// Numbers that a check looked at.
    pub fn checked(&self) -> usize {
        self.agree + self.untied + self.disagree
    }
}

/// Every automatic check of a document and of the raw runs behind it, the worst first: what is
/// impossible, by how many printed steps it is off, then what is inconsistent, then what is worth
/// a look.
///
/// Printed numbers stand for every value that prints like them, rounded or cut off, so a report
/// whose numbers are computed from its data gives no impossible finding.
pub fn audit_document(document: &Document, raws: &[Raw], mapping: &Mapping) -> Audit {
    let mut book = Book::default();
    let summaries = raw_grid::documents(raws);
    let labelled: Vec<Labelled<'_>> = raws
        .iter()
        .filter(|raw| !raw_grid::is_summary(raw))
        .map(|raw| Labelled::new(raw, mapping.raw(&raw.name)))
        .collect();
    book.found.extend(raw_alone::check(&labelled));
    let small = raw_grid::small(raws);
    let told: Vec<Grid<'_>> = small.iter().flat_map(|page| grids(page, mapping)).collect();
    let mut all: Vec<Grid<'_>> = Vec::new();
    for summary in &summaries {
        all.extend(grids(summary, mapping));
    }
    all.extend(grids(document, mapping));
    for grid in &all {
        of_table(grid, &document.lists, &mut book);
    }
    for list in &document.lists {
        let grid = Grid::new(document, list, None);
        records::check(&grid, &mut book);
        widths::check(&grid, &mut book);
    }
    raw_tables::check(&all, &labelled, &document.name, &mut book);
    let (own, results): (Vec<&Grid<'_>>, Vec<&Grid<'_>>) =
        all.iter().partition(|grid| grid.document == document.name);
    against::check(document, &own, &results, &mut book);
    sentence::check(document, &mut book);
    let tied: Vec<Tied<'_, '_>> = all
        .iter()
        .filter(|grid| grid.document == document.name && grid.table.rows.len() <= MOST_ROWS)
        .map(Tied::new)
        .collect();
    let theirs: Vec<Tied<'_, '_>> = told.iter().map(Tied::new).collect();
    comparison::check(document, &tied, &theirs, &mut book);
    between(document, &tied, &mut book);
    repeated::check(document, &mut book);
    let coverage = book.coverage(document);
    let mut untied: Vec<String> = raws.iter().map(|raw| raw.name.clone()).collect();
    untied.dedup();
    untied.retain(|name| !book.is_tied(name));
    Audit { findings: ranked(book.found), coverage, untied }
}

/// What prose, lists and tables say of each other.
fn between(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    below::check(document, tables, book);
    twice::check(document, tables, book);
    ranking::check(tables, book);
    quantity::check(document, tables, book);
    detail::check(tables, book);
    spreads::check(tables, book);
    sizes::check(document, tables, book);
    fractions::check(document, tables, book);
    formula::check(document, tables, book);
    significance::check(document, tables, book);
}

/// What a table says by itself.
fn of_table(grid: &Grid<'_>, lists: &[Table], book: &mut Book) {
    runs::check(grid, book);
    records::check(grid, book);
    derived::check(grid, lists, book);
    efficiency::check(grid, book);
    rules::check(grid, book);
    totals::check(grid, book);
    parts::check(grid, book);
    arrows::check(grid, book);
    delta_rows::check(grid, book);
    widths::check(grid, book);
    relative::check(grid, book);
    inverse::check(grid, book);
    impossible::check(grid, book);
    bounds_in_cells::check(grid, book);
    counts::check(grid, book);
    significance::of_table(grid, book);
}

fn grids<'a>(document: &'a Document, mapping: &'a Mapping) -> Vec<Grid<'a>> {
    let mapped =
        document.tables.iter().map(|table| (table, mapping.table(table.line, &table.section())));
    mapped
        .filter(|(_, mapping)| !mapping.is_some_and(|mapping| mapping.ignore))
        .map(|(table, mapping)| Grid::new(document, table, mapping))
        .collect()
}

/// The only one there is.
pub(crate) fn lone<T>(all: impl IntoIterator<Item = T>) -> Option<T> {
    let mut all = all.into_iter();
    all.next().filter(|_| all.next().is_none())
}

fn ranked(mut found: Vec<Found>) -> Vec<Finding> {
    // A broken number in the input must not decide the order of the rest.
    let steps = |found: &Found| if found.steps.is_nan() { 0.0 } else { found.steps };
    found.sort_by(|a, b| {
        a.finding
            .severity
            .cmp(&b.finding.severity)
            .then(steps(b).total_cmp(&steps(a)))
            .then(a.finding.place.cmp(&b.finding.place))
            .then(a.finding.check.cmp(&b.finding.check))
    });
    let mut findings: Vec<Finding> = Vec::new();
    for Found { finding, .. } in found {
        let same = |other: &Finding| other.check == finding.check && other.place == finding.place;
        if !findings.iter().rev().take(64).any(same) {
            findings.push(finding);
        }
    }
    findings
}
