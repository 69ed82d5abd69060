//! Tables of one metric: a row per place, a column per policy.

use super::trials::{Asked, Trials};
use crate::measure::{Unit, unit};
use crate::page::Page;
use crate::reading::Reading;
use crate::tables::{Cell, Table};

/// What a row shows of every policy.
pub(super) struct Line {
    /// A cell per title.
    pub(super) labels: Vec<String>,
    /// What was published of it; empty where nothing was.
    pub(super) published: String,
    pub(super) test: &'static str,
    pub(super) levels: Vec<(&'static str, String)>,
    pub(super) metric: &'static str,
}

impl Line {
    pub(super) fn of(
        test: &'static str,
        levels: &[(&'static str, &str)],
        metric: &'static str,
    ) -> Self {
        let levels = levels.iter().map(|(factor, level)| (*factor, (*level).to_owned()));
        Self { labels: vec![], published: String::new(), test, levels: levels.collect(), metric }
    }

    pub(super) fn labelled(mut self, labels: &[&str]) -> Self {
        self.labels = labels.iter().map(|label| (*label).to_owned()).collect();
        self
    }

    pub(super) fn published(mut self, text: &str) -> Self {
        text.clone_into(&mut self.published);
        self
    }

    pub(super) fn row(&self, trials: &Trials) -> Row {
        let policies = trials.policies().into_iter();
        Row {
            labels: self.labels.clone(),
            published: self.published.clone(),
            metric: self.metric,
            readings: policies.map(|policy| self.reading(trials, policy)).collect(),
        }
    }

    fn reading(&self, trials: &Trials, policy: &str) -> Option<Reading> {
        let levels: Vec<(&str, &str)> =
            self.levels.iter().map(|(factor, level)| (*factor, level.as_str())).collect();
        read(trials, policy, self.test, &levels, self.metric)
    }
}

/// The median over blocks of a metric.
pub(super) fn read(
    trials: &Trials,
    policy: &str,
    test: &str,
    levels: Asked,
    metric: &str,
) -> Option<Reading> {
    Reading::level(&trials.series(policy, test, levels, metric), unit(metric))
}

/// One row of a grid, with its readings by policy.
pub(super) struct Row {
    pub(super) labels: Vec<String>,
    pub(super) published: String,
    pub(super) metric: &'static str,
    /// As many as policies, in their order.
    pub(super) readings: Vec<Option<Reading>>,
}

impl Row {
    /// The same row with some of its labels.
    pub(super) fn labelled_by(&self, labels: &[usize]) -> Self {
        Self {
            labels: labels.iter().map(|place| self.labels[*place].clone()).collect(),
            published: self.published.clone(),
            metric: self.metric,
            readings: self.readings.clone(),
        }
    }
}

/// Writes lines that anyone has a value for.
pub(super) fn write(trials: &Trials, page: &mut Page, name: &str, titles: &[&str], lines: &[Line]) {
    write_rows(trials, page, name, titles, lines.iter().map(|line| line.row(trials)).collect());
}

/// Writes rows that anyone has a value for: in the text a column per policy, in `name`.tsv a row
/// per row and policy. Says so where there are none.
pub(super) fn write_rows(
    trials: &Trials,
    page: &mut Page,
    name: &str,
    titles: &[&str],
    mut rows: Vec<Row>,
) {
    rows.retain(|row| row.readings.iter().any(Option::is_some));
    if rows.is_empty() {
        page.paragraph("No run of this sweep measured it.");
        return;
    }
    let policies: Vec<(usize, &str)> = trials
        .policies()
        .into_iter()
        .enumerate()
        .filter(|(place, _)| rows.iter().any(|row| row.readings[*place].is_some()))
        .collect();
    page.markdown.push_str(&format!("{}\n", wide(titles, &policies, &rows).markdown()));
    page.data(name, &long(titles, &policies, &rows));
}

/// The same for machines alone.
pub(super) fn keep_rows(
    trials: &Trials,
    page: &mut Page,
    name: &str,
    titles: &[&str],
    rows: Vec<Row>,
) {
    let policies: Vec<(usize, &str)> = trials.policies().into_iter().enumerate().collect();
    let table = long(titles, &policies, &rows);
    if !table.is_empty() {
        page.data(name, &table);
    }
}

fn wide(titles: &[&str], policies: &[(usize, &str)], rows: &[Row]) -> Table {
    let said = rows.iter().any(|row| !row.published.is_empty());
    let mut columns: Vec<(&str, &str)> = titles.iter().map(|title| (*title, *title)).collect();
    columns.extend(said.then_some(("published", "published")));
    columns.extend(policies.iter().map(|(_, policy)| (*policy, *policy)));
    let mut table = Table::new(&columns);
    for row in rows {
        let mut cells: Vec<Cell> = row.labels.iter().map(Cell::text).collect();
        cells.extend(said.then(|| Cell::text(&row.published)));
        let short = |(place, _): &(usize, &str)| {
            row.readings[*place].map_or(Cell::Missing, |reading| Cell::Text(reading.short()))
        };
        cells.extend(policies.iter().map(short));
        table.row(cells);
    }
    table
}

fn long(titles: &[&str], policies: &[(usize, &str)], rows: &[Row]) -> Table {
    let mut columns: Vec<(&str, &str)> = titles.iter().map(|title| (*title, *title)).collect();
    columns.extend(["metric", "policy", "n", "value", "low", "high"].map(|key| (key, key)));
    let mut table = Table::new(&columns);
    for row in rows {
        for (place, policy) in policies {
            let Some(reading) = &row.readings[*place] else { continue };
            let mut cells: Vec<Cell> = row.labels.iter().map(Cell::text).collect();
            cells.extend([Cell::text(row.metric), Cell::text(*policy)]);
            cells.push(Cell::Value(reading.n as f64, Unit::Count));
            cells.extend(Reading::cells(Some(reading)));
            table.row(cells);
        }
    }
    table
}
