//! Where the efficiency went, and the speed-up as published beside the true one.

use std::cmp::Ordering;

use lab_family::Unit::{self, Times};
use lab_report::Column::{self, Code, Count, Each, Number, Text};
use lab_report::{Chapter, Entry, Page, Study, Table, method, show};

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
        page.items(split.iter().filter(|one| one.variant == study.reference()).map(in_words));
        page.items(with_most_of(&split, CLIENT_REMAINDER).map(in_words));
        page.markdown.push('\n');
        let what = "Where the efficiency of every variant went";
        page.beside("loss", what, &parts(&split, Count("", "runs", &|of| of.runs.len())));
        let by_cell = parts(&by_configuration(study), Text("", "config", &|of| &of.config));
        page.beside("loss-by-cell", "Where the efficiency went, by configuration", &by_cell);
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

fn parts<'g, 's, 'a>(groups: &'g [Group<'s, 'a>], second: Column<'_, &'g Group<'s, 'a>>) -> Table {
    let parts = PARTS.map(|(title, key, _)| (title, key));
    let part = |of: &&Group, key: &str| {
        let metric = PARTS.iter().find(|(_, known, _)| *known == key);
        Entry::value(metric.and_then(|(.., metric)| of.mean(metric)), Unit::Share)
    };
    Table::over(
        groups.iter().filter(|group| group.mean("loss_share").is_some()),
        &[Code("", "variant", &|of| of.variant), second, Each(&parts, &part)],
    )
}

fn speed_ups(groups: &[Group], page: &mut Page) {
    let table = Table::over(
        groups,
        &[
            Code("", "variant", &|of| of.variant),
            Number("", "as_published", Times, &|of| of.median("speed_up_as_published")),
            Number("", "true", Times, &|of| of.median("speed_up_true")),
            Count("", "runs", &|of| of.runs.len()),
        ],
    );
    let what = "Speed-ups, as published and against the same agents alone";
    page.chapter(Chapter::beside("speedups", what, table));
}
