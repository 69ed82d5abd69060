//! Lists of `name: value` as tables of one column.

use super::{Document, Sentence, Table, TableRow, cell, header};

/// The header of the names and of the values.
const NAMES: [&str; 2] = ["Metric", "Value"];

/// Adds each list of which two items or more are a name, a colon and a value.
pub(super) fn read(document: &mut Document) {
    let listed: Vec<&Sentence> = document.prose.iter().filter(|one| one.list > 0).collect();
    let lists = listed.chunk_by(|a, b| a.list == b.list && b.line - a.line <= 1);
    let found: Vec<Table> = lists.filter_map(|items| table(items, &document.prose)).collect();
    document.lists = found;
}

fn table(items: &[&Sentence], prose: &[Sentence]) -> Option<Table> {
    let rows: Vec<TableRow> = items.iter().filter_map(|item| row(item)).collect();
    let first = items.first()?;
    // What stands above the list says what it is about.
    let above = prose.iter().rev().find(|one| one.line < first.line && one.list != first.list);
    let near = above.filter(|one| one.line + 2 >= first.line && one.text.len() <= 160);
    // In a block of code the line that ends in a colon is the title of those below it.
    let titled = row(first).is_none() && first.text.ends_with(':');
    let caption = if titled { Some(*first) } else { near };
    (rows.len() >= 2).then(|| Table {
        line: first.line,
        headings: first.headings.clone(),
        caption: caption.map_or(String::new(), |one| one.text.clone()),
        columns: NAMES.map(str::to_owned).to_vec(),
        units: vec![None, None],
        rows,
    })
}

fn row(item: &Sentence) -> Option<TableRow> {
    let (name, value) = item.text.trim_start_matches(['-', '*', ' ']).split_once(": ")?;
    if name.chars().count() > 60 || value.is_empty() {
        return None;
    }
    let name_cell = cell::read(name, None);
    let value = cell::read(value, header::unit(name).as_deref());
    Some(TableRow { line: item.line, cells: vec![name_cell, value] })
}
