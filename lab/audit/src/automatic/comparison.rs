//! What sentences say of two sides of a table: how far apart they are, and who is ahead.
//!
//! The sentences are data (sentences.tsv). Both sides are columns or rows that the sentence names;
//! what it says is held against every pair of their cells.

mod cells;
mod judge;
mod sides;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::book::Book;
use super::lexicon;
use super::stems::stems;
use super::tie::Tied;
use super::words::says;
use crate::{Document, Printed, Sentence, SentenceKind};

/// What a pattern of sentences.tsv yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Yields {
    /// An amount of one side more than the other, which `than` names.
    Than,
    /// The same where the other side is left unsaid.
    Base,
    /// A factor, the other side unsaid.
    Times,
    /// Who is ahead in every case.
    Order,
}

/// An amount of a claim of order, in one of its cases.
static AT: LazyLock<Vec<Regex>> = LazyLock::new(|| patterns("at"));

static PATTERNS: LazyLock<Vec<(Yields, Regex)>> = LazyLock::new(|| {
    let kinds = [
        ("than", Yields::Than),
        ("base", Yields::Base),
        ("times", Yields::Times),
        ("order", Yields::Order),
    ];
    let of = |(name, yields)| patterns(name).into_iter().map(move |regex| (yields, regex));
    kinds.into_iter().flat_map(of).collect()
});

static EVERY: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\s(?:across|in|for|on|at)\s(?:all|every|each)\s").ok());

fn patterns(name: &str) -> Vec<Regex> {
    let rows = include_str!("sentences.tsv").lines().skip(1);
    let own = rows.filter_map(|row| row.split_once('\t')).filter(|(yields, _)| *yields == name);
    own.filter_map(|(_, pattern)| Regex::new(&format!("(?i){pattern}")).ok()).collect()
}

/// A sentence about two sides.
struct Claim<'s> {
    yields: Yields,
    sentence: &'s Sentence,
    /// What stands before the amount, and what names the other side.
    who: String,
    whom: Option<String>,
    /// The word that says which way, and all that says what is compared.
    word: String,
    words: String,
    metric: BTreeSet<String>,
    low: Option<Printed>,
    high: Option<Printed>,
    /// Whether it is said of every case.
    every: bool,
}

/// Checks every sentence of prose; `results` are tables of results files.
pub(crate) fn check(
    document: &Document,
    tables: &[Tied<'_, '_>],
    results: &[Tied<'_, '_>],
    book: &mut Book,
) {
    for sentence in document.prose.iter().filter(|one| one.kind == SentenceKind::Prose) {
        for claim in PATTERNS.iter().filter_map(|pattern| claim(sentence, pattern)) {
            let page = judge::Page { document, tables, results };
            if page.judge(&claim, book) {
                break;
            }
        }
    }
    cells::check(document, tables, results, book);
}

fn claim<'s>(sentence: &'s Sentence, (yields, regex): &(Yields, Regex)) -> Option<Claim<'s>> {
    let groups = regex.captures(&sentence.text)?;
    let group = |name: &str| groups.name(name).map(|group| group.as_str());
    let who = group("who")?.to_owned();
    let behind = &sentence.text[groups.get(0).map_or(0, |all| all.end())..];
    let (low, high) = amount(&groups, &who);
    let bounded = match yields {
        Yields::Order => false,
        Yields::Times => says(&sentence.text, &["than", "vs", "versus", "compared"]),
        Yields::Base => says(group("metric")?, &["than"]) || says(behind, &["than"]),
        Yields::Than => false,
    };
    let amounts = *yields != Yields::Order;
    let is_bound = amounts && lexicon::ends(&who, "bounded") && *yields != Yields::Times;
    if bounded || is_bound || *yields == Yields::Times && lexicon::says(&sentence.text, "hedge") {
        return None;
    }
    let metric = stems(group("metric").unwrap_or_default());
    let word = group("word")?.to_lowercase();
    let words = format!("{word} {}", group("metric").unwrap_or_default()).to_lowercase();
    let rest = format!("{} {behind}", group("whom").unwrap_or_default());
    let every = *yields == Yields::Order || EVERY.as_ref().is_some_and(|all| all.is_match(&rest));
    let whom = group("whom").map(str::to_owned);
    if amounts && low.is_none() {
        return None;
    }
    Some(Claim { yields: *yields, sentence, who, whom, word, words, metric, low, high, every })
}

/// The number or range of a claim, in its unit.
fn amount(groups: &Captures<'_>, who: &str) -> (Option<Printed>, Option<Printed>) {
    let unit = match groups.name("unit").map_or("x", |group| group.as_str()) {
        "%" => "%",
        _ => "x",
    };
    let read = |name: &str| {
        let text = groups.name(name)?.as_str();
        let number = Printed::parse(&format!("{text}{unit}"))?;
        let about = lexicon::ends(who, "about") || text.starts_with('~');
        Some(Printed { approximate: number.approximate || about, ..number })
    };
    (read("low"), read("high"))
}

/// The amounts that a claim of order gives of single cases, with the names of these.
fn cases(text: &str) -> Vec<(String, Printed)> {
    let all = AT.iter().flat_map(|regex| regex.captures_iter(text));
    let read = |groups: Captures<'_>| Some((groups["who"].to_owned(), amount(&groups, "").0?));
    all.filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Yields, String, Option<String>, bool)> {
        let sentence = Sentence { text: text.to_owned(), ..Sentence::default() };
        let all = PATTERNS.iter().filter_map(|pattern| claim(&sentence, pattern));
        all.map(|claim| (claim.yields, claim.word, claim.whom, claim.every)).collect()
    }

    #[test]
    fn every_pattern_is_one() {
        let rows = include_str!("sentences.tsv").lines().skip(1).count();
        assert_eq!(PATTERNS.len() + AT.len(), rows);
    }

    #[test]
    fn claims_of_two_sides_are_read() {
        let some = |text: &str| Some(text.to_owned());
        let order =
            |word: &str, whom: &str| vec![(Yields::Order, word.to_owned(), some(whom), true)];
        assert_eq!(
            read("Mode A consistently outperformed mode B in our runs:"),
            order("outperform", "mode B")
        );
        assert_eq!(read("zlib is slower than lz4 on every file"), order("slower", "lz4"));
        assert_eq!(read("zlib is behind lz4 in every file"), order("behind", "lz4"));
        assert_eq!(read("zlib is slower than lz4 here"), []);
        let found = read("zlib is 19–31 % faster than lz4 across every file.");
        assert_eq!(
            found,
            [(Yields::Than, "faster".to_owned(), some("lz4 across every file"), true)]
        );
        assert_eq!(read("zlib is up to 30 % faster than lz4."), []);
    }
}
