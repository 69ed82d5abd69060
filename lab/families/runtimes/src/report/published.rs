//! What the published report said, from the table that the experiment carries, beside our runs.

use std::collections::BTreeMap;

use lab_family::Unit;
use lab_report::page::Page;
use lab_report::study::Study;
use lab_report::tables::{Entry, Table};
use lab_stats::describe::summarize;
use serde::Deserialize;

use super::groups::{by_variant, is_of_tr115};

/// A variant with this tag does what the published code did. Its name is that of the published
/// runtime, under which the figures stand, and a suffix.
const AS_PUBLISHED: (&str, &str) = ("as-published", "_as_published");

/// Figures of one published runtime, parallel efficiency in percent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Figures {
    peak: Option<f64>,
    mean: Option<f64>,
    median: Option<f64>,
    sd: Option<f64>,
    min: Option<f64>,
}

#[derive(Default, Deserialize)]
struct File {
    #[serde(default)]
    published: BTreeMap<String, Figures>,
}

/// Pooled over the configurations, as the report pooled them. Nothing where the experiment carries
/// no figures: an experiment that reproduces nothing has nothing to stand beside.
pub(crate) fn write(study: &Study, page: &mut Page) {
    let published = figures(&study.frame.run_file.attachments);
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("TR115 mean", "published_mean"),
        ("here", "mean"),
        ("TR115 median", "published_median"),
        ("here", "median"),
        ("TR115 sd", "published_sd"),
        ("here", "sd"),
        ("TR115 min", "published_min"),
        ("here", "min"),
        ("TR115 peak", "published_peak"),
        ("here", "max"),
    ]);
    for group in by_variant(study, |one| is_of_tr115(study, one)) {
        let said = published.get(runtime(study, group.variant));
        let here = summarize(&group.values("efficiency_as_published"));
        let Some((said, here)) = said.zip(here) else { continue };
        let pairs = [
            (said.mean, Some(here.mean)),
            (said.median, Some(here.median)),
            (said.sd, here.sd),
            (said.min, Some(here.min)),
            (said.peak, Some(here.max)),
        ];
        let mut row = vec![Entry::code(group.variant)];
        for (theirs, ours) in pairs {
            row.push(Entry::value(theirs.map(|percent| percent / 100.0), Unit::Share));
            row.push(Entry::value(ours, Unit::Share));
        }
        table.row(row);
    }
    if table.is_empty() {
        return;
    }
    page.heading("The published figures beside ours");
    page.paragraph(
        "Efficiency as published, pooled over the configurations of TR115. The `_as_published` \
         variants do what the published code did, the others what the report describes.",
    );
    page.table("published", &table);
}

/// The published runtime that a variant stands for.
fn runtime<'a>(study: &Study, variant: &'a str) -> &'a str {
    let (tag, suffix) = AS_PUBLISHED;
    let stripped = variant.strip_suffix(suffix).filter(|_| study.is_tagged(variant, tag));
    stripped.unwrap_or(variant)
}

fn figures(attachments: &BTreeMap<String, String>) -> BTreeMap<String, Figures> {
    let read = |text: &String| toml::from_str::<File>(text).unwrap_or_default().published;
    attachments.values().flat_map(read).collect()
}
