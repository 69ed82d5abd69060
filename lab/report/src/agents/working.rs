//! What was run, on what, and whether the lab itself was working.

use std::collections::{BTreeMap, BTreeSet};

use lab_record::{Column, HISTOGRAM_DIGITS, Status};
use lab_stats::describe::median;
use lab_stats::paired::hodges_lehmann;

use super::study::{Study, is_unpaired};
use super::{Page, noise};
use crate::aa::AA_LEVEL;
use crate::frame::{cell_key, is_gated, is_probe, name, time_scale_label, time_scale_ppm};
use crate::measure::{Unit, unit};
use crate::tables::{Cell, Table, show, show_difference, show_p};

/// Two configurations of TR115 that are one treatment: the model has fewer layers than either
/// number of layers to put on the GPU, so both get equal parameters.
const EQUAL_CONFIGURATIONS: (&str, &str) = ("chimera_homo_ctx512", "chimera_homo_gpu100");
const SECOND_AA_METRICS: [&str; 3] =
    ["efficiency_as_published", "efficiency_true", "tokens_per_s_stream"];
/// The paced server's own target at two streams of 100 tokens/s.
const PACING_TARGET_NS: f64 = 200_000.0;
const FAILURES_SHOWN: usize = 20;

/// Commit, machine, size of the sweep, time scale.
pub(super) fn header(study: &Study, page: &mut Page) {
    let file = &study.frame.run_file;
    page.heading("What was run");
    let commit = file.git.as_ref().map_or("no git checkout".to_owned(), |git| {
        let state = if git.dirty { "with local changes" } else { "clean" };
        format!("commit `{}`, {state}", git.commit)
    });
    page.item(&format!("Code: {commit}; experiment sha256 `{}`.", file.experiment_sha256));
    let machine = &file.machine;
    page.item(&format!(
        "Machine: {}, {} CPUs, {}, {} {}.",
        machine.cpu_model,
        machine.cpus,
        show(machine.memory_bytes as f64, Unit::Bytes),
        machine.kernel,
        machine.arch
    ));
    page.item(&format!(
        "Sweep: {} blocks, {} runs planned, seed {}, `lab {}`.",
        file.blocks,
        file.runs_planned,
        file.seed,
        file.arguments.join(" ")
    ));
    page.item(&counted(study));
    page.item(&format!("Time: {}.", scales(study)));
    page.items(slimmed(study));
    page.items(without_a_run(study));
    page.markdown.push('\n');
    let environment = environment(study);
    if !environment.is_empty() {
        page.folded("environment", "Environment, as the last session recorded it", &environment);
    }
    page.folded("variants", "Programs measured", &programs(study));
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

/// Variants of the sweep that no number below speaks of.
fn without_a_run(study: &Study) -> Vec<String> {
    let measured = study.measured_variants();
    let missing = study.frame.variants().into_iter().filter(|name| !measured.contains(name));
    missing
        .map(|name| format!("**`{name}` has no analysed run**; nothing is said about it."))
        .collect()
}

fn environment(study: &Study) -> Table {
    let mut table = Table::new(&[("key", "key"), ("value", "value")]);
    let session = study.frame.sessions.iter().rev().find(|one| !one.environment.is_empty());
    for (key, value) in session.iter().flat_map(|session| &session.environment) {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        table.row(vec![Cell::code(key), Cell::text(value)]);
    }
    table
}

fn programs(study: &Study) -> Table {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("measures", "measures"),
        ("version", "version"),
        ("features", "features"),
        ("copy of", "twin_of"),
        ("binary", "binary_bytes"),
        ("sha256", "binary_sha256"),
    ]);
    for entry in &study.frame.run_file.variants {
        table.row(vec![
            Cell::code(&entry.variant),
            Cell::text(&entry.measures),
            Cell::text(&entry.version),
            Cell::text(entry.features.join(" ")),
            Cell::text(entry.twin_of.as_deref().unwrap_or("")),
            Cell::value(Some(entry.binary_bytes as f64), Unit::Bytes),
            Cell::text(entry.binary_sha256.chars().take(12).collect::<String>()),
        ]);
    }
    table
}

