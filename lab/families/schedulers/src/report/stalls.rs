//! How long the runtime was not there for its tasks.

use lab_family::{Cell, Unit};
use lab_report::{Entry, Page, Reading, Study, Table};

use super::{cells, level};

pub(crate) fn write(study: &Study, page: &mut Page) {
    let variants = study.variants();
    let of_policies = |cell| variants.iter().map(move |policy| (cell, *policy));
    let places = cells(study, "wake").into_iter().flat_map(of_policies);
    let with_tail = places.filter_map(|(cell, policy)| {
        let tail = study.series(policy, cell, "tick_p999_ns");
        Some((cell, policy, Reading::level(&tail, Unit::Ns)?))
    });
    let ns = |value: Option<f64>| Entry::value(value, Unit::Ns);
    let worst = |policy: &str, cell: &Cell, metric: &str| {
        ns(study.series(policy, cell, metric).into_values().reduce(f64::max))
    };
    let table = Table::of(
        with_tail,
        &[
            ("load", "load", &|(cell, ..)| Entry::text(level(cell, "load"))),
            ("Tokio workers", "tokio_workers", &|(cell, ..)| {
                Entry::text(level(cell, "tokio_workers"))
            }),
            ("policy", "policy", &|(_, policy, _)| Entry::code(policy)),
            ("n", "n", &|(.., tail)| Entry::count(tail.n)),
            ("longest block, median", "block_longest_median_ns", &|(cell, policy, _)| {
                ns(study.median(policy, cell, "block_longest_ns"))
            }),
            ("longest block of all runs", "block_longest_worst_ns", &|(cell, policy, _)| {
                worst(policy, cell, "block_longest_ns")
            }),
            ("tick P99.9", "tick_p999_ns", &|(.., tail)| Reading::middle(Some(*tail))),
            ("low", "tick_p999_low_ns", &|(.., tail)| Reading::low(Some(*tail))),
            ("high", "tick_p999_high_ns", &|(.., tail)| Reading::high(Some(*tail))),
            ("worst tick", "tick_worst_ns", &|(cell, policy, _)| {
                worst(policy, cell, "tick_max_ns")
            }),
        ],
    );
    page.beside(
        "stalls",
        "The longest that one piece of work kept a worker (a maximum, without interval), and the \
         tail of ticks",
        &table,
    );
    page.figure_by(
        ("stalls", "offload-stalls.gp"),
        "Tail of wake-ups (P99.9, interval over blocks) and the longest block of a worker, by load",
        &study.how_run(),
    );
}
