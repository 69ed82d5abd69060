//! Every policy's counters, summed over all runs.

use lab_family::Unit;
use lab_report::Column::{Code, Count, Each};
use lab_report::{Entry, Page, Study, Table};

const COUNTERS: [(&str, &str); 8] = [
    ("", "decisions_inline"),
    ("", "decisions_offload"),
    ("", "jobs_started"),
    ("", "gr0_activations"),
    ("", "gr1_activations"),
    ("", "gr2_activations"),
    ("", "gr3_activations"),
    ("", "strikes"),
];

pub(crate) fn write(study: &Study, page: &mut Page) {
    let sum = |policy: &str, name: &str| {
        let runs = study.all.iter().filter(|one| one.variant() == policy);
        let counts = runs.filter_map(|one| one.value(name));
        Entry::value(counts.reduce(|sum, count| sum + count), Unit::Count)
    };
    let table = Table::over(
        study.variants(),
        &[
            Code("", "variant", &|policy| policy),
            Count("", "runs", &|policy| {
                study.all.iter().filter(|one| one.variant() == *policy).count()
            }),
            Each(&COUNTERS, &|policy, name| sum(policy, name)),
        ],
    );
    page.beside("counters", "Counters, summed over all runs", &table);
}
