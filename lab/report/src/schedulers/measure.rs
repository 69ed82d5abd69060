//! The metrics of a run: one value each. Batches, steps, repetitions and ticks of one process share
//! its memory and its minute, so a run gives one value and intervals come from blocks.

use std::collections::BTreeMap;

use lab_record::{Run, Samples};
use lab_stats::describe::median;

use super::steps::{Steps, regret_curve, total_cost};
use crate::frame::{Row, is_analysed};
use crate::measure::Measured;
use crate::metrics::Distribution;

/// The metrics that are computed from samples. Every counter of a run is a metric too, by its name.
pub const METRICS: [&str; 21] = [
    "choose_ns",
    "cycle_ns",
    "cold_ns",
    "regret_ns",
    "regret_per_step_ns",
    "cost_ns",
    "cost_per_step_ns",
    "offload_share",
    "better_share",
    "learning_steps",
    "switch_steps",
    "items_per_s",
    "cores_used",
    "tick_p50_ns",
    "tick_p95_ns",
    "tick_p99_ns",
    "tick_p999_ns",
    "tick_max_ns",
    "job_p50_ns",
    "job_p99_ns",
    "jobs_per_s",
];

/// Measures every run that enters the analysis and that `keep` lets through.
pub(super) fn measure<'a>(rows: &[&'a Row], keep: &dyn Fn(&Row) -> bool) -> Vec<Measured<'a>> {
    let kept = rows.iter().copied().filter(|row| is_analysed(&row.run) && keep(row));
    kept.map(|row| Measured::new(row, of_run(row))).collect()
}

fn of_run(row: &Row) -> BTreeMap<&'static str, f64> {
    let (run, samples) = (&row.run, &row.samples);
    let found = match run.cell.get("test").map(String::as_str) {
        Some("decide") => decide(run, samples),
        Some("replay") => replay(samples),
        Some("stream") => stream(run, samples),
        Some("wake") => wake(run, samples),
        _ => vec![],
    };
    let finite = |(name, value): (&'static str, Option<f64>)| {
        Some((name, value.filter(|value| value.is_finite())?))
    };
    found.into_iter().filter_map(finite).collect()
}

