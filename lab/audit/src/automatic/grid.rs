//! Tables as records of statistics, whichever way they are turned.

use std::rc::Rc;

use super::role::{self, Meaning, Role};
use crate::document::header;
use crate::mapping::TableMapping;
use crate::printed::unit;
use crate::{Cell, Document, Place, Printed, Table};

/// More rows than this are subjects.
const MOST_STATISTICS: usize = 400;

/// A table as records.
pub(crate) struct Grid<'a> {
    pub(crate) document: &'a str,
    pub(crate) table: &'a Table,
    /// What its columns mean.
    columns: Vec<Meaning>,
    /// Whether its rows are statistics and its columns subjects.
    pub(crate) transposed: bool,
    pub(crate) records: Vec<Record<'a>>,
    pub(crate) mapping: Option<&'a TableMapping>,
}

/// What one subject's statistics are.
pub(crate) struct Record<'a> {
    /// Its labels with the headers they stand under, the subject first.
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) stats: Vec<Stat<'a>>,
}

/// A cell that holds one number.
#[derive(Clone)]
pub(crate) struct Stat<'a> {
    pub(crate) role: Role,
    /// One text for all cells of a column.
    pub(crate) metric: Rc<str>,
    /// In the unit of the record's first number of this metric.
    pub(crate) number: Printed,
    pub(crate) cell: &'a Cell,
    /// Index of its meaning in the grid.
    pub(crate) index: usize,
    /// Header of its column, or name of its row where the table is transposed.
    pub(crate) header: Rc<str>,
    pub(crate) line: usize,
    /// False for the number behind `±`, which may be a deviation, an error or an interval.
    pub(crate) sure: bool,
}

impl Stat<'_> {
    pub(crate) fn shares_unit(&self, other: &Stat<'_>) -> bool {
        same_unit(&self.number, &other.number)
    }
}

impl Record<'_> {
    pub(crate) fn name(&self) -> String {
        let texts: Vec<&str> = self.labels.iter().map(|(_, text)| text.as_str()).collect();
        texts.join(" / ")
    }
}

impl<'a> Grid<'a> {
    pub(crate) fn new(
        document: &'a Document,
        table: &'a Table,
        mapping: Option<&'a TableMapping>,
    ) -> Self {
        let columns = meanings(&table.columns, &table.units, mapping);
        // A listing has no statistics for rows, and its names would be read for nothing.
        let listing = table.rows.len() > MOST_STATISTICS;
        let names = if listing { Vec::new() } else { table.row_names() };
        let rows = meanings(&names, &header::units(&names), mapping);
        let statistics = |meanings: &[Meaning]| {
            meanings.iter().filter(|meaning| meaning.role.is_statistic()).count()
        };
        let across = statistics(columns.get(1..).unwrap_or_default());
        let transposed = across == 0 && statistics(&rows) >= 2 && distinct(&rows);
        let other = other_mean(document, table);
        let settled = |mut meanings: Vec<Meaning>| {
            let means = meanings.iter_mut().filter(|one| one.role == Role::Mean);
            means.for_each(|one| one.role = other.unwrap_or(Role::Mean));
            meanings
        };
        let (columns, rows) = (settled(columns), settled(rows));
        let mut grid =
            Self { document: &document.name, table, columns, records: vec![], transposed, mapping };
        if transposed {
            grid.records = transposed_records(table, &rows, &grid.columns);
        } else {
            grid.records = records(table, &grid.columns);
        }
        // A row of differences is no sample.
        grid.records
            .retain(|record| record.labels.first().is_none_or(|(_, name)| !is_difference(name)));
        for record in &mut grid.records {
            align(&mut record.stats);
        }
        grid
    }

    /// What its columns mean, also where rows are the statistics.
    pub(crate) fn columns(&self) -> &[Meaning] {
        &self.columns
    }

    /// Where a cell of the table itself stands.
    pub(crate) fn spot(&self, row: usize, column: usize) -> Place {
        Place {
            document: self.document.to_owned(),
            line: Some(self.table.rows[row].line).filter(|line| *line > 0),
            section: self.table.section(),
            row: Some(self.table.row_name(row).to_owned()),
            column: Some(self.table.columns[column].clone()),
        }
    }

    /// Where a statistic stands.
    pub(crate) fn place(&self, record: &Record<'_>, stat: &Stat<'_>) -> Place {
        Place {
            document: self.document.to_owned(),
            line: (stat.line > 0).then_some(stat.line),
            section: self.table.section(),
            row: Some(record.name()),
            column: Some(stat.header.to_string()),
        }
    }
}

/// What kind of means a table has, where a text above it or of its section names another one than
/// the arithmetic.
fn other_mean(document: &Document, table: &Table) -> Option<Role> {
    let own = document.prose.iter().filter(|one| one.headings == table.headings);
    role::kind_of_mean(&table.above()).or_else(|| {
        let mut kinds = own.filter_map(|one| role::kind_of_mean(&one.text));
        let first = kinds.next()?;
        Some(if kinds.all(|kind| kind == first) { first } else { Role::Weighted })
    })
}

/// Whether a row is the difference or ratio of others.
fn is_difference(name: &str) -> bool {
    let lower = name.to_lowercase();
    let lower = lower.trim_end_matches([':', ' ']);
    ["delta", "δ", "difference", "diff", "change", "improvement", "ratio", "gap"].contains(&lower)
}

/// Whether each statistic stands in one row: repeated, the rows are of several subjects.
fn distinct(rows: &[Meaning]) -> bool {
    let stated: Vec<&Meaning> = rows.iter().filter(|row| row.role.is_statistic()).collect();
    stated.iter().enumerate().all(|(index, row)| !stated[..index].contains(row))
}

