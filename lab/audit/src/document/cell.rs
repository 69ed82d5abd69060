//! What a cell holds.

use super::{Bound, Cell, clean};
use crate::Printed;
use crate::printed::scan::{self, Setting};

/// What stands in cells that hold nothing.
const NOTHING: [&str; 15] =
    ["", "-", "–", "—", "−", "n/a", "na", "none", "null", "nan", "tbd", "?", "--", "—-", "n.a."];

/// The longest of them, in bytes and in capitals or not.
const NOTHING_BYTES: usize = 4;

/// Reads a cell of which `written` is the text without Markdown's markup.
pub(crate) fn read(written: &str, column_unit: Option<&str>) -> Cell {
    let text = clean::cell(written);
    let mut cell = Cell { text, written: written.trim().to_owned(), ..Cell::default() };
    if cell.text.len() <= NOTHING_BYTES && NOTHING.contains(&cell.text.to_lowercase().as_str()) {
        return cell;
    }
    cell.numbers = Printed::all(&cell.text);
    let text = std::mem::take(&mut cell.text);
    let mut rest = text.as_str();
    let mut approximate = false;
    for mark in ["~", "≈", "∼", "about ", "ca. ", "approx. ", "approx ", "roughly "] {
        if let Some(after) = rest.strip_prefix(mark) {
            (rest, approximate) = (after.trim_start(), true);
        }
    }
    for (mark, bound) in [("<", Bound::Below), ("≤", Bound::Below), (">", Bound::Above)] {
        if let Some(after) = rest.strip_prefix(mark) {
            rest = after.trim_start_matches(['=', ' ']);
            cell.bound = Some(bound);
        }
    }
    if let Some(after) = rest.strip_prefix('≥') {
        rest = after.trim_start();
        cell.bound = Some(Bound::Above);
    }
    shape(&mut cell, rest);
    cell.text = text;
    if let Some(number) = &mut cell.number {
        number.approximate |= approximate;
    }
    inherit(&mut cell, column_unit);
    cell
}

/// Splits what follows the marks into a number and its companion.
fn shape(cell: &mut Cell, text: &str) {
    if let Some((range, after)) = bracketed(text) {
        if words(after) {
            cell.range = Some(range);
        }
        return;
    }
    let Some((first, rest)) = leading(text) else { return };
    if rest.is_empty() {
        settle(cell, first);
    } else if let Some(after) = plus_minus(rest) {
        if let Some((second, tail)) = leading(after)
            && (words(tail.trim_start_matches(')')) || note(tail))
        {
            let unit = first.unit.clone().or(second.unit.clone());
            settle(cell, Printed { unit, ..first });
            cell.plus_minus = Some(second);
        }
    } else if let Some(after) = until(rest) {
        if let Some((second, tail)) = leading(after.trim_start())
            && (words(tail) || note(tail))
        {
            let unit = first.unit.clone().or(second.unit.clone());
            cell.range = Some((Printed { unit, ..first }, second));
        }
    } else if note(rest) || words(rest) {
        cell.range = bracketed(rest).map(|(range, _)| range);
        settle(cell, first);
    }
}

fn settle(cell: &mut Cell, number: Printed) {
    if cell.bound.is_none() {
        cell.number = Some(number);
    } else {
        cell.numbers = vec![number];
    }
}

/// Numbers without a unit are in their column's.
fn inherit(cell: &mut Cell, column_unit: Option<&str>) {
    let ends = cell.range.iter_mut().flat_map(|(low, high)| {
        let unit = high.unit.clone();
        low.unit = low.unit.take().or(unit.clone());
        high.unit = unit.or(low.unit.clone());
        [low, high]
    });
    let all = cell.number.iter_mut().chain(&mut cell.plus_minus).chain(ends);
    for number in all.chain(&mut cell.numbers) {
        if number.unit.is_none() {
            number.unit = column_unit.map(str::to_owned);
        }
    }
}

fn leading(text: &str) -> Option<(Printed, &str)> {
    let chars: Vec<char> = text.chars().collect();
    let found = scan::number(&chars, 0, Setting::Cell)?;
    let bytes: usize = chars[..found.end].iter().map(|c| c.len_utf8()).sum();
    Some((found.printed, text[bytes..].trim_start()))
}

fn plus_minus(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches('(').trim_start();
    ["±", "+/-", "+/−", "+-"].iter().find_map(|mark| rest.strip_prefix(mark)).map(str::trim_start)
}

fn until(rest: &str) -> Option<&str> {
    ["-", "–", "—", "−", "..", "…", "to ", "→"].iter().find_map(|mark| rest.strip_prefix(mark))
}

/// `[98.81, 99.77]` or `(1.2 – 3.4)`, and what follows it.
fn bracketed(text: &str) -> Option<((Printed, Printed), &str)> {
    let inner = text.strip_prefix(['[', '('])?;
    let close = inner.find([']', ')'])?;
    let (low, rest) = leading(inner[..close].trim())?;
    let after = rest.strip_prefix([',', ';']).or_else(|| until(rest))?;
    let (high, tail) = leading(after.trim_start())?;
    tail.is_empty().then_some(((low, high), inner[close + 1..].trim_start()))
}

/// A remark in brackets, which says nothing about the number's value.
fn note(rest: &str) -> bool {
    rest.starts_with(['(', '[', '@', '{'])
}

/// A few words without digits (`threads`, `slower`, `(baseline)`).
fn words(rest: &str) -> bool {
    rest.chars().count() <= 32 && !rest.chars().any(|c| c.is_numeric() || c == '±')
}
