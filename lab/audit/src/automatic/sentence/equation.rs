//! `7 scenarios × 7 repetitions = 49 runs`: sums and products that a text spells out.

use super::{Verdict, Wrong, shown};
use crate::checks::Span;
use crate::expression::Reader;
use crate::printed::scan::{self, Setting};
use crate::{Check, Expression, Printed, Severity};

/// Factors between units that an equation may pass over: prefixes, percent, time, bytes, bits.
const FACTORS: [f64; 14] = [
    1.0,
    1e2,
    1e3,
    1e6,
    1e9,
    60.0,
    3600.0,
    86_400.0,
    24.0,
    1_024.0,
    1_048_576.0,
    1_073_741_824.0,
    8.0,
    365.0,
];

/// Words between a number and the operator behind it.
const MOST_WORDS: usize = 3;

/// Every result that stands behind an equals sign.
pub(super) fn verdicts(text: &str) -> Vec<Verdict> {
    if !text.contains('=') || text.len() > 2_000 {
        return Vec::new();
    }
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let begins = chars[at].is_ascii_digit() || matches!(chars[at], '(' | '$');
        let free =
            at == 0 || !(chars[at - 1].is_alphanumeric() || ".,_/×*+-−–=^".contains(chars[at - 1]));
        let free = free && !operator_before(&chars, at);
        match equation(&chars, at) {
            Some((verdict, end)) if begins && free => {
                found.push(verdict);
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

/// Whether what stands before is an operator, so that an expression begins further left.
fn operator_before(chars: &[char], at: usize) -> bool {
    let before = chars[..at].iter().rev().find(|c| !c.is_whitespace());
    before.is_some_and(|c| "×*÷/+−–=^<>≤≥".contains(*c))
        || before == Some(&'-') && chars.get(at.wrapping_sub(1)) == Some(&' ')
}

/// What an equation's numbers say of it.
struct Counted {
    numbers: usize,
    /// Whether every number was whole and without a unit of measurement.
    exact: bool,
    approximate: bool,
}

/// The equation that begins at a place, and where it ends.
fn equation(chars: &[char], at: usize) -> Option<(Verdict, usize)> {
    let mut of = Counted { numbers: 0, exact: true, approximate: false };
    let mut reader = Reader::new(chars, at, true);
    let expression = reader.sum(&mut |reader| of.factor(reader))?;
    let value = expression.value(&|_| None).filter(|value| value.is_finite())?;
    // `at CTX=512` sets a name.
    let joined = chars[reader.at - 1].is_alphabetic() && reader.peek() == Some('=');
    reader.spaces();
    match reader.peek()? {
        '=' if !joined && of.numbers >= 2 => {}
        '≈' if of.numbers >= 2 => of.approximate = true,
        _ => return None,
    }
    reader.at += 1;
    reader.spaces();
    if matches!(reader.peek()?, '~' | '≈') {
        of.approximate = true;
        reader.at += 1;
    }
    let stated = number(&mut reader)?;
    let stated = Printed { approximate: stated.approximate || of.approximate, ..stated };
    let wrong = wrong(&stated, value, of.exact && !expression.divides());
    ends(&reader).then_some((Verdict { stated, wrong }, reader.at))
}

/// Whether the result is a number by itself: no range, no further operator.
fn ends(reader: &Reader<'_>) -> bool {
    let rest: String = reader.chars[reader.at..].iter().take(6).collect();
    let rest = rest.trim_start();
    !rest.starts_with(['×', '*', '÷', '/', '+', '-', '−', '–', '^', '±', '…', ':'])
        && !rest.starts_with("to ")
        && !rest.starts_with("x ")
}

impl Counted {
    fn factor(&mut self, reader: &mut Reader<'_>) -> Option<Expression> {
        if matches!(reader.peek(), Some('~' | '≈')) {
            self.approximate = true;
            reader.at += 1;
        }
        let number = number(reader)?;
        self.numbers += 1;
        words(reader);
        let counted = number.decimals == 0 && number.unit.as_deref().is_none_or(|u| u == "x");
        self.exact &= counted;
        // Constants and counts are what they are.
        let span = if counted { Span::exact(number.value) } else { Span::of(&number) };
        Some(Expression::Number(span))
    }
}

fn number(reader: &mut Reader<'_>) -> Option<Printed> {
    let signed = matches!(reader.peek(), Some('+' | '-' | '−'));
    let digit = reader.chars.get(reader.at + usize::from(signed));
    digit.filter(|c| c.is_ascii_digit() || matches!(c, '$' | '€' | '.'))?;
    let found = scan::number(reader.chars, reader.at, Setting::Prose).or_else(|| bare(reader))?;
    reader.at = found.end;
    // "$0.12/kWh": a price per unit.
    if reader.peek() == Some('/') && reader.chars.get(reader.at + 1)?.is_alphabetic() {
        reader.at += 1;
        while reader.peek().is_some_and(char::is_alphanumeric) {
            reader.at += 1;
        }
    }
    Some(found.printed)
}

/// A number with an operator right behind it, which the scanner takes for a name.
fn bare(reader: &Reader<'_>) -> Option<scan::Found> {
    let digits = |c: &&char| c.is_ascii_digit() || **c == '.';
    let start = reader.at + usize::from(matches!(reader.peek(), Some('$' | '€' | '£')));
    let end = start + reader.chars[start..].iter().take_while(digits).count();
    let next = reader.chars.get(end)?;
    // A unit that we do not know is part of the number: "150W".
    let letters = reader.chars[end..].iter().take_while(|c| c.is_alphabetic()).count();
    let glued = reader.chars.get(end + letters).is_some_and(|c| *c == '_' || c.is_alphanumeric());
    if !("/*×+÷".contains(*next) || (1..=5).contains(&letters) && !glued) {
        return None;
    }
    let text: String = reader.chars[start..end].iter().collect();
    let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let printed = Printed {
        value: text.parse().ok()?,
        decimals: i32::try_from(decimals).ok()?,
        unit: (letters > 0).then(|| reader.chars[end..end + letters].iter().collect()),
        approximate: false,
    };
    Some(scan::Found { printed, end: end + letters })
}

/// Passes over words that say what is counted.
fn words(reader: &mut Reader<'_>) {
    let start = reader.at;
    for _ in 0..MOST_WORDS {
        let before = reader.at;
        reader.spaces();
        let from = reader.at;
        while reader.peek().is_some_and(|c| c.is_alphabetic() || c == '-' && reader.at > from) {
            reader.at += 1;
        }
        // A lone x multiplies.
        if reader.at == from || reader.at - from == 1 && reader.chars[from] == 'x' {
            reader.at = before;
            break;
        }
    }
    let mut next = reader.at;
    while reader.chars.get(next).is_some_and(|c| c.is_whitespace()) {
        next += 1;
    }
    if !reader.chars.get(next).is_some_and(|c| "×*÷/+-−–=≈x·)".contains(*c)) {
        reader.at = start;
    }
}
fn wrong(stated: &Printed, value: Span, exact: bool) -> Option<Wrong> {
    let counted = exact && stated.decimals == 0 && !stated.approximate;
    let own = if counted { Span::exact(stated.value) } else { Span::of(stated) };
    // Who rounds a result by hand rounds by a hundredth.
    let slack = if exact { 0.0 } else { 0.005 * stated.value.abs() };
    let near = Span { low: own.low - slack, high: own.high + slack };
    let fits =
        |factor: f64| near.meets(value.times(factor)) || near.meets(value.times(1.0 / factor));
    if FACTORS.into_iter().any(fits) {
        return None;
    }
    let sentence = format!(
        "{} is stated; the expression before it gives {}",
        shown(stated),
        super::super::found::number(value.middle(), stated.decimals.max(0) + 1)
    );
    Some(Wrong {
        check: Check::Equation,
        severity: Severity::Impossible,
        computed: value.middle(),
        sentence,
        how: "the arithmetic as it stands, in any unit".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<bool> {
        verdicts(text).into_iter().map(|one| one.wrong.is_some()).collect()
    }

    #[test]
    fn equations_are_calculated() {
        assert_eq!(found("7 scenarios × 7 repetitions = 49 runs"), [false]);
        assert_eq!(found("7 scenarios × 7 repetitions = 48 runs"), [true]);
        assert_eq!(found("(1.0/0.82 = 1.22x multiplier)"), [false]);
        assert_eq!(found("~150W × $0.12/kWh × 24h = $0.43/day"), [false]);
        assert_eq!(found("50 cycles × 2ms × 2 agents = 200ms"), [false]);
        assert_eq!(found("(3 + 5) / 10 = 80%"), [false]);
        assert_eq!(found("(3 + 5) / 10 = 60%"), [true]);
        assert_eq!(found("80+100=180 total layers"), [false]);
    }

    #[test]
    fn settings_ranges_and_code_are_no_equations() {
        for text in ["n = 30", "a-b = 3", "GPU=80/100, CTX=512", "x += 1; y = 2", "10-15 = ok"] {
            assert!(found(text).is_empty(), "{text}");
        }
        assert!(found("1 / 3 = 0.3-0.4").is_empty());
    }
}
