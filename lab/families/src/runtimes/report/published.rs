//! What the published report said, from the table that the experiment carries, beside our runs.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::Unit::Share;
use lab_report::Column::{Code, Number};
use lab_report::{Chapter, Kept, Measured, Page, Study, Table};
use lab_stats::describe::summarize;
use serde::Deserialize;

use super::groups::{Group, by_variant};

/// A variant with this tag does what the published code did. Its name is that of the published
/// runtime, under which the figures stand, and a suffix.
pub(super) const AS_PUBLISHED: (&str, &str) = ("as-published", "_as_published");

/// Figures of one published runtime, parallel efficiency in percent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Figures {
    peak: Option<f64>,
    mean: Option<f64>,
    median: Option<f64>,
    sd: Option<f64>,
    min: Option<f64>,
    #[serde(default)]
    mean_by_config: BTreeMap<String, f64>,
}

#[derive(Default, Deserialize)]
struct File {
    #[serde(default)]
    published: BTreeMap<String, Figures>,
}

/// Pooled over the configurations, as the report pooled them. Nothing where the experiment carries
/// no figures or runs not all of their configurations: it has nothing to stand beside.
pub(crate) fn write(study: &Study, page: &mut Page) {
    let published = figures(&study.frame.run_file.attachments);
    let is_theirs = |one: &Measured| {
        published.values().any(|said| said.mean_by_config.contains_key(config(one)))
    };
    let groups = by_variant(study, is_theirs).into_iter();
    let compared = groups.filter_map(|group| {
        let said = published.get(runtime(study, group.variant))?;
        if !has_all(&group, said) {
            return None;
        }
        Some((group.variant, said, summarize(&group.values("efficiency_as_published"))?))
    });
    let theirs = |percent: Option<f64>| percent.map(|percent| percent / 100.0);
    page.chapter(Chapter {
        heading: "The published figures beside ours",
        text: "Efficiency as published, over all configurations; medians and ends: \
               `published.tsv`. `_as_published` variants do what the published code did.",
        table: Table::over(
            compared,
            &[
                Code("variant", "variant", &|(variant, ..)| variant),
                Number("TR115 mean", "published_mean", Share, &|(_, it, _)| theirs(it.mean)),
                Number("mean here", "mean", Share, &|(.., here)| Some(here.mean)),
                Number("", "published_median", Share, &|(_, it, _)| theirs(it.median)),
                Number("", "median", Share, &|(.., here)| Some(here.median)),
                Number("TR115 sd", "published_sd", Share, &|(_, it, _)| theirs(it.sd)),
                Number("sd here", "sd", Share, &|(.., here)| here.sd),
                Number("", "published_min", Share, &|(_, it, _)| theirs(it.min)),
                Number("", "min", Share, &|(.., here)| Some(here.min)),
                Number("", "published_peak", Share, &|(_, it, _)| theirs(it.peak)),
                Number("", "max", Share, &|(.., here)| Some(here.max)),
            ],
        ),
        kept: Kept::Shown("published"),
        ..Chapter::default()
    });
}

fn has_all(group: &Group, said: &Figures) -> bool {
    let ran: BTreeSet<&str> = group.runs.iter().map(|one| config(one)).collect();
    said.mean_by_config.keys().all(|name| ran.contains(name.as_str()))
}

fn config<'r>(one: &'r Measured) -> &'r str {
    one.row.run.cell.get("config").map_or("", String::as_str)
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
