//! `… in the sort_small and sort_large rows`: rows that no table has.

use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::{Check, Sentence, SentenceKind};

static ROWS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:in|of|for) the ((?:\S+, ){0,6}(?:\S+,? and )?\S+) rows\b").ok()
});

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = ROWS.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    let list = groups[1].replace(", and ", ", ").replace(" and ", ", ");
    let names: Vec<&str> =
        list.split(", ").map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.len() < 2 {
        return;
    }
    let (there, missing): (Vec<&str>, Vec<&str>) =
        names.iter().partition(|name| is_row(page, name));
    // A name of letters alone may be a word.
    let coded = |name: &&&str| name.contains(['_', ':', '.', '(', '-']);
    let Some(first) = missing.iter().find(coded) else { return };
    if there.is_empty() {
        return;
    }
    let text = format!("rows are named; no table or listing has `{first}`, though `{}`", there[0]);
    let how = "the cells of all tables and the lines of all blocks of code";
    let found = page.found(Check::RowMissing, sentence, sentence.line, text, how);
    book.claim(Some(found));
}

/// Whether a cell or a line of code holds a name as it stands.
fn is_row(page: &Page<'_, '_, '_>, name: &str) -> bool {
    let holds = |text: &str| {
        text.match_indices(name).any(|(at, _)| {
            let part =
                |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_:.".contains(c));
            !part(text[..at].chars().next_back()) && !part(text[at + name.len()..].chars().next())
        })
    };
    let cells = page.document.tables.iter().flat_map(|table| &table.rows);
    let mut cells = cells.flat_map(|row| &row.cells);
    let code = page.document.prose.iter().filter(|one| one.kind == SentenceKind::Code);
    cells.any(|cell| holds(&cell.text)) || code.into_iter().any(|one| holds(&one.written))
}
