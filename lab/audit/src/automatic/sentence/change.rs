//! `+23.2 % (1.98x vs 1.64x)` and `1.44 → 1.79 (+24 %)`: changes beside their two values.

use super::{Verdict, Wrong, shown};
use crate::automatic::lexicon::{Words, class};
use crate::checks::Span;
use crate::checks::ratios::{self, Reading};
use crate::printed::scan::{self, Found};
use crate::{Check, Printed, Severity};

/// Characters between the change and its bracket.
const REACH: usize = 70;

/// Words before a number that only bound it.
static BOUNDS: Words = Words::new(|| class("sentence_change.bounds"));

/// Every change that stands beside the two values it is of.
pub(super) fn verdicts(text: &str) -> Vec<Verdict> {
    let chars: Vec<char> = text.chars().collect();
    let numbers = scan::placed(&chars);
    let mut found = Vec::new();
    for index in 0..numbers.len().saturating_sub(1) {
        let Some((a, b)) = pair(&chars, &numbers, index) else { continue };
        let stated = before(&chars, &numbers, index)
            .or_else(|| behind(&chars, &numbers, index))
            .cloned()
            .or_else(|| worded(&chars, &numbers, index));
        let Some(stated) = stated else { continue };
        found.extend(verdict(&stated, a, b));
    }
    found
}

/// Two neighbouring numbers of one unit that are compared.
fn pair<'n>(
    chars: &[char],
    numbers: &'n [(usize, Found)],
    index: usize,
) -> Option<(&'n Printed, &'n Printed)> {
    let ((_, first), (start, second)) = (&numbers[index], &numbers[index + 1]);
    let between: String = chars[first.end..*start].iter().collect();
    let lower = format!(" {} ", between.to_lowercase().replace(['→', '⟶'], " -> "));
    let joined = [" vs ", " vs. ", " versus ", " -> ", " against ", " compared to "];
    let joined = joined.iter().any(|word| lower.contains(word));
    let from_to = between.trim() == "to" && {
        let left: String = chars[..numbers[index].0].iter().rev().take(6).collect();
        left.trim_start().starts_with("morf")
    };
    let simple = lower.split_whitespace().count() <= 4
        && !between.contains(['(', ')', ',', ';', '|', '+', '=', '/']);
    let (a, b) = (&first.printed, &second.printed);
    // Behind "124M", "3.2B" is a count of billions and not of bytes.
    let bytes = b.unit.as_deref() == Some("B");
    let unit = a.unit == b.unit || a.unit.is_none() && b.unit.is_some() && !bytes;
    let positive = a.value > 0.0 && b.value > 0.0;
    // Bare numbers of few digits are settings: "0.6 vs 0.8", "60 vs 120".
    let digits = |n: &Printed| n.value.abs() * 10f64.powi(n.decimals) >= 100.0 && n.decimals > 0;
    let measured = b.unit.is_some() || digits(a) && digits(b);
    let chained = index > 0 && {
        let (_, left) = &numbers[index - 1];
        let gap: String = chars[left.end..numbers[index].0].iter().collect();
        [" vs ", " → ", " -> ", "→"].iter().any(|word| gap.contains(word))
    };
    ((joined || from_to) && simple && unit && positive && measured && !chained).then_some((a, b))
}

/// The change right before the bracket that opens with the pair.
fn before<'n>(chars: &[char], numbers: &'n [(usize, Found)], index: usize) -> Option<&'n Printed> {
    let (_, change) = &numbers[index.checked_sub(1)?];
    let start = numbers[index].0;
    let between: String = chars[change.end..start].iter().collect();
    if led(&between) && is_change(&change.printed) {
        let from: String = chars[..numbers[index - 1].0].iter().rev().take(12).collect();
        let from: String = from.chars().rev().collect();
        return (!bounded(&from)).then_some(&change.printed);
    }
    let (words, inside) = between.rsplit_once('(')?;
    let plain =
        words.chars().count() <= REACH && !words.contains(['(', ')', ';', ':', '.', ',', '→']);
    let inside = inside.trim();
    let opens = inside.chars().count() <= 12 && !inside.contains([',', '=', ':', '→']);
    let from: String = chars[..numbers[index - 1].0].iter().rev().take(12).collect();
    let from: String = from.chars().rev().collect();
    (plain && opens && is_change(&change.printed) && !bounded(&from)).then_some(&change.printed)
}

