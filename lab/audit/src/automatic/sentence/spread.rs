//! `6-12x … (0.4 % vs 2-5 %)`: a range of factors beside the number and the range it is of.

use std::sync::LazyLock;

use regex::Regex;

use super::{Verdict, Wrong};
use crate::checks::Span;
use crate::{Check, Printed, Severity};

/// A range of factors, a few words, and a bracket of a number against a range.
static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) (^|[^\d.,~<>]) (\d{1,5}(?:\.\d{1,3})?) \s?[-–]\s?
        (\d{1,5}(?:\.\d{1,3})?) \s?[x×] ([^()\d]{0,70}) \( ([^()]{5,60}) \)",
    )
    .ok()
});

static RANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) ^\s* (\d{1,6}(?:\.\d{1,4})?)\s?([%a-zA-Zµ/]{0,8})
        (?: \s?[-–]\s? (\d{1,6}(?:\.\d{1,4})?)\s?([%a-zA-Zµ/]{0,8}) )?
        (?:\s[A-Za-z]{1,12}){0,2} \s*$",
    )
    .ok()
});

/// One side of the bracket.
struct Side {
    low: Printed,
    high: Option<Printed>,
}

/// Every range of factors beside its bracket.
pub(super) fn verdicts(text: &str) -> Vec<Verdict> {
    if !text.contains(" vs") {
        return Vec::new();
    }
    let all = CLAIM.iter().flat_map(|regex| regex.captures_iter(text));
    all.filter_map(|groups| {
        let (low, high) = (Printed::parse(&groups[2])?, Printed::parse(&groups[3])?);
        let inside = groups[5].replace(" vs. ", " vs ");
        let (a, b) = inside.split_once(" vs ")?;
        let (a, b) = (side(a)?, side(b)?);
        let (one, from, to) = match (a, b) {
            (Side { low: one, high: None }, Side { low, high: Some(high) })
            | (Side { low, high: Some(high) }, Side { low: one, high: None }) => (one, low, high),
            _ => return None,
        };
        let holds = fits((&low, &high), &one, (from.value, to.value));
        let how = "both ends of the range over one value that prints like the number";
        let wrong = (!holds).then(|| Wrong {
            check: Check::ChangeOfTwo,
            severity: Severity::Inconsistent,
            computed: from.value / one.value,
            sentence: format!(
                "{} to {} times is stated; {} to {} over {} are {:.1} to {:.1}",
                low.value,
                high.value,
                from.value,
                to.value,
                one.value,
                from.value / one.value,
                to.value / one.value
            ),
            how: how.to_owned(),
        });
        Some(Verdict { stated: Printed { unit: Some("x".to_owned()), ..low }, wrong })
    })
    .collect()
}

fn side(text: &str) -> Option<Side> {
    let groups = RANGE.as_ref()?.captures(text)?;
    let number = |index: usize| Printed::parse(groups.get(index)?.as_str());
    Some(Side { low: number(1)?, high: number(3) })
}

/// Whether one value that prints like `one` gives both stated ends, as factors or as "times more".
fn fits((low, high): (&Printed, &Printed), one: &Printed, (from, to): (f64, f64)) -> bool {
    if one.value <= 0.0 || from <= 0.0 || to < from {
        return true;
    }
    let values = Span::of(one);
    // The values of `one` for which an end of the range is so many times as large, or as small.
    let of = |end: f64, factor: Span, larger: bool| {
        let factor = Span { low: factor.low.max(1e-9), ..factor };
        let quotient = Span::exact(end).over(factor)?;
        Some(if larger { quotient } else { factor.times(end) })
    };
    let meet = |a: Span, b: Span| {
        let both = Span { low: a.low.max(b.low), high: a.high.min(b.high) };
        both.low <= both.high && both.meets(values)
    };
    [0.0, 1.0].into_iter().any(|more| {
        let stated = |end: &Printed| Span::of(end).plus(Span::exact(more));
        let larger = of(from, stated(low), true).zip(of(to, stated(high), true));
        let smaller = of(to, stated(low), false).zip(of(from, stated(high), false));
        [larger, smaller].into_iter().flatten().any(|(a, b)| meet(a, b))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_follow_from_one_value() {
        let found = |text: &str| -> Vec<bool> {
            verdicts(text).into_iter().map(|one| one.wrong.is_some()).collect()
        };
        assert_eq!(found("5-12x steadier (0.4% vs 2-5%)"), [false]);
        assert_eq!(found("7-12x steadier (0.4% vs 2-5% CV)"), [true]);
        assert_eq!(found("4-8x faster (10-20 ms vs 80 ms)"), [false]);
        assert_eq!(found("4-8x faster (10-20 ms vs 120 ms)"), [true]);
        assert!(found("4-8x faster (see 3.2 vs the other)").is_empty());
    }
}