fn meanings(
    headers: &[String],
    units: &[Option<String>],
    mapping: Option<&TableMapping>,
) -> Vec<Meaning> {
    let of = |(index, text): (usize, &String)| {
        let stated = mapping.and_then(|mapping| mapping.columns.get(text));
        match stated.map(String::as_str) {
            Some("ignore") => Meaning { role: Role::Value, metric: format!("ignored {text}") },
            Some(stated) => role::meaning(stated),
            None => {
                let unit = units.get(index).and_then(Option::as_deref);
                role::meaning(&header::name(text, unit))
            }
        }
    };
    let mut meanings: Vec<Meaning> = headers.iter().enumerate().map(of).collect();
    role::settle(&mut meanings);
    meanings
}

/// Whether a column holds labels: texts, or the first column whatever it holds.
fn is_label(table: &Table, column: usize) -> bool {
    let filled = |cell: &&Cell| !cell.text.is_empty();
    let cells = || table.rows.iter().filter_map(move |row| row.cells.get(column));
    let count = cells().filter(filled).count();
    let numbers = cells().filter(|cell| !cell.numbers.is_empty() || cell.range.is_some()).count();
    count > 0 && numbers * 2 < count
}

fn records<'a>(table: &'a Table, meanings: &[Meaning]) -> Vec<Record<'a>> {
    let first_is_label =
        meanings.first().is_some_and(|m| !m.role.is_statistic() && !matches!(m.role, Role::Run(_)));
    let leading = (1..table.columns.len()).take_while(|column| is_label(table, *column)).count();
    let labels = if first_is_label { 1 + leading } else { 0 };
    let meanings = shared(meanings, &table.columns);
    let mut above = vec![String::new(); labels];
    let mut records = Vec::new();
    for row in &table.rows {
        for (label, cell) in above.iter_mut().zip(&row.cells) {
            if !cell.text.is_empty() {
                label.clone_from(&cell.text);
            }
        }
        let names = table.columns.iter().cloned().zip(above.iter().cloned()).collect();
        let mut record = Record { labels: names, stats: Vec::new() };
        for (index, cell) in row.cells.iter().enumerate().skip(labels) {
            push(&mut record.stats, &meanings[index], cell, index, row.line);
        }
        records.push(record);
    }
    records
}

fn transposed_records<'a>(
    table: &'a Table,
    rows: &[Meaning],
    columns: &[Meaning],
) -> Vec<Record<'a>> {
    let names = table.row_names();
    let rows = shared(rows, &names);
    let mut records = Vec::new();
    for (column, name) in table.columns.iter().enumerate().skip(1) {
        // A column of differences is no subject.
        if columns[column].role == Role::Ratio || is_label(table, column) {
            continue;
        }
        let labels = vec![(table.columns[0].clone(), name.clone())];
        let mut record = Record { labels, stats: Vec::new() };
        for (index, row) in table.rows.iter().enumerate() {
            let Some(cell) = row.cells.get(column) else { continue };
            push(&mut record.stats, &rows[index], cell, index, row.line);
        }
        records.push(record);
    }
    records
}

/// Role, metric and header of a column, for its many cells.
type Shared = (Role, Rc<str>, Rc<str>);

fn shared(meanings: &[Meaning], headers: &[String]) -> Vec<Shared> {
    let pairs = meanings.iter().zip(headers);
    pairs
        .map(|(own, header)| (own.role, own.metric.as_str().into(), header.as_str().into()))
        .collect()
}

fn push<'a>(
    stats: &mut Vec<Stat<'a>>,
    (meant, metric, header): &Shared,
    cell: &'a Cell,
    index: usize,
    line: usize,
) {
    let Some(number) = &cell.number else { return };
    let stat = |role: Role, number: &Printed, sure: bool| Stat {
        role,
        metric: metric.clone(),
        number: number.clone(),
        cell,
        index,
        header: header.clone(),
        line,
        sure,
    };
    stats.push(stat(*meant, number, true));
    let spread = matches!(meant, Role::Mean | Role::Weighted | Role::Value | Role::Percentile(_));
    if let Some(second) = &cell.plus_minus
        && spread
    {
        stats.push(stat(Role::Sd, second, false));
    }
}

/// Statistics of one metric in one unit, where their units can be converted.
fn align(stats: &mut [Stat<'_>]) {
    for index in 1..stats.len() {
        let (before, own) = (&stats[..index], &stats[index]);
        let units = before.iter().filter(|stat| stat.metric == own.metric);
        let mut units = units.filter_map(|stat| stat.number.unit.as_deref()).peekable();
        if units.peek() == own.number.unit.as_deref().as_ref() {
            continue;
        }
        let converted = units.find_map(|unit| in_unit(&own.number, unit));
        if let Some(converted) = converted {
            stats[index].number = converted;
        }
    }
}

/// A printed number in another unit, where that only moves its point.
pub(crate) fn in_unit(number: &Printed, wanted: &str) -> Option<Printed> {
    let factor = unit::factor(number.unit.as_deref()?, wanted)?;
    let power = factor.log10().round();
    ((factor.log10() - power).abs() < 1e-9).then(|| Printed {
        value: number.value * factor,
        decimals: number.decimals - power as i32,
        unit: Some(wanted.to_owned()),
        approximate: number.approximate,
    })
}

/// Whether two numbers are in one unit; a number without one fits any, and percentages are
/// subtracted to points.
pub(crate) fn same_unit(a: &Printed, b: &Printed) -> bool {
    fn points(unit: &str) -> &str {
        if unit == "pp" { "%" } else { unit }
    }
    match (&a.unit, &b.unit) {
        (Some(a), Some(b)) => points(a) == points(b),
        _ => true,
    }
}
