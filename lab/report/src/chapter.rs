//! Chapters as data: what is said, a table of rows and columns, where it is kept, and a picture.

use lab_family::{Cell, Unit};

use crate::page::Page;
use crate::reading::Reading;
use crate::tables::{Entry, Table};

/// A table with what stands around it. Nothing of it is written where the table has no row.
#[derive(Default)]
pub struct Chapter<'c> {
    /// Begins a chapter; empty where the table goes on in the one before.
    pub heading: &'c str,
    /// A paragraph before the table; empty where nothing is said.
    pub text: &'c str,
    /// Its rows and columns: [`Table::over`].
    pub table: Table,
    /// Where the table stands.
    pub kept: Kept<'c>,
    /// A picture of it.
    pub figure: Option<Picture<'c>>,
}

/// Where a table stands; the name is that of its TSV.
#[derive(Default, Clone, Copy)]
pub enum Kept<'c> {
    /// In the text alone.
    #[default]
    InText,
    /// In the text, where people see few of its rows, and as TSV.
    Shown(&'c str),
    /// As TSV, named at the chapter's end; `tables.tsv` says what it holds.
    Beside(&'c str, &'c str),
    /// As TSV, for machines.
    Data(&'c str),
}

/// Name and script in `plots/`, what it shows, and the time scale of its cells.
pub type Picture<'c> = ((&'c str, &'c str), &'c str, &'c str);

impl<'c> Chapter<'c> {
    /// A table that few will want to read, in the chapter under way.
    pub fn beside(name: &'c str, what: &'c str, table: Table) -> Self {
        Self { table, kept: Kept::Beside(name, what), ..Self::default() }
    }
}

/// One column or more of a table whose rows are about `T`. First its title for people, without
/// which it stands in the TSV alone; then its key for machines, without which it stands in the text
/// alone; last what a row has there.
pub enum Column<'c, T> {
    /// A name.
    Code(&'c str, &'c str, &'c dyn Fn(&T) -> &str),
    /// What stands somewhere as it is.
    Text(&'c str, &'c str, &'c dyn Fn(&T) -> &str),
    /// Words made for the table.
    Words(&'c str, &'c str, &'c dyn Fn(&T) -> String),
    /// A number of things.
    Count(&'c str, &'c str, &'c dyn Fn(&T) -> usize),
    /// A number, where there is one.
    Number(&'c str, &'c str, Unit, &'c dyn Fn(&T) -> Option<f64>),
    /// Any other entry.
    Any(&'c str, &'c str, &'c dyn Fn(&T) -> Entry),
    /// An estimate with its interval: in one column for people, in three for machines.
    Interval(&'c str, &'c str, &'c dyn Fn(&T) -> Option<Reading>),
    /// The same by key.
    Intervals(&'c [(&'c str, &'c str)], &'c dyn Fn(&T, &str) -> Option<Reading>),
    /// Entries by key.
    Each(&'c [(&'c str, &'c str)], &'c dyn Fn(&T, &str) -> Entry),
    /// The levels of these factors.
    Levels(&'c [&'c str], &'c dyn Fn(&T) -> &Cell),
}

impl<T> Column<'_, T> {
    /// Title and key of each column.
    fn names(&self) -> Vec<(String, String)> {
        let owned = |title: &str, key: &str| (title.to_owned(), key.to_owned());
        match self {
            Self::Code(title, key, _)
            | Self::Text(title, key, _)
            | Self::Words(title, key, _)
            | Self::Count(title, key, _)
            | Self::Number(title, key, ..)
            | Self::Any(title, key, _) => vec![owned(title, key)],
            Self::Interval(title, key, _) => of_reading(title, key),
            Self::Intervals(all, _) => all.iter().flat_map(|(t, key)| of_reading(t, key)).collect(),
            Self::Each(all, _) => all.iter().map(|(title, key)| owned(title, key)).collect(),
            Self::Levels(factors, _) => factors.iter().map(|name| owned(name, name)).collect(),
        }
    }

    fn entries(&self, row: &T) -> Vec<Entry> {
        let in_four = |title: &str, reading: Option<Reading>| {
            let short = (!title.is_empty()).then(|| Reading::in_short(reading));
            short.into_iter().chain(Reading::entries(reading)).collect::<Vec<_>>()
        };
        match self {
            Self::Code(.., name) => vec![Entry::code(name(row))],
            Self::Text(.., text) => vec![Entry::text(text(row))],
            Self::Words(.., words) => vec![Entry::text(words(row))],
            Self::Count(.., count) => vec![Entry::count(count(row))],
            Self::Number(.., unit, value) => vec![Entry::value(value(row), *unit)],
            Self::Any(.., entry) => vec![entry(row)],
            Self::Interval(title, _, read) => in_four(title, read(row)),
            Self::Intervals(all, read) => {
                all.iter().flat_map(|(title, key)| in_four(title, read(row, key))).collect()
            }
            Self::Each(all, entry) => all.iter().map(|(_, key)| entry(row, key)).collect(),
            Self::Levels(factors, cell) => {
                let level = |name: &&str| Entry::optional(cell(row).get(*name));
                factors.iter().map(level).collect()
            }
        }
    }
}

/// `wall_ns`, `wall_ns_low` and `wall_ns_high`, or of `wall{}_ns` `wall_low_ns`.
fn of_reading(title: &str, key: &str) -> Vec<(String, String)> {
    let key = |end: &str| match key.split_once("{}") {
        Some((before, after)) => format!("{before}{end}{after}"),
        None => format!("{key}{end}"),
    };
    let short = (!title.is_empty()).then(|| (title.to_owned(), String::new()));
    let ends = ["", "_low", "_high"].map(|end| (String::new(), key(end)));
    short.into_iter().chain(ends).collect()
}

/// A number on its own scale, for machines.
pub fn number<'c, T>(key: &'c str, value: &'c dyn Fn(&T) -> Option<f64>) -> Column<'c, T> {
    Column::Number("", key, Unit::Count, value)
}

impl Table {
    /// A row for each of these.
    pub fn over<T>(rows: impl IntoIterator<Item = T>, columns: &[Column<T>]) -> Self {
        let names = columns.iter().flat_map(Column::names).collect();
        let row = |row: T| columns.iter().flat_map(|column| column.entries(&row)).collect();
        Self::from_entries(names, rows.into_iter().map(row).collect())
    }
}

impl Page {
    /// Writes a chapter, unless its table has no row; says whether it did.
    pub fn chapter(&mut self, chapter: Chapter) -> bool {
        let Chapter { heading, text, table, kept, figure } = chapter;
        if table.is_empty() {
            return false;
        }
        if !heading.is_empty() {
            self.heading(heading);
        }
        if !text.is_empty() {
            self.paragraph(text);
        }
        match kept {
            Kept::InText => self.markdown_table(&table),
            Kept::Shown(name) => self.table(name, &table),
            Kept::Beside(name, what) => self.beside(name, what, &table),
            Kept::Data(name) => self.data(name, &table),
        }
        if let Some((names, what, scale)) = figure {
            self.figure_by(names, what, scale);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_one_column_for_people_and_three_for_machines() {
        let reading = |estimate| Reading { estimate, low_high: None, n: 1, unit: Unit::Count };
        let table = Table::over(
            [("fast", 1.0), ("slow", 2.0)],
            &[
                Column::Code("variant", "variant", &|(name, _)| name),
                Column::Interval("wall", "wall{}_ns", &|(_, ns)| Some(reading(*ns))),
                Column::Intervals(&[("", "cpu")], &|_, _| None),
            ],
        );
        let keys = "variant\twall_ns\twall_low_ns\twall_high_ns\tcpu\tcpu_low\tcpu_high\n";
        let rows = "fast\t1\tnan\tnan\tnan\tnan\tnan\nslow\t2\tnan\tnan\tnan\tnan\tnan\n";
        assert_eq!(table.tsv(), format!("{keys}{rows}"));
        let expected = "| variant | wall |\n|---|---|\n| `fast` | 1 |\n| `slow` | 2 |\n";
        assert_eq!(table.markdown(), expected);
    }

    #[test]
    fn nothing_is_written_of_a_table_without_a_row() {
        let mut page = Page::titled("a");
        let table = || Table::over([1_usize], &[Column::Count("n", "n", &|n| *n)]);
        let chapter =
            |table| Chapter { heading: "Rows", text: "Few.", table, ..Chapter::default() };
        assert!(!page.chapter(chapter(Table::default())));
        assert_eq!(page.markdown, "# a\n\n");
        assert!(page.chapter(chapter(table())));
        assert_eq!(page.markdown, "# a\n\n## Rows\n\nFew.\n\n| n |\n|---:|\n| 1 |\n\n");
    }
}
