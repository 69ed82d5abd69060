//! The three tables that most chapters are: metrics by cell, one variant over another, one level of
//! a factor over another.

use std::collections::BTreeMap;

use lab_family::Cell;

use crate::chapter::Column::{Code, Count, Intervals, Levels};
use crate::reading::Reading;
use crate::study::{Study, with};
use crate::tables::Table;

/// Which rows a view has.
pub struct Rows<'r> {
    /// The variants, in order.
    pub variants: &'r [&'r str],
    /// Whether a cell is shown.
    pub keep: &'r dyn Fn(&Cell) -> bool,
    /// The factors that get a column.
    pub factors: &'r [&'r str],
}

/// The median of each metric over blocks with its interval, a row for each variant and cell.
pub fn metrics_by_cell(study: &Study, rows: &Rows, metrics: &[&str]) -> Table {
    table(study, rows, metrics, |variant, cell, metric| {
        Reading::level(&study.series(variant, cell, metric), study.unit(metric))
    })
}

/// Each metric over that of `baseline` in the same cell and block.
pub fn over_variant(study: &Study, rows: &Rows, baseline: &str, metrics: &[&str]) -> Table {
    table(study, rows, metrics, |variant, cell, metric| {
        let own = study.series(variant, cell, metric);
        Reading::ratio(&own, &study.series(baseline, cell, metric))
    })
}

/// Each metric over that of the same variant at another level of one factor, in the same block.
pub fn over_level(
    study: &Study,
    rows: &Rows,
    (factor, baseline): (&str, &str),
    metrics: &[&str],
) -> Table {
    table(study, rows, metrics, |variant, cell, metric| {
        let own = study.series(variant, cell, metric);
        Reading::ratio(&own, &study.series(variant, &with(cell, factor, baseline), metric))
    })
}

/// Rows without any number are left out.
fn table(
    study: &Study,
    rows: &Rows,
    metrics: &[&str],
    read: impl Fn(&str, &Cell, &str) -> Option<Reading>,
) -> Table {
    let read = |(variant, cell)| {
        let readings: BTreeMap<&str, Reading> =
            metrics.iter().filter_map(|one| Some((*one, read(variant, cell, one)?))).collect();
        let n = readings.values().map(|reading| reading.n).max()?;
        Some((variant, cell, n, readings))
    };
    let places = study.places(rows.variants).into_iter();
    let rows_read: Vec<_> = places.filter(|(_, cell)| (rows.keep)(cell)).filter_map(read).collect();
    let titles: Vec<String> = metrics.iter().map(|metric| study.noun(metric)).collect();
    let titles: Vec<(&str, &str)> =
        titles.iter().zip(metrics).map(|(title, metric)| (title.as_str(), *metric)).collect();
    let table = Table::over(
        &rows_read,
        &[
            Code("variant", "variant", &|(variant, ..)| variant),
            Levels(rows.factors, &|(_, cell, ..)| cell),
            Count("n", "n", &|(_, _, n, _)| *n),
            Intervals(&titles, &|(.., readings), metric| readings.get(metric).copied()),
        ],
    );
    table.asked(rows_read.iter().map(|(_, cell, ..)| study.is_asked(cell, None)))
}
