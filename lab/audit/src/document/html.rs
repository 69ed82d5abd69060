//! Tables written as HTML.

use super::{Document, Table, TableRow, cell, clean, header};

/// More columns than this are no table that people wrote.
const MOST_COLUMNS: usize = 200;

/// Adds the document's HTML tables.
pub(super) fn read(document: &mut Document, text: &str) {
    let lower = text.to_ascii_lowercase();
    let mut from = 0;
    while let Some(start) = lower[from..].find("<table").map(|at| from + at) {
        let Some(end) = lower[start..].find("</table>").map(|at| start + at) else { break };
        from = end;
        let first = text[..start].matches('\n').count() + 1;
        if document.prose.iter().any(|s| s.line == first && s.kind == super::SentenceKind::Code) {
            continue;
        }
        match table(&text[start..end], first) {
            Some(mut table) => {
                let before = document.prose.iter().rev().find(|s| s.line <= first);
                table.headings = before.map(|s| s.headings.clone()).unwrap_or_default();
                document.tables.push(table);
            }
            None => {
                let reason = "an HTML table without a header or with merged cells";
                document.unread.push((first, reason.to_owned()));
            }
        }
    }
}

/// Reads what stands between `<table` and `</table>`.
fn table(html: &str, first: usize) -> Option<Table> {
    let mut rows: Vec<(usize, Vec<String>)> = Vec::new();
    let (mut in_cell, mut at) = (false, 0);
    let mut line = first;
    while at < html.len() {
        let rest = &html[at..];
        let length = match rest.find('<') {
            Some(0) => rest.find('>')? + 1,
            Some(next) => next,
            None => rest.len(),
        };
        let piece = &rest[..length];
        if let Some(tag) = piece.strip_prefix('<') {
            let name = tag.trim_end_matches('>').to_ascii_lowercase();
            match name.split_whitespace().next().unwrap_or_default() {
                "tr" => rows.push((line, Vec::new())),
                "td" | "th" => {
                    if name.contains("span=") {
                        return None;
                    }
                    rows.last_mut()?.1.push(String::new());
                    in_cell = true;
                }
                "/td" | "/th" | "/tr" => in_cell = false,
                _ => {}
            }
        } else if in_cell {
            rows.last_mut()?.1.last_mut()?.push_str(piece);
        }
        line += piece.matches('\n').count();
        at += length;
    }
    build(rows)
}

fn build(rows: Vec<(usize, Vec<String>)>) -> Option<Table> {
    let mut rows = rows.into_iter().filter(|(_, cells)| !cells.is_empty());
    let (line, head) = rows.next()?;
    let columns: Vec<String> = head.iter().map(|text| clean::cell(&plain(text))).collect();
    let units = header::units(&columns);
    let mut table = Table { line, units, columns, ..Table::default() };
    for (line, cells) in rows {
        if cells.len() != table.columns.len() || cells.len() > MOST_COLUMNS {
            return None;
        }
        let units = table.units.iter().map(Option::as_deref);
        let cells = cells.iter().zip(units).map(|(text, unit)| cell::read(&plain(text), unit));
        let cells = cells.collect();
        table.rows.push(TableRow { line, cells });
    }
    (!table.rows.is_empty() && table.columns.len() > 1).then_some(table)
}

fn plain(text: &str) -> String {
    let text = text.replace("&nbsp;", " ").replace("&lt;", "<").replace("&gt;", ">");
    let text = text.replace("&plusmn;", "±").replace("&micro;", "µ").replace("&amp;", "&");
    text.replace(['*', '`'], "").split_whitespace().collect::<Vec<_>>().join(" ")
}