pub(super) fn write(study: &Study, page: &mut Page) {
    page.heading("Was the lab itself working?");
    first_aa(study, page);
    second_aa(study, page);
    pacing(study, page);
    let verified = study.all.iter().filter(|one| one.row.run.verified).count();
    page.item(&format!("Verified answers: {verified} of {} analysed runs.", study.all.len()));
    page.item(&cores(study));
    failures(study, page);
    noise::write(study, page);
}

fn first_aa(study: &Study, page: &mut Page) {
    if study.frame.twins().is_empty() {
        page.item(
            "A/A: this sweep has no twin, so nothing shows how far two equal programs differ here. \
             Read its verdicts with that in mind.",
        );
        return;
    }
    for judged in &study.judged {
        for (twin, test) in &judged.aa {
            let difference = test.shift.map_or("no pair".to_owned(), |s| judged.show(s.estimate));
            let outcome = match test.p {
                None => {
                    format!("not tested: {} pairs are too few to reach {AA_LEVEL}", test.n)
                }
                Some(p) if test.failed() => format!(
                    "**failed** at {AA_LEVEL} (p {}): the verdicts on this metric are withheld",
                    show_p(p)
                ),
                Some(p) => format!("passed at {AA_LEVEL} (p {}, {} pairs)", show_p(p), test.n),
            };
            page.item(&format!(
                "A/A on `{}`, `{twin}`: {outcome}; measured difference {difference}.",
                judged.comparison.metric
            ));
        }
    }
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

fn cores(study: &Study) -> String {
    let pinning = study
        .frame
        .sessions
        .iter()
        .rev()
        .flat_map(|session| &session.environment)
        .find(|(key, _)| key.contains("pin"));
    let cpus = study.frame.run_file.machine.cpus;
    match pinning {
        Some((_, value)) => {
            let statement = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("Cores: {cpus} CPUs; pinning: {statement}.")
        }
        None => format!("Cores: {cpus} CPUs; the session recorded nothing about pinning."),
    }
}

fn failures(study: &Study, page: &mut Page) {
    let failed = study.rows.iter().filter(|row| row.run.status != Status::Ok);
    let failed: Vec<_> = failed.collect();
    page.item(&format!("Runs that did not end well: {}.", failed.len()));
    if failed.is_empty() {
        return;
    }
    page.markdown.push('\n');
    let mut table = Table::new(&[("run", "run"), ("status", "status"), ("reason", "reason")]);
    for row in failed.iter().take(FAILURES_SHOWN) {
        table.row(vec![
            Cell::text(name(&row.run)),
            Cell::text(format!("{:?}", row.run.status).to_lowercase()),
            Cell::text(row.run.reason.as_deref().unwrap_or("no reason was recorded")),
        ]);
    }
    page.table("failures", &table);
    if failed.len() > FAILURES_SHOWN {
        page.paragraph(&format!("and {} more in `runs.jsonl`.", failed.len() - FAILURES_SHOWN));
    }
}

/// How anyone gets from the records to this page.
pub(super) fn again(study: &Study, page: &mut Page) {
    page.heading("How to derive this again");
    let pairing = if is_unpaired(study.frame) { "unpaired" } else { "paired" };
    page.paragraph(&format!(
        "`lab report DIR`, where DIR holds this file's `run.json`, `sessions.jsonl`, `runs.jsonl` \
         and samples, writes it anew, byte by byte, with every table as TSV beside it; \
         `gnuplot -c plots/NAME.gp TSV_FOLDER OUT_FOLDER` draws a picture. The analysis is \
         {pairing}, seed {}. Formulas and their sources: docs/METHODOLOGY.md; words: \
         docs/GLOSSARY.md.",
        study.frame.run_file.seed
    ));
}
