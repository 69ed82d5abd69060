//! Which policy for which work.

use std::collections::BTreeMap;

use lab_family::{Better, Cell};
use lab_report::Column::{Any, Code, Count, Words};
use lab_report::{Entry, Page, Reading, Series, Study, Table, centre};

use super::{is, level};
use crate::schedulers::ORACLE;

/// (test, metric that decides, what its cells are).
const JUDGED_BY: [(&str, &str, &str); 3] = [
    ("replay", "cost_ns", "sequences of costs"),
    ("stream", "items_per_s", "streams"),
    ("wake", "tick_p99_ns", "loads beside which tasks wake"),
];

/// Who does one cell's work best.
struct Choice<'a> {
    cell: &'a Cell,
    metric: &'static str,
    best: &'a str,
    value: Reading,
    /// Those whose ratio to the best has an interval that reaches 1.
    tied: Vec<&'a str>,
    /// The best of those that are worse, and how many times.
    next: Option<(&'a str, Reading)>,
    /// What the best loses to the oracle: 1 is nothing.
    to_oracle: Option<Reading>,
}

pub(crate) fn write(study: &Study, page: &mut Page) {
    let choices: Vec<Choice> =
        study.all_cells().into_iter().filter_map(|cell| choose(study, cell)).collect();
    if choices.is_empty() {
        return;
    }
    page.heading("Which policy for which work");
    page.paragraph(
        "The best median, and those whose paired ratio to it may be 1: of a replay's cost, a \
         stream's items a second, the P99 of ticks. Exploratory.",
    );
    let tied = |one: &Choice| {
        one.tied.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    let table = Table::over(
        &choices,
        &[
            Words("", "work", &|one| study.label(one.cell)),
            Code("", "metric", &|one| one.metric),
            Words("", "best", &|one| one.best()),
            Any("", "value", &|one| Reading::in_short(Some(one.value))),
            Count("", "n", &|one| one.value.n),
            Words("", "tied", &|one| tied(one)),
            Any("", "next", &|one| one.next.map_or(Entry::Missing, |(name, _)| Entry::code(name))),
            Any("", "next_times", &|one| Reading::in_short(one.next.map(|(_, reading)| reading))),
            Any("", "to_oracle", &|one| Reading::in_short(one.to_oracle)),
        ],
    );
    page.items(JUDGED_BY.iter().filter_map(|(test, _, what)| {
        let of_test = choices.iter().filter(|choice| is(choice.cell, "test", test));
        advice(of_test.filter(|choice| choice.is_judged()), what)
    }));
    page.markdown.push('\n');
    page.beside("which-policy", "The choice in every cell", &table);
}

fn choose<'a>(study: &'a Study<'a>, cell: &'a Cell) -> Option<Choice<'a>> {
    let of_test = |(test, ..): &&(&str, &str, &str)| is(cell, "test", test);
    let (_, metric, _) = JUDGED_BY.iter().find(of_test).filter(|_| !is_idle(cell))?;
    let higher = study.metric(metric)?.better == Better::Higher;
    // How many times worse `a` is than `b`.
    let worse = |a: &Series, b: &Series| match higher {
        true => Reading::ratio(b, a),
        false => Reading::ratio(a, b),
    };
    let policies = study.variants().into_iter().filter(|name| *name != ORACLE);
    let mut found: Vec<(&str, Series, f64)> = policies
        .filter_map(|policy| {
            let series = study.series(policy, cell, metric);
            let middle = centre(&series)?;
            Some((policy, series, if higher { -middle } else { middle }))
        })
        .collect();
    found.sort_by(|a, b| a.2.total_cmp(&b.2));
    let ((best, own, _), others) = found.split_first().filter(|(_, others)| !others.is_empty())?;
    let is_worse = |reading: &Option<Reading>| {
        reading.is_some_and(|reading| reading.low_high.is_some_and(|(low, _)| low > 1.0))
    };
    let judged = others.iter().map(|(name, series, _)| (*name, worse(series, own)));
    let (next, tied): (Vec<_>, Vec<_>) = judged.partition(|(_, reading)| is_worse(reading));
    Some(Choice {
        cell,
        metric,
        best,
        value: Reading::level(own, study.unit(metric))?,
        tied: tied.into_iter().map(|(name, _)| name).collect(),
        next: next.into_iter().next().and_then(|(name, reading)| Some((name, reading?))),
        to_oracle: worse(own, &study.series(ORACLE, cell, metric)),
    })
}

/// Without a load there is nothing to decide.
fn is_idle(cell: &Cell) -> bool {
    is(cell, "test", "wake") && level(cell, "load") == "idle"
}

impl Choice<'_> {
    fn is_judged(&self) -> bool {
        self.value.low_high.is_some()
    }

    fn best(&self) -> String {
        match self.is_judged() {
            true => format!("`{}`", self.best),
            false => format!("cannot tell: `{}` by the median alone", self.best),
        }
    }
}

/// How often each policy is best or not distinguishable from the best.
fn advice<'c>(choices: impl Iterator<Item = &'c Choice<'c>>, what: &str) -> Option<String> {
    let choices: Vec<&Choice> = choices.collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in choices.iter().flat_map(|choice| choice.tied.iter().chain([&choice.best])) {
        *counts.entry(name).or_default() += 1;
    }
    let mut ranked: Vec<(&str, usize)> = counts.into_iter().collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let named = ranked.iter().map(|(name, count)| format!("`{name}` {count}"));
    (!choices.is_empty()).then(|| {
        format!("{} {what}, best or tied: {}.", choices.len(), named.collect::<Vec<_>>().join(", "))
    })
}
