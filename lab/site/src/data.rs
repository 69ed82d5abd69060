//! The tables of a report, folded, as far as a page can carry them.

use std::collections::BTreeMap;

use crate::{address::quoted, chapter::escaped};

/// All tables of a page together; longer ones lose rows, and say so.
const BYTES_MAX: usize = 600_000;
/// Rows of one table.
const ROWS_MAX: usize = 300;

/// Every table with its first rows, folded.
pub(crate) fn html(tables: &BTreeMap<String, String>) -> String {
    let each = BYTES_MAX / tables.len().max(1);
    tables.iter().map(|(name, text)| table(name, text, each)).collect()
}

fn table(name: &str, text: &str, bytes_max: usize) -> String {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let all: Vec<&str> = lines.collect();
    let mut left = bytes_max;
    let fits = |line: &&&str| {
        // Each entry costs its element too.
        let cost = line.len() + 10 * (1 + line.matches('\t').count());
        left = left.saturating_sub(cost);
        left > 0
    };
    let shown: Vec<&str> = all.iter().take(ROWS_MAX).take_while(fits).copied().collect();
    let rows: String = shown.iter().map(|line| row("td", line)).collect();
    let thinned = match all.len() - shown.len() {
        0 => String::new(),
        left_out => format!(" The first {} are here, {left_out} are left out.", shown.len()),
    };
    let (id, name) = (quoted(name), escaped(name));
    let (header, rows_there) = (row("th", header), all.len());
    format!(
        "<details class=\"data\" id=\"{id}\"><summary>{name}</summary>\
         <p>{rows_there} rows.{thinned}</p><div class=\"wide\"><table><thead>{header}</thead>\
         <tbody>{rows}</tbody></table></div></details>\n"
    )
}

fn row(element: &str, line: &str) -> String {
    let entry = |text: &str| format!("<{element}>{}</{element}>", escaped(text));
    format!("<tr>{}</tr>", line.split('\t').map(entry).collect::<String>())
}
