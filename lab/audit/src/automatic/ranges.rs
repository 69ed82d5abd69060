//! A list of numbers or ranges whose last item is their total.

use super::book::Book;
use super::found::Found;
use super::role;
use super::words::says;
use crate::checks::Span;
use crate::printed::unit;
use crate::{Bound, Cell, Check, Document, Place, Printed, Severity, Table, TableRow};

/// Checks every list.
pub(crate) fn check(document: &Document, book: &mut Book) {
    for list in &document.lists {
        of_list(document, list, book);
    }
}

fn of_list(document: &Document, list: &Table, book: &mut Book) {
    let Some((last, parts)) = list.rows.split_last() else { return };
    let ranged = parts.iter().any(|row| row.cells[1].range.is_some());
    if parts.len() < 2 || !says(&last.cells[0].text, &["total", "sum", "combined"]) {
        return;
    }
    if !ranged && !are_parts(parts, last) {
        return;
    }
    // Who gives the total more digits than the parts takes their ends as they stand.
    let digits = decimals(&last.cells[1]);
    let exact = parts.iter().any(|row| decimals(&row.cells[1]) < digits);
    let ends: Option<Vec<(Span, Span, Option<String>)>> =
        parts.iter().map(|row| ends(&row.cells[1], exact)).collect();
    let (Some(ends), Some(stated)) = (ends, self::ends(&last.cells[1], false)) else { return };
    if ends.iter().any(|(_, _, unit)| *unit != stated.2) {
        return;
    }
    let sum = |take: fn(&(Span, Span, Option<String>)) -> Span| {
        ends.iter().map(take).reduce(Span::plus).unwrap_or(Span::exact(0.0))
    };
    let (low, high) = (sum(|one| one.0), sum(|one| one.1));
    let fits = if last.cells[1].range.is_some() {
        stated.0.meets(low) && stated.1.meets(high)
    } else {
        stated.0.meets(low.hull(high))
    };
    let value = stated.0.middle();
    let found = (!fits).then(|| {
        let place = Place {
            document: document.name.clone(),
            line: Some(last.line),
            section: list.section(),
            ..Place::default()
        };
        let sentence = format!(
            "the total is {}; the {} items above add up to {:.2} to {:.2}",
            last.cells[1].text,
            parts.len(),
            low.middle(),
            high.middle()
        );
        let how = "the sums of the lower and of the upper ends";
        Found::remark(Check::TotalOfRanges, Severity::Inconsistent, place, sentence, how)
            .values(value, low.middle())
    });
    book.stated(last.line, value, found);
}

/// Whether single numbers are the parts of a total: three and more, of what can be added up, none
/// of them a statistic, and close enough to the total for none to be left out.
fn are_parts(parts: &[TableRow], last: &TableRow) -> bool {
    let additive = |unit: &str| {
        matches!(unit, "$" | "€" | "J" | "kJ" | "mJ" | "W" | "kW" | "mW")
            || unit::factor(unit, "s").is_some()
            || unit::factor(unit, "B").is_some()
    };
    let Some(total) = last.cells[1].number.as_ref() else { return false };
    let named = |row: &TableRow| {
        role::statistic(&row.cells[0].text).is_none()
            && !says(&row.cells[0].text, &["per", "each", "of", "free", "available", "total"])
    };
    let sum: f64 =
        parts.iter().filter_map(|row| row.cells[1].number.as_ref()).map(|one| one.value).sum();
    parts.len() >= 3
        && total.unit.as_deref().is_some_and(additive)
        && parts.iter().all(named)
        && (0.7..1.5).contains(&(sum / total.value))
}

/// The most digits behind a point.
fn decimals(cell: &Cell) -> i32 {
    let ends = cell.range.iter().flat_map(|(low, high)| [low, high]);
    ends.chain(&cell.numbers).map(|number| number.decimals).max().unwrap_or(0)
}

/// The lower and the upper end of a range, a number, or what is below a bound.
fn ends(cell: &Cell, exact: bool) -> Option<(Span, Span, Option<String>)> {
    let unit = |number: &Printed| number.unit.clone();
    let span = |number: &Printed| {
        if exact { Span::exact(number.value) } else { Span::of(number) }
    };
    if let Some((a, b)) = &cell.range {
        let (low, high) = if a.value <= b.value { (a, b) } else { (b, a) };
        return Some((span(low), span(high), unit(low)));
    }
    match (cell.bound, &cell.numbers[..], &cell.number) {
        // At most so much either way.
        (Some(Bound::Below), [one], _) => {
            let zero = Span::exact(0.0);
            let own = span(one);
            let (low, high) = if one.value < 0.0 { (own, zero) } else { (zero, own) };
            Some((low, high, unit(one)))
        }
        (None, _, Some(one)) => Some((span(one), span(one), unit(one))),
        _ => None,
    }
}
