//! Raw files that hold summaries, as tables: a summary is a summary wherever it stands.

use super::role;
use crate::document::header;
use crate::{Cell, Document, Printed, Raw, Table, TableRow, Value};

/// More rows than this are runs and no summaries.
const MOST_ROWS: usize = 2_000;

/// Of longer files no sentence tells a row.
const MOST_TOLD: usize = 60;

/// The raw files that have statistics as columns, each as a document with one table.
pub(crate) fn documents(raws: &[Raw]) -> Vec<Document> {
    raws.iter().filter_map(document).collect()
}

/// The raw files that are small enough for a sentence to speak of their rows, as documents.
pub(crate) fn small(raws: &[Raw]) -> Vec<Document> {
    raws.iter().filter(|raw| raw.rows <= MOST_TOLD).filter_map(as_document).collect()
}

/// Whether a raw file's columns are statistics, so that its rows are no single runs.
pub(crate) fn is_summary(raw: &Raw) -> bool {
    if raw.page.is_some() {
        return true;
    }
    let units = header::units(&raw.order);
    let statistic = |(column, unit): (&String, &Option<String>)| {
        role::meaning(&header::name(column, unit.as_deref())).role.is_statistic()
    };
    raw.order.iter().zip(&units).filter(|pair| statistic(*pair)).count() >= 2
}

fn document(raw: &Raw) -> Option<Document> {
    is_summary(raw).then(|| as_document(raw))?
}

fn as_document(raw: &Raw) -> Option<Document> {
    if let Some(page) = &raw.page {
        return Some(page.clone());
    }
    if raw.rows > MOST_ROWS || raw.order.len() > 200 {
        return None;
    }
    // Labels first, as reports have them.
    let labels =
        |column: &&String| raw.values(column).iter().any(|value| matches!(value, Value::Text(_)));
    let (texts, numbers): (Vec<&String>, Vec<&String>) = raw.order.iter().partition(labels);
    let columns: Vec<String> = texts.into_iter().chain(numbers).cloned().collect();
    let row = |row: usize| {
        let cell = |column: &String| cell(raw.values(column).get(row), raw.unit(column));
        TableRow { line: 0, cells: columns.iter().map(cell).collect() }
    };
    let units = columns.iter().map(|column| raw.unit(column)).collect();
    let rows = (0..raw.rows).map(row).collect();
    let table = Table { units, rows, columns, ..Table::default() };
    Some(Document { name: raw.name.clone(), tables: vec![table], ..Document::default() })
}

fn cell(value: Option<&Value>, unit: Option<String>) -> Cell {
    let Some(text) = value.and_then(Value::label) else { return Cell::default() };
    let number = match value {
        Some(Value::Number(value)) => {
            let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len());
            let decimals = i32::try_from(decimals).unwrap_or(0);
            Some(Printed { value: *value, decimals, unit, approximate: false })
        }
        _ => None,
    };
    let numbers = number.clone().into_iter().collect();
    Cell { written: text.clone(), text, number, numbers, ..Cell::default() }
}
