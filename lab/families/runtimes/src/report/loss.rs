//! Where the efficiency went, and the speed-up as published beside the true one.

use lab_family::Unit;
use lab_report::{Entry, Page, Study, Table};

use super::groups::{Group, by_configuration, by_variant, concurrent, scale_of};

/// (title, key, metric).
const PARTS: [(&str, &str, &str); 4] = [
    ("loss", "loss", "loss_share"),
    ("imbalance", "imbalance", "loss_imbalance_share"),
    ("server contention", "server_contention", "loss_server_contention_share"),
    ("client remainder", "client_remainder", "loss_client_remainder_share"),
];

pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("Where the efficiency went");
    let split = by_variant(study, |one| one.value("loss_share").is_some());
    if split.is_empty() {
        page.paragraph(
            "No concurrent run has a solo baseline and the server's times, so the loss cannot be \
             split.",
        );
    } else {
        page.paragraph(
            "Means over runs, as shares of N × wall; the three parts sum to the loss (formulas in \
             docs/METHODOLOGY.md). A negative part is a gain: an agent that waits leaves the \
             server to the other one.",
        );
        let runs = |group: &Group| Entry::count(group.runs.len());
        page.table("loss", &parts(&split, ("runs", "runs"), runs));
        let config = |group: &Group| Entry::text(&group.config);
        let by_cell = parts(&by_configuration(study), ("configuration", "config"), config);
        page.folded("loss-by-cell", "By configuration", &by_cell);
        let runs = concurrent(study).filter(|one| one.value("loss_share").is_some());
        page.figure("loss", "Where the parallel efficiency went, mean over runs", &scale_of(runs));
    }
    speed_ups(study, page);
}

fn parts(groups: &[Group], second: (&str, &str), entry: impl Fn(&Group) -> Entry) -> Table {
    let mut columns = vec![("variant", "variant"), second];
    columns.extend(PARTS.map(|(title, key, _)| (title, key)));
    let mut table = Table::new(&columns);
    for group in groups.iter().filter(|group| group.mean("loss_share").is_some()) {
        let mut row = vec![Entry::code(group.variant), entry(group)];
        row.extend(PARTS.map(|(_, _, metric)| Entry::value(group.mean(metric), Unit::Share)));
        table.row(row);
    }
    table
}

fn speed_ups(study: &Study, page: &mut Page) {
    let groups = by_variant(study, |one| one.value("speed_up_true").is_some());
    if groups.is_empty() {
        return;
    }
    let times = |value: Option<f64>| Entry::value(value, Unit::Times);
    let table = Table::of(
        &groups,
        &[
            ("variant", "variant", &|group| Entry::code(group.variant)),
            ("as published", "as_published", &|group| times(group.median("speed_up_as_published"))),
            ("true", "true", &|group| times(group.median("speed_up_true"))),
            ("runs with a solo baseline", "runs", &|group| Entry::count(group.runs.len())),
        ],
    );
    page.paragraph(
        "Speed-up, medians over runs. As published: the agents' durations while they ran together, \
         over the wall time. True: the durations of the same agents alone, same block and lengths, \
         over that wall time. Below 1× the agents had better run one after the other.",
    );
    page.table("speedups", &table);
}
