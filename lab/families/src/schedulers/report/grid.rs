//! Tables with a column for each policy.

use lab_family::Cell;
use lab_report::{Entry, Reading, Study, Table};

use super::level;

/// Readings by row and policy.
pub(crate) struct Grid<'a> {
    titles: Vec<&'a str>,
    policies: Vec<&'a str>,
    rows: Vec<Row>,
}

/// A text for each title, and a reading for each policy.
struct Row {
    texts: Vec<String>,
    readings: Vec<Option<Reading>>,
    /// Whether a declared question reads it.
    is_asked: bool,
}

/// The median over blocks of each metric in each cell.
pub(crate) fn of_metrics<'a>(
    study: &'a Study,
    cells: &[&Cell],
    factors: &[&'a str],
    metrics: &[&str],
) -> Grid<'a> {
    let titles = [&["metric"], factors].concat();
    let mut grid = Grid::titled(study, titles);
    for metric in metrics {
        for cell in cells {
            let levels = factors.iter().map(|factor| level(cell, factor).to_owned());
            let texts = std::iter::once(format!("`{metric}`")).chain(levels).collect();
            grid.row(texts, study.is_asked(cell, Some(metric)), |policy| {
                Reading::level(&study.series(policy, cell, metric), study.unit(metric))
            });
        }
    }
    grid
}

impl<'a> Grid<'a> {
    pub(crate) fn titled(study: &'a Study, titles: Vec<&'a str>) -> Self {
        Self { titles, policies: study.variants(), rows: Vec::new() }
    }

    /// Adds a row, unless no policy has a reading.
    pub(crate) fn row(
        &mut self,
        texts: Vec<String>,
        is_asked: bool,
        read: impl Fn(&str) -> Option<Reading>,
    ) {
        let readings: Vec<Option<Reading>> =
            self.policies.iter().map(|policy| read(policy)).collect();
        if readings.iter().any(Option::is_some) {
            self.rows.push(Row { texts, readings, is_asked });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A column for each policy that has a reading, without intervals: for people.
    pub(crate) fn wide(&self) -> Table {
        let has_reading =
            |place: &usize| self.rows.iter().any(|row| row.readings[*place].is_some());
        let places: Vec<usize> = (0..self.policies.len()).filter(has_reading).collect();
        let names = places.iter().map(|place| self.policies[*place]);
        let columns: Vec<(&str, &str)> =
            self.titles.iter().copied().chain(names).map(|name| (name, name)).collect();
        let mut table = Table::new(&columns);
        for Row { texts, readings, is_asked } in &self.rows {
            let short = |place: &usize| Reading::middle(readings[*place]);
            let texts = texts.iter().map(Entry::text);
            table.row_of(texts.chain(places.iter().map(short)).collect(), *is_asked);
        }
        table
    }

    /// A row for each reading: for machines.
    pub(crate) fn long(&self) -> Table {
        let own = ["variant", "n", "value", "low", "high"];
        let columns: Vec<(&str, &str)> =
            self.titles.iter().copied().chain(own).map(|name| (name, name)).collect();
        let mut table = Table::new(&columns);
        for Row { texts, readings, .. } in &self.rows {
            for (policy, reading) in self.policies.iter().zip(readings) {
                let Some(reading) = reading else { continue };
                let mut row: Vec<Entry> = texts.iter().map(Entry::text).collect();
                row.extend([Entry::text(*policy), Entry::count(reading.n)]);
                row.extend(Reading::entries(Some(*reading)));
                table.row(row);
            }
        }
        table
    }
}
