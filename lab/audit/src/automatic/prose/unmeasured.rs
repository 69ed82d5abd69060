//! `Accuracy was not measured` beside a column of accuracies.

use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::{Check, Sentence};

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) (?:^|[(:;,]\s?) ([^(:;]{3,60}?) \s (?:was\s|were\s|is\s|are\s)?
        (?:not|never) \s (?:measured|collected|recorded)\b",
    )
    .ok()
});

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = CLAIM.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    let list = groups[1].to_lowercase().replace(" and ", ", ").replace(" or ", ", ");
    let names: Vec<&str> = list.split(", ").map(str::trim).collect();
    for tied in page.tables {
        let table = tied.table();
        let named = |column: &usize| {
            let header = table.columns[*column].to_lowercase();
            let bare = header.split(" (").next().unwrap_or_default().trim();
            names.contains(&bare) || names.contains(&header.trim())
        };
        let measured = |column: &usize| {
            let cells = table.rows.iter().filter_map(|row| row.cells.get(*column));
            2 * cells.filter(|cell| cell.number.is_some()).count() > table.rows.len()
        };
        if let Some(column) = (1..table.columns.len()).filter(named).find(measured) {
            let text = format!(
                "said not to be measured; the table in line {} has a column `{}`",
                table.line, table.columns[column]
            );
            let how = "a column of that name with numbers";
            book.claim(Some(page.found(Check::Unmeasured, sentence, table.line, text, how)));
            return;
        }
    }
}
