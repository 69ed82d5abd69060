//! Tables, once for people (Markdown, rounded) and once for machines (TSV, unrounded).

mod shown;

use std::{collections::BTreeSet, fmt::Display};

use lab_family::Unit;

/// One cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// Words.
    Text(String),
    /// A number.
    Value(f64, Unit),
    /// Two ends; `low;high` in a TSV.
    Range(f64, f64, Unit),
    /// Nothing.
    Missing,
}

impl Entry {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Words, where there are some.
    pub fn optional(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Missing, Self::text)
    }

    /// A name.
    pub fn code(name: &str) -> Self {
        Self::Text(format!("`{name}`"))
    }

    /// A number, where there is one.
    pub fn value(value: Option<f64>, unit: Unit) -> Self {
        value.map_or(Self::Missing, |value| Self::Value(value, unit))
    }

    /// A number of things.
    pub fn count(count: usize) -> Self {
        Self::Value(count as f64, Unit::Count)
    }

    fn markdown(&self) -> String {
        match self {
            Self::Text(text) => text.replace('|', "\\|"),
            Self::Value(value, unit) => show(*value, *unit),
            Self::Range(low, high, unit) => {
                format!("{} … {}", show(*low, *unit), show(*high, *unit))
            }
            Self::Missing => "–".to_owned(),
        }
    }

    fn tsv(&self) -> String {
        match self {
            Self::Text(text) => text.replace(['\t', '\n'], " ").replace('`', ""),
            Self::Value(value, _) => format!("{value}"),
            Self::Range(low, high, _) => format!("{low};{high}"),
            Self::Missing => "nan".to_owned(),
        }
    }
}

/// A table: titles for people, keys for machines.
#[derive(Debug, Clone, Default)]
pub struct Table {
    columns: Vec<(String, String)>,
    rows: Vec<Vec<Entry>>,
    /// Rows of declared questions.
    asked: BTreeSet<usize>,
}

impl Table {
    /// Columns as (title, key).
    pub fn new(columns: &[(&str, &str)]) -> Self {
        let owned = |(title, key): &(&str, &str)| ((*title).to_owned(), (*key).to_owned());
        Self {
            columns: columns.iter().map(owned).collect(),
            rows: Vec::new(),
            asked: BTreeSet::new(),
        }
    }

    /// Columns as (title, key), and an entry of each for every row.
    pub(crate) fn from_entries(columns: Vec<(String, String)>, rows: Vec<Vec<Entry>>) -> Self {
        debug_assert!(rows.iter().all(|row| row.len() == columns.len()));
        Self { columns, rows, asked: BTreeSet::new() }
    }

    /// Of a long table people see the rows of declared questions: a word on each row.
    pub(crate) fn asked(mut self, rows: impl IntoIterator<Item = bool>) -> Self {
        let places = rows.into_iter().enumerate();
        self.asked = places.filter_map(|(place, is_asked)| is_asked.then_some(place)).collect();
        self
    }

