//! The tables of a report, folded, as far as a page can carry them.

use std::collections::BTreeMap;

use maud::{Markup, html};

/// All tables of a page together; longer ones lose rows, and say so.
const BYTES_MAX: usize = 600_000;
/// Rows of one table.
const ROWS_MAX: usize = 300;

/// Every table with its first rows, folded.
pub(crate) fn html(tables: &BTreeMap<String, String>) -> Markup {
    let each = BYTES_MAX / tables.len().max(1);
    html! { @for (name, text) in tables { (table(name, text, each)) } }
}

fn table(name: &str, text: &str, bytes_max: usize) -> Markup {
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
    let left_out = all.len() - shown.len();
    html! {
        details.data id=(name) {
            summary { (name) }
            p {
                (all.len()) " rows."
                @if left_out > 0 {
                    " The first " (shown.len()) " are here, " (left_out) " are left out."
                }
            }
            div.wide {
                table {
                    thead { tr { @for entry in header.split('\t') { th { (entry) } } } }
                    tbody {
                        @for line in &shown {
                            tr { @for entry in line.split('\t') { td { (entry) } } }
                        }
                    }
                }
            }
        }
    }
}
