//! Finding printed numbers in text.

use super::{Printed, unit};

/// A number found in text, and where it ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) printed: Printed,
    /// Index of the first character after it, its unit included.
    pub(crate) end: usize,
}

/// How generous the reading is: a cell holds little else, prose holds dates, versions and names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    Cell,
    Prose,
}

/// Every number of a text that stands by itself (`p95`, `2026-01-23` and `v1.2.3` hold none).
pub(crate) fn all(text: &str) -> Vec<Printed> {
    let chars: Vec<char> = text.chars().collect();
    placed(&chars).into_iter().map(|(_, found)| found.printed).collect()
}

/// The same with the index of the character at which each starts.
pub(crate) fn placed(chars: &[char]) -> Vec<(usize, Found)> {
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if let Some(end) = date(chars, at) {
            at = end;
        } else if starts(chars, at)
            && let Some(mut found) = number(chars, at, Setting::Prose)
        {
            found.printed.approximate |= approximate_before(chars, at);
            let end = found.end.max(at + 1);
            numbers.push((at, found));
            at = end;
        } else {
            at = skip_word(chars, at);
        }
    }
    numbers
}

/// Reads the number that starts at `at`, with its sign, grouping, exponent, prefix and unit.
pub(crate) fn number(chars: &[char], at: usize, setting: Setting) -> Option<Found> {
    let (sign, currency, start) = sign(chars, at);
    let literal = literal(chars, start, setting)?;
    let (exponent, mut end) = exponent(chars, literal.end);
    let mut value: f64 = literal.digits.parse().ok()?;
    let mut decimals = literal.decimals;
    if let Some(exponent) = exponent {
        value = format!("{}e{exponent}", literal.digits).parse().ok()?;
        decimals -= exponent;
    }
    let (factor, unit, after) = unit_after(chars, end, setting)?;
    end = after;
    if factor != 1.0 {
        // Through the decimal text, so that 16.8M is 16,800,000 to the last bit.
        let power = factor.log10().round() as i32;
        value = format!("{}e{}", literal.digits, power + exponent.unwrap_or(0)).parse().ok()?;
        decimals -= power;
    }
    if !value.is_finite() {
        return None;
    }
    let unit = unit.or(currency.map(String::from));
    let printed = Printed { value: sign * value, decimals, unit, approximate: false };
    Some(Found { printed, end })
}

struct Literal {
    digits: String,
    decimals: i32,
    end: usize,
}

/// Whether a number may begin here: not inside a word, a date or a version.
fn starts(chars: &[char], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|index| chars[index]);
    let free = |c: Option<char>| {
        c.is_none_or(|c| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ',' | '/' | ':' | '#')))
    };
    let signed = matches!(chars[at], '+' | '-' | '−' | '–');
    let digit = chars[at].is_ascii_digit();
    if !(signed || digit || matches!(chars[at], '$' | '€' | '£')) {
        return false;
    }
    // A hyphen after a word joins; between two numbers it makes a range.
    let joined = digit && matches!(before(1), Some('-' | '–')) && !free(before(2));
    free(before(1)) && (!joined || ends_range(&chars[..at - 1]))
}

/// Whether what stands before a hyphen is a number by itself, so that `1.6-2.3x` is a range.
fn ends_range(before: &[char]) -> bool {
    let unit = |c: &&char| c.is_alphabetic() || **c == '%';
    let mut rest = before.len() - before.iter().rev().take_while(unit).count();
    let digits = |c: &&char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let taken = before[..rest].iter().rev().take_while(digits).count();
    rest -= taken;
    taken > 0
        && !rest
            .checked_sub(1)
            .is_some_and(|index| before[index].is_alphanumeric() || "_-–:/".contains(before[index]))
}

/// The end of three numbers joined by hyphens, which starts at `at`.
fn date(chars: &[char], at: usize) -> Option<usize> {
    let mut end = at;
    for part in 0..3 {
        if part > 0 {
            (chars.get(end) == Some(&'-')).then_some(())?;
            end += 1;
        }
        let digits = chars[end..].iter().take_while(|c| c.is_ascii_digit()).take(9).count();
        (digits > 0).then_some(())?;
        end += digits;
    }
    Some(end)
}

fn approximate_before(chars: &[char], at: usize) -> bool {
    let before: String = chars[at.saturating_sub(8)..at].iter().collect();
    let before = before.trim_end().to_lowercase();
    before.ends_with(['~', '≈', '∼'])
        || ["about", "roughly", "approx.", "around", "ca."].iter().any(|w| before.ends_with(w))
}

fn skip_word(chars: &[char], at: usize) -> usize {
    let in_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut next = at + 1;
    if in_word(chars[at]) {
        while next < chars.len() && in_word(chars[next]) {
            next += 1;
        }
    }
    next
}

fn sign(chars: &[char], at: usize) -> (f64, Option<char>, usize) {
    let mut next = at;
    let sign = match chars.get(next) {
        Some('-' | '−' | '–') => -1.0,
        Some('+') => 1.0,
        _ => 0.0,
    };
    next += usize::from(sign != 0.0);
    let currency = chars.get(next).copied().filter(|c| matches!(c, '$' | '€' | '£'));
    next += usize::from(currency.is_some());
    (if sign < 0.0 { -1.0 } else { 1.0 }, currency, next)
}

