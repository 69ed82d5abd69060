//! A statement that was found wrong, and stands in the document once more.

use std::sync::LazyLock;

use regex::Regex;

use super::book::Book;
use super::words::list;
use crate::{Document, Finding, Place, SentenceKind, Severity};

/// Repeats of one statement that are reported.
const MOST: usize = 12;

/// Words behind the number that must be repeated with it.
const WORDS: usize = 3;

static FRACTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|[^\d/.])(\d{1,7}/\d{2,7})(?:$|[^\d/.])").ok());

/// A text of the document, and where it stands.
struct Spot {
    text: String,
    words: Vec<String>,
    place: Place,
}

/// Adds a finding for every repeat of a statement that is wrong.
pub(crate) fn check(document: &Document, book: &mut Book) {
    let wrong = |finding: &Finding| {
        finding.severity < Severity::Doubtful && finding.place.document == document.name
    };
    let known: Vec<(Finding, f64)> = book
        .found
        .iter()
        .filter(|found| wrong(&found.finding))
        .map(|found| (found.finding.clone(), found.steps))
        .collect();
    if known.is_empty() {
        return;
    }
    let spots = spots(document);
    for (finding, steps) in &known {
        let Some(key) = key(finding, &spots) else { continue };
        let own = finding.place.line;
        let repeats = spots.iter().filter(|spot| spot.place.line != own && key.is_in(spot));
        let taken = |spot: &&Spot| {
            !known.iter().any(|(other, _)| {
                other.place.line == spot.place.line && other.check == finding.check
            })
        };
        for spot in repeats.filter(taken).take(MOST) {
            let mut repeat = finding.clone();
            repeat.place = spot.place.clone();
            repeat.sentence = format!(
                "the statement of line {} once more: {}",
                own.unwrap_or_default(),
                finding.sentence
            );
            book.found.push(super::found::Found { finding: repeat, steps: *steps });
        }
    }
}

/// How a statement is known again.
enum Key {
    /// `9/150`.
    Fraction(String),
    /// A number and the words behind it.
    Words(Vec<String>),
}

impl Key {
    fn is_in(&self, spot: &Spot) -> bool {
        match self {
            Self::Fraction(text) => fractions(&spot.text).contains(text),
            Self::Words(words) => spot.words.windows(words.len()).any(|own| own == words),
        }
    }
}

fn fractions(text: &str) -> Vec<String> {
    let all = FRACTION.iter().flat_map(|regex| regex.captures_iter(text));
    all.map(|groups| groups[1].to_owned()).collect()
}

/// What the sentence or cell at a finding's place states; `None` where it is not told well enough
/// to be known again.
fn key(finding: &Finding, spots: &[Spot]) -> Option<Key> {
    let stated = finding.stated?;
    let at = spots.iter().filter(|spot| spot.place.line == finding.place.line);
    let mut own = at.filter(|spot| spot.place.column == finding.place.column);
    own.find_map(|spot| {
        let whole = |text: &&String| {
            text.split_once('/').is_some_and(|(part, _)| part.parse::<f64>() == Ok(stated))
        };
        if let Some(text) = fractions(&spot.text).iter().find(whole) {
            return Some(Key::Fraction(text.clone()));
        }
        let number = |word: &String| word.parse::<f64>().ok();
        let start = spot.words.iter().position(|word| number(word) == Some(stated.abs()))?;
        // A range begins with the number before it.
        let mut end = start + 1;
        while spot.words.get(end).is_some_and(|word| number(word).is_some()) {
            end += 1;
        }
        let Some(words) = spot.words.get(start..end + WORDS) else {
            return before(&spot.words, start, end);
        };
        let telling = words[end - start..].iter().filter(|word| word.len() > 3).count() >= 2;
        let letters = words[end - start..].iter().all(|word| number(word).is_none());
        (telling && letters).then(|| Key::Words(words.to_vec()))
    })
}

/// The words that lead to a number at the end of a statement: three and more of them, two of which
/// tell something.
fn before(words: &[String], start: usize, end: usize) -> Option<Key> {
    let from = start.checked_sub(WORDS)?;
    let leading = &words[from..start];
    let letters = leading.iter().all(|word| word.parse::<f64>().is_err());
    let telling = leading.iter().filter(|word| word.len() > 3).count() >= 2;
    (letters && telling).then(|| Key::Words(words[from..end].to_vec()))
}

fn spots(document: &Document) -> Vec<Spot> {
    let prose = document.prose.iter().filter(|one| one.kind != SentenceKind::Heading);
    let sentences = prose.map(|one| Spot {
        words: list(&one.text),
        text: one.text.clone(),
        place: Place {
            document: document.name.clone(),
            line: Some(one.line),
            section: one.headings.join(" > "),
            ..Place::default()
        },
    });
    let tables = document.tables.iter().filter(|table| table.rows.len() <= super::MOST_ROWS);
    let rows = tables.flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    let cells = rows.flat_map(|(table, row)| {
        row.cells.iter().enumerate().skip(1).map(move |(column, cell)| Spot {
            words: list(&cell.text),
            text: cell.text.clone(),
            place: Place {
                document: document.name.clone(),
                line: Some(row.line),
                section: table.section(),
                row: row.cells.first().map(|cell| cell.text.clone()),
                column: table.columns.get(column).cloned(),
            },
        })
    });
    sentences.chain(cells).filter(|spot| spot.text.len() > 3).collect()
}
