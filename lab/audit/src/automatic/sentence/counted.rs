//! `four engines (a, b and c)`: a number of things and their names behind it.

use std::sync::LazyLock;

use regex::Regex;

use super::{Verdict, Wrong};
use crate::automatic::words::{self, says};
use crate::{Check, Printed, Severity};

/// Things of which each has a name; runs, workers and their like have none.
static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) \b(two|three|four|five|six|seven|eight|nine|ten|[2-9]|1\d) \s
        ((?:[a-z-]{2,16}\s){0,2})
        (models|backends|languages|scenarios|phases|factors|metrics|engines|libraries|
        implementations|variants|types|kinds|categories|strategies|datasets|
        tools|methods|stages|components|modes|providers|formats|algorithms|approaches|policies|
        runtimes|platforms|compilers|databases|allocators|schedulers|codecs|workloads)
        \s?(?:\(|:\s|\s[—–]\s) ([^():;—–]{8,300}?) (?:\)|\.?$|\s[—–]\s|;)",
    )
    .ok()
});

/// Words of a list that has not all, or more than the things themselves.
const OPEN: [&str; 26] = [
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "others",
    "more",
    "e.g",
    "including",
    "such",
    "like",
    "etc",
    "among",
    "example",
    "plus",
    "per",
    "vs",
    "each",
    "with",
    "from",
    "all",
    "both",
    "total",
    "see",
    "or",
];

/// Longer items are clauses, and commas within them divide no names.
const LONGEST: usize = 4;

/// Every number of things that are named behind it.
pub(super) fn verdicts(text: &str) -> Vec<Verdict> {
    let all = CLAIM.iter().flat_map(|regex| regex.captures_iter(text));
    all.filter_map(|groups| {
        let stated = words::count(&groups[1])?;
        let items = items(&groups[4])?;
        let printed = Printed { value: stated as f64, decimals: 0, unit: None, approximate: false };
        let wrong = (!items.contains(&stated)).then(|| Wrong {
            check: Check::CountOfNames,
            severity: Severity::Inconsistent,
            computed: items[0] as f64,
            sentence: format!("{stated} {} are announced; {} are named", &groups[3], items[0]),
            how: "the names between commas".to_owned(),
        });
        Some(Verdict { stated: printed, wrong })
    })
    .collect()
}

/// How many names a list has: with "and" between two of them, or within one.
fn items(list: &str) -> Option<[usize; 2]> {
    let divided = list.contains(['/', '×', '→', '=', '+', '…']) || list.contains("...");
    let ranged = list
        .chars()
        .zip(list.chars().skip(1))
        .any(|(a, b)| a.is_ascii_digit() && matches!(b, '-' | '–'));
    if divided || ranged || says(list, &OPEN) {
        return None;
    }
    let commas: Vec<&str> = list.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
    let short = |item: &&str| item.split_whitespace().count() <= LONGEST + 1;
    if commas.len() < 2 || !commas.iter().all(short) {
        return None;
    }
    let last = commas.last()?;
    let led = last.starts_with("and ");
    let joined = !led && last.contains(" and ");
    Some([commas.len() + usize::from(joined), commas.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_counted() {
        let found = |text: &str| -> Vec<bool> {
            verdicts(text).into_iter().map(|one| one.wrong.is_some()).collect()
        };
        assert_eq!(found("We compare three engines (alder, birch, cedar)."), [false]);
        assert_eq!(found("We compare four engines (alder, birch and cedar)."), [true]);
        assert_eq!(found("We compare four storage engines: alder, birch, cedar and elm."), [false]);
        assert_eq!(found("five models (A 1B, B 3B, and C 7B)"), [true]);
        // Examples, clauses and what has no names.
        assert!(found("five models (including A 1B, B 3B)").is_empty());
        assert!(found("five runs (mean, median)").is_empty());
        assert!(found("two modes (fast, which is the one that most people use)").is_empty());
    }
}
