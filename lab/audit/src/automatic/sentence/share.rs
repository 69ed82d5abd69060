//! `63 % (12/19)` and `12/19 (63 %)`.

use std::sync::LazyLock;

use regex::Regex;

use super::{Verdict, Wrong};
use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::words::says;
use crate::checks::Span;
use crate::{Check, Document, Place, Printed, Severity, TableRow};

/// A percentage, a few words, and counts in brackets behind it.
static BEHIND: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) (^|[^\d.,<>≥≤/])(~?) (\d{1,3}(?:\.\d{1,4})?) \s?% ([^%()\d;]{0,50})
        \( (\d{1,7}/\d{1,7}\b [^()]{0,120}) \)",
    )
    .ok()
});

/// Counts, a few words, and their percentage in brackets.
static BEFORE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) (?:^|[\s(*])(\d{1,7}/\d{1,7})((?:\s[A-Za-z]{2,15}){0,3})\s?
        \( (~?) (\d{1,3}(?:\.\d{1,4})?) \s?% [,)]",
    )
    .ok()
});

static COUNTS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|[\s,;(])(\d{1,7})/(\d{1,7})\b").ok());

static OF: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b(\d{1,7}) (?:out )?of (?:the )?(\d{1,7})\b").ok());

static GROUPED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b(\d{1,3}),(\d{3})\b").ok());

/// A text in which `6 out of 1,055` is `6/1055`.
pub(crate) fn slashed(text: &str) -> String {
    let (Some(grouped), Some(of)) = (GROUPED.as_ref(), OF.as_ref()) else {
        return text.to_owned();
    };
    of.replace_all(&grouped.replace_all(text, "$1$2"), "$1/$2").into_owned()
}

/// Every percentage beside the counts that it is of.
pub(super) fn verdicts(text: &str) -> Vec<Verdict> {
    if !text.contains('%') || !(text.contains('/') || text.contains(" of ")) {
        return Vec::new();
    }
    let text = &slashed(text);
    let mut found = Vec::new();
    for groups in BEHIND.iter().flat_map(|regex| regex.captures_iter(text)) {
        // "60 % at 80/80 (…)" is no share of what stands in the bracket, and a rate is none.
        let between = groups[4].to_lowercase();
        if !between.contains([':', ',', '→', '±']) {
            found.extend(verdict(&groups[3], &groups[2], &groups[5]));
        }
    }
    for groups in BEFORE.iter().flat_map(|regex| regex.captures_iter(text)) {
        found.extend(verdict(&groups[4], &groups[3], &groups[1]));
    }
    found
}

fn verdict(percent: &str, mark: &str, counts: &str) -> Option<Verdict> {
    let decimals = percent.split_once('.').map_or(0, |(_, digits)| digits.len());
    let stated = Printed {
        value: percent.parse().ok()?,
        decimals: i32::try_from(decimals).ok()?,
        unit: Some("%".to_owned()),
        approximate: !mark.is_empty(),
    };
    let pairs: Vec<(f64, f64)> = COUNTS
        .as_ref()?
        .captures_iter(counts)
        .filter_map(|groups| Some((groups[1].parse().ok()?, groups[2].parse().ok()?)))
        .collect();
    if pairs.is_empty() || pairs.iter().any(|(part, of)| part > of || *of < 1.0) {
        return None;
    }
    Some(Verdict { wrong: wrong(&stated, &pairs), stated })
}

fn wrong(stated: &Printed, pairs: &[(f64, f64)]) -> Option<Wrong> {
    let percent = |(part, of): (f64, f64)| 100.0 * part / of;
    let fits = |share: f64| {
        let span = Span::of(stated);
        // What failed is counted as often as what did not.
        span.meets(Span::exact(share)) || span.meets(Span::exact(100.0 - share))
    };
    let pooled = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    let mean = pairs.iter().map(|pair| percent(*pair)).sum::<f64>() / pairs.len() as f64;
    if fits(percent(pooled)) || fits(mean) {
        return None;
    }
    let of_one = pairs.iter().any(|pair| fits(percent(*pair)));
    let severity = if of_one { Severity::Inconsistent } else { Severity::Impossible };
    let counts: Vec<String> = pairs.iter().map(|(part, of)| format!("{part}/{of}")).collect();
    let sum = if pairs.len() > 1 { " together" } else { "" };
    let sentence = format!(
        "{} % is stated; {}{sum} are {:.1} %",
        stated.value,
        counts.join(", "),
        percent(pooled)
    );
    Some(Wrong {
        check: Check::ShareOfCounts,
        severity,
        computed: percent(pooled),
        sentence,
        how: "100 · part / whole".to_owned(),
    })
}

/// Lists of counts with a last item `Overall: 9/150`: the parts and the wholes must add up to it.
pub(super) fn of_lists(document: &Document, book: &mut Book) {
    for list in &document.lists {
        let Some((last, parts)) = list.rows.split_last() else { continue };
        let counts = |row: &TableRow| {
            let all: Vec<_> =
                COUNTS.iter().flat_map(|regex| regex.captures_iter(&row.cells[1].text)).collect();
            match &all[..] {
                [one] => Some((one[1].parse::<f64>().ok()?, one[2].parse::<f64>().ok()?)),
                _ => None,
            }
        };
        let name = &last.cells[0].text;
        let Some(stated) = counts(last).filter(|_| says(name, &["overall", "total", "all"])) else {
            continue;
        };
        let parts: Option<Vec<(f64, f64)>> = parts.iter().map(counts).collect();
        let Some(parts) = parts.filter(|parts| parts.len() >= 2) else { continue };
        let sum = parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        let found = (sum != stated).then(|| {
            let place = Place {
                document: document.name.clone(),
                line: Some(last.line),
                section: list.section(),
                ..Place::default()
            };
            let sentence = format!(
                "{}/{} is stated of all; the items above add up to {}/{}",
                stated.0, stated.1, sum.0, sum.1
            );
            let how = "the sums of the parts and of the wholes";
            Found::remark(Check::TotalOfCounts, Severity::Inconsistent, place, sentence, how)
                .values(stated.0, sum.0)
        });
        book.stated(last.line, stated.0, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<Option<Severity>> {
        verdicts(text).into_iter().map(|one| one.wrong.map(|wrong| wrong.severity)).collect()
    }

    #[test]
    fn shares_follow_from_their_counts() {
        assert_eq!(found("63% of the runs (12/19 total) failed"), [None]);
        assert_eq!(found("13% contention (6/55 runs)"), [Some(Severity::Impossible)]);
        assert_eq!(found("4/30 runs (13%) had it"), [None]);
        assert_eq!(found("6 out of 55 runs (13%) had it"), [Some(Severity::Impossible)]);
        assert_eq!(found("1,200 of 4,800 rows (25%) had it"), [None]);
        assert_eq!(found("95 % succeeded (1/20 failed)"), [None]);
        assert_eq!(found("25% (1/5 at 512, 0/5 at 1024)"), [Some(Severity::Impossible)]);
        assert_eq!(found("60% (3/5 at 512, 5/5 at 1024)"), [Some(Severity::Inconsistent)]);
    }

    #[test]
    fn what_only_looks_like_counts_is_left_alone() {
        assert!(found("99.0% at GPU=80/80, CTX=512/1024 (Test 201)").is_empty());
        assert!(found("78.6% efficiency (GPU=60/120 split)").is_empty());
        assert!(found("available 24/7 (99 %)").is_empty());
        assert!(found(">87% (7/8)").is_empty());
    }
}
