//! What this family's servers add to the common chapters: time scales, pacing, a second A/A.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::{Cell, Unit};
use lab_record::{Column, Comparison, HISTOGRAM_DIGITS, Scale};
use lab_report::{
    Effect, Line, Measured, Study, frame::is_probe, minus, show, show_difference,
    study::is_unpaired, takes_part,
};
use lab_stats::{describe::median, outcome::Outcome};

use super::cards;
use crate::runtimes::cells::{configuration, time_scale_label, time_scale_ppm};
use crate::runtimes::table;

const SECOND_AA_METRICS: [&str; 3] =
    ["efficiency_as_published", "efficiency_true", "tokens_per_s_stream"];
const PACING: &str = "server_pacing_error_p99_ns";

/// Time scales, start-up probes, and where token columns are not raw.
pub(crate) fn run_facts(study: &Study) -> Vec<String> {
    let mut cells: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for run in study.all.iter().map(|one| &one.row.run) {
        cells.entry(time_scale_ppm(run)).or_default().insert(configuration(run));
    }
    let several = cells.len() > 1;
    let one = |(ppm, names): (u64, BTreeSet<String>)| {
        let names: Vec<String> = names.into_iter().collect();
        let places = if several { format!(" in {}", names.join(", ")) } else { String::new() };
        format!("{}{places}", time_scale_label(ppm))
    };
    let scales: Vec<String> = cells.into_iter().map(one).collect();
    let mut facts = vec![format!("Time: {}.", scales.join("; "))];
    facts.extend(cards::not_watched(study));
    let probes = study.rows.iter().filter(|row| is_probe(&row.run)).count();
    if probes > 0 {
        facts.push(format!("Start-up probes, analysed by themselves: {probes}."));
    }
    let is_histogram = |column: &Column| matches!(column, Column::Histogram(_));
    let slim = study.all.iter().filter(|one| one.row.samples.columns.values().any(is_histogram));
    match slim.count() {
        0 => {}
        runs => facts.push(format!(
            "Samples: {runs} runs keep token columns as HDR histograms of {HISTOGRAM_DIGITS} \
             digits."
        )),
    }
    facts
}

pub(crate) fn lab_checks(study: &Study) -> Vec<String> {
    let mut checks = second_aa(study);
    checks.extend(pacing(study));
    checks
}

/// The same treatment under two names: what is left is the draw of lengths and the noise.
fn second_aa(study: &Study) -> Vec<String> {
    let lengths = if is_unpaired(study.frame) {
        "reply lengths are two draws"
    } else {
        "same draws, so nothing should differ"
    };
    let is = |cell: &Cell, factor: &str, level: &str| cell.get(factor).is_some_and(|l| l == level);
    let mut cells = study.cells(study.reference());
    cells.retain(|cell| is(cell, "arrangement", "concurrent"));
    let attachments = &study.frame.run_file.attachments;
    let mut checks = Vec::new();
    for (first, second) in table::equal_configurations(&study.section, attachments) {
        let cell = |config: &str| cells.iter().find(|cell| is(cell, "config", config));
        let Some((a, b)) = cell(&second).zip(cell(&first)) else { continue };
        let of_metric = |metric: &str| {
            let effect = Effect::of(by_block(study, metric, a, b))?;
            let shown = effect.shown(|value| show_difference(value, study.unit(metric)));
            Some(format!("`{metric}` {shown}"))
        };
        let shown: Vec<String> = SECOND_AA_METRICS.into_iter().filter_map(of_metric).collect();
        if !shown.is_empty() {
            checks.push(format!(
                "Second A/A, `{second}` minus `{first}`, equal parameters under two names; \
                 {lengths}: {}.",
                shown.join(", ")
            ));
        }
    }
    checks
}

