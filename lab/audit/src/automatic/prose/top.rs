//! `Top 5 configurations all use 512-1024 token contexts`: a setting of a ranking's first rows.

use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::automatic::column::is_setting;
use crate::automatic::stems::stems;
use crate::automatic::tie::Tied;
use crate::automatic::words;
use crate::{Check, Sentence};

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) \b(?:top|best|first)[\s-]
        (\d{1,2}|two|three|four|five|six|seven|eight|nine|ten)\b [^.;:,]{0,40}?
        \b(?:all|each|always|only|exclusively)\s(?:use[sd]?|ha(?:ve|s|d)|r[ua]ns?|share[sd]?)\s
        (?:an?\s)? (\d+(?:\.\d+)?) (?:\s?(?:-|–|to)\s?(\d+(?:\.\d+)?))? [\s-]
        ([a-z][a-z\s_-]{2,40})",
    )
    .ok()
});

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = CLAIM.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    let Some(count) = words::count(&groups[1]) else { return };
    let Ok(low) = groups[2].parse::<f64>() else { return };
    let high = groups.get(3).and_then(|group| group.as_str().parse().ok()).unwrap_or(low);
    for tied in page.beside(sentence) {
        let Some(column) = setting(tied, &groups[4]).filter(|_| is_ranked(tied, count)) else {
            continue;
        };
        let table = tied.table();
        let other = table.rows[..count].iter().find(|row| {
            let number = row.cells[column].number.as_ref();
            number.is_some_and(|number| !(low..=high).contains(&number.value))
        });
        let found = other.map(|row| {
            let text = format!(
                "said of the first {count}; `{}` of the row in line {} is {}",
                table.columns[column], row.line, row.cells[column].text
            );
            let how = "the setting that the sentence names, in so many first rows of the ranking";
            page.found(Check::ClaimOfAllRows, sentence, row.line, text, how)
        });
        book.claim(found);
        return;
    }
}

/// The only column of a setting that a text names.
fn setting(tied: &Tied<'_, '_>, text: &str) -> Option<usize> {
    let words = stems(text);
    let columns = &tied.table().columns;
    let named = |column: &usize| {
        is_setting(&columns[*column])
            && stems(&columns[*column].replace('_', " ")).iter().any(|word| words.contains(word))
    };
    let mut named = (1..columns.len()).filter(named);
    let first = named.next()?;
    named.next().is_none().then_some(first)
}

/// Whether the first column counts the rows from 1.
fn is_ranked(tied: &Tied<'_, '_>, count: usize) -> bool {
    let rows = &tied.table().rows;
    let rank = |(index, row): (usize, &crate::TableRow)| {
        row.cells[0].text.trim_start_matches('#').parse() == Ok(index + 1)
    };
    rows.len() >= count && rows.iter().enumerate().all(rank)
}
