//! The data behind the pictures, and their captions. The scripts in `plots/` compute nothing.

use std::collections::BTreeSet;

use lab_family::Unit::{self, PerSecond, Share};
use lab_report::Column::{Count, Each, Number, Text, Words};
use lab_report::{Chapter, Distribution, Entry, Kept, Measured, Page, Study, Table};

use super::groups::{
    by_configuration, by_variant, concurrent, configurations, is_unscaled, scale_of,
};
use crate::runtimes::cells::{configuration, time_scale_label, time_scale_ppm};
use crate::runtimes::samples::delivery_lag_ns;

/// Shares at which the distribution of delivery lags is drawn: a step per half percent, then the
/// tail.
const BODY_STEPS: u32 = 200;
const TAIL: [f64; 4] = [0.998, 0.999, 0.9999, 1.0];

/// Nothing where a slimmed record of crowds keeps no agent's time.
pub(crate) fn efficiency(study: &Study, page: &mut Page) {
    if concurrent(study).all(|one| one.value("efficiency_as_published").is_none()) {
        return;
    }
    let configs = configurations(study);
    let groups = by_variant(study, |_| true);
    let runs = groups.iter().flat_map(|group| {
        group.runs.iter().map(move |one| (group.variant, configuration(&one.row.run), *one))
    });
    // Without solo runs the script leaves out the panel that would be empty.
    let has_true = concurrent(study).any(|one| one.value("efficiency_true").is_some());
    let against_solo = if has_true { " and against solo runs" } else { "" };
    page.chapter(Chapter {
        table: Table::over(
            runs,
            &[
                Text("", "variant", &|(variant, ..)| variant),
                Count("", "variant_index", &|(variant, ..)| variant_index(study, variant)),
                Text("", "config", &|(_, config, _)| config),
                Count("", "config_index", &|(_, config, _)| config_index(&configs, config)),
                Count("", "block", &|(.., one)| one.row.run.block as usize),
                Count("", "order", &|(.., one)| one.row.run.order as usize),
                Each(
                    &[("", "efficiency_as_published"), ("", "efficiency_true")],
                    &|(.., one), metric| Entry::value(one.value(metric), Unit::Share),
                ),
                Words("", "time_scale", &|(.., one)| {
                    time_scale_label(time_scale_ppm(&one.row.run))
                }),
            ],
        ),
        kept: Kept::Data("efficiency"),
        figure: Some((
            ("efficiency", "efficiency.gp"),
            &format!("Parallel efficiency of every concurrent run, as published{against_solo}"),
            &scale_of(concurrent(study)),
        )),
        ..Chapter::default()
    });
}

/// A row per share, a column per variant: the empirical distribution, read by quantiles.
pub(crate) fn lag(study: &Study, page: &mut Page) {
    page.heading("Delivery lag and rates");
    let any_unscaled = concurrent(study).any(is_unscaled);
    let wanted = |one: &Measured| !any_unscaled || is_unscaled(one);
    let pooled: Vec<(&str, Distribution)> = by_variant(study, wanted)
        .iter()
        .filter_map(|group| {
            let lags = group.runs.iter().filter_map(|one| delivery_lag_ns(&one.row.samples));
            Some((group.variant, Distribution::pooled(&lags.collect::<Vec<_>>())?))
        })
        .collect();
    if pooled.is_empty() {
        page.paragraph("These servers stamp no token, so there is no delivery lag to show.");
        return;
    }
    let body = (1..BODY_STEPS).map(|step| f64::from(step) / f64::from(BODY_STEPS));
    let names: Vec<(&str, &str)> = pooled.iter().map(|(variant, _)| ("", *variant)).collect();
    let at = |share: f64, name: &str| {
        let of = pooled.iter().find(|(variant, _)| *variant == name);
        Entry::value(of.map(|(_, of)| of.quantile(share) as f64), Unit::Ns)
    };
    let table = Table::over(
        body.chain(TAIL),
        &[
            Number("", "share", Share, &|share| Some(*share)),
            Each(&names, &|share, name| at(*share, name)),
        ],
    );
    page.data("lag", &table);
    let runs: Vec<&Measured> = concurrent(study).filter(|one| wanted(one)).collect();
    let drawn: BTreeSet<String> = runs.iter().map(|one| configuration(&one.row.run)).collect();
    let mut cells = configurations(study);
    cells.retain(|cell| drawn.contains(cell));
    let what = format!(
        "Delivery lag of every token (received minus sent), all runs of {} together",
        cells.join(", ")
    );
    page.figure("lag", &what, &scale_of(runs));
}

pub(crate) fn tokens(study: &Study, page: &mut Page) {
    let configs = configurations(study);
    let table = Table::over(
        by_configuration(study),
        &[
            Text("", "variant", &|of| of.variant),
            Count("", "variant_index", &|of| variant_index(study, of.variant)),
            Text("", "config", &|of| &of.config),
            Count("", "config_index", &|of| config_index(&configs, &of.config)),
            Number("", "stream", PerSecond, &|of| of.median("tokens_per_s_stream")),
            Number("", "server", PerSecond, &|of| of.median("tokens_per_s_server")),
            Number("", "pooled", PerSecond, &|of| of.median("tokens_per_s_pooled")),
            Words("", "time_scale", &|of| of.time_scale()),
        ],
    );
    // Of a panel without a point nothing is drawn, nor is the other one.
    let has_streams = concurrent(study).any(|one| one.value("tokens_per_s_stream").is_some());
    let scale = scale_of(concurrent(study));
    let what = "Tokens per second by cell, medians over runs";
    page.chapter(Chapter {
        figure: has_streams.then_some((("tokens", "tokens.gp"), what, &scale)),
        ..Chapter::beside("tokens", "Tokens per second, medians by cell", table)
    });
}

pub(crate) fn variant_index(study: &Study, variant: &str) -> usize {
    study.measured_variants().iter().position(|name| *name == variant).unwrap_or(0)
}

fn config_index(configs: &[String], config: &str) -> usize {
    configs.iter().position(|name| name == config).unwrap_or(0)
}
