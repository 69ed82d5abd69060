//! A start, an end and a duration.

use std::sync::LazyLock;

use regex::Regex;

use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::words::says;
use crate::checks::Span;
use crate::printed::unit;
use crate::{Check, Document, Place, Printed, Severity, Table, TableRow};

/// Longer tables are listings, and describe no single run.
const MOST_ROWS: usize = 60;

static CLOCK: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:(\d{4})-(\d\d)-(\d\d)[T ]+)?\b(\d{1,2}):(\d\d)(?::(\d\d))?\b").ok()
});

/// Checks every list and table with a row `Start`, a row `End` and a row `Duration`.
pub(super) fn check(document: &Document, book: &mut Book) {
    let tables = document.tables.iter().chain(&document.lists);
    for table in tables.filter(|table| table.rows.len() <= MOST_ROWS) {
        let row = |words: &[&str]| {
            let named = |row: &&TableRow| row.cells.first().is_some_and(|c| says(&c.text, words));
            let mut rows = table.rows.iter().filter(named);
            rows.next().filter(|_| rows.next().is_none())
        };
        let start = row(&["start", "started", "begin"]);
        let end = row(&["end", "ended", "finish", "finished", "completed"]);
        let duration = row(&["duration", "elapsed"]);
        if let (Some(start), Some(end), Some(duration)) = (start, end, duration) {
            let Some(stated) = stated(duration) else { continue };
            let found = wrong(document, table, (start, end, duration), &stated);
            book.stated(duration.line, stated.value, found);
        }
    }
}

/// The first time of a row's value, in seconds.
fn stated(row: &TableRow) -> Option<Printed> {
    let number = row.cells.get(1)?.numbers.first()?.clone();
    let factor = unit::factor(number.unit.as_deref()?, "s")?;
    // Minutes and hours move no point.
    let decimals = number.decimals - factor.log10().floor() as i32;
    Some(Printed { value: number.value * factor, decimals, ..number })
}

fn wrong(
    document: &Document,
    table: &Table,
    (start, end, row): (&TableRow, &TableRow, &TableRow),
    stated: &Printed,
) -> Option<Found> {
    let (from, to) = (seconds(start)?, seconds(end)?);
    let day = 86_400.0;
    // Without a date, the end may be on the next day.
    let took = if to < from { to - from + day } else { to - from };
    let clocks_step = 60.0;
    let allowed = Span { low: took - clocks_step, high: took + clocks_step };
    let about = Printed { approximate: true, ..stated.clone() };
    if Span::of(&about).meets(allowed) {
        return None;
    }
    let place = Place {
        document: document.name.clone(),
        line: Some(row.line),
        section: table.section(),
        ..Place::default()
    };
    let sentence = format!(
        "a duration of {:.1} minutes is stated; from start to end are {:.1}",
        stated.value / 60.0,
        took / 60.0
    );
    let how = "the end minus the start, to the minute";
    let found = Found::remark(Check::ClockTimes, Severity::Impossible, place, sentence, how);
    Some(found.values(stated.value, took))
}

/// Seconds since midnight, or since the first day of the common calendar where a date is given.
fn seconds(row: &TableRow) -> Option<f64> {
    let groups = CLOCK.as_ref()?.captures(&row.cells.get(1)?.text)?;
    let number = |index: usize| groups.get(index).and_then(|g| g.as_str().parse::<f64>().ok());
    let clock = number(4)? * 3600.0 + number(5)? * 60.0 + number(6).unwrap_or(0.0);
    let days = match (number(1), number(2), number(3)) {
        (Some(year), Some(month), Some(day)) => days(year, month, day),
        _ => 0.0,
    };
    Some(days * 86_400.0 + clock)
}

/// Days by Fliegel and Van Flandern (1968), Communications of the ACM 11(10), p. 657, up to a
/// constant.
fn days(year: f64, month: f64, day: f64) -> f64 {
    let a = ((month - 14.0) / 12.0).trunc();
    let first = (1461.0 * (year + 4800.0 + a) / 4.0).floor();
    let second = (367.0 * (month - 2.0 - 12.0 * a) / 12.0).trunc();
    let third = (3.0 * ((year + 4900.0 + a) / 100.0).floor() / 4.0).floor();
    first + second - third + day
}