type Values = Vec<(&'static str, Option<f64>)>;

/// The median over batches and deciders of what a call took.
fn decide(run: &Run, samples: &Samples) -> Values {
    let name = match run.cell.get("part").map(String::as_str) {
        Some("choose") => "choose_ns",
        Some("cycle") => "cycle_ns",
        Some("cold") => "cold_ns",
        _ => return vec![],
    };
    let batches = samples.raw("batch_ns").zip(samples.raw("calls"));
    let per_call = batches.and_then(|(ns, calls)| {
        let each = ns.iter().zip(calls).map(|(ns, calls)| *ns as f64 / *calls as f64);
        median(&each.collect::<Vec<_>>())
    });
    vec![(name, per_call)]
}

fn replay(samples: &Samples) -> Values {
    let Some(steps) = Steps::of(samples) else { return vec![] };
    let count = steps.offloaded.len() as f64;
    let regret = regret_curve(samples).and_then(|curve| curve.last().map(|&ns| ns as f64));
    let cost = total_cost(samples).map(|ns| ns as f64);
    let switched: Vec<f64> =
        steps.switches().iter().filter_map(|one| one.steps).map(|n| n as f64).collect();
    vec![
        ("regret_ns", regret),
        ("regret_per_step_ns", regret.map(|ns| ns / count)),
        ("cost_ns", cost),
        ("cost_per_step_ns", cost.map(|ns| ns / count)),
        ("offload_share", Some(steps.offload_share())),
        ("better_share", Some(steps.better_share())),
        ("learning_steps", steps.learning().map(|steps| steps as f64)),
        ("switch_steps", median(&switched)),
    ]
}

fn stream(run: &Run, samples: &Samples) -> Values {
    let sum = |name: &str| samples.raw(name).map(|column| column.iter().sum::<i64>() as f64);
    let both = sum("inline_items").zip(sum("offload_items"));
    let items = both.map(|(inline, offload)| inline + offload).filter(|items| *items > 0.0);
    let elapsed = samples.raw("elapsed_ns").filter(|rows| !rows.is_empty());
    let middle =
        elapsed.and_then(|rows| median(&rows.iter().map(|&ns| ns as f64).collect::<Vec<_>>()));
    // Every repetition is of the same items.
    let each = items.zip(elapsed).map(|(items, rows)| items / rows.len() as f64);
    vec![
        ("items_per_s", each.zip(middle).map(|(items, ns)| 1e9 * items / ns)),
        ("cores_used", sum("cpu_ns").zip(sum("elapsed_ns")).map(|(cpu, ns)| cpu / ns)),
        (
            "offload_share",
            offloaded(run).or_else(|| both.zip(items).map(|((_, offload), items)| offload / items)),
        ),
    ]
}

fn wake(run: &Run, samples: &Samples) -> Values {
    let ticks = Distribution::of_column(samples, "tick_latency_ns");
    let tick = |p: f64| ticks.as_ref().map(|ticks| ticks.quantile(p) as f64);
    let jobs = Distribution::of_column(samples, "job_latency_ns");
    let job = |p: f64| jobs.as_ref().map(|jobs| jobs.quantile(p) as f64);
    let counter = |name: &str| run.counters.get(name).map(|&count| count as f64);
    let elapsed = counter("elapsed_ns").filter(|ns| *ns > 0.0);
    let per_ns = |name: &str| counter(name).zip(elapsed).map(|(count, ns)| count / ns);
    vec![
        ("tick_p50_ns", tick(0.5)),
        ("tick_p95_ns", tick(0.95)),
        ("tick_p99_ns", tick(0.99)),
        ("tick_p999_ns", tick(0.999)),
        ("tick_max_ns", ticks.as_ref().map(|ticks| ticks.max() as f64)),
        ("job_p50_ns", job(0.5)),
        ("job_p99_ns", job(0.99)),
        ("jobs_per_s", per_ns("jobs_started").map(|rate| 1e9 * rate)),
        ("cores_used", per_ns("cpu_total_ns")),
        ("offload_share", offloaded(run)),
    ]
}

/// By the counters, which a run of any length has.
fn offloaded(run: &Run) -> Option<f64> {
    let inline = *run.counters.get("decisions_inline")? as f64;
    let offload = *run.counters.get("decisions_offload")? as f64;
    let all = inline + offload;
    (all > 0.0).then(|| offload / all)
}

#[cfg(test)]
mod tests {
    use lab_record::Status;

    use super::*;

    fn row(levels: &[(&str, &str)], columns: &[(&str, &[i64])], counters: &[(&str, u64)]) -> Row {
        let run = serde_json::json!({
            "schema": 1, "order": 0, "attempt": 0, "block": 0, "warmup": false,
            "family": "schedulers", "variant": "thompson",
            "cell": levels.iter().copied().collect::<BTreeMap<_, _>>(),
            "status": Status::Ok, "verified": true, "binary_sha256": "", "start_ns": 0,
            "process_ns": 0, "counters": counters.iter().copied().collect::<BTreeMap<_, _>>(),
            "noise": {},
        });
        let columns = columns.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec()));
        Row {
            run: serde_json::from_value(run).unwrap(),
            samples: Samples::from_raw(columns.collect()),
        }
    }

    #[test]
    fn a_decision_is_the_median_batch_over_its_calls() {
        let columns: [(&str, &[i64]); 2] =
            [("calls", &[100, 100, 100]), ("batch_ns", &[900, 9_000, 1_000])];
        let values = of_run(&row(&[("test", "decide"), ("part", "choose")], &columns, &[]));
        assert_eq!(values, BTreeMap::from([("choose_ns", 10.0)]));
    }

    #[test]
    fn a_stream_counts_its_items_over_the_median_repetition() {
        let columns: [(&str, &[i64]); 4] = [
            ("elapsed_ns", &[1_000, 2_000, 9_000]),
            ("cpu_ns", &[2_000, 4_000, 18_000]),
            ("inline_items", &[3, 2, 4]),
            ("offload_items", &[1, 2, 0]),
        ];
        let values = of_run(&row(&[("test", "stream")], &columns, &[]));
        assert_eq!((values["items_per_s"], values["cores_used"]), (2e6, 2.0));
        assert_eq!(values["offload_share"], 0.25);
    }

    #[test]
    fn ticks_are_read_by_nearest_rank() {
        let ticks: Vec<i64> = (1..=1_000).collect();
        let counters = [("jobs_started", 50), ("elapsed_ns", 1_000_000_000)];
        let row = row(&[("test", "wake")], &[("tick_latency_ns", &ticks)], &counters);
        let values = of_run(&row);
        assert_eq!((values["tick_p50_ns"], values["tick_p999_ns"]), (500.0, 999.0));
        assert_eq!((values["tick_max_ns"], values["jobs_per_s"]), (1_000.0, 50.0));
        assert!(!values.contains_key("job_p99_ns"));
    }
}