    /// Appends a row with an entry for each column.
    pub fn row(&mut self, cells: Vec<Entry>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// The same; of a long table people see the rows of declared questions.
    pub fn row_of(&mut self, cells: Vec<Entry>, is_asked: bool) {
        if is_asked {
            self.asked.insert(self.rows.len());
        }
        self.row(cells);
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// For machines.
    pub fn tsv(&self) -> String {
        let kept = || self.columns.iter().enumerate().filter(|(_, (_, key))| !key.is_empty());
        let keys: Vec<&str> = kept().map(|(_, (_, key))| key.as_str()).collect();
        let mut text = format!("{}\n", keys.join("\t"));
        for row in &self.rows {
            let cells: Vec<String> = kept().map(|(place, _)| row[place].tsv()).collect();
            text.push_str(&format!("{}\n", cells.join("\t")));
        }
        text
    }
}

/// "1 block", "6 blocks".
pub fn several(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// "6", "4 to 6".
pub fn from_to(low: impl Display, high: impl Display) -> String {
    let (low, high) = (low.to_string(), high.to_string());
    if low == high { low } else { format!("{low} to {high}") }
}

/// A number for people, with its unit.
pub fn show(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Ns => show_ns(value),
        Unit::Share => format!("{} %", fixed(100.0 * value, 2)),
        Unit::PerSecond if value >= 1e6 => format!("{} M/s", significant(value / 1e6)),
        Unit::PerSecond => format!("{}/s", significant(value)),
        Unit::Times if value.abs() < 0.01 => format!("{}×", significant(value)),
        Unit::Times => format!("{}×", fixed(value, 3)),
        Unit::Bytes => show_bytes(value),
        Unit::Count => significant(value),
    }
}

/// "-10.1 % (-16.5 … -3.03)": the ends without their unit where it is the estimate's.
pub(crate) fn show_with_ends(estimate: &str, [low, high]: [&str; 2]) -> String {
    fn number(text: &str) -> &str {
        text.trim_end_matches(|c: char| !c.is_ascii_digit())
    }
    let unit = |text: &str| text[number(text).len()..].to_owned();
    match unit(estimate) == unit(low) && unit(low) == unit(high) {
        true => format!("{estimate} ({} … {})", number(low), number(high)),
        false => format!("{estimate} ({low} … {high})"),
    }
}

/// A difference on a metric's own scale, with its sign; shares differ by percentage points.
pub fn show_difference(value: f64, unit: Unit) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    match unit {
        Unit::Share => format!("{sign}{} pp", fixed(100.0 * value, 2)),
        unit => format!("{sign}{}", show(value, unit)),
    }
}

/// A relative difference in percent, with its sign, to two significant digits below 1 %.
pub fn show_percent(ratio: f64) -> String {
    let percent = 100.0 * ratio;
    let sign = if percent > 0.0 { "+" } else { "" };
    let decimals = if percent.abs() >= 10.0 {
        1
    } else if percent.abs() >= 0.1 {
        2
    } else {
        4
    };
    format!("{sign}{} %", fixed(percent, decimals))
}

/// A p-value: never 0.
pub fn show_p(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

fn show_ns(ns: f64) -> String {
    match ns.abs() {
        size if size >= 1e9 => format!("{} s", significant(ns / 1e9)),
        size if size >= 1e6 => format!("{} ms", significant(ns / 1e6)),
        size if size >= 1e3 => format!("{} µs", significant(ns / 1e3)),
        _ => format!("{} ns", significant(ns)),
    }
}

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;

fn show_bytes(bytes: f64) -> String {
    match bytes.abs() {
        size if size >= GIB => format!("{} GiB", significant(bytes / GIB)),
        size if size >= 1024.0 * 1024.0 => format!("{} MiB", significant(bytes / 1024.0 / 1024.0)),
        size if size >= 1024.0 => format!("{} KiB", significant(bytes / 1024.0)),
        _ => format!("{} B", significant(bytes)),
    }
}

/// Four significant digits, whole numbers whole.
fn significant(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e6 {
        return fixed(value, 0);
    }
    let digits = value.abs().log10().floor().max(-6.0) as i32;
    fixed(value, usize::try_from(3 - digits).unwrap_or(0))
}

/// Fixed decimals, and no minus before a zero.
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.chars().all(|c| matches!(c, '0' | '.')) => digits.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chapter::Column;

    #[test]
    fn numbers_are_shown_with_their_unit() {
        let shown = [
            show(1_234_567.0, Unit::Ns),
            show(0.9872, Unit::Share),
            show(3_145_728.0, Unit::Bytes),
            show(41.0, Unit::PerSecond),
            show_difference(-0.01, Unit::Share),
            show_percent(0.02),
            show_p(0.0),
            show(-1e-9, Unit::Share),
        ];
        let expected =
            ["1.235 ms", "98.72 %", "3 MiB", "41/s", "-1.00 pp", "+2.00 %", "< 0.0001", "0.00 %"];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_unit_is_said_once_where_it_is_one() {
        assert_eq!(show_with_ends("-9.1 %", ["-16.5 %", "+0.3 %"]), "-9.1 % (-16.5 … +0.3)");
        assert_eq!(show_with_ends("1.5×", ["1.2×", "2.0×"]), "1.5× (1.2 … 2.0)");
        assert_eq!(show_with_ends("1 ms", ["9 µs", "2 ms"]), "1 ms (9 µs … 2 ms)");
    }

    #[test]
    fn one_table_two_readers() {
        let table = Table::over(
            [("fast", Some(1_500.0)), ("slow", None)],
            &[
                Column::Code("variant", "variant", &|(name, _)| name),
                Column::Number("wall", "wall_ns", Unit::Ns, &|(_, ns)| *ns),
            ],
        );
        assert_eq!(table.tsv(), "variant\twall_ns\nfast\t1500\nslow\tnan\n");
        let expected = "| variant | wall |\n|---|---:|\n| `fast` | 1.500 µs |\n| `slow` | – |\n";
        assert_eq!(table.markdown(), expected);
    }
}
