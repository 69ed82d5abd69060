//! The three tables that most chapters are: metrics by cell, one variant over another, one level of
//! a factor over another.

use lab_family::Cell;

use crate::{Entry, Reading, Study, Table, study::with};

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
    let mut columns = vec![("variant".to_owned(), "variant".to_owned())];
    columns.extend(rows.factors.iter().map(|factor| ((*factor).to_owned(), (*factor).to_owned())));
    columns.push(("n".to_owned(), "n".to_owned()));
    for metric in metrics {
        columns.push((study.noun(metric), String::new()));
        let keys = [(*metric).to_owned(), format!("{metric}_low"), format!("{metric}_high")];
        columns.extend(keys.map(|key| (String::new(), key)));
    }
    let columns: Vec<(&str, &str)> =
        columns.iter().map(|(title, key)| (title.as_str(), key.as_str())).collect();
    let mut table = Table::new(&columns);
    for variant in rows.variants {
        for cell in study.cells(variant).into_iter().filter(|cell| (rows.keep)(cell)) {
            let readings: Vec<Option<Reading>> =
                metrics.iter().map(|metric| read(variant, cell, metric)).collect();
            let Some(n) = readings.iter().flatten().map(|reading| reading.n).max() else {
                continue;
            };
            let level = |factor: &&str| cell.get(*factor).map_or(Entry::Missing, Entry::text);
            let mut row = vec![Entry::code(variant)];
            row.extend(rows.factors.iter().map(level));
            row.push(Entry::count(n));
            for reading in readings {
                row.push(Reading::in_short(reading));
                row.extend(Reading::entries(reading));
            }
            table.row_of(row, study.is_asked(cell, None));
        }
    }
    table
}
