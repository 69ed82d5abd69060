//! A report as tables with their places.

use crate::Printed;

/// A document's tables and prose.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// As the caller named it.
    pub name: String,
    /// Its tables, in order.
    pub tables: Vec<Table>,
}

/// One table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// 1-based line of its header.
    pub line: usize,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    /// Header cells, without markup.
    pub columns: Vec<String>,
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
    /// The number in it, where it holds exactly one.
    pub number: Option<Printed>,
}
