//! What a variant costs: CPU, memory, threads, switches, start-up, size.

use lab_family::Unit;
use lab_record::Status;
use lab_report::{Entry, Page, Study, Table, frame::is_probe};
use lab_stats::describe::median;

use super::groups::{by_variant, concurrent, is_unscaled};

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

/// From unscaled runs where there are any, for a faster server changes these numbers.
pub(crate) fn write(study: &Study, page: &mut Page) {
    page.heading("What each variant costs");
    let any_unscaled = concurrent(study).any(is_unscaled);
    let scale = if any_unscaled {
        "from unscaled concurrent runs"
    } else {
        "**from time-scaled runs, so rates, CPU and lag are those of a server that much faster**"
    };
    page.paragraph(&format!("Medians per variant, {scale}. Tails, start-up, sizes: `costs.tsv`."));
    let mut columns = vec![("variant", "variant")];
    columns.extend(OF_RUNS);
    columns.extend([("", "startup_ns"), ("", "binary_bytes")]);
    let mut table = Table::new(&columns);
    for group in by_variant(study, |one| !any_unscaled || is_unscaled(one)) {
        let mut row = vec![Entry::code(group.variant)];
        let cost = |(_, metric)| Entry::value(group.median(metric), study.unit(metric));
        row.extend(OF_RUNS.map(cost));
        row.push(Entry::value(startup_ns(study, group.variant), Unit::Ns));
        let bytes = study.entry(group.variant).map(|entry| entry.binary_bytes as f64);
        row.push(Entry::value(bytes, Unit::Bytes));
        table.row(row);
    }
    page.table("costs", &table);
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
