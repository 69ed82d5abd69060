//! The data behind the pictures, and their captions. The scripts in `plots/` compute nothing.

use std::collections::BTreeSet;

use lab_family::Unit;
use lab_report::{Distribution, Entry, Measured, Page, Study, Table};

use super::groups::{
    Group, by_configuration, by_variant, concurrent, configurations, is_unscaled, scale_of,
    time_scale_of,
};
use crate::cells::{configuration, time_scale_label, time_scale_ppm};
use crate::samples::delivery_lag_ns;

/// Shares at which the distribution of delivery lags is drawn: a step per half percent, then the
/// tail.
const BODY_STEPS: u32 = 200;
const TAIL: [f64; 4] = [0.998, 0.999, 0.9999, 1.0];

pub(crate) fn efficiency(study: &Study, page: &mut Page) {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("variant index", "variant_index"),
        ("configuration", "config"),
        ("configuration index", "config_index"),
        ("block", "block"),
        ("order", "order"),
        ("as published", "efficiency_as_published"),
        ("true", "efficiency_true"),
        ("time scale", "time_scale"),
    ]);
    let configs = configurations(study);
    for group in by_variant(study, |_| true) {
        for one in &group.runs {
            let run = &one.row.run;
            let config = configuration(run);
            table.row(vec![
                Entry::text(group.variant),
                Entry::count(variant_index(study, group.variant)),
                Entry::text(&config),
                Entry::count(config_index(&configs, &config)),
                Entry::count(run.block as usize),
                Entry::count(run.order as usize),
                Entry::value(one.value("efficiency_as_published"), Unit::Share),
                Entry::value(one.value("efficiency_true"), Unit::Share),
                Entry::text(time_scale_label(time_scale_ppm(run))),
            ]);
        }
    }
    if table.is_empty() {
        return;
    }
    page.data("efficiency", &table);
    // Without solo runs the script leaves out the panel that would be empty.
    let has_true = concurrent(study).any(|one| one.value("efficiency_true").is_some());
    let against_solo = if has_true { " and against solo runs" } else { "" };
    page.figure(
        "efficiency",
        &format!("Parallel efficiency of every concurrent run, as published{against_solo}"),
        &scale_of(concurrent(study)),
    );
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
    let mut columns = vec![("share", "share")];
    columns.extend(pooled.iter().map(|(variant, _)| (*variant, *variant)));
    let mut table = Table::new(&columns);
    let body = (1..BODY_STEPS).map(|step| f64::from(step) / f64::from(BODY_STEPS));
    for share in body.chain(TAIL) {
        let mut row = vec![Entry::value(Some(share), Unit::Share)];
        let at = |of: &Distribution| Entry::value(Some(of.quantile(share) as f64), Unit::Ns);
        row.extend(pooled.iter().map(|(_, of)| at(of)));
        table.row(row);
    }
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
    let variant = |group: &Group| Entry::count(variant_index(study, group.variant));
    let config = |group: &Group| Entry::count(config_index(&configs, &group.config));
    let rate = |group: &Group, metric| Entry::value(group.median(metric), Unit::PerSecond);
    let scale = |group: &Group| time_scale_of(group.runs.iter().copied());
    let table = Table::of(
        by_configuration(study),
        &[
            ("variant", "variant", &|group| Entry::text(group.variant)),
            ("variant index", "variant_index", &|group| variant(group)),
            ("configuration", "config", &|group| Entry::text(&group.config)),
            ("configuration index", "config_index", &|group| config(group)),
            ("per stream", "stream", &|group| rate(group, "tokens_per_s_stream")),
            ("per stream, server's account", "server", &|of| rate(of, "tokens_per_s_server")),
            ("both agents over wall time", "pooled", &|of| rate(of, "tokens_per_s_pooled")),
            ("time scale", "time_scale", &|group| Entry::text(scale(group))),
        ],
    );
    if table.is_empty() {
        return;
    }
    page.beside("tokens", "Tokens per second, medians by cell", &table);
    let scale = scale_of(concurrent(study));
    page.figure("tokens", "Tokens per second by cell, medians over runs", &scale);
}

pub(crate) fn variant_index(study: &Study, variant: &str) -> usize {
    study.measured_variants().iter().position(|name| *name == variant).unwrap_or(0)
}

fn config_index(configs: &[String], config: &str) -> usize {
    configs.iter().position(|name| name == config).unwrap_or(0)
}
