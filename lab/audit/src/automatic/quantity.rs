//! Numbers of a document by the names they are given: of what, which metric, which statistic.
//!
//! Tables, tables of metrics, comparisons and lists name them in different ways. What is named in
//! two places can be held against itself.

mod cells;
mod items;
mod known;
mod peaks;
mod twice;

use std::collections::BTreeSet;

use super::book::Book;
use super::role::{Meaning, Role};
use super::stems::{is_rate, stem, stems, unit};
use super::tie::Tied;
use crate::automatic::lexicon::{Words, class};
use crate::{Document, Place, Printed, Table};
use known::Known;

/// More are not compared with each other.
const MOST: usize = 3_000;

/// Words of a metric that say in which state it was measured.
const STATES: [&str; 6] = ["warm", "cold", "idle", "steady", "cached", "uncached"];

/// Words that only say that a number is one.
static EMPTY: Words = Words::new(|| class("quantity.empty"));

/// How a number's names were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A row and a column.
    Cell,
    /// A heading or title, and the name of a row or list item.
    Item,
}

/// What a number says it is of, by the words above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Of all that was measured.
    All,
    /// Not said.
    Open,
    /// Of one configuration, phase or size.
    Part,
}

/// A number with its names.
#[derive(Debug, Clone)]
struct Quantity {
    form: Form,
    /// Words of what it is of.
    subject: BTreeSet<String>,
    /// Words of the headings and the caption above it.
    around: BTreeSet<String>,
    scope: Scope,
    role: Role,
    /// Stems of the metric's words; states among them. Empty where a statistic stands alone.
    metric: BTreeSet<String>,
    /// In the usual writing of its unit.
    number: Printed,
    place: Place,
    column: usize,
}

impl Quantity {
    fn line(&self) -> usize {
        self.place.line.unwrap_or(0)
    }

    fn has_state(&self) -> bool {
        self.metric.iter().any(|word| is_state(word))
    }

    fn same_metric(&self, other: &Self) -> bool {
        let unit = |number: &Printed| number.unit.as_deref().map(|unit| unit.replace("pp", "%"));
        self.metric == other.metric && unit(&self.number) == unit(&other.number)
    }
}

/// Checks what is named in two places.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let mut all = Vec::new();
    for tied in tables {
        cells::of_table(document, tied, &mut all);
    }
    let mut known = Known::new(&all);
    for tied in tables {
        cells::of_comparison(document, tied, &mut known, &mut all);
        items::of_metrics(document, tied.table(), &known, &mut all);
    }
    for list in &document.lists {
        items::of_list(document, list, &known, &mut all);
    }
    items::of_sentences(document, &known, &mut all);
    all.truncate(MOST);
    settle(&mut all);
    for one in &mut all {
        one.scope = known.scope(&one.place.section, &one.around, one.scope);
    }
    twice::check(&all, &known, book);
    peaks::check(&all, &known, book);
}

/// A statistic without a metric is of the only metric that has statistics in its unit.
fn settle(all: &mut [Quantity]) {
    let located =
        |role: Role| matches!(role, Role::Mean | Role::Max | Role::Min | Role::Percentile(_));
    let mut metrics: Vec<(Option<String>, BTreeSet<String>)> = Vec::new();
    for one in all.iter().filter(|one| located(one.role) && !one.metric.is_empty()) {
        let key = (one.number.unit.clone(), one.metric.clone());
        if !metrics.contains(&key) {
            metrics.push(key);
        }
    }
    for one in all.iter_mut().filter(|one| located(one.role) && one.metric.is_empty()) {
        let mut of_unit = metrics.iter().filter(|(unit, _)| *unit == one.number.unit);
        if let (Some((_, metric)), None) = (of_unit.next(), of_unit.next()) {
            one.metric = metric.clone();
        }
    }
}

fn place(document: &Document, line: usize, table: &Table) -> Place {
    Place {
        document: document.name.clone(),
        line: Some(line),
        section: table.section(),
        ..Place::default()
    }
}

/// The metric's stems and the number in its unit's usual writing.
fn named(meaning: &Meaning, number: &Printed) -> Option<(BTreeSet<String>, Printed)> {
    let unit = number.unit.as_deref().map(unit)?;
    let mut words = stems(&meaning.metric);
    words.retain(|word| !EMPTY.contains(&word.as_str()));
    let rate = ["token", "s", "sec", "second", "request", "operation", "op"];
    if is_rate(&unit) && words.iter().all(|word| rate.contains(&word.as_str())) {
        words = BTreeSet::from(["throughput".to_owned()]);
    }
    let number = Printed { unit: Some(unit), ..number.clone() };
    (!words.is_empty() || meaning.role.is_statistic()).then_some((words, number))
}

fn is_state(word: &str) -> bool {
    STATES.contains(&stem(word).as_str())
}
