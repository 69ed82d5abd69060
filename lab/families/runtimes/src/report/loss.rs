//! Where the efficiency went, and the speed-up as published beside the true one.

use std::cmp::Ordering;

use lab_family::Unit;
use lab_report::{Entry, Page, Study, Table, method, show};

use super::groups::{Group, by_configuration, by_variant, concurrent, scale_of};

const CLIENT_REMAINDER: &str = "loss_client_remainder_share";
/// (title, key, metric).
const PARTS: [(&str, &str, &str); 4] = [
    ("loss", "loss", "loss_share"),
    ("imbalance", "imbalance", "loss_imbalance_share"),
    ("server contention", "server_contention", "loss_server_contention_share"),
    ("client remainder", "client_remainder", CLIENT_REMAINDER),
];

pub(crate) fn write(study: &Study, page: &mut Page) {
    let split = by_variant(study, |one| one.value("loss_share").is_some());
    let with_solo = by_variant(study, |one| one.value("speed_up_true").is_some());
    if split.is_empty() && with_solo.is_empty() {
        return;
    }
    page.heading("Where the efficiency went");
    if !split.is_empty() {
        page.paragraph(&format!(
            "Means over runs, as shares of N × wall ({}), of the reference and of the variant with \
             the largest client remainder:",
            method("Agents (`runtimes`)")
        ));
        let runs = |group: &Group| Entry::count(group.runs.len());
        page.items(split.iter().filter(|one| one.variant == study.reference()).map(in_words));
        page.items(with_most_of(&split, CLIENT_REMAINDER).map(in_words));
        page.markdown.push('\n');
        let what = "Where the efficiency of every variant went";
        page.beside("loss", what, &parts(&split, ("runs", "runs"), runs));
        let config = |group: &Group| Entry::text(&group.config);
        let by_cell = parts(&by_configuration(study), ("configuration", "config"), config);
        let what = "Where the efficiency went, by configuration";
        page.beside("loss-by-cell", what, &by_cell);
        let runs = concurrent(study).filter(|one| one.value("loss_share").is_some());
        page.figure("loss", "Where the parallel efficiency went, mean over runs", &scale_of(runs));
    }
    speed_ups(&with_solo, page);
}

/// "`tokio_default`: loss 61.05 %, …, n = 36".
fn in_words(group: &Group) -> String {
    let part = |(title, _, metric): &(&str, &str, &str)| {
        Some(format!("{title} {}", show(group.mean(metric)?, Unit::Share)))
    };
    let parts: Vec<String> = PARTS.iter().filter_map(part).collect();
    format!("`{}`: {}, n = {}.", group.variant, parts.join(", "), group.runs.len())
}

/// The variant that loses most by one part, unless it is alone.
fn with_most_of<'g, 's, 'a>(
    groups: &'g [Group<'s, 'a>],
    metric: &str,
) -> Option<&'g Group<'s, 'a>> {
    let most = |a: &&Group, b: &&Group| a.mean(metric).partial_cmp(&b.mean(metric));
    let most = groups.iter().max_by(|a, b| most(a, b).unwrap_or(Ordering::Equal));
    most.filter(|_| groups.len() > 1)
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

fn speed_ups(groups: &[Group], page: &mut Page) {
    if groups.is_empty() {
        return;
    }
    let times = |value: Option<f64>| Entry::value(value, Unit::Times);
    let table = Table::of(
        groups,
        &[
            ("variant", "variant", &|group| Entry::code(group.variant)),
            ("as published", "as_published", &|group| times(group.median("speed_up_as_published"))),
            ("true", "true", &|group| times(group.median("speed_up_true"))),
            ("runs", "runs", &|group| Entry::count(group.runs.len())),
        ],
    );
    page.beside("speedups", "Speed-ups, as published and against the same agents alone", &table);
}
