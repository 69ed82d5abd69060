//! `X is the fastest`, `X has the lowest latency`: the best of a column, said in a sentence.
//!
//! A claim is judged only where it fails in every column (or row) that its words can mean.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::automatic::column::{is_change, values};
use crate::automatic::found::Found;
use crate::automatic::role::better;
use crate::automatic::stems::{is_rate, stems};
use crate::automatic::tie::{Tied, unit_of};
use crate::automatic::words::{list, says};
use crate::checks::ranking::{Better, surpassed};
use crate::printed::unit;
use crate::{Check, Printed, Sentence};

/// Who, the word, and the words of the metric.
static IS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^(.{2,80}?) \s+ (?:is|was|are|were|remains?|has|have|had|achieve[sd]?|
        deliver(?:s|ed)?|offer(?:s|ed)?|show(?:s|ed)?|reach(?:es|ed)?|provide[sd]?) \s+
        (?:by\sfar\s+|still\s+|clearly\s+)? the \s+ (?:overall\s+)?
        (fastest|slowest|quickest|best|worst|highest|lowest|largest|smallest) \b
        \s* ([^,.;:()]{0,60})",
    )
    .ok()
});

/// `The lowest latency is X's`, `Highest throughput was with X`.
static OF: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^(?:the\s+)? (fastest|slowest|quickest|best|worst|highest|lowest|largest|smallest)
        \s+ ([^,.;:()]{0,40}?) \s* \b(?:is|was|belongs\sto|goes\sto)\b \s+
        (?:that\sof\s|with\s|in\s|by\s)? ([^,.;()]{2,60})",
    )
    .ok()
});

/// `Fastest: X`, where the list says no metric.
static ITEM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^(fastest|slowest|quickest) (?:\s+(?:overall|option|choice|engine|model|run))?
        :\s+ ([^,.;:()←→]{2,60})",
    )
    .ok()
});

/// `X wins on latency`.
static WINS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^(?:the\s)?(.{2,60}?)\s+wins\s+(?:on|in|by)\s+([^,.;:()]{2,40})").ok()
});

/// Words of a sentence that speaks of some cases, of a second place or of what may be.
const OTHER: [&str; 42] = [
    "among",
    "one",
    "except",
    "excluding",
    "besides",
    "other",
    "apart",
    "after",
    "second",
    "third",
    "next",
    "nearly",
    "almost",
    "if",
    "when",
    "where",
    "not",
    "never",
    "without",
    "possible",
    "could",
    "may",
    "might",
    "should",
    "would",
    "often",
    "usually",
    "sometimes",
    "typically",
    "probably",
    "expected",
    "predicted",
    "until",
    "previously",
    "but",
    "while",
    "although",
    "than",
    "per",
    "relative",
    "within",
    "single",
];

/// Numbers closer than this share a place.
const TIE: f64 = 0.01;

struct Claim<'t> {
    who: &'t str,
    word: String,
    metric: BTreeSet<String>,
}

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    if says(&sentence.text, &OTHER) {
        return;
    }
    let Some(claim) = claim(&sentence.text) else { return };
    // The best ratio of two columns is in neither of them.
    if claim.metric.iter().any(|word| is_change(word)) {
        return;
    }
    // The nearest table that names who it is about.
    for tied in page.beside(sentence) {
        let found = if let Some(row) = row_of(tied, claim.who) {
            of_row(page, sentence, tied, (&claim, row))
        } else if let Some(column) = column_in(tied, claim.who) {
            of_column(page, sentence, tied, (&claim, column))
        } else {
            continue;
        };
        book.claim(found);
        return;
    }
}

fn claim(text: &str) -> Option<Claim<'_>> {
    let read = |groups: regex::Captures<'_>, who: usize, word: usize, metric: usize| {
        let mut metric = stems(&groups[metric]);
        metric.retain(|word| {
            !["overall", "result", "of", "all", "the", "performance"].contains(&word.as_str())
        });
        let range = groups.get(who)?.range();
        Some(Claim { who: &text[range], word: groups[word].to_lowercase(), metric })
    };
    if let Some(groups) = IS.as_ref()?.captures(text) {
        return read(groups, 1, 2, 3);
    }
    if let Some(groups) = OF.as_ref()?.captures(text) {
        return read(groups, 3, 1, 2);
    }
    let named =
        |groups: &regex::Captures<'_>, index: usize| Some(&text[groups.get(index)?.range()]);
    if let Some(groups) = ITEM.as_ref()?.captures(text) {
        let word = groups[1].to_lowercase();
        return Some(Claim { who: named(&groups, 2)?, word, metric: BTreeSet::new() });
    }
    let groups = WINS.as_ref()?.captures(text)?;
    let metric = stems(&groups[2]);
    Some(Claim { who: named(&groups, 1)?, word: "best".to_owned(), metric })
}

/// The one row that a name stands for.
fn row_of(tied: &Tied<'_, '_>, who: &str) -> Option<usize> {
    match tied.rows_in(who)[..] {
        [row] => Some(row),
        [] if list(who).len() <= 4 => tied.row(who),
        _ => None,
    }
}

/// The one column whose header stands in a text as it is.
fn column_in(tied: &Tied<'_, '_>, text: &str) -> Option<usize> {
    let padded = format!(" {} ", list(text).join(" "));
    let named = |column: &usize| {
        let header = list(&tied.table().columns[*column]).join(" ");
        header.chars().filter(|c| c.is_alphabetic()).count() >= 3
            && padded.contains(&format!(" {header} "))
    };
    let mut columns = values(tied.grid).into_iter().filter(named);
    columns.next().filter(|_| columns.next().is_none())
}

