//! Section 8: every policy's counters, summed over all that ran.

use super::pressure::GUARDRAILS;
use super::trials::{OURS, PUBLISHED, Trials};
use crate::measure::Unit;
use crate::page::Page;
use crate::tables::{Cell, Table};

const COUNTERS: [&str; 3] = ["decisions_inline", "decisions_offload", "jobs_started"];
const SAID: &str = "Published, \"cumulative across all phases\": inline 50, offload 50, GR1 0, GR2 \
    0, GR3 0, starvation 0; the same report's seventh section counts 297 activations.";

pub(super) fn write(trials: &Trials, page: &mut Page) {
    page.heading("8. Counters over all that ran");
    page.paragraph(SAID);
    let mut columns = vec![("policy", "policy"), ("runs", "runs")];
    columns.extend(COUNTERS.iter().chain(&GUARDRAILS).map(|name| (*name, *name)));
    let mut table = Table::new(&columns);
    for policy in trials.policies() {
        let own = || trials.study.all.iter().filter(|one| one.variant() == policy);
        let sum = |name: &str| {
            let counted: Vec<u64> =
                own().filter_map(|one| one.row.run.counters.get(name).copied()).collect();
            (!counted.is_empty()).then(|| counted.iter().sum::<u64>() as f64)
        };
        let mut row = vec![Cell::code(policy), Cell::count(own().count())];
        let names = COUNTERS.iter().chain(&GUARDRAILS);
        row.extend(names.map(|name| Cell::value(sum(name), Unit::Count)));
        table.row(row);
    }
    page.table("counters", &table);
    page.paragraph(&reading(trials));
}

fn reading(trials: &Trials) -> String {
    let one = |policy: &str| {
        let runs: Vec<_> = trials.study.all.iter().filter(|one| one.variant() == policy).collect();
        let acted = |name: &str| {
            let counts = runs.iter().filter_map(|one| one.row.run.counters.get(name));
            counts.sum::<u64>()
        };
        let named: Vec<String> =
            GUARDRAILS.iter().map(|name| format!("{name} {}", acted(name))).collect();
        (!runs.is_empty())
            .then(|| format!("`{policy}`, over {} runs: {}", runs.len(), named.join(", ")))
    };
    let said: Vec<String> = [OURS, PUBLISHED].into_iter().filter_map(one).collect();
    match said.is_empty() {
        true => "**Reading.** Neither policy ran.".to_owned(),
        false => format!(
            "**Reading.** {}. A dash in the table is a counter that the policy does not have.",
            said.join("; ")
        ),
    }
}
