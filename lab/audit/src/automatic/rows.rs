//! How many rows a text says there are.

use std::sync::LazyLock;

use regex::Regex;

use super::book::Book;
use super::column::is_setting;
use super::found::Found;
use super::stems::{in_order, stem};
use super::tie::Tied;
use super::words::{list, says, tokens};
use crate::automatic::lexicon::{Words, class};
use crate::{Check, Document, Place, SentenceKind, Severity, Table};

/// `8 wins`, `wins: 8`.
static WINS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)^(?:wins:?\s*)?(\d{1,3})(?:\s+wins?)?\b").ok());

/// Checks sentences that count what the document is about, and lists that count winners.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    of_whole(document, tables, book);
    for tied in tables {
        of_winners(document, tied, book);
    }
}

/// Words of a sentence that says what the whole document is about.
static WHOLE: Words = Words::new(|| class("rows.whole"));

/// Words between a number and what is counted that make it a number of another thing.
const APART: [&str; 12] =
    ["per", "each", "of", "for", "by", "in", "on", "with", "and", "to", "from", "than"];

/// `N …s` of a sentence about the whole document, where one table alone names its rows so.
fn of_whole(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let noun = |table: &Table| match &list(table.columns.first()?)[..] {
        [word] if word.len() > 4 && !is_setting(word) => Some(stem(word)),
        _ => None,
    };
    let named: Vec<(&Table, String)> =
        tables.iter().filter_map(|tied| Some((tied.table(), noun(tied.table())?))).collect();
    let prose = document.prose.iter().filter(|one| one.kind == SentenceKind::Prose);
    for sentence in prose.filter(|one| says(&one.text, &WHOLE)) {
        let words = in_order(&sentence.text);
        for (table, noun) in &named {
            // Of several tables of one kind the large one is that of all.
            let others =
                named.iter().filter(|(other, own)| own == noun && other.line != table.line);
            let most = others.map(|(other, _)| filled(other)).max().unwrap_or(0);
            let alone = 3 * most <= filled(table);
            let at = words.iter().position(|word| word == noun);
            let Some(at) = at.filter(|_| alone && filled(table) >= 5) else { continue };
            // A number and a few words that qualify what is counted.
            let before = words[at.saturating_sub(6)..at].iter().rev();
            let mut before = before.take_while(|word| !APART.contains(&word.as_str()));
            let stated = before.find_map(|word| word.parse::<u32>().ok()).map(f64::from);
            let Some(stated) = stated.filter(|stated| *stated >= 5.0) else { continue };
            let rows = filled(table) as f64;
            let near = (0.5..2.0).contains(&(stated / rows));
            let found = (stated != rows && near).then(|| {
                let text = format!("{stated} are announced; the table of them has {rows} rows");
                remark(document, sentence.line, table, Check::CountOfRows, text)
                    .values(stated, rows)
            });
            book.stated(sentence.line, stated, found);
        }
    }
}

/// The number of rows that have something in them.
fn filled(table: &Table) -> usize {
    table.rows.iter().filter(|row| row.cells.iter().any(|cell| !cell.text.is_empty())).count()
}

/// A list `X: 8 wins` against a column that names the winner of each row.
fn of_winners(document: &Document, tied: &Tied<'_, '_>, book: &mut Book) {
    let table = tied.table();
    let is_winner = |name: &String| ["winner", "advantage"].contains(&&*name.to_lowercase());
    let Some(column) = table.columns.iter().position(is_winner) else { return };
    let after = |list: &&Table| list.line > table.line && list.headings == table.headings;
    for list in document.lists.iter().filter(after) {
        for item in &list.rows {
            let [name, value, ..] = &item.cells[..] else { continue };
            let says_wins = list.caption.to_lowercase().contains("win")
                || value.text.to_lowercase().contains("win");
            let stated = WINS.as_ref().and_then(|regex| regex.captures(&value.text));
            let Some(stated) = stated.and_then(|groups| groups[1].parse::<f64>().ok()) else {
                continue;
            };
            let subject = tokens(&name.text.to_lowercase().replace("wins", ""));
            let cells = table.rows.iter().filter_map(|row| row.cells.get(column));
            let won =
                cells.filter(|cell| !subject.is_empty() && subject.is_subset(&tokens(&cell.text)));
            let won = won.count() as f64;
            if !says_wins || won == 0.0 {
                continue;
            }
            let found = (won != stated).then(|| {
                let sentence = format!(
                    "{stated} wins of {} are stated; `{}` of the table names it {won} times",
                    name.text, table.columns[column]
                );
                remark(document, item.line, table, Check::CountOfWinners, sentence)
                    .values(stated, won)
            });
            book.stated(item.line, stated, found);
        }
    }
}

fn remark(
    document: &Document,
    line: usize,
    table: &Table,
    check: Check,
    sentence: String,
) -> Found {
    let place = Place {
        document: document.name.clone(),
        line: Some(line),
        section: table.section(),
        ..Place::default()
    };
    let against = Place { line: Some(table.line), ..place.clone() };
    let how = "the rows as they stand";
    Found::remark(check, Severity::Inconsistent, place, sentence, how).against(against)
}
