//! `Amortized (3 years): $1.10/day` beside what was paid once, and the days until that pays.

use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::automatic::words::says;
use crate::checks::Span;
use crate::{Check, Printed, Table, TableRow};

static PERIOD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(\d{1,2}(?:\.\d)?)[\s-]?(year|yr|month)s?\b").ok());

static RATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)([$€£])\s?(\d[\d,]*(?:\.\d+)?)\s?(?:/|per\s|a\s)\s?(hour|hr|day|month|year)\b")
        .ok()
});

static ONCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"([$€£])\s?(\d[\d,]*(?:\.\d+)?)(?:$|[\s),;])").ok());

/// Months and years are taken with so many days.
const DAYS: [(&str, f64); 5] =
    [("hour", 1.0 / 24.0), ("hr", 1.0 / 24.0), ("day", 1.0), ("month", 30.42), ("year", 365.0)];

/// Months of 30 days, years of 360 or 365.25 and rounded prices.
const LOOSE: f64 = 0.03;

/// Checks every list with a price and its share of a day.
pub(super) fn check(page: &Page<'_, '_, '_>, book: &mut Book) {
    for list in &page.document.lists {
        for row in &list.rows {
            let text = format!("{} {}", row.cells[0].text, row.cells[1].text);
            if text.to_lowercase().contains("amorti") || says(&text, &["depreciation"]) {
                of_row(page, list, row, &text, book);
            }
        }
    }
}

fn of_row(page: &Page<'_, '_, '_>, list: &Table, row: &TableRow, text: &str, book: &mut Book) {
    let Some((stated, per)) = rate(&row.cells[1].text) else { return };
    let Some(period) = PERIOD.as_ref().and_then(|regex| regex.captures(text)) else { return };
    let Ok(count) = period[1].parse::<f64>() else { return };
    let month = period[2].to_lowercase() == "month";
    let days = count * if month { 30.42 } else { 365.0 };
    let bought: Vec<(usize, f64)> = list
        .rows
        .iter()
        .filter(|other| says(&other.cells[0].text, &["cost", "price", "purchase", "hardware"]))
        .filter_map(|other| Some((other.line, once(&other.cells[1].text)?)))
        .collect();
    let [(line, price)] = bought[..] else { return };
    let share = price / days * per;
    let allowed = Span { low: share * (1.0 - LOOSE), high: share * (1.0 + LOOSE) };
    let found = (!Span::of(&stated).meets(allowed)).then(|| {
        let sentence = format!(
            "{} is stated; {price} of line {line} over {count} {}s is {share:.2}",
            stated.value,
            period[2].to_lowercase()
        );
        let place = crate::Place {
            document: page.document.name.clone(),
            line: Some(row.line),
            section: list.section(),
            ..crate::Place::default()
        };
        let against = crate::Place { line: Some(line), ..place.clone() };
        let how = "the price over the days of the period";
        let check = Check::Amortized;
        let severity = crate::Severity::Inconsistent;
        crate::automatic::found::Found::remark(check, severity, place, sentence, how)
            .against(against)
            .values(stated.value, share)
    });
    book.stated(row.line, stated.value, found);
}

/// A price per time, and the days of that time.
fn rate(text: &str) -> Option<(Printed, f64)> {
    let groups = RATE.as_ref()?.captures(text)?;
    let unit = groups[3].to_lowercase();
    let days = DAYS.iter().find(|(name, _)| *name == unit)?.1;
    Some((Printed::parse(&groups[2])?, days))
}

/// A price that is paid once.
fn once(text: &str) -> Option<f64> {
    if RATE.as_ref()?.is_match(text) {
        return None;
    }
    Some(Printed::parse(&ONCE.as_ref()?.captures(text)?[2])?.value)
}
