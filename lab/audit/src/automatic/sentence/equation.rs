//! `7 scenarios × 7 repetitions = 49 runs`: sums and products that a text spells out.

use super::{Verdict, Wrong, shown};
use crate::checks::Span;
use crate::printed::scan::{self, Setting};
use crate::{Check, Printed, Severity};

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
        match (Reader { chars: &chars, at, numbers: 0, exact: true, approximate: false }).equation()
        {
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

struct Reader<'a> {
    chars: &'a [char],
    at: usize,
    numbers: usize,
    /// Whether every number was whole and without a unit of measurement, and none was divided.
    exact: bool,
    approximate: bool,
}

impl Reader<'_> {
    fn equation(mut self) -> Option<(Verdict, usize)> {
        let value = self.sum()?;
        if self.numbers < 2 || !value.is_finite() {
            return None;
        }
        // `at CTX=512` sets a name.
        let before = self.chars[self.at - 1];
        let joined = before.is_alphabetic() && self.peek() == Some('=');
        self.spaces();
        match self.peek()? {
            '=' if !joined => {}
            '≈' => self.approximate = true,
            _ => return None,
        }
        self.at += 1;
        self.spaces();
        if matches!(self.peek()?, '~' | '≈') {
            self.approximate = true;
            self.at += 1;
        }
        let stated = self.number()?;
        let ends_here = self.ends();
        let stated = Printed { approximate: stated.approximate || self.approximate, ..stated };
        let wrong = wrong(&stated, value, self.exact);
        ends_here.then_some((Verdict { stated, wrong }, self.at))
    }

    /// Whether the result is a number by itself: no range, no further operator.
    fn ends(&self) -> bool {
        let rest: String = self.chars[self.at..].iter().take(6).collect();
        let rest = rest.trim_start();
        !rest.starts_with(['×', '*', '÷', '/', '+', '-', '−', '–', '^', '±', '…', ':'])
            && !rest.starts_with("to ")
            && !rest.starts_with("x ")
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn spaces(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn sum(&mut self) -> Option<Span> {
        let mut sum = self.product()?;
        loop {
            let before = self.at;
            self.spaces();
            // Without spaces, a hyphen makes a range.
            let spaced = self.at > before;
            let minus = match self.peek() {
                Some('+') => false,
                Some('-' | '−' | '–') if spaced && self.chars.get(self.at + 1) == Some(&' ') => {
                    true
                }
                _ => {
                    self.at = before;
                    return Some(sum);
                }
            };
            self.at += 1;
            self.spaces();
            let next = self.product()?;
            sum = if minus { sum.minus(next) } else { sum.plus(next) };
        }
    }

    fn product(&mut self) -> Option<Span> {
        let mut product = self.factor()?;
        loop {
            let before = self.at;
            self.spaces();
            let spaced = self.at > before;
            let over = match self.peek() {
                Some('×' | '*' | '·') => false,
                Some('x') if spaced && self.chars.get(self.at + 1) == Some(&' ') => false,
                Some('/' | '÷') => true,
                _ => {
                    self.at = before;
                    return Some(product);
                }
            };
            self.at += 1;
            self.spaces();
            self.exact &= !over;
            let next = self.factor()?;
            product = if over { product.over(next)? } else { product.by(next) };
        }
    }

    fn factor(&mut self) -> Option<Span> {
        if self.peek() == Some('(') {
            self.at += 1;
            let inner = self.sum()?;
            self.spaces();
            (self.peek() == Some(')')).then(|| self.at += 1)?;
            return Some(inner);
        }
        if matches!(self.peek(), Some('~' | '≈')) {
            self.approximate = true;
            self.at += 1;
        }
        let number = self.number()?;
        self.numbers += 1;
        self.words();
        let counted = number.decimals == 0 && number.unit.as_deref().is_none_or(|u| u == "x");
        self.exact &= counted;
        // Constants and counts are what they are.
        Some(if counted { Span::exact(number.value) } else { Span::of(&number) })
    }

    fn number(&mut self) -> Option<Printed> {
        let signed = matches!(self.peek(), Some('+' | '-' | '−'));
        let digit = self.chars.get(self.at + usize::from(signed));
        digit.filter(|c| c.is_ascii_digit() || matches!(c, '$' | '€' | '.'))?;
        let found = scan::number(self.chars, self.at, Setting::Prose).or_else(|| self.bare())?;
        self.at = found.end;
        // "$0.12/kWh": a price per unit.
        if self.peek() == Some('/') && self.chars.get(self.at + 1)?.is_alphabetic() {
            self.at += 1;
            while self.peek().is_some_and(char::is_alphanumeric) {
                self.at += 1;
            }
        }
        Some(found.printed)
    }

    /// A number with an operator right behind it, which the scanner takes for a name.
    fn bare(&self) -> Option<scan::Found> {
        let digits = |c: &&char| c.is_ascii_digit() || **c == '.';
        let start = self.at + usize::from(matches!(self.peek(), Some('$' | '€' | '£')));
        let end = start + self.chars[start..].iter().take_while(digits).count();
        let next = self.chars.get(end)?;
        // A unit that we do not know is part of the number: "150W".
        let letters = self.chars[end..].iter().take_while(|c| c.is_alphabetic()).count();
        let glued = self.chars.get(end + letters).is_some_and(|c| *c == '_' || c.is_alphanumeric());
        if !("/*×+÷".contains(*next) || (1..=5).contains(&letters) && !glued) {
            return None;
        }
        let text: String = self.chars[start..end].iter().collect();
        let decimals = text.split_once('.').map_or(0, |(_, digits)| digits.len());
        let printed = Printed {
            value: text.parse().ok()?,
            decimals: i32::try_from(decimals).ok()?,
            unit: (letters > 0).then(|| self.chars[end..end + letters].iter().collect()),
            approximate: false,
        };
        Some(scan::Found { printed, end: end + letters })
    }

    /// Passes over words that say what is counted.
    fn words(&mut self) {
        let start = self.at;
        for _ in 0..MOST_WORDS {
            let before = self.at;
            self.spaces();
            let from = self.at;
            while self.peek().is_some_and(|c| c.is_alphabetic() || c == '-' && self.at > from) {
                self.at += 1;
            }
            // A lone x multiplies.
            if self.at == from || self.at - from == 1 && self.chars[from] == 'x' {
                self.at = before;
                break;
            }
        }
        let mut next = self.at;
        while self.chars.get(next).is_some_and(|c| c.is_whitespace()) {
            next += 1;
        }
        if !self.chars.get(next).is_some_and(|c| "×*÷/+-−–=≈x·)".contains(*c)) {
            self.at = start;
        }
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
