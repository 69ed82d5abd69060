//! What a variant costs: CPU, memory, threads, switches, start-up, size; absolutely and as a
//! multiple of the floor.

use lab_stats::describe::median;

use super::Page;
use crate::frame::{UNSCALED_PPM, is_probe, time_scale_ppm};
use crate::measure::{Measured, Unit, unit};
use crate::study::Study;
use crate::tables::{Cell, Table};
use lab_record::Status;

/// (title, metric); read from unscaled runs where there are any, for a faster server changes them.
const OF_RUNS: [(&str, &str); 9] = [
    ("CPU per token", "cpu_per_token_ns"),
    ("delivery lag p50", "delivery_lag_p50_ns"),
    ("delivery lag p99", "delivery_lag_p99_ns"),
    ("TTFT p50", "ttft_p50_ns"),
    ("start-up CPU", "cpu_startup_ns"),
    ("peak RSS", "rss_high_water_bytes"),
    ("threads", "threads"),
    ("context switches", "context_switches"),
    ("wall beyond longest agent", "wall_beyond_longest_agent_ns"),
];

pub(super) fn write(study: &Study, page: &mut Page) {
    page.heading("What each variant costs");
    let any_unscaled = study.concurrent().any(is_unscaled);
    let scale = if any_unscaled {
        "from unscaled concurrent runs"
    } else {
        "**from time-scaled runs, for there are no others: rates, CPU and lag are those of a \
         server that much faster**"
    };
    page.paragraph(&format!(
        "Medians per variant, {scale}; start-up time from its own interleaved rounds, size from \
         the file."
    ));
    let variants = study.measured_variants();
    let costs: Vec<Vec<Option<f64>>> =
        variants.iter().map(|variant| costs_of(study, variant, any_unscaled)).collect();
    let mut columns = vec![("variant", "variant")];
    columns.extend(OF_RUNS);
    columns.extend([("start-up time", "startup_ns"), ("binary", "binary_bytes")]);
    let mut table = Table::new(&columns);
    for (variant, values) in variants.iter().zip(&costs) {
        let mut row = vec![Cell::code(variant)];
        let cells = values.iter().zip(&columns[1..]);
        row.extend(cells.map(|(value, (_, metric))| Cell::value(*value, unit(metric))));
        table.row(row);
    }
    page.table("costs", &table);
    multiples(study, &variants, &costs, &columns, page);
}

fn multiples(
    study: &Study,
    variants: &[&str],
    costs: &[Vec<Option<f64>>],
    columns: &[(&str, &str)],
    page: &mut Page,
) {
    let floor = study.frame.run_file.analysis.floor.as_deref();
    let Some(base) = variants.iter().position(|variant| Some(*variant) == floor) else {
        page.paragraph("No floor variant was measured, so there is nothing to take multiples of.");
        return;
    };
    let mut table = Table::new(columns);
    for (variant, values) in variants.iter().zip(costs) {
        let over = |(value, base): (&Option<f64>, &Option<f64>)| {
            let ratio = value.zip(*base).filter(|(_, base)| *base > 0.0).map(|(v, b)| v / b);
            Cell::value(ratio, Unit::Times)
        };
        let mut row = vec![Cell::code(variant)];
        row.extend(values.iter().zip(&costs[base]).map(over));
        table.row(row);
    }
    page.paragraph("The same as multiples of the floor:");
    page.table("costs-over-floor", &table);
}

fn costs_of(study: &Study, variant: &str, any_unscaled: bool) -> Vec<Option<f64>> {
    let runs = study.concurrent_of(variant).filter(|one| !any_unscaled || is_unscaled(one));
    let runs: Vec<&Measured> = runs.collect();
    let of =
        |metric: &str| median(&runs.iter().filter_map(|one| one.value(metric)).collect::<Vec<_>>());
    let mut costs: Vec<Option<f64>> = OF_RUNS.iter().map(|(_, metric)| of(metric)).collect();
    costs.push(median(&startup_ns(study, variant)));
    let entry = study.frame.run_file.variants.iter().find(|entry| entry.variant == variant);
    costs.push(entry.map(|entry| entry.binary_bytes as f64));
    costs
}

fn startup_ns(study: &Study, variant: &str) -> Vec<f64> {
    let probes = study.rows.iter().map(|row| &row.run).filter(|run| {
        is_probe(run) && run.variant == variant && !run.warmup && run.status == Status::Ok
    });
    probes.filter_map(|run| run.counters.get("startup_ns").map(|&ns| ns as f64)).collect()
}

fn is_unscaled(one: &Measured) -> bool {
    time_scale_ppm(&one.row.run) == UNSCALED_PPM
}
