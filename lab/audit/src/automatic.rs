//! Checks of a whole document that need no claim file: tables are understood by the words of
//! their headers, and what is not understood is left alone.

mod found;
mod grid;
mod group;
mod link;
mod ratios;
mod raw_tables;
mod records;
mod role;
mod runs;
mod totals;

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
    let grids: Vec<Grid<'_>> = document
        .tables
        .iter()
        .map(|table| (table, mapping.table(table.line, &table.section())))
        .filter(|(_, mapping)| !mapping.is_some_and(|mapping| mapping.ignore))
        .map(|(table, mapping)| Grid::new(document, table, mapping))
        .collect();
    let mut found = Vec::new();
    for grid in &grids {
        found.extend(runs::check(grid));
        found.extend(records::check(grid));
        found.extend(ratios::check(grid));
        found.extend(totals::check(grid));
    }
    let labelled: Vec<Labelled<'_>> =
        raws.iter().map(|raw| Labelled::new(raw, mapping.raw(&raw.name))).collect();
    found.extend(raw_tables::check(&grids, &labelled));
    ranked(found)
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