fn literal(chars: &[char], start: usize, setting: Setting) -> Option<Literal> {
    let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let leading_point = chars.get(start) == Some(&'.') && digit(start + 1);
    if !digit(start) && !leading_point {
        return None;
    }
    let (mut digits, mut at) = grouped(chars, start, setting);
    let mut decimals = 0;
    let comma = setting == Setting::Cell && chars.get(at) == Some(&',');
    if (chars.get(at) == Some(&'.') || comma) && digit(at + 1) {
        digits.push('.');
        at += 1;
        while digit(at) {
            digits.push(chars[at]);
            decimals += 1;
            at += 1;
        }
    }
    // Versions (1.2.3), lists (1,4,8), dates and clock times are no numbers.
    let more = matches!(chars.get(at), Some('.' | ',' | ':' | '_')) && digit(at + 1);
    (!more && digits.len() <= 40).then_some(Literal { digits, decimals, end: at })
}

/// The digits before the point, without their group separators.
fn grouped(chars: &[char], start: usize, setting: Setting) -> (String, usize) {
    let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let mut at = start;
    let mut digits = String::new();
    while digit(at) && digits.len() <= 40 {
        digits.push(chars[at]);
        at += 1;
    }
    let separator = match chars.get(at) {
        Some(c @ (',' | '_' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’')) => *c,
        Some(' ') if setting == Setting::Cell => ' ',
        // 1.234,5 as continental Europe writes it.
        Some('.') if digit(at + 3) && chars.get(at + 4) == Some(&',') && digit(at + 5) => '.',
        _ => return (digits, at),
    };
    if digits.len() > 3 {
        return (digits, at);
    }
    while chars.get(at) == Some(&separator)
        && (1..=3).all(|offset| digit(at + offset))
        && !digit(at + 4)
    {
        digits.extend(&chars[at + 1..at + 4]);
        at += 4;
    }
    (digits, at)
}

/// `e-3`, `E+06`, `×10^5`, `x 10⁻⁵`.
fn exponent(chars: &[char], at: usize) -> (Option<i32>, usize) {
    let plain = chars.get(at).filter(|c| matches!(c, 'e' | 'E')).map(|_| at + 1);
    let times = {
        let mut next = at;
        while chars.get(next) == Some(&' ') {
            next += 1;
        }
        let product = matches!(chars.get(next), Some('×' | 'x' | '*' | '·'));
        next += 1;
        while chars.get(next) == Some(&' ') {
            next += 1;
        }
        (product && chars.get(next) == Some(&'1') && chars.get(next + 1) == Some(&'0'))
            .then_some(next + 2)
            .map(|next| next + usize::from(chars.get(next) == Some(&'^')))
    };
    let Some(from) = plain.or(times) else { return (None, at) };
    let mut text = String::new();
    let mut end = from;
    while let Some(c) = chars.get(end).and_then(|c| power_digit(*c)) {
        if text.len() > 4 || (!text.is_empty() && !c.is_ascii_digit()) {
            break;
        }
        text.push(c);
        end += 1;
    }
    let joined = chars.get(end).is_some_and(|c| c.is_alphanumeric() && plain.is_some());
    match text.parse() {
        Ok(power) if !joined => (Some(power), end),
        _ => (None, at),
    }
}

fn power_digit(c: char) -> Option<char> {
    Some(match c {
        '0'..='9' | '+' | '-' => c,
        '−' | '⁻' => '-',
        '⁺' => '+',
        '⁰' => '0',
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁴'..='⁹' => char::from_digit(c as u32 - '⁴' as u32 + 4, 10)?,
        _ => return None,
    })
}

/// The unit behind a number: attached, or after one space. `None` where the number is glued to
/// something that makes it a name (`60c0bbd4`, `2nd_run`).
fn unit_after(chars: &[char], at: usize, setting: Setting) -> Option<(f64, Option<String>, usize)> {
    let attached = token(chars, at);
    if !attached.is_empty() {
        let end = at + attached.chars().count();
        let glued = chars.get(end).is_some_and(|c| c.is_alphanumeric() || *c == '_');
        if let (Some((factor, unit)), false) = (unit::read(&attached), glued) {
            return scaled(chars, end, factor, unit);
        }
        let word = attached.chars().all(char::is_alphabetic) && !glued;
        return (word && setting == Setting::Cell).then_some((1.0, Some(attached), end));
    }
    if chars.get(at).is_some_and(|c| c.is_alphanumeric() || *c == '_') {
        return None;
    }
    if chars.get(at).is_some_and(|c| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '-')) {
        let apart = token(chars, at + 1);
        let end = at + 1 + apart.chars().count();
        let free = chars.get(end).is_none_or(|c| !c.is_alphanumeric() && *c != '_');
        if !apart.is_empty() && free {
            if let Some(unit) = unit::known(&apart) {
                return Some((1.0, Some(unit), end));
            }
            // "12.5 M tx/s"; in prose a lone capital is no prefix ("8 M" is, "8 Build" is not).
            if let Some((factor, unit)) = unit::read(&apart)
                && chars[at] == ' '
                && apart != "B"
            {
                return scaled(chars, end, factor, unit);
            }
        }
    }
    Some((1.0, None, at))
}

/// After a bare prefix (`16.8M`), what is counted may follow (`tx/sec`).
fn scaled(
    chars: &[char],
    end: usize,
    factor: f64,
    unit: Option<String>,
) -> Option<(f64, Option<String>, usize)> {
    if factor != 1.0 && unit.is_none() && chars.get(end) == Some(&' ') {
        let apart = token(chars, end + 1);
        if let Some(unit) = unit::known(&apart).filter(|_| apart.contains('/')) {
            return Some((factor, Some(unit), end + 1 + apart.chars().count()));
        }
    }
    Some((factor, unit, end))
}

/// The run of characters that units are made of.
fn token(chars: &[char], at: usize) -> String {
    let part = |c: &char| c.is_alphabetic() || matches!(c, '%' | '°' | '×' | '/');
    chars.iter().skip(at).take(24).take_while(|c| part(c)).collect()
}
