//! Which policy for which work.

use std::collections::BTreeMap;

use lab_stats::describe::median;

use super::trials::{ORACLE, Trials};
use super::wakes::IDLE;
use crate::measure::{Unit, direction, unit};
use crate::page::Page;
use crate::reading::{Reading, Series};
use crate::tables::{Cell, Table};
use lab_stats::verdict::Direction;

/// One piece of work and what it is judged by.
struct Work {
    name: String,
    test: &'static str,
    levels: Vec<(&'static str, String)>,
    metric: &'static str,
}

/// Who does it best.
struct Choice {
    best: String,
    value: Option<Reading>,
    /// Nobody tells them from the best.
    tied: Vec<String>,
    /// The best of those that are surely worse, and how many times.
    next: Option<(String, Reading)>,
    /// What the best loses to the oracle: 1 is nothing.
    to_oracle: Option<Reading>,
}

pub(super) fn write(trials: &Trials, page: &mut Page) {
    page.heading("Which policy for which work");
    let works = works(trials);
    let choices: Vec<(&Work, Choice)> =
        works.iter().filter_map(|work| Some((work, choose(trials, work)?))).collect();
    if choices.is_empty() {
        page.paragraph(
            "None: no work was done by two policies, or there is nothing to tell them apart by.",
        );
        return;
    }
    page.paragraph(
        "By work the policy with the best median, and every other whose ratio to it, paired by \
         block, has an interval that reaches 1: those are no worse as far as these blocks can \
         tell. Replays are judged by their whole cost, streams by items a second, wake-ups by the \
         P99 of ticks; the oracle is a yardstick and no candidate. Exploratory, without a \
         correction for the number of rows; below six blocks there is no interval and so no \
         choice.",
    );
    let mut table = Table::new(&[
        ("work", "work"),
        ("judged by", "metric"),
        ("best", "best"),
        ("value", "value"),
        ("n", "n"),
        ("not distinguishable from it", "tied"),
        ("next, surely worse", "next"),
        ("worse by", "next_times"),
        ("best against the oracle", "to_oracle"),
    ]);
    choices.iter().for_each(|(work, choice)| table.row(row(work, choice)));
    page.table("which-policy", &table);
    page.items(advice(&choices));
    page.markdown.push('\n');
}

fn works(trials: &Trials) -> Vec<Work> {
    let work = |test, name: String, levels: Vec<(&'static str, String)>, metric| Work {
        name,
        test,
        levels,
        metric,
    };
    let mut works: Vec<Work> = trials
        .levels("replay", "costs")
        .into_iter()
        .map(|costs| {
            work("replay", format!("replay of `{costs}`"), vec![("costs", costs)], "cost_ns")
        })
        .collect();
    let factors = ["work", "concurrency", "order", "tokio_workers", "rayon_threads"];
    for place in trials.combinations("stream", &[], &factors) {
        let [class, concurrency, order, tokio, rayon] = place.as_slice() else { continue };
        let name = format!(
            "stream of `{class}` items, {concurrency} in flight, {order}, {tokio}:{rayon} threads"
        );
        let levels = factors.into_iter().zip(place.iter().cloned()).collect();
        works.push(work("stream", name, levels, "items_per_s"));
    }
    for place in trials.combinations("wake", &[], &["load", "tokio_workers"]) {
        let [load, workers] = place.as_slice() else { continue };
        if load != IDLE {
            let name = format!("wake-ups beside `{load}`, {workers} Tokio worker(s)");
            let levels = vec![("load", load.clone()), ("tokio_workers", workers.clone())];
            works.push(work("wake", name, levels, "tick_p99_ns"));
        }
    }
    works
}

fn choose(trials: &Trials, work: &Work) -> Option<Choice> {
    let levels: Vec<(&str, &str)> =
        work.levels.iter().map(|(factor, level)| (*factor, level.as_str())).collect();
    let series = |policy: &str| trials.series(policy, work.test, &levels, work.metric);
    let higher = direction(work.metric) == Direction::HigherIsBetter;
    // How many times worse `a` is than `b`.
    let worse = |a: &Series, b: &Series| match higher {
        true => Reading::ratio(b, a),
        false => Reading::ratio(a, b),
    };
    let mut found: Vec<(&str, Series, f64)> = trials
        .candidates()
        .into_iter()
        .filter_map(|policy| {
            let series = series(policy);
            let middle = median(&series.values().copied().collect::<Vec<_>>())?;
            Some((policy, series, if higher { -middle } else { middle }))
        })
        .collect();
    found.sort_by(|a, b| a.2.total_cmp(&b.2));
    let ((best, own, _), others) = found.split_first().filter(|(_, others)| !others.is_empty())?;
    let value = Reading::level(own, unit(work.metric));
    let to_oracle = worse(own, &series(ORACLE));
    let judged = others.iter().map(|(name, series, _)| (*name, worse(series, own)));
    let (next, tied): (Vec<_>, Vec<_>) = judged.partition(|(_, reading)| surely_worse(reading));
    let next = next.into_iter().next();
    Some(Choice {
        best: (*best).to_owned(),
        value,
        tied: tied.into_iter().map(|(name, _)| name.to_owned()).collect(),
        next: next.and_then(|(name, reading)| Some((name.to_owned(), reading?))),
        to_oracle,
    })
}

fn surely_worse(reading: &Option<Reading>) -> bool {
    reading.is_some_and(|reading| reading.low_high.is_some_and(|(low, _)| low > 1.0))
}

impl Choice {
    fn is_judged(&self) -> bool {
        self.value.is_some_and(|value| value.low_high.is_some())
    }
}

fn row(work: &Work, choice: &Choice) -> Vec<Cell> {
    let best = match choice.is_judged() {
        true => format!("`{}`", choice.best),
        false => format!("cannot tell: `{}` by the median alone", choice.best),
    };
    let tied: Vec<String> = choice.tied.iter().map(|name| format!("`{name}`")).collect();
    let text = |reading: Option<Reading>| {
        reading.map_or(Cell::Missing, |reading| Cell::Text(reading.short()))
    };
    let next = choice.next.as_ref();
    vec![
        Cell::text(&work.name),
        Cell::code(work.metric),
        Cell::Text(best),
        text(choice.value),
        Cell::value(choice.value.map(|value| value.n as f64), Unit::Count),
        Cell::text(tied.join(", ")),
        next.map_or(Cell::Missing, |(name, _)| Cell::code(name)),
        text(next.map(|(_, reading)| *reading)),
        text(choice.to_oracle),
    ]
}

/// How often each policy is best or not distinguishable from the best, by kind of test.
fn advice(choices: &[(&Work, Choice)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (test, what) in [
        ("replay", "sequences of costs"),
        ("stream", "streams"),
        ("wake", "loads beside which tasks wake"),
    ] {
        let judged: Vec<&Choice> = choices
            .iter()
            .filter(|(work, choice)| work.test == test && choice.is_judged())
            .map(|(_, choice)| choice)
            .collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for choice in &judged {
            for name in choice.tied.iter().chain([&choice.best]) {
                *counts.entry(name).or_default() += 1;
            }
        }
        let mut ranked: Vec<(&str, usize)> = counts.into_iter().collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let named = ranked.iter().map(|(name, count)| format!("`{name}` in {count}"));
        if !judged.is_empty() {
            lines.push(format!(
                "Of {} {what}, best or not distinguishable from the best: {}.",
                judged.len(),
                named.collect::<Vec<_>>().join(", ")
            ));
        }
    }
    lines
}
