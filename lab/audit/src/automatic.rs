//! Checks of a whole document that need no claim file: tables are understood by the words of
//! their headers, and what is not understood is left alone.

mod across;
mod between;
mod bounds_in_cells;
mod found;
mod grid;
mod group;
mod link;
mod printed_runs;
mod ranking;
mod ratios;
mod raw_alone;
mod raw_cells;
mod raw_grid;
mod raw_tables;
mod records;
mod role;
mod runs;
mod significance;
mod totals;
mod wall;
mod whole_numbers;

use crate::mapping::Mapping;
use crate::{Document, Finding, Raw};
use found::Found;
use grid::Grid;
use link::Labelled;

/// Every automatic check of a document and of the raw runs behind it, the worst first: what is
/// impossible, by how many printed steps it is off, then what is doubtful.
///
/// Printed numbers stand for every value that prints like them, rounded or cut off, so a report
/// whose numbers are computed from its data gives no impossible finding.
pub fn audit_document(document: &Document, raws: &[Raw], mapping: &Mapping) -> Vec<Finding> {
    let summaries = raw_grid::documents(raws);
    let mut all: Vec<Grid<'_>> = Vec::new();
    for summary in &summaries {
        all.extend(grids(summary, mapping));
    }
    let labelled: Vec<Labelled<'_>> = raws
        .iter()
        .filter(|raw| !raw_grid::is_summary(raw))
        .map(|raw| Labelled::new(raw, mapping.raw(&raw.name)))
        .collect();
    let mut found = raw_alone::check(&labelled);
    all.extend(grids(document, mapping));
    for grid in &all {
        found.extend(runs::check(grid));
        found.extend(records::check(grid));
        found.extend(ratios::check(grid));
        found.extend(totals::check(grid));
        found.extend(bounds_in_cells::check(grid));
        found.extend(whole_numbers::check(grid));
        found.extend(ranking::check(grid));
        found.extend(significance::check(grid));
    }
    found.extend(raw_tables::check(&all, &labelled));
    found.extend(between::check(&all));
    found.extend(wall::check(document, &labelled));
    found.extend(against_printed_runs(&all));
    found.extend(significance::prose(document));
    found.extend(across::check(document, &all));
    ranked(found)
}

/// Tables against the runs that another table prints.
fn against_printed_runs(all: &[Grid<'_>]) -> Vec<Found> {
    let mut found = Vec::new();
    for (index, raw) in printed_runs::raws(all) {
        let labelled = [Labelled::new(&raw, None)];
        found.extend(raw_tables::check(&all[..index], &labelled));
        found.extend(raw_tables::check(&all[index + 1..], &labelled));
    }
    found
}

fn grids<'a>(document: &'a Document, mapping: &'a Mapping) -> Vec<Grid<'a>> {
    let mapped =
        document.tables.iter().map(|table| (table, mapping.table(table.line, &table.section())));
    mapped
        .filter(|(_, mapping)| !mapping.is_some_and(|mapping| mapping.ignore))
        .map(|(table, mapping)| Grid::new(document, table, mapping))
        .collect()
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
