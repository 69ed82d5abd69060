//! A report as tables and sentences with their places.

mod cell;
mod clean;
mod decode;
mod fixed;
pub(crate) mod header;
mod html;
mod list;
mod markdown;

use crate::{Place, Printed};

pub use decode::{DecodeError, decode};

/// A document's tables and prose.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// As the caller named it.
    pub name: String,
    /// Its tables, in order.
    pub tables: Vec<Table>,
    /// Lists of `name: value` items, each as a table of one column of values.
    pub lists: Vec<Table>,
    /// Its sentences, list items, headings and lines of code, in order.
    pub prose: Vec<Sentence>,
    /// What looks like a table and could not be read, with the line and the reason.
    pub unread: Vec<(usize, String)>,
}

/// One table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// 1-based line of its header.
    pub line: usize,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    /// The short sentence right above it, empty where there is none.
    pub caption: String,
    /// Header cells, without markup.
    pub columns: Vec<String>,
    /// The unit that each header states (`Time (ms)`), where it states one.
    pub units: Vec<Option<String>>,
    /// Body rows; each has as many cells as there are columns.
    pub rows: Vec<TableRow>,
}

/// A body row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableRow {
    /// 1-based line.
    pub line: usize,
    /// Its cells.
    pub cells: Vec<Cell>,
}

/// A cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// Its text without markup, emoji and footnote marks.
    pub text: String,
    /// Its text without Markdown's markup, with emoji and footnote marks.
    pub written: String,
    /// The number in it, where it holds exactly one. Of `12.3 ± 0.4` this is the first; a range
    /// or a bound (`<1%`) is no number. Without a unit of its own it has its column's.
    pub number: Option<Printed>,
    /// What stands behind `±`.
    pub plus_minus: Option<Printed>,
    /// Both ends of a range (`1.94-1.96x`), alone or in brackets behind the number.
    pub range: Option<(Printed, Printed)>,
    /// Where the cell only bounds its value; the number is then the first of `numbers`.
    pub bound: Option<Bound>,
    /// Every number in it that stands by itself.
    pub numbers: Vec<Printed>,
}

/// Which side of a printed number the value is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// `<0.001`, `≤5`.
    Below,
    /// `>99`, `≥3`.
    Above,
}

/// A sentence, list item, heading or line of code.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sentence {
    /// 1-based line at which it starts.
    pub line: usize,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    /// Its text without markup, emoji and footnote marks.
    pub text: String,
    /// A line of code as it stands; empty for prose.
    pub written: String,
    /// The numbers in it that stand by themselves, in order.
    pub numbers: Vec<Printed>,
    /// What it is.
    pub kind: SentenceKind,
    /// The list or block of code that it stands in; 0 for none.
    pub list: usize,
}

/// What a [`Sentence`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SentenceKind {
    /// Of a paragraph or a list item.
    #[default]
    Prose,
    /// A heading.
    Heading,
    /// A line of a code block.
    Code,
}

impl Document {
    /// Where a sentence stands.
    pub(crate) fn at(&self, sentence: &Sentence) -> Place {
        Place {
            document: self.name.clone(),
            line: Some(sentence.line),
            section: sentence.headings.join(" > "),
            ..Place::default()
        }
    }

    /// Reads a Markdown document; any text gives one. UTF-8 that was once read as Mac OS Roman or
    /// Windows-1252 is repaired, and line numbers are those of `text`.
    pub fn parse(name: &str, text: &str) -> Self {
        let text = clean::repair(text.trim_start_matches('\u{feff}'));
        let mut document = markdown::read(name, &text);
        html::read(&mut document, &text);
        fixed::read(&mut document);
        list::read(&mut document);
        document.tables.sort_by_key(|table| table.line);
        document
    }
}

impl Table {
    /// What the headings above it say, as [`crate::Place`] wants it.
    pub fn section(&self) -> String {
        self.headings.join(" > ")
    }

    /// The headings and the caption above it.
    pub fn above(&self) -> String {
        format!("{} {}", self.headings.join(" "), self.caption)
    }

    /// The rows' names: the first column's text, where an empty cell repeats the one above it.
    pub fn row_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for row in &self.rows {
            let own = row.cells.first().map(|cell| cell.text.clone()).unwrap_or_default();
            let above = names.last().cloned().unwrap_or_default();
            names.push(if own.is_empty() { above } else { own });
        }
        names
    }

    /// One of them, without the others.
    pub(crate) fn row_name(&self, row: usize) -> &str {
        let named = self.rows[..=row].iter().rev().filter_map(|row| row.cells.first());
        named.map(|cell| cell.text.as_str()).find(|text| !text.is_empty()).unwrap_or_default()
    }
}
