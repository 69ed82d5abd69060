//! The data behind the pictures, and their captions. The scripts in `plots/` compute nothing.

use std::collections::BTreeSet;

use lab_stats::describe::median;

use super::Page;
use super::spread::{configurations, scale_of};
use crate::frame::{UNSCALED_PPM, configuration, time_scale_label, time_scale_ppm};
use crate::measure::{Measured, Unit};
use crate::metrics::{Distribution, delivery_lag_ns};
use crate::study::Study;
use crate::tables::{Cell, Table};

/// Shares at which the distribution of delivery lags is drawn: a step per half percent, then the
/// tail.
const BODY_STEPS: u32 = 200;
const TAIL: [f64; 4] = [0.998, 0.999, 0.9999, 1.0];

pub(super) fn efficiency(study: &Study, page: &mut Page) {
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
    let (variants, configs) = (study.measured_variants(), configurations(study));
    for (variant_index, variant) in variants.iter().enumerate() {
        for one in study.concurrent_of(variant) {
            let run = &one.row.run;
            let config = configuration(run);
            let config_index = configs.iter().position(|name| *name == config).unwrap_or(0);
            table.row(vec![
                Cell::text(*variant),
                Cell::count(variant_index),
                Cell::text(config),
                Cell::count(config_index),
                Cell::count(run.block as usize),
                Cell::count(run.order as usize),
                Cell::value(one.value("efficiency_as_published"), Unit::Share),
                Cell::value(one.value("efficiency_true"), Unit::Share),
                Cell::text(time_scale_label(time_scale_ppm(run))),
            ]);
        }
    }
    if table.is_empty() {
        return;
    }
    page.data("efficiency", &table);
    let runs: Vec<&Measured> = study.concurrent().collect();
    page.figure(
        "efficiency",
        "Parallel efficiency of every concurrent run, as published and against solo runs",
        &scale_of(&runs),
    );
}

pub(super) fn loss(study: &Study, page: &mut Page) {
    let runs: Vec<&Measured> =
        study.concurrent().filter(|one| one.value("loss_share").is_some()).collect();
    page.figure("loss", "Where the parallel efficiency went, mean over runs", &scale_of(&runs));
}

pub(super) fn rest(study: &Study, page: &mut Page) {
    delivery_lag(study, page);
    tokens_per_s(study, page);
}

/// A row per share, a column per variant: the empirical distribution, read by quantiles.
fn delivery_lag(study: &Study, page: &mut Page) {
    let any_unscaled = study.concurrent().any(|one| time_scale_ppm(&one.row.run) == UNSCALED_PPM);
    let wanted = |one: &&Measured| !any_unscaled || time_scale_ppm(&one.row.run) == UNSCALED_PPM;
    let pooled: Vec<(&str, Distribution)> = study
        .measured_variants()
        .into_iter()
        .filter_map(|variant| {
            let runs = study.concurrent_of(variant).filter(wanted);
            let lags: Vec<Distribution> =
                runs.filter_map(|one| delivery_lag_ns(&one.row.samples)).collect();
            Some((variant, Distribution::pooled(&lags)?))
        })
        .collect();
    page.heading("Delivery lag and rates");
    if pooled.is_empty() {
        page.paragraph("These servers stamp no token, so there is no delivery lag to show.");
        return;
    }
    let mut columns = vec![("share", "share")];
    columns.extend(pooled.iter().map(|(variant, _)| (*variant, *variant)));
    let mut table = Table::new(&columns);
    let body = (1..BODY_STEPS).map(|step| f64::from(step) / f64::from(BODY_STEPS));
    for share in body.chain(TAIL) {
        let mut row = vec![Cell::value(Some(share), Unit::Share)];
        let at = |of: &Distribution| Cell::value(Some(of.quantile(share) as f64), Unit::Ns);
        row.extend(pooled.iter().map(|(_, of)| at(of)));
        table.row(row);
    }
    page.data("lag", &table);
    let runs: Vec<&Measured> = study.concurrent().filter(wanted).collect();
    let cells: BTreeSet<String> = runs.iter().map(|one| configuration(&one.row.run)).collect();
    let cells: Vec<String> = cells.into_iter().collect();
    page.figure(
        "lag",
        &format!(
            "Delivery lag of every token (received minus sent), all runs of {} together",
            cells.join(", ")
        ),
        &scale_of(&runs),
    );
}

fn tokens_per_s(study: &Study, page: &mut Page) {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("variant index", "variant_index"),
        ("configuration", "config"),
        ("configuration index", "config_index"),
        ("per stream", "stream"),
        ("per stream, server's account", "server"),
        ("both agents over wall time", "pooled"),
        ("time scale", "time_scale"),
    ]);
    for (variant_index, variant) in study.measured_variants().into_iter().enumerate() {
        for (config_index, config) in configurations(study).into_iter().enumerate() {
            let runs = study.concurrent_of(variant);
            let here: Vec<&Measured> =
                runs.filter(|one| configuration(&one.row.run) == config).collect();
            let of = |metric: &str| {
                let values: Vec<f64> = here.iter().filter_map(|one| one.value(metric)).collect();
                Cell::value(median(&values), Unit::PerSecond)
            };
            if here.is_empty() {
                continue;
            }
            table.row(vec![
                Cell::text(variant),
                Cell::count(variant_index),
                Cell::text(&config),
                Cell::count(config_index),
                of("tokens_per_s_stream"),
                of("tokens_per_s_server"),
                of("tokens_per_s_pooled"),
                Cell::text(scale_of(&here)),
            ]);
        }
    }
    if table.is_empty() {
        return;
    }
    page.folded("tokens", "Tokens per second, medians by cell", &table);
    let runs: Vec<&Measured> = study.concurrent().collect();
    page.figure("tokens", "Tokens per second by cell, medians over runs", &scale_of(&runs));
}
