//! `… achieves zero allocations` beside a column of allocations without a zero.

use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::Sentence;
use crate::automatic::book::Book;
use crate::automatic::stems::{stem, stems};
use crate::automatic::words::says;
use crate::{Cell, Check, Table};

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) \b(?:achieves?|shows?|showed|has|have|had|with|incurs?|makes?|saw|causes?)
        \s+ (?:zero|no|0) \s+ (?:[a-z]+\s)?
        (allocations?|errors?|failures?|crashes|timeouts?|retries|misses|drops|losses|evictions)\b",
    )
    .ok()
});

/// Words that make it a wish or a part.
const OTHER: [&str; 16] = [
    "if", "when", "would", "until", "unless", "except", "after", "target", "goal", "should",
    "once", "than", "expected", "some", "can", "almost",
];

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = CLAIM.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    if says(&sentence.text, &OTHER) {
        return;
    }
    let counted = stem(&groups[1].to_lowercase());
    let column = |table: &Table| {
        let named = |header: &String| stems(header).contains(&counted);
        let mut columns = (1..table.columns.len()).filter(|c| named(&table.columns[*c]));
        columns.next().filter(|_| columns.next().is_none())
    };
    let columns: Vec<(&Table, usize)> = page
        .beside(sentence)
        .into_iter()
        .filter_map(|tied| Some((tied.table(), column(tied.table())?)))
        .collect();
    let Some((table, first)) = columns.first().copied() else { return };
    let cells = columns.iter().flat_map(|(table, column)| {
        table.rows.iter().filter_map(move |row| row.cells.get(*column))
    });
    let is_none = |cell: &Cell| cell.number.as_ref().is_none_or(|number| number.value == 0.0);
    let mut cells = cells.peekable();
    let found = (cells.peek().is_some() && !cells.any(is_none)).then(|| {
        let text = format!(
            "none are said to be; `{}` of the table in line {} is zero in no row",
            table.columns[first], table.line
        );
        let how = "the column that is named, in every table of the section";
        page.found(Check::NoneClaimed, sentence, table.line, text, how)
    });
    book.claim(found);
}
