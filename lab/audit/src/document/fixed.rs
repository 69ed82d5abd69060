//! Tables in blocks of code, whose columns two spaces divide.

use super::{Document, Sentence, SentenceKind, Table, TableRow, cell, clean, header};

/// Rows and columns from which lines of code are a table.
const FEWEST_ROWS: usize = 3;
const FEWEST_COLUMNS: usize = 3;

/// Adds the tables of the document's blocks of code. A block with rows of numbers that do not
/// fall into columns is unread.
pub(super) fn read(document: &mut Document) {
    let code = |sentence: &&Sentence| sentence.kind == SentenceKind::Code;
    let lines: Vec<&Sentence> = document.prose.iter().filter(code).collect();
    let (mut tables, mut unread) = (Vec::new(), Vec::new());
    for block in lines.chunk_by(|a, b| a.list == b.list && b.line - a.line <= 2) {
        let numbers = block.iter().filter(|line| line.numbers.len() + 1 >= FEWEST_COLUMNS).count();
        let rows: Vec<&Sentence> =
            block.iter().copied().filter(|line| !is_rule(&line.written)).collect();
        let count = |line: &Sentence| fields(&line.written).len();
        let found: Vec<Table> =
            rows.chunk_by(|a, b| count(a) == count(b)).filter_map(table).collect();
        if found.is_empty() && numbers > FEWEST_ROWS {
            let reason = "a block of code with rows of numbers that is no table of columns";
            unread.push((block[0].line, reason.to_owned()));
        }
        tables.extend(found);
    }
    document.tables.extend(tables);
    document.unread.extend(unread);
}

/// Whether a line only rules off a header.
fn is_rule(text: &str) -> bool {
    text.chars().all(|c| "-=+|: \u{2500}\u{2550}".contains(c))
}

/// Lines of as many fields each as a table; the first names the columns.
fn table(block: &[&Sentence]) -> Option<Table> {
    let rows: Vec<(usize, Vec<&str>)> =
        block.iter().map(|line| (line.line, fields(&line.written))).collect();
    let (first, head) = rows.first()?;
    let named = head.iter().all(|name| name.parse::<f64>().is_err());
    if !named || rows.len() <= FEWEST_ROWS || head.len() < FEWEST_COLUMNS {
        return None;
    }
    let columns: Vec<String> = head.iter().map(|text| clean::cell(text)).collect();
    let units = header::units(&columns);
    let row = |(line, cells): &(usize, Vec<&str>)| TableRow {
        line: *line,
        cells: cells
            .iter()
            .zip(&units)
            .map(|(text, unit)| cell::read(text, unit.as_deref()))
            .collect(),
    };
    let body: Vec<TableRow> = rows[1..].iter().map(row).collect();
    let headings = block[0].headings.clone();
    Some(Table { line: *first, headings, units, rows: body, columns, ..Table::default() })
}

fn fields(line: &str) -> Vec<&str> {
    let trimmed = line.trim().trim_matches('|');
    let parts: Vec<&str> = if trimmed.contains('|') {
        trimmed.split('|').collect()
    } else if trimmed.contains('\t') {
        trimmed.split('\t').collect()
    } else {
        trimmed.split("  ").filter(|part| !part.trim().is_empty()).collect()
    };
    parts.into_iter().map(str::trim).collect()
}
