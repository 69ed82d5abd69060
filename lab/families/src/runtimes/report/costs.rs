//! What a variant costs: CPU, memory, threads, switches, start-up, size.

use lab_family::Unit::{self, Bytes, Ns};
use lab_record::Status;
use lab_report::Column::{Code, Each, Number};
use lab_report::{Entry, Page, Study, Table, frame::is_probe, show};
use lab_stats::describe::median;

use super::groups::{Group, by_variant, concurrent, is_unscaled};

const BUSY_SHARE: &str = "threads_busy_share";

/// (title, metric); without a title it stands in the TSV alone.
const OF_RUNS: [(&str, &str); 9] = [
    ("CPU per token", "cpu_per_token_ns"),
    ("delivery lag p50", "delivery_lag_p50_ns"),
    ("", "delivery_lag_p99_ns"),
    ("", "ttft_p50_ns"),
    ("", "cpu_startup_ns"),
    ("peak RSS", "rss_high_water_bytes"),
    ("threads", "threads"),
    ("", "context_switches"),
    ("", "wall_beyond_longest_agent_ns"),
];

/// What records have since variants tell it: no column where none of a sweep does.
const TOLD: [(&str, &str); 4] =
    [("", "migrations"), ("", "queue_depth_mean"), ("", "queue_depth_max"), ("", "prompt_tokens")];
/// TR115 § 9.4: threads should be busy for more than this share of the time.
const BUSY: f64 = 0.8;

/// From unscaled runs where there are any, for a faster server changes these numbers.
pub(crate) fn write(study: &Study, page: &mut Page) {
    let any_unscaled = concurrent(study).any(is_unscaled);
    let scale = if any_unscaled {
        "from unscaled concurrent runs"
    } else {
        "**from time-scaled runs, so rates, CPU and lag are those of a server that much faster**"
    };
    page.heading("What each variant costs");
    page.paragraph(&format!("Medians per variant, {scale}. Tails, start-up, sizes: `costs.tsv`."));
    let groups = by_variant(study, |one| !any_unscaled || is_unscaled(one));
    let is_told = |(_, metric): &(&str, &str)| groups.iter().any(|of| of.median(metric).is_some());
    let told: Vec<(&str, &str)> = TOLD.into_iter().filter(is_told).collect();
    let cost = |of: &&Group, metric: &str| Entry::value(of.median(metric), study.unit(metric));
    let size = |of: &Group| Some(study.entry(of.variant)?.binary_bytes as f64);
    let table = Table::over(
        &groups,
        &[
            Code("variant", "variant", &|of| of.variant),
            Each(&OF_RUNS, &cost),
            Number("", "startup_ns", Ns, &|of| startup_ns(study, of.variant)),
            Number("", "binary_bytes", Bytes, &|of| size(of)),
            Each(&[("", BUSY_SHARE)], &cost),
            Each(&told, &cost),
        ],
    );
    page.table("costs", &table);
    if let Some(busy) = busy(&groups) {
        page.paragraph(&busy);
    }
}

/// The rule of the published report, held against the runs.
fn busy(groups: &[Group]) -> Option<String> {
    let shares: Vec<f64> = groups.iter().flat_map(|group| group.values(BUSY_SHARE)).collect();
    let busy = shares.iter().filter(|share| **share > BUSY).count();
    Some(format!(
        "Threads busy for over 80 % of the time (TR115): {busy} of {} runs, median {}.",
        shares.len(),
        show(median(&shares)?, Unit::Share),
    ))
}

/// From the rounds that only start and end a program.
fn startup_ns(study: &Study, variant: &str) -> Option<f64> {
    let runs = study.rows.iter().map(|row| &row.run);
    let probes = runs.filter(|run| {
        is_probe(run) && run.variant == variant && !run.warmup && run.status == Status::Ok
    });
    let times = probes.filter_map(|run| run.counters.get("startup_ns").map(|&ns| ns as f64));
    median(&times.collect::<Vec<_>>())
}