/// Whether a change leads to its pair without a bracket: `25 % faster: 12 ms → 9 ms`, `a reduction
/// by 25 % from 12 ms to 9 ms`.
fn led(between: &str) -> bool {
    let lower = between.to_lowercase();
    let trimmed = lower.trim_end();
    let words: Vec<&str> = trimmed.split(|c: char| !c.is_alphanumeric()).collect();
    let plain = !trimmed.trim_end_matches(':').contains(['(', ')', ';', ':', '.', '→', '/']);
    let named = words.iter().any(|word| CHANGES.contains(word));
    let from = trimmed.ends_with(" from") || trimmed == "from" || trimmed == ", from";
    let count = words.iter().filter(|word| !word.is_empty()).count();
    // "25 % of them from 10 ms to 20 ms" is no change.
    plain && count <= 3 && (from && (named || count == 1) || trimmed.ends_with(':') && named)
}

/// Words that call a number a change of two others.
static CHANGES: Words = Words::new(|| class("sentence_change.changes"));

/// The change behind the pair, in brackets or after an equals sign.
fn behind<'n>(chars: &[char], numbers: &'n [(usize, Found)], index: usize) -> Option<&'n Printed> {
    let (start, change) = numbers.get(index + 2)?;
    let between: String = chars[numbers[index + 1].1.end..*start].iter().collect();
    let mark = between.trim().to_lowercase();
    let mark = mark.as_str();
    let marks = [
        "(",
        "=",
        "= ",
        "(~",
        "(≈",
        "≈",
        "= ~",
        ":",
        ", a",
        ", an",
        ", or",
        ", i.e.",
        "—",
        "–",
        ", that is",
        ", which is",
        ", which is a",
        ", a drop of",
        ", a reduction of",
        ", an increase of",
        ", an improvement of",
        ", a decrease of",
        ", a gain of",
        ", down",
        ", up",
        "— a",
        "– a",
        "- a",
        "by",
        ", by",
    ];
    // `(98.9 vs 99.2 ops/s, 0.3 % difference)`: the next word says what it is.
    let tail: String = chars[change.end..].iter().take(24).collect();
    let word = tail.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let called = mark == "," && CHANGES.contains(&word.to_lowercase().as_str());
    let next: String = chars[change.end..].iter().take(8).collect();
    // A range of changes is none.
    let ends = !next.starts_with(['-', '–', '/']) && !next.trim_start().starts_with("to ");
    ((marks.contains(&mark) || called) && ends && is_change(&change.printed))
        .then_some(&change.printed)
}

/// `twice as fast (10 ms vs 20 ms)`: a factor in words before the bracket of the pair.
fn worded(chars: &[char], numbers: &[(usize, Found)], index: usize) -> Option<Printed> {
    let start = numbers[index].0;
    let from = index.checked_sub(1).map_or(0, |left| numbers[left].1.end);
    let before: String = chars[from..start].iter().collect();
    let (words, inside) = before.rsplit_once('(')?;
    let clause = words.rsplit(['.', ';', ':', '(', ')', ',']).next()?.to_lowercase();
    let near = clause.chars().count() <= REACH && inside.trim().chars().count() <= 12;
    let bounds = ["over", "more than", "less than", "almost", "nearly", "up to", "at least"];
    if !near || bounds.iter().any(|word| clause.contains(word)) {
        return None;
    }
    let of = |text: &str| FACTORS.iter().find(|(words, _)| text.contains(words));
    let (_, value) = of(&format!(" {} ", clause.trim()))?;
    let unit = Some("x".to_owned());
    Some(Printed { value: *value, decimals: 1, unit, approximate: true })
}

/// Factors in words. A half is twice the other way round.
const FACTORS: [(&str, f64); 13] = [
    (" twice as ", 2.0),
    (" twice the ", 2.0),
    (" double the ", 2.0),
    (" half the ", 2.0),
    (" half as ", 2.0),
    (" halves ", 2.0),
    (" halved ", 2.0),
    (" doubles ", 2.0),
    (" doubled ", 2.0),
    (" three times ", 3.0),
    (" four times ", 4.0),
    (" five times ", 5.0),
    (" ten times ", 10.0),
];

fn is_change(printed: &Printed) -> bool {
    matches!(printed.unit.as_deref(), Some("%" | "x" | "pp"))
}

fn bounded(before: &str) -> bool {
    let before = before.trim_end().to_lowercase();
    BOUNDS.iter().any(|word| before.ends_with(word))
}

