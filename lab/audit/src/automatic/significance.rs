//! Test statistics, their p, and the samples they are of.

mod contingency;
mod printed;
mod samples;

use super::book::Book;
use super::grid::{Grid, Record};
use super::tie::Tied;
use crate::checks::tests_of_hypotheses::StatedP;
use crate::{Bound, Cell, Document, Printed};

/// Checks tests in sentences, in columns, and in lists beside the samples they compare.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    printed::check(document, book);
    samples::check(document, tables, book);
    contingency::check(document, tables, book);
}

/// Columns of t, degrees of freedom and p.
pub(crate) fn of_table(grid: &Grid<'_>, book: &mut Book) {
    grid.records.iter().for_each(|record: &Record<'_>| printed::of_record(grid, record, book));
}

/// A p-value as a text prints it: `0.03`, `< 0.001`, `> .05`.
fn stated_p(mark: &str, digits: &str) -> Option<(StatedP, Printed)> {
    let digits = if digits.starts_with('.') { format!("0{digits}") } else { digits.to_owned() };
    let printed = Printed::parse(&digits)?;
    let p = match mark {
        "<" | "≤" => StatedP::Below(printed.value),
        ">" | "≥" => StatedP::Above(printed.value),
        _ => StatedP::Equals(printed.clone()),
    };
    ((0.0..=1.0).contains(&printed.value)).then_some((p, printed))
}

/// What a cell says of a p, with the sign before it.
fn p_of_cell(cell: &Cell, stated: &Printed) -> StatedP {
    match cell.bound {
        Some(Bound::Below) => StatedP::Below(stated.value),
        Some(Bound::Above) => StatedP::Above(stated.value),
        None => StatedP::Equals(stated.clone()),
    }
}
