//! Extremes further from their mean than any sample of the size that the document speaks of allows.
//!
//! Where no column says how many values a row sums up, the largest number of runs, configurations
//! or requests that stands anywhere in the document bounds it.

use std::sync::LazyLock;

use regex::Regex;

use super::book::Book;
use super::found::Found;
use super::group::Group;
use super::role::{Role, better};
use super::tie::Tied;
use crate::checks::bounds;
use crate::checks::ranking::Better;
use crate::{Check, Document, Severity};

static COUNT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) (?: \b(\d{1,3}(?:,\d{3})+|\d{1,7})(k|m)?\+? \s (?:[a-z-]{2,20}\s){0,3}?
        (?:runs|configs|configurations|samples|requests|measurements|trials|benchmarks|tests|
        iterations|repetitions|repeats|prompts|calls|queries|operations|combinations|total)\b
        | \bn\s?=\s?(\d{1,7})\b )",
    )
    .ok()
});

/// Fewer than this say nothing of how far an extreme may lie.
const FEWEST: usize = 5;

/// Checks every record with a mean, a deviation and an extreme, and no size of its own.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let spread = |role: Role| matches!(role, Role::Sd);
    let mut stats = tables.iter().flat_map(|tied| &tied.grid.records).flat_map(|one| &one.stats);
    if !stats.any(|stat| spread(stat.role)) {
        return;
    }
    let Some(n) = most(document).filter(|n| *n >= FEWEST) else { return };
    for tied in tables {
        for record in &tied.grid.records {
            for group in Group::all(record).iter().filter(|group| group.n.is_none()) {
                let (Some(mean), Some(sd)) = (group.get(Role::Mean), group.get(Role::Sd)) else {
                    continue;
                };
                if !sd.sure || !mean.sure {
                    continue;
                }
                let way = better(&mean.metric, mean.number.unit.as_deref());
                // A long tail of times needs many values; the other end never does.
                let high = group.get(Role::Max).filter(|_| way == Some(Better::Higher));
                for extreme in group.get(Role::Min).into_iter().chain(high) {
                    if !Group::comparable(&[mean, sd, extreme]) {
                        continue;
                    }
                    let wrong =
                        bounds::extreme_too_far(&extreme.number, &mean.number, &sd.number, n);
                    let Some(wrong) = wrong else { continue };
                    let place = tied.grid.place(record, sd);
                    let away = (extreme.number.value - mean.number.value).abs();
                    let text = format!(
                        "`{}` of {} is {}: its `{}` lies {:.1} of it from the mean, more than any \
                         {n} values allow ({:.1}), and the document speaks of no more",
                        sd.header,
                        record.name(),
                        sd.number.value,
                        extreme.header,
                        away / sd.number.value,
                        (n as f64 - 1.0).sqrt()
                    );
                    let severity = Severity::Inconsistent;
                    let found = Found::mismatch(
                        Check::ExtremeTooFar,
                        severity,
                        place,
                        &extreme.number,
                        &wrong,
                    )
                    .sentence(text);
                    book.cell(sd.line, sd.index, Some(found));
                }
            }
        }
    }
}

/// The largest number of values that a document speaks of.
fn most(document: &Document) -> Option<usize> {
    let prose = document.prose.iter().map(|one| one.text.as_str());
    let cells = document.tables.iter().filter(|table| table.rows.len() <= super::MOST_ROWS);
    let cells = cells.flat_map(|table| &table.rows).flat_map(|row| &row.cells);
    let texts = prose.chain(cells.map(|cell| cell.text.as_str()));
    let all = texts.filter(|text| text.chars().any(|c| c.is_ascii_digit())).flat_map(|text| {
        COUNT.iter().flat_map(move |regex| regex.captures_iter(text)).filter_map(|groups| {
            let digits = groups.get(1).or(groups.get(3))?.as_str().replace(',', "");
            let factor = match groups.get(2).map(|group| group.as_str().to_lowercase()).as_deref() {
                Some("k") => 1_000,
                Some("m") => 1_000_000,
                _ => 1,
            };
            // "2025 benchmarks" are of a year.
            let year = factor == 1 && digits.len() == 4 && digits.starts_with("20");
            let count: usize = digits.parse().ok()?;
            (!year).then(|| count.saturating_mul(factor))
        })
    });
    all.max()
}