/// Which end of the numbers the word means, for a name and a unit.
fn end(word: &str, name: &str, of: Option<&str>) -> Option<Better> {
    let timed = of.is_some_and(|of| unit::factor(of, "s").is_some());
    let rated = of.is_some_and(|of| is_rate(of) || of.to_lowercase().ends_with("b/s"));
    let turned = |way: Better| if way == Better::Higher { Better::Lower } else { Better::Higher };
    match word {
        "highest" | "largest" => Some(Better::Higher),
        "lowest" | "smallest" => Some(Better::Lower),
        "fastest" | "quickest" if timed => Some(Better::Lower),
        "fastest" | "quickest" if rated => Some(Better::Higher),
        "slowest" if timed => Some(Better::Higher),
        "slowest" if rated => Some(Better::Lower),
        "best" => better(name, of),
        "worst" => better(name, of).map(turned),
        _ => None,
    }
}

/// Of names, those that share most words with a metric; all where it has none and speed is meant.
fn meant(claim: &Claim<'_>, names: &[(usize, String)]) -> Vec<usize> {
    let shared = |name: &str| stems(name).intersection(&claim.metric).count();
    let most = names.iter().map(|(_, name)| shared(name)).max().unwrap_or(0);
    let speed = ["fastest", "slowest", "quickest"].contains(&claim.word.as_str());
    if most == 0 && !speed {
        return Vec::new();
    }
    names.iter().filter(|(_, name)| shared(name) == most).map(|(index, _)| *index).collect()
}

/// A row that is not what it is called in any column that is meant.
fn of_row(
    page: &Page<'_, '_, '_>,
    sentence: &Sentence,
    tied: &Tied<'_, '_>,
    (claim, row): (&Claim<'_>, usize),
) -> Option<Found> {
    let table = tied.table();
    let names: Vec<(usize, String)> = values(tied.grid)
        .into_iter()
        .map(|column| (column, table.columns[column].clone()))
        .collect();
    let mut beaten = None;
    let mut judged = 0;
    for column in meant(claim, &names) {
        let of = unit_of(table, column);
        let Some(way) = end(&claim.word, &table.columns[column], of.as_deref()) else { continue };
        let rows: Vec<usize> = (0..table.rows.len())
            .filter(|row| table.rows[*row].cells[column].number.is_some())
            .filter(|row| !says(tied.name(*row), &["total", "average", "mean", "overall"]))
            .collect();
        let numbers: Vec<Printed> =
            rows.iter().filter_map(|row| table.rows[*row].cells[column].number.clone()).collect();
        let Some(own) = rows.iter().position(|known| *known == row) else { continue };
        judged += 1;
        let by = by(&numbers, own, way)?;
        beaten.get_or_insert((column, rows[by]));
    }
    let (column, by) = beaten.filter(|_| judged > 0)?;
    let cell = |row: usize| &table.rows[row].cells[column].text;
    let text = format!(
        "{} is called the {}, with {} in `{}`; {} has {} (line {})",
        tied.name(row),
        claim.word,
        cell(row),
        table.columns[column],
        tied.name(by),
        cell(by),
        table.rows[by].line
    );
    let how = "every column that the words can mean";
    Some(page.found(Check::Superlative, sentence, table.rows[by].line, text, how))
}

/// Whose number is surely better, by more than a tie; `None` where the claim stands.
fn by(numbers: &[Printed], own: usize, way: Better) -> Option<usize> {
    let by = surpassed(numbers, own, way)?;
    let (a, b) = (numbers[own].value, numbers[by].value);
    ((a - b).abs() > TIE * a.abs().max(b.abs())).then_some(by)
}

/// The same for a column among columns of its unit, in the rows that the metric names.
fn of_column(
    page: &Page<'_, '_, '_>,
    sentence: &Sentence,
    tied: &Tied<'_, '_>,
    (claim, column): (&Claim<'_>, usize),
) -> Option<Found> {
    let table = tied.table();
    let names: Vec<(usize, String)> =
        (0..table.rows.len()).map(|row| (row, tied.name(row).to_owned())).collect();
    let columns = values(tied.grid);
    let mut beaten = None;
    let mut judged = 0;
    for row in meant(claim, &names) {
        let cells = &table.rows[row].cells;
        let Some(own) = cells[column].number.as_ref() else { continue };
        let Some(way) = end(&claim.word, tied.name(row), own.unit.as_deref()) else { continue };
        let alike = |other: &usize| {
            cells[*other].number.as_ref().is_some_and(|number| number.unit == own.unit)
        };
        let sides: Vec<usize> = columns.iter().copied().filter(alike).collect();
        let numbers: Vec<Printed> =
            sides.iter().filter_map(|side| cells[*side].number.clone()).collect();
        let Some(at) = sides.iter().position(|side| *side == column) else { continue };
        if sides.len() < 2 {
            continue;
        }
        judged += 1;
        let by = by(&numbers, at, way)?;
        beaten.get_or_insert((row, sides[by]));
    }
    let (row, by) = beaten.filter(|_| judged > 0)?;
    let cells = &table.rows[row].cells;
    let text = format!(
        "`{}` is called the {}, with {}; `{}` has {} (line {})",
        table.columns[column],
        claim.word,
        cells[column].text,
        table.columns[by],
        cells[by].text,
        table.rows[row].line
    );
    let how = "every row that the words can mean";
    Some(page.found(Check::Superlative, sentence, table.rows[row].line, text, how))
}
