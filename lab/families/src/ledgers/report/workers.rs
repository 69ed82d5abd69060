//! What all chapters read of a sweep over numbers of workers.

use std::collections::BTreeMap;

use lab_family::Cell;
use lab_report::{FamilyReport, Series, Study, centre, study::with};
use lab_stats::describe::median;

use crate::ledgers::HARNESS_TAG;
use crate::ledgers::metrics::{divide_by, transactions};

/// Factors that say what is to be done; the others say how.
const DATA: [&str; 5] = ["contention", "kinds", "transactions", "streams", "work_ns"];

/// Factors that may differ from the default where a store is otherwise as its library makes it and
/// transactions do nothing beside.
pub(crate) const PLAIN: [&str; 5] = ["workers", "streams", "transactions", "kinds", "contention"];

/// The names of all factors, in the order of tables.
pub(crate) fn factors_of(family: &dyn FamilyReport) -> Vec<&'static str> {
    family.factors().iter().map(|factor| factor.name).collect()
}

/// All variants but twins and the one that keeps no ledger.
pub(crate) fn ledgers<'a>(study: &Study<'a>) -> Vec<&'a str> {
    let variants = study.variants().into_iter();
    variants.filter(|variant| !study.is_tagged(variant, HARNESS_TAG)).collect()
}

/// The levels of `workers` by everything else, wherever a variant ran.
pub(crate) fn curves(study: &Study, variant: &str) -> Vec<(Cell, Vec<String>)> {
    study.along(variant, "workers")
}

/// Elapsed time at one level of `workers`.
pub(crate) fn elapsed(study: &Study, variant: &str, rest: &Cell, workers: &str) -> Series {
    study.series(variant, &with(rest, "workers", workers), "elapsed_ns")
}

/// The floor's elapsed time on the same data, however many workers it was asked for.
pub(crate) fn floor_elapsed(study: &Study, cell: &Cell) -> Series {
    let Some(floor) = study.floor() else { return Series::new() };
    let same = |other: &&Cell| DATA.iter().all(|factor| other.get(*factor) == cell.get(*factor));
    let mut values: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for other in study.cells(floor).into_iter().filter(same) {
        for (block, value) in study.series(floor, other, "elapsed_ns") {
            values.entry(block).or_default().push(value);
        }
    }
    values.into_iter().filter_map(|(block, all)| Some((block, median(&all)?))).collect()
}

/// Of these numbers of workers the one with the smallest median time.
pub(crate) fn fastest(
    study: &Study,
    variant: &str,
    rest: &Cell,
    counts: impl Iterator<Item = u32>,
) -> Option<u32> {
    let timed = counts.filter_map(|count| {
        Some((count, centre(&elapsed(study, variant, rest, &count.to_string()))?))
    });
    timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(count, _)| count)
}

/// Transactions of one repetition in a cell.
pub(crate) fn transactions_of(study: &Study, cell: &Cell) -> Option<f64> {
    transactions(cell, divide_by(&study.section))
}

/// Levels that are numbers, ascending.
pub(crate) fn counts(levels: &[String]) -> Vec<u32> {
    let mut counts: Vec<u32> = levels.iter().filter_map(|level| level.parse().ok()).collect();
    counts.sort_unstable();
    counts
}

/// The factor's level as a number, for what is ordered by it.
pub(crate) fn number(cell: &Cell, factor: &str) -> Option<u64> {
    cell.get(factor)?.parse().ok()
}
