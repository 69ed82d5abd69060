//! How long the runtime was not there for its tasks.

use lab_family::{Cell, Unit};
use lab_report::page::Page;
use lab_report::reading::Reading;
use lab_report::study::Study;
use lab_report::tables::{Entry, Table};

use super::{cells, level, scale};

pub(crate) fn write(study: &Study, page: &mut Page) {
    let mut table = Table::new(&[
        ("load", "load"),
        ("Tokio workers", "tokio_workers"),
        ("policy", "policy"),
        ("n", "n"),
        ("longest block, median", "block_longest_median_ns"),
        ("longest block of all runs", "block_longest_worst_ns"),
        ("tick P99.9", "tick_p999_ns"),
        ("low", "tick_p999_low_ns"),
        ("high", "tick_p999_high_ns"),
        ("worst tick", "tick_worst_ns"),
    ]);
    for cell in cells(study, "wake") {
        study.variants().iter().filter_map(|policy| row(study, policy, cell)).for_each(|row| {
            table.row(row);
        });
    }
    page.folded(
        "stalls",
        "Stalls: the longest that one piece of work kept an asynchronous worker, and the tail of \
         ticks. Maxima grow with the length of a run and have no interval",
        &table,
    );
    page.figure_by(
        ("stalls", "offload-stalls.gp"),
        "Tail of wake-ups (P99.9, interval over blocks) and the longest block of a worker, by load",
        &scale(study),
    );
}

fn row(study: &Study, policy: &str, cell: &Cell) -> Option<Vec<Entry>> {
    let series = |metric: &str| study.series(policy, cell, metric);
    let worst =
        |metric: &str| Entry::value(series(metric).into_values().reduce(f64::max), Unit::Ns);
    let tail = Reading::level(&series("tick_p999_ns"), Unit::Ns)?;
    let mut row = vec![
        Entry::text(level(cell, "load")),
        Entry::text(level(cell, "tokio_workers")),
        Entry::code(policy),
        Entry::count(tail.n),
        Entry::value(study.median(policy, cell, "block_longest_ns"), Unit::Ns),
        worst("block_longest_ns"),
    ];
    row.extend(Reading::entries(Some(&tail)));
    row.push(worst("tick_max_ns"));
    Some(row)
}
