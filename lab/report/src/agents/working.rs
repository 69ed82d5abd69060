//! What was run, on what, and whether the lab itself was working.

use std::collections::{BTreeMap, BTreeSet};

use lab_record::{Column, HISTOGRAM_DIGITS, Status};
use lab_stats::describe::median;
use lab_stats::paired::hodges_lehmann;

use super::Page;
use crate::frame::{cell_key, is_gated, is_probe, time_scale_label, time_scale_ppm};
use crate::measure::{Unit, unit};
use crate::study::{Study, is_unpaired};
use crate::tables::{show, show_difference};
use crate::{noise, working};

/// Two configurations of TR115 that are one treatment: the model has fewer layers than either
/// number of layers to put on the GPU, so both get equal parameters.
const EQUAL_CONFIGURATIONS: (&str, &str) = ("chimera_homo_ctx512", "chimera_homo_gpu100");
const SECOND_AA_METRICS: [&str; 3] =
    ["efficiency_as_published", "efficiency_true", "tokens_per_s_stream"];
/// The paced server's own target at two streams of 100 tokens/s.
const PACING_TARGET_NS: f64 = 200_000.0;

/// Commit, machine, size of the sweep, time scale.
pub(super) fn header(study: &Study, page: &mut Page) {
    page.heading("What was run");
    working::identity(study, page);
    page.item(&counted(study));
    page.item(&format!("Time: {}.", scales(study)));
    page.items(slimmed(study));
    page.items(working::without_a_run(study));
    page.markdown.push('\n');
    working::inventory(study, page);
}

fn counted(study: &Study) -> String {
    let count = |keep: &dyn Fn(&lab_record::Run) -> bool| {
        study.rows.iter().filter(|row| keep(&row.run)).count()
    };
    let warmups = count(&|run| run.warmup);
    let failed = count(&|run| !run.warmup && run.status == Status::Failed);
    let unsupported = count(&|run| !run.warmup && run.status == Status::Unsupported);
    let probes = count(&|run| !run.warmup && run.status == Status::Ok && is_probe(run));
    let mut per_cell: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for one in &study.all {
        *per_cell.entry((one.variant(), cell_key(&one.row.run))).or_default() += 1;
    }
    let sizes: BTreeSet<usize> = per_cell.values().copied().collect();
    let range = match (sizes.first(), sizes.last()) {
        (Some(low), Some(high)) if low == high => format!("{low}"),
        (Some(low), Some(high)) => format!("{low} to {high}"),
        _ => "0".to_owned(),
    };
    format!(
        "Rows: {}, of which analysed {} ({range} per variant and cell), warm-up {warmups}, \
         start-up probes {probes}, failed {failed}, unsupported {unsupported}; gated {}. \
         Only analysed rows enter a number below.",
        study.rows.len(),
        study.all.len(),
        count(&|run| is_gated(run)),
    )
}

fn scales(study: &Study) -> String {
    let mut cells: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for one in &study.all {
        let run = &one.row.run;
        cells.entry(time_scale_ppm(run)).or_default().insert(crate::frame::configuration(run));
    }
    let one = |(ppm, names): (&u64, &BTreeSet<String>)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("{} in {}", time_scale_label(*ppm), names.join(", "))
    };
    let all: Vec<String> = cells.iter().map(one).collect();
    if all.is_empty() { "no analysed run".to_owned() } else { all.join("; ") }
}

/// Says where token columns are not raw.
fn slimmed(study: &Study) -> Option<String> {
    let is_histogram = |column: &Column| matches!(column, Column::Histogram(_));
    let runs = study.all.iter().filter(|one| one.row.samples.columns.values().any(is_histogram));
    let count = runs.count();
    (count > 0).then(|| {
        format!(
            "Samples: {count} runs keep their token columns as HDR histograms of \
             {HISTOGRAM_DIGITS} digits, so their lag and inter-token percentiles are rounded to \
             that; all other columns are raw."
        )
    })
}

pub(super) fn write(study: &Study, page: &mut Page) {
    page.heading("Was the lab itself working?");
    working::first_aa(study, page);
    second_aa(study, page);
    pacing(study, page);
    page.item(&working::verified(study));
    page.item(&working::cores(study));
    working::failures(study, page, |run| run.status != Status::Ok);
    noise::write(study, page);
}

/// The same treatment under two names: what is left is the draw of lengths and the noise.
fn second_aa(study: &Study, page: &mut Page) {
    let (first, second) = EQUAL_CONFIGURATIONS;
    for metric in SECOND_AA_METRICS {
        let values = |config: &str| -> BTreeMap<(String, u32), f64> {
            let here = study
                .concurrent()
                .filter(|one| one.row.run.cell.get("config").is_some_and(|level| level == config));
            here.filter_map(|one| {
                let key = (one.variant().to_owned(), one.row.run.block);
                Some((key, one.value(metric)?))
            })
            .collect()
        };
        let (a, b) = (values(second), values(first));
        // Lengths are drawn per block and equal for all variants, so a block is one draw.
        let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for ((variant, block), value) in &a {
            let pair = b.get(&(variant.clone(), *block));
            blocks.entry(*block).or_default().extend(pair.map(|other| value - other));
        }
        let per_block: Vec<f64> = blocks.values().filter_map(|pairs| median(pairs)).collect();
        let Some(shift) = hodges_lehmann(&per_block, 0.95) else { continue };
        let shown = |value: f64| show_difference(value, unit(metric));
        let interval = shift.interval.map_or("no interval".to_owned(), |interval| {
            format!("{} … {}", shown(interval.low), shown(interval.high))
        });
        let lengths = if is_unpaired(study.frame) {
            "Their reply lengths are two draws, which is all that should differ."
        } else {
            "Lengths and schedules are the same draws, so nothing should differ."
        };
        page.item(&format!(
            "Second A/A on `{metric}`: `{second}` minus `{first}`, equal parameters under two \
             names: {} ({interval}, {} blocks). {lengths}",
            shown(shift.estimate),
            per_block.len()
        ));
    }
}

fn pacing(study: &Study, page: &mut Page) {
    let mut by_scale: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for one in &study.all {
        let error = one.value("server_pacing_error_p99_ns");
        by_scale.entry(time_scale_ppm(&one.row.run)).or_default().extend(error);
    }
    by_scale.retain(|_, errors| !errors.is_empty());
    if by_scale.is_empty() {
        page.item("Server pacing: the servers of this sweep keep no schedule of ours.");
    }
    let overshoot = timer_overshoot_p99_ns(study).map_or(String::new(), |ns| {
        format!("; the machine's own timer overshoot p99 was {}", show(ns, Unit::Ns))
    });
    for (ppm, errors) in by_scale {
        let p99 = median(&errors).unwrap_or(f64::NAN);
        let met = if p99 <= PACING_TARGET_NS { "met" } else { "**missed**" };
        page.item(&format!(
            "Server pacing error p99, {}: {} (median over {} runs; target {} {met}{overshoot}).",
            time_scale_label(ppm),
            show(p99, Unit::Ns),
            errors.len(),
            show(PACING_TARGET_NS, Unit::Ns)
        ));
    }
}

/// As the sessions probed it, the median of all.
fn timer_overshoot_p99_ns(study: &Study) -> Option<f64> {
    let floors = study.frame.sessions.iter().filter_map(|one| one.environment.get("floors"));
    let probed = floors.filter_map(|floors| floors.get("timer_overshoot_p99_ns")?.as_f64());
    median(&probed.collect::<Vec<_>>())
}
