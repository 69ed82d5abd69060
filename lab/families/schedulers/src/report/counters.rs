//! Every policy's counters, summed over all runs.

use lab_family::Unit;
use lab_report::{Entry, Page, Study, Table};

const COUNTERS: [&str; 8] = [
    "decisions_inline",
    "decisions_offload",
    "jobs_started",
    "gr0_activations",
    "gr1_activations",
    "gr2_activations",
    "gr3_activations",
    "strikes",
];

pub(crate) fn write(study: &Study, page: &mut Page) {
    let mut columns = vec![("policy", "variant"), ("runs", "runs")];
    columns.extend(COUNTERS.map(|name| (name, name)));
    let mut table = Table::new(&columns);
    for policy in study.variants() {
        let runs: Vec<_> = study.all.iter().filter(|one| one.variant() == policy).collect();
        let sum = |name: &str| {
            runs.iter().filter_map(|one| one.value(name)).reduce(|sum, count| sum + count)
        };
        let mut row = vec![Entry::code(policy), Entry::count(runs.len())];
        row.extend(COUNTERS.map(|name| Entry::value(sum(name), Unit::Count)));
        table.row(row);
    }
    page.beside("counters", "Counters, summed over all runs", &table);
}
