//! How long the runtime was not there for its tasks.

use lab_family::Cell;
use lab_family::Unit::{self, Ns};
use lab_report::Column::{Code, Count, Interval, Number, Text};
use lab_report::{Page, Reading, Study, Table};

use super::{cells, level};

pub(crate) fn write(study: &Study, page: &mut Page) {
    let variants = study.variants();
    let of_policies = |cell| variants.iter().map(move |policy| (cell, *policy));
    let places = cells(study, "wake").into_iter().flat_map(of_policies);
    let with_tail = places.filter_map(|(cell, policy)| {
        let tail = study.series(policy, cell, "tick_p999_ns");
        Some((cell, policy, Reading::level(&tail, Unit::Ns)?))
    });
    let worst = |policy: &str, cell: &Cell, metric: &str| {
        study.series(policy, cell, metric).into_values().reduce(f64::max)
    };
    let table = Table::over(
        with_tail,
        &[
            Text("", "load", &|(cell, ..)| level(cell, "load")),
            Text("", "tokio_workers", &|(cell, ..)| level(cell, "tokio_workers")),
            Code("", "policy", &|(_, policy, _)| policy),
            Count("", "n", &|(.., tail)| tail.n),
            Number("", "block_longest_median_ns", Ns, &|(cell, policy, _)| {
                study.median(policy, cell, "block_longest_ns")
            }),
            Number("", "block_longest_worst_ns", Ns, &|(cell, policy, _)| {
                worst(policy, cell, "block_longest_ns")
            }),
            Interval("", "tick_p999{}_ns", &|(.., tail)| Some(*tail)),
            Number("", "tick_worst_ns", Ns, &|(cell, policy, _)| {
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
