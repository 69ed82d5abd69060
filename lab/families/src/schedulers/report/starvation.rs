//! What a policy counted at each load and each number of threads: starvation events, which are its
//! strikes, guardrails that acted, and its own index of pressure.

use lab_family::{Cell, Unit};
use lab_report::{Entry, Page, Study, Table};

use super::{is, level};

/// (counter, key of the column): of records from before it was counted neither is there.
const PRESSURE: [(&str, &str); 3] = [
    ("pressure_last_milli", "pressure_last"),
    ("pressure_mean_milli", "pressure_mean"),
    ("pressure_most_milli", "pressure_most"),
];
const EVENTS: [(&str, &str); 2] =
    [("strikes", "starvation_events"), ("guardrail_activations", "guardrail_activations")];
const PLACE: [&str; 5] = ["test", "load", "work", "tokio_workers", "rayon_threads"];

pub(crate) fn write(study: &Study, page: &mut Page) {
    let is_told = |counter: &str| study.all.iter().any(|one| one.value(counter).is_some());
    let pressure: Vec<_> = PRESSURE.into_iter().filter(|(counter, _)| is_told(counter)).collect();
    let mut columns: Vec<(&str, &str)> = PLACE.map(|key| (key, key)).to_vec();
    columns.extend([("policy", "policy"), ("n", "n")]);
    columns.extend(EVENTS.iter().chain(&pressure).map(|(_, key)| (*key, *key)));
    let mut table = Table::new(&columns);
    let works = |cell: &&Cell| is(cell, "test", "stream") || is(cell, "test", "wake");
    for cell in study.all_cells().into_iter().filter(works) {
        for policy in study.variants() {
            table_row(study, (cell, policy), &pressure).into_iter().for_each(|row| table.row(row));
        }
    }
    if !table.is_empty() {
        let what = "Starvation events, guardrails and pressure by load and threads";
        page.beside("starvation", what, &table);
    }
}

/// Events in sum over all runs, pressure as their median; nothing of a policy that counts neither.
fn table_row(
    study: &Study,
    (cell, policy): (&Cell, &str),
    pressure: &[(&str, &str)],
) -> Option<Vec<Entry>> {
    let runs = study.runs(policy, cell);
    let sum = |counter: &str| {
        runs.iter().filter_map(|one| one.value(counter)).reduce(|sum, count| sum + count)
    };
    let events = EVENTS.map(|(counter, _)| sum(counter));
    let index = pressure.iter().map(|(counter, _)| study.median(policy, cell, counter));
    let index: Vec<Option<f64>> = index.map(|milli| milli.map(|milli| milli / 1e3)).collect();
    if events.iter().chain(&index).all(Option::is_none) {
        return None;
    }
    let mut row: Vec<Entry> = PLACE.map(|factor| Entry::text(shown(cell, factor))).to_vec();
    row.extend([Entry::code(policy), Entry::count(runs.len())]);
    row.extend(events.iter().chain(&index).map(|value| Entry::value(*value, Unit::Count)));
    Some(row)
}

/// A load is of a wake-up and work of a stream; the other's default says nothing.
fn shown<'c>(cell: &'c Cell, factor: &str) -> &'c str {
    match (factor, is(cell, "test", "wake")) {
        ("load", false) | ("work", true) => "",
        _ => level(cell, factor),
    }
}
