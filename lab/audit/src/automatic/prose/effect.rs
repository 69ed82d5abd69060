//! `buffer_size tuning yields 15-20 % throughput improvements`: more than the values under that
//! setting's heading differ.

use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::automatic::stems::{is_rate, stems};
use crate::automatic::words::tokens;
use crate::checks::Span;
use crate::{Check, Printed, Sentence, Table};

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) \b([a-z]+_[a-z_]+)\)? \s+ (?:optimi[sz]ation\s|tuning\s|adjustment\s|selection\s)?
        (?:yields?|gives?|brings?|delivers?|provides?|results?\sin) \s+
        (\d{1,3}(?:\.\d+)?)(?:\s?[-–]\s?\d{1,3}(?:\.\d+)?)?\s?% \s+ ([a-z]+) \s+
        (?:improvements?|gains?|increases?)",
    )
    .ok()
});

/// A claim must exceed what is shown by so much to be about nothing that is shown.
const FACTOR: f64 = 3.0;

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = CLAIM.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    let (setting, Ok(least)) = (tokens(&groups[1]), groups[2].parse::<f64>()) else { return };
    let metric = stems(&groups[3]);
    let named = |list: &&Table| {
        list.headings.last().is_some_and(|heading| setting.is_subset(&tokens(heading)))
    };
    let lists = page.document.lists.iter().filter(named);
    let shown: Vec<(usize, f64)> =
        lists.filter_map(|list| Some((list.line, reach(list, &metric)?))).collect();
    let Some((line, most)) = shown.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return;
    };
    let found = (least > FACTOR * most).then(|| {
        let text = format!(
            "{least} % and more is stated of `{}`; the values that differ in it, from line {line} \
             on, differ by {most:.1} % at most",
            &groups[1]
        );
        let how = "largest over smallest value of each list under the setting's heading";
        page.found(Check::EffectOfSetting, sentence, line, text, how).values(least, most)
    });
    book.stated(sentence.line, least, found);
}

/// How far the values of a list over a setting's levels lie apart, in percent.
fn reach(list: &Table, metric: &std::collections::BTreeSet<String>) -> Option<f64> {
    let level = |text: &str| Printed::all(&text.replace(['=', '_'], " ")).len() == 1;
    let rows = list.rows.iter().filter(|row| level(&row.cells[0].text));
    let numbers: Vec<&Printed> = rows.filter_map(|row| row.cells[1].number.as_ref()).collect();
    let unit = numbers.first()?.unit.as_deref()?;
    let about =
        metric.contains("throughput") && is_rate(unit) || metric.is_subset(&stems(&list.above()));
    let one_unit = numbers.iter().all(|number| number.unit.as_deref() == Some(unit));
    if !about || !one_unit || numbers.len() < 2 {
        return None;
    }
    let spans: Vec<Span> = numbers.into_iter().map(Span::of).collect();
    let low = spans.iter().map(|span| span.low).fold(f64::INFINITY, f64::min);
    let high = spans.iter().map(|span| span.high).fold(f64::NEG_INFINITY, f64::max);
    (low > 0.0).then(|| 100.0 * (high / low - 1.0))
}
