//! Names of items: a heading or title with metrics below it, a metric with things below it, and
//! `NAME: 99.9 % peak | 98.0 % mean`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::cells::is_of_metrics;
use super::known::{Known, Name};
use super::{Form, Quantity, STATES, Scope, is_state, named, place};
use crate::automatic::role::{self, Meaning, Role};
use crate::automatic::stems::{stems, unit};
use crate::automatic::tie::meaning;
use crate::automatic::words::tokens;
use crate::{Document, Place, Printed, Sentence, SentenceKind, Table};

/// `99.99 % peak`, `1.21pp σ`.
static STATISTIC: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^\s* (~?\d[\d,.]*\s?[%a-zµ/]{1,8}) \s+
        (peak|mean|average|avg|median|min|minimum|max|maximum|σ|sd|stddev|p50|p95|p99) \s*$",
    )
    .ok()
});

/// `Metric | Value` below a heading that names something.
pub(super) fn of_metrics(
    document: &Document,
    table: &Table,
    known: &Known,
    all: &mut Vec<Quantity>,
) {
    if !is_of_metrics(table) {
        return;
    }
    let heading = table.headings.last().map_or("", String::as_str);
    let Some(subject) = known.name_in(heading).or_else(|| known.name_in(&table.caption)) else {
        return;
    };
    of_rows(document, table, &subject, &BTreeSet::new(), all);
}

/// Rows of a name and a value, all of one thing.
fn of_rows(
    document: &Document,
    table: &Table,
    subject: &Name,
    metric: &BTreeSet<String>,
    all: &mut Vec<Quantity>,
) {
    for row in &table.rows {
        let [name, value, ..] = &row.cells[..] else { continue };
        let Some(number) = value.number.as_ref() else { continue };
        let own = role::statistic(&name.text).unwrap_or_else(|| meaning(&name.text));
        if own.role == Role::Ratio {
            continue;
        }
        let Some((mut words, number)) = named(&own, number) else { continue };
        if !metric.is_empty() {
            words.retain(|word| STATES.contains(&word.as_str()) || metric.contains(word));
            words.extend(metric.iter().cloned());
        }
        // Without a metric of its own an item says nothing but a state.
        if words.iter().all(|word| STATES.contains(&word.as_str())) {
            continue;
        }
        all.push(Quantity {
            form: Form::Item,
            subject: subject.clone(),
            around: tokens(&table.above()),
            scope: Scope::Open,
            role: own.role,
            metric: words,
            number,
            place: Place { row: Some(name.text.clone()), ..place(document, row.line, table) },
            column: 1,
        });
    }
}

/// A list of metrics of one thing, or of things that one metric is of.
pub(super) fn of_list(document: &Document, list: &Table, known: &Known, all: &mut Vec<Quantity>) {
    let spoken = |text: &str| -> BTreeSet<String> {
        let of = stems(text);
        of.into_iter().filter(|word| known.metrics.contains(word) && !is_state(word)).collect()
    };
    if let Some(subject) = known.name_of(list.caption.trim_end_matches(':')) {
        let metric = spoken(&title(document, list));
        let stated = |name: &str| stems(name).iter().any(|word| is_state(word));
        let states = metric.len() == 1 && list.rows.iter().any(|row| stated(&row.cells[0].text));
        let metric = if states { metric } else { BTreeSet::new() };
        of_rows(document, list, &subject, &metric, all);
        return;
    }
    let heading = list.headings.last().map_or("", String::as_str);
    let caption = if list.caption.is_empty() { heading } else { &list.caption };
    let mut metric = spoken(caption);
    if metric.is_empty() {
        metric = spoken(heading);
    }
    if metric.len() != 1 {
        return;
    }
    metric.extend(stems(caption).into_iter().filter(|word| is_state(word)));
    let own = meaning(caption);
    let role = if own.role.is_statistic() { own.role } else { Role::Value };
    for row in &list.rows {
        let [name, value, ..] = &row.cells[..] else { continue };
        let (Some(subject), Some(number)) = (known.name_of(&name.text), value.number.as_ref())
        else {
            continue;
        };
        let Some(unit) = number.unit.as_deref().map(unit) else { continue };
        all.push(Quantity {
            form: Form::Item,
            subject,
            around: tokens(&list.above()),
            scope: Scope::Open,
            role,
            metric: metric.clone(),
            number: Printed { unit: Some(unit), ..number.clone() },
            place: Place { row: Some(name.text.clone()), ..place(document, row.line, list) },
            column: 1,
        });
    }
}

/// The sentence above the block that a list stands in.
fn title(document: &Document, list: &Table) -> String {
    let prose = |one: &&Sentence| {
        one.line < list.line && one.kind == SentenceKind::Prose && one.headings == list.headings
    };
    let above = document.prose.iter().rev().find(prose);
    above.map_or(String::new(), |one| one.text.clone())
}

/// Items of a name and several statistics.
pub(super) fn of_sentences(document: &Document, known: &Known, all: &mut Vec<Quantity>) {
    let prose = document.prose.iter().filter(|one| one.kind == SentenceKind::Prose);
    for sentence in prose {
        let Some((name, rest)) = sentence.text.split_once(": ") else { continue };
        let Some(subject) = known.is(name) else { continue };
        let parts: Vec<&str> = rest.split(['|', ',', ';']).collect();
        let stated = parts.iter().filter_map(|part| statistic(part));
        let stated: Vec<(Meaning, Printed)> = stated.collect();
        if stated.len() < 2 {
            continue;
        }
        for (own, number) in stated {
            let Some((metric, number)) = named(&own, &number) else { continue };
            let section = sentence.headings.join(" > ");
            all.push(Quantity {
                form: Form::Item,
                subject: subject.clone(),
                around: tokens(&section),
                scope: Scope::Open,
                role: own.role,
                metric,
                number,
                place: Place {
                    document: document.name.clone(),
                    line: Some(sentence.line),
                    section,
                    row: Some(name.to_owned()),
                    column: None,
                },
                column: 1,
            });
        }
    }
}

/// A number and the statistic behind it.
fn statistic(text: &str) -> Option<(Meaning, Printed)> {
    let groups = STATISTIC.as_ref()?.captures(text)?;
    let number = Printed::parse(groups[1].trim())?;
    Some((role::statistic(&groups[2])?, number))
}