fn verdict(stated: &Printed, a: &Printed, b: &Printed) -> Option<Verdict> {
    let same = |unit: &str| a.unit.as_deref() == Some(unit);
    if stated.unit.as_deref() == Some("pp") && !same("%") {
        return None;
    }
    let readings: &[Reading] = match stated.unit.as_deref()? {
        // Of percentages, "%" is often points.
        "%" => &ratios::READINGS,
        "pp" => &[Reading::Difference, Reading::DifferenceReversed],
        // "2x (1.5x vs 3x)" may count either.
        _ => &[Reading::Ratio, Reading::RatioReversed],
    };
    let (new, base) = (Span::of(b), Span::of(a));
    let size = Printed { value: stated.value.abs(), ..stated.clone() };
    let readings: Vec<Reading> = readings.to_vec();
    let fits = |reading: &Reading| {
        let difference = matches!(reading, Reading::Difference | Reading::DifferenceReversed);
        if difference && !same("%") && !same("pp") {
            return false;
        }
        let Some(value) = reading.of(new, base) else { return true };
        let span = Span::of(&size);
        // "3x faster" is four times as fast to some.
        let more = stated.unit.as_deref() == Some("x") && span.meets(value.minus(Span::exact(1.0)));
        span.meets(value) || span.meets(value.times(-1.0)) || more
    };
    if readings.iter().any(fits) {
        return Some(Verdict { stated: stated.clone(), wrong: None });
    }
    let plain =
        if stated.unit.as_deref() == Some("%") { Reading::PercentChange } else { readings[0] };
    let (one, other) = (plain.of(new, base)?, plain.of(base, new)?);
    let wide = if one.middle().abs() > other.middle().abs() { one } else { other };
    let narrow = if one.middle().abs() > other.middle().abs() { other } else { one };
    let sentence = format!(
        "{} is stated of {} and {}; they give {:.1} or {:.1}",
        shown(stated),
        shown(a),
        shown(b),
        wide.middle().abs(),
        narrow.middle().abs()
    );
    let wrong = Wrong {
        check: Check::ChangeOfTwo,
        severity: Severity::Inconsistent,
        computed: wide.middle(),
        sentence,
        how: format!("{}, on either base", plain.formula()),
    };
    Some(Verdict { stated: stated.clone(), wrong: Some(wrong) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<bool> {
        verdicts(text).into_iter().map(|one| one.wrong.is_some()).collect()
    }

    #[test]
    fn changes_follow_from_their_two_values() {
        let text = "+23.2% higher concurrency speedup (1.98x vs 1.64x at comparable configs)";
        assert_eq!(found(text), [true]);
        assert_eq!(found(&text.replace("23.2", "20.7")), [false]);
        assert_eq!(found("+24% speedup improvement (1.440x → 1.785x)"), [false]);
        assert_eq!(found("latency fell from 95 ms to 40 ms (-58 %)"), [false]);
        assert_eq!(found("latency fell from 95 ms to 40 ms (-72 %)"), [true]);
        assert_eq!(found("Rust's 1.573x vs Python's 1.981x = -20.6% speedup gap"), [false]);
        assert_eq!(found("**+17.3pp** gain (72.0% → 89.3%)"), [false]);
    }

    #[test]
    fn factors_may_be_words() {
        assert_eq!(found("It is twice as fast (10.0 ms vs 20.1 ms)"), [false]);
        assert_eq!(found("It is twice as fast (10.0 ms vs 34.0 ms)"), [true]);
        assert_eq!(found("It took half the time (44 ms vs 90 ms)"), [false]);
        assert!(found("more than twice as fast (10 ms vs 34 ms)").is_empty());
        assert_eq!(found("rose from 10.0 ms to 25.0 ms, an increase of 150%"), [false]);
        assert_eq!(found("rose from 10.0 ms to 25.0 ms, an increase of 50%"), [true]);
    }

    #[test]
    fn changes_stand_before_and_behind_their_pair() {
        assert_eq!(found("25% faster: 12.0 ms → 9.0 ms"), [false]);
        assert_eq!(found("45% faster: 12.0 ms → 9.0 ms"), [true]);
        assert_eq!(found("a 25% reduction from 12.0 ms to 9.0 ms"), [false]);
        assert_eq!(found("a 45% reduction from 12.0 ms to 9.0 ms"), [true]);
        assert_eq!(found("equal (98.9 vs 99.2 ops/s, 0.3% difference)"), [false]);
        assert_eq!(found("equal (98.9 vs 99.2 ops/s, 3.5% difference)"), [true]);
        assert_eq!(found("fell from 12.0 ms to 9.0 ms, by 25%"), [false]);
        // What follows is another number.
        assert!(found("(98.9 vs 99.2 ops/s, 3.5% of them idle)").is_empty());
    }

    #[test]
    fn what_is_only_bounded_or_of_other_units_is_left_alone() {
        assert!(found("up to 30% faster (1.98x vs 1.64x)").is_empty());
        assert!(found("30% faster (12 ms vs 64 MB)").is_empty());
        assert!(found("30% faster (see 1.2 and 3.4)").is_empty());
    }
}
