//! `The highest throughput is 512 ops/s`: a number that a column has, and that is not its end.

use std::sync::LazyLock;

use regex::Regex;

use super::{Page, spoken};
use crate::automatic::book::Book;
use crate::automatic::column::number;
use crate::automatic::role::better;
use crate::automatic::sentence::shown;
use crate::automatic::stems::is_rate;
use crate::automatic::words::says;
use crate::checks::bounds;
use crate::checks::ranking::{Better, surpassed};
use crate::printed::unit;
use crate::{Check, Printed, Sentence};

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^([^\d]{0,60}?) \b
        (highest|lowest|best|worst|peak|maximum|minimum|fastest|slowest|largest|smallest) \s+
        ((?:[a-z][a-z-]*\s+){0,4}?)
        (?:(?:is|was|of|reached|achieved|reaches)\s+|[a-z]+:\s*|\() (?:only\s|about\s)?
        (\d[\d,]*(?:\.\d+)?\s?(?:%|x\b|×|[a-zµ]{1,6}(?:/[a-z]{1,6})?)) (?:$|[^\d\w–-])",
    )
    .ok()
});

/// Words of a sentence about some of the rows, or other data.
const OTHER: [&str; 26] = [
    "among",
    "except",
    "excluding",
    "without",
    "second",
    "third",
    "next",
    "nearly",
    "almost",
    "if",
    "when",
    "not",
    "could",
    "would",
    "should",
    "expected",
    "predicted",
    "than",
    "previous",
    "previously",
    "theoretical",
    "target",
    "per",
    "within",
    "for",
    "single",
];

/// Numbers closer than this share a place.
const TIE: f64 = 0.005;

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = CLAIM.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    let claim = groups.get(0).map_or("", |all| all.as_str());
    let Some(stated) = Printed::parse(&groups[4]).filter(|_| !says(claim, &OTHER)) else { return };
    let word = groups[2].to_lowercase();
    let named = format!("{} {}", &groups[3], claim);
    for tied in page.beside(sentence) {
        let table = tied.table();
        let rows = spoken::rows(tied, claim);
        let Some(rows) = spoken::with_settings(tied, claim, rows) else { continue };
        let mut beaten = None;
        let mut judged = false;
        for column in spoken::columns(tied, &named, &stated) {
            let with: Vec<(usize, Printed)> = rows
                .iter()
                .filter_map(|row| Some((*row, number(tied.grid, *row, column)?.clone())))
                .collect();
            let own = with.iter().position(|(_, n)| bounds::differ(&stated, n).is_none());
            let header = format!("{} {}", table.columns[column], table.above());
            let Some(way) = end(&word, &header, stated.unit.as_deref()) else { continue };
            let Some(own) = own.filter(|_| with.len() >= 3) else { continue };
            let numbers: Vec<Printed> = with.iter().map(|(_, number)| number.clone()).collect();
            let by = surpassed(&numbers, own, way).filter(|by| {
                let (a, b) = (stated.value, numbers[*by].value);
                (a - b).abs() > TIE * a.abs().max(b.abs())
            });
            judged = true;
            let Some(by) = by else {
                book.stated(sentence.line, stated.value, None);
                return;
            };
            beaten.get_or_insert((with[by].0, column));
        }
        let Some((row, column)) = beaten.filter(|_| judged) else { continue };
        let text = format!(
            "{} is called the {word}; `{}` of {} is {} (line {})",
            shown(&stated),
            table.columns[column],
            tied.name(row),
            table.rows[row].cells[column].text,
            table.rows[row].line
        );
        let how = "the column that has the number, in every row that the words can mean";
        let found = page
            .found(Check::Superlative, sentence, table.rows[row].line, text, how)
            .values(stated.value, number(tied.grid, row, column).map_or(0.0, |n| n.value));
        book.stated(sentence.line, stated.value, Some(found));
        return;
    }
}

/// Which end of the numbers the word means.
fn end(word: &str, header: &str, of: Option<&str>) -> Option<Better> {
    let timed = of.is_some_and(|of| unit::factor(of, "s").is_some());
    let rated = of.is_some_and(|of| is_rate(of) || of.to_lowercase().ends_with("b/s"));
    let turned = |way: Better| if way == Better::Higher { Better::Lower } else { Better::Higher };
    match word {
        "highest" | "largest" | "maximum" => Some(Better::Higher),
        "lowest" | "smallest" | "minimum" => Some(Better::Lower),
        "fastest" if timed => Some(Better::Lower),
        "fastest" if rated => Some(Better::Higher),
        "slowest" if timed => Some(Better::Higher),
        "slowest" if rated => Some(Better::Lower),
        "best" | "peak" => better(header, of),
        "worst" => better(header, of).map(turned),
        _ => None,
    }
}