/// `a` minus `b`, the median over variants: lengths are drawn per block and equal for all variants,
/// so a block is one draw.
fn by_block(study: &Study, metric: &str, a: &Cell, b: &Cell) -> Vec<f64> {
    let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for variant in study.measured_variants() {
        let [a, b] = [a, b].map(|cell| study.series(variant, cell, metric));
        for (block, difference) in minus(&a, &b) {
            blocks.entry(block).or_default().push(difference);
        }
    }
    blocks.values().filter_map(|differences| median(differences)).collect()
}

fn pacing(study: &Study) -> Vec<String> {
    let mut by_scale: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for one in &study.all {
        if let Some(error) = one.value(PACING) {
            by_scale.entry(time_scale_ppm(&one.row.run)).or_default().push(error);
        }
    }
    if by_scale.is_empty() {
        return vec!["Server pacing: the servers of this sweep keep no schedule of ours.".into()];
    }
    let overshoot = timer_overshoot_p99_ns(study).map_or(String::new(), |ns| {
        format!("; the machine's timer overshoot {}", show(ns, Unit::Ns))
    });
    let one = |(ppm, errors): (u64, Vec<f64>)| {
        format!(
            "Server pacing error p99, {}: {} ({} runs{overshoot}).",
            time_scale_label(ppm),
            show(median(&errors).unwrap_or(f64::NAN), Unit::Ns),
            errors.len()
        )
    };
    by_scale.into_iter().map(one).collect()
}

/// As the sessions probed it, the median of all.
fn timer_overshoot_p99_ns(study: &Study) -> Option<f64> {
    let floors = study.frame.sessions.iter().filter_map(|one| one.environment.get("floors"));
    let probed = floors.filter_map(|floors| floors.get("timer_overshoot_p99_ns")?.as_f64());
    median(&probed.collect::<Vec<_>>())
}

/// Says how exact the server was where a comparison rests on its stamps.
pub(crate) fn pacing_note(study: &Study, comparison: &Comparison) -> Option<String> {
    let pacing_ns = pacing_p99_ns(study, comparison)?;
    Some(format!(
        "The server's pacing error p99 was {}; four times that must be below the difference being \
         judged.",
        show(pacing_ns, Unit::Ns)
    ))
}

/// A lag verdict rests on the server's stamps: it is withheld where the server's own pacing error
/// exceeds a quarter of the difference being judged. That is the estimate where a direction is
/// claimed, and else the margin.
pub(crate) fn too_coarse(study: &Study, comparison: &Comparison, line: &Line) -> Option<String> {
    let pacing_ns = pacing_p99_ns(study, comparison)?;
    let estimate = line.shift?.estimate;
    let has_direction = matches!(line.finding.outcome, Outcome::Faster | Outcome::Slower);
    let judged = match comparison.scale {
        _ if !has_direction => comparison.margin,
        Scale::Difference => estimate.abs(),
        Scale::Ratio => estimate.exp_m1().abs(),
    };
    let judged_ns = match comparison.scale {
        Scale::Difference => judged,
        Scale::Ratio => {
            let is_reference = |one: &Measured| one.variant() == study.reference();
            judged * median_of(study, comparison, &comparison.metric, is_reference)?
        }
    };
    (pacing_ns > judged_ns / 4.0).then(|| {
        format!(
            "server pacing error p99 {} exceeds a quarter of {}",
            show(pacing_ns, Unit::Ns),
            show(judged_ns, Unit::Ns)
        )
    })
}

/// Of the runs that take part; `None` where the comparison does not rest on the server's stamps.
fn pacing_p99_ns(study: &Study, comparison: &Comparison) -> Option<f64> {
    let is_lag = comparison.metric.starts_with("delivery_lag");
    is_lag.then(|| median_of(study, comparison, PACING, |_| true)).flatten()
}

fn median_of(
    study: &Study,
    comparison: &Comparison,
    metric: &str,
    keep: impl Fn(&Measured) -> bool,
) -> Option<f64> {
    let runs = study.all.iter().filter(|one| keep(one));
    let taking_part = runs.filter(|one| takes_part(comparison, &one.row.run.cell));
    median(&taking_part.filter_map(|one| one.value(metric)).collect::<Vec<_>>())
}
