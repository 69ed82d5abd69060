//! `45 minutes (0.75 h)`: one quantity in two units.

use super::{Verdict, Wrong, shown};
use crate::checks::Span;
use crate::printed::{scan, unit};
use crate::{Check, Severity};

/// What stands in the bracket may be another quantity, unless it is near the first one.
const NEAR: f64 = 2.0;

/// Kilobytes of 1,000 and of 1,024 bytes have one name; of gigabytes this is the difference.
const BYTES: f64 = 0.075;

/// Every number with a unit and, in brackets right behind it, a number in another unit of the same
/// dimension.
pub(super) fn verdicts(text: &str) -> Vec<Verdict> {
    if !text.contains('(') {
        return Vec::new();
    }
    let chars: Vec<char> = text.chars().collect();
    let numbers = scan::placed(&chars);
    let mut found = Vec::new();
    for pair in numbers.windows(2) {
        let [(start, first), (inside, second)] = pair else { continue };
        let between: String = chars[first.end..*inside].iter().collect();
        let behind = chars.get(second.end);
        let bracket = ["(", "(~", "(≈", "(=", "(= ", "(about "].contains(&between.trim_start());
        // "5 ± 10 ms (0.2 s)" and "1-2 h (90 min)" state no single value.
        let before = chars[..*start].iter().rev().find(|c| !c.is_whitespace());
        let single = before.is_none_or(|c| !"-–±/+".contains(*c));
        if !bracket || behind != Some(&')') || !single {
            continue;
        }
        let (a, b) = (&first.printed, &second.printed);
        let units = a.unit.as_deref().zip(b.unit.as_deref()).filter(|(a, b)| a != b);
        let Some(factor) = units.and_then(|(a, b)| unit::factor(a, b)) else { continue };
        let bytes = units.is_some_and(|(unit, _)| unit.ends_with('B'));
        let loose = if bytes { BYTES } else { 0.0 };
        let converted = Span::of(a).times(factor);
        let wide =
            Span { low: converted.low * (1.0 - loose), high: converted.high * (1.0 + loose) };
        let near = a.value > 0.0 && (1.0 / NEAR..NEAR).contains(&(b.value / (a.value * factor)));
        if !near {
            continue;
        }
        let wrong = (!Span::of(b).meets(wide)).then(|| Wrong {
            check: Check::TwoUnits,
            severity: Severity::Inconsistent,
            computed: a.value * factor,
            sentence: format!(
                "{} is stated as {}, which are {:.2} of these",
                shown(a),
                shown(b),
                a.value * factor
            ),
            how: "the first number in the unit of the second".to_owned(),
        });
        found.push(Verdict { stated: b.clone(), wrong });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_units_of_one_quantity_agree() {
        let found = |text: &str| -> Vec<bool> {
            verdicts(text).into_iter().map(|one| one.wrong.is_some()).collect()
        };
        assert_eq!(found("It took 45 minutes (0.75 h)."), [false]);
        assert_eq!(found("It took 45 minutes (0.95 h)."), [true]);
        assert_eq!(found("of 2.0 GB (1,907 MB)"), [false]);
        assert_eq!(found("a pause of 1,250 ms (1.25 s)"), [false]);
        assert_eq!(found("a pause of 1,250 ms (1.52 s)"), [true]);
        // A deviation, another quantity, and two of them.
        assert!(found("1.2 s (80 ms)").is_empty());
        assert!(found("1.2 s (900 ms later)").is_empty());
        assert!(found("1-2 h (90 min)").is_empty());
    }
}
