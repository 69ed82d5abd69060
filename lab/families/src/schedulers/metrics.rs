//! The metrics of a run: one value each. Batches, steps, repetitions and ticks of one process share
//! its memory and its minute, so a run gives one value and intervals come from blocks.

use std::collections::BTreeMap;

use lab_family::Unit::{Bytes, Count, Ns, PerSecond, Share};
use lab_family::Verb::{Has, Takes};
use lab_family::{Metric, higher, lower, neither};
use lab_protocol::schedulers::names;
use lab_record::{Run, Samples};
use lab_report::{Distribution, Row};
use lab_stats::describe::{median, summarize};

use crate::schedulers::steps::{Steps, regret_curve, total_cost};

/// What is computed from a run, or counted by it.
pub(crate) const METRICS: &[Metric] = &[
    lower(
        ("choose_ns", "time per decision"),
        Ns,
        "A `choose()` on a known key: median over batches.",
    ),
    lower(
        ("cycle_ns", "time per decision with its report"),
        Ns,
        "The same with the report of the chosen arm's cost.",
    ),
    lower(
        ("cold_ns", "time per first decision"),
        Ns,
        "The first `choose()` on a key: median over batches.",
    ),
    lower(
        ("single_mean_ns", "mean time of one decision"),
        Ns,
        "One `choose()` on a known key, between two clock reads: mean.",
    ),
    lower(("single_p50_ns", "median time of one decision"), Ns, "Median of the same."),
    lower(("single_p99_ns", "time of one decision (P99)"), Ns, "99th percentile of the same."),
    lower(("single_sd_ns", "spread of one decision's time"), Ns, "Standard deviation of the same.")
        .with(Has),
    lower(("regret_ns", "regret"), Ns, "What the other arm would have saved, over all steps.")
        .with(Has),
    lower(
        ("regret_at_least_1_ns", "regret of at least 1 ns"),
        Ns,
        "`regret_ns`, but 1 ns where it is 0.",
    )
    .with(Has),
    lower(("regret_per_step_ns", "regret per step"), Ns, "`regret_ns` over the steps.").with(Has),
    lower(("cost_ns", "cost"), Ns, "Sum over the steps of the chosen arm's cost.").with(Has),
    neither(
        ("offload_share", "share of offloading"),
        Share,
        "Decisions to offload over all decisions.",
    ),
    higher(
        ("better_share", "share of better decisions"),
        Share,
        "Steps that took the cheaper arm over all steps.",
    ),
    lower(
        ("learning_steps", "steps to learn"),
        Count,
        "Steps until 18 of the next 20 take the cheaper arm; all steps where that never happens.",
    )
    .with(Takes),
    lower(
        ("switch_to_offload_steps", "steps to change to offloading"),
        Count,
        "Steps from the moment offloading becomes the cheaper arm until 18 of the next 20 take \
         it: median over a run's changes; one never followed counts with the steps to the next.",
    )
    .with(Takes),
    lower(
        ("switch_to_inline_steps", "steps to change to inline"),
        Count,
        "The same where inline becomes cheaper.",
    )
    .with(Takes),
    higher(
        ("followed_share", "share of changes followed"),
        Share,
        "Changes followed before the next, of all.",
    ),
    higher(
        ("items_per_s", "items per second"),
        PerSecond,
        "Items of a stream over the median repetition.",
    ),
    neither(("cores_used", "CPUs in use"), Count, "CPU time over elapsed time."),
    lower(
        ("tick_p50_ns", "wake-up delay"),
        Ns,
        "Median time from a tick's instant until it is read.",
    )
    .with(Has),
    lower(("tick_p95_ns", "wake-up delay (P95)"), Ns, "95th percentile of the same.").with(Has),
    lower(("tick_p99_ns", "wake-up delay (P99)"), Ns, "99th percentile of the same.").with(Has),
    lower(("tick_p999_ns", "wake-up delay (P99.9)"), Ns, "99.9th percentile of the same.")
        .with(Has),
    lower(("tick_max_ns", "largest wake-up delay"), Ns, "Largest of the same.").with(Has),
    lower(
        ("job_p50_ns", "time per job"),
        Ns,
        "Median time from a job's intended start to its end.",
    ),
    lower(("job_p99_ns", "time per job (P99)"), Ns, "99th percentile of the same."),
    higher(("jobs_per_s", "jobs per second"), PerSecond, "Jobs started over elapsed time."),
    neither(
        ("guardrail_activations", "decisions by guardrails"),
        Count,
        "Decisions that GR1 to GR3 took.",
    ),
    lower(
        ("block_longest_ns", "longest block of a worker"),
        Ns,
        "Counter: longest that a job kept a worker.",
    )
    .with(Has),
    lower(("rss_high_water_bytes", "memory"), Bytes, "Counter: largest resident memory."),
    lower(("cpu_total_ns", "CPU time"), Ns, "Counter: CPU time of the whole process."),
];

/// Every metric that a run has the samples for.
pub(crate) fn of_run(row: &Row) -> BTreeMap<&'static str, f64> {
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
        Some("single") => return single(samples),
        _ => return vec![],
    };
    let batches = samples.raw(names::BATCH_NS).zip(samples.raw(names::CALLS));
    let per_call = batches.and_then(|(ns, calls)| {
        let each = ns.iter().zip(calls).map(|(ns, calls)| *ns as f64 / *calls as f64);
        median(&each.collect::<Vec<_>>())
    });
    vec![(name, per_call)]
}

/// Batches of one call, with what reading the clock costs in them.
fn single(samples: &Samples) -> Values {
    let Some(times) = samples.raw(names::BATCH_NS) else { return vec![] };
    let all = summarize(&times.iter().map(|&ns| ns as f64).collect::<Vec<_>>());
    let by_rank = Distribution::of(times.to_vec());
    let at = |p: f64| by_rank.as_ref().map(|times| times.quantile(p) as f64);
    vec![
        ("single_mean_ns", all.as_ref().map(|all| all.mean)),
        ("single_p50_ns", at(0.5)),
        ("single_p99_ns", at(0.99)),
        ("single_sd_ns", all.and_then(|all| all.sd)),
    ]
}

fn replay(samples: &Samples) -> Values {
    let Some(steps) = Steps::of(samples) else { return vec![] };
    let count = steps.offloaded.len();
    let regret = regret_curve(samples).and_then(|curve| curve.last().map(|&ns| ns as f64));
    let switches = steps.switches();
    let toward = |to_offload: bool| {
        let same = switches.iter().filter(|switch| switch.to_offload == to_offload);
        median(&same.map(|switch| switch.at_least() as f64).collect::<Vec<_>>())
    };
    let followed = switches.iter().filter(|switch| switch.steps.is_some()).count() as f64;
    vec![
        ("regret_ns", regret),
        ("regret_at_least_1_ns", regret.map(|ns| ns.max(1.0))),
        ("regret_per_step_ns", regret.map(|ns| ns / count as f64)),
        ("cost_ns", total_cost(samples).map(|ns| ns as f64)),
        ("offload_share", Some(steps.offload_share())),
        ("better_share", Some(steps.better_share())),
        ("learning_steps", Some(steps.learning().unwrap_or(count) as f64)),
        ("switch_to_offload_steps", toward(true)),
        ("switch_to_inline_steps", toward(false)),
        ("followed_share", Some(followed / switches.len() as f64)),
    ]
}

fn stream(run: &Run, samples: &Samples) -> Values {
    let sum = |name: &str| samples.raw(name).map(|column| column.iter().sum::<i64>() as f64);
    let both = sum(names::INLINE_ITEMS).zip(sum(names::OFFLOAD_ITEMS));
    let items = both.map(|(inline, offload)| inline + offload).filter(|items| *items > 0.0);
    let elapsed = samples.raw(names::ELAPSED_NS).filter(|rows| !rows.is_empty());
    let middle =
        elapsed.and_then(|rows| median(&rows.iter().map(|&ns| ns as f64).collect::<Vec<_>>()));
    // Every repetition is of the same items.
    let each = items.zip(elapsed).map(|(items, rows)| items / rows.len() as f64);
    vec![
        ("items_per_s", each.zip(middle).map(|(items, ns)| 1e9 * items / ns)),
        ("cores_used", sum(names::CPU_NS).zip(sum(names::ELAPSED_NS)).map(|(cpu, ns)| cpu / ns)),
        (
            "offload_share",
            offloaded(run).or_else(|| both.zip(items).map(|((_, offload), items)| offload / items)),
        ),
    ]
}

fn wake(run: &Run, samples: &Samples) -> Values {
    let ticks = Distribution::of_column(samples, names::TICK_LATENCY_NS);
    let tick = |p: f64| ticks.as_ref().map(|ticks| ticks.quantile(p) as f64);
    let jobs = Distribution::of_column(samples, names::JOB_LATENCY_NS);
    let job = |p: f64| jobs.as_ref().map(|jobs| jobs.quantile(p) as f64);
    let counter = |name: &str| run.counters.get(name).map(|&count| count as f64);
    let elapsed = counter(names::ELAPSED_NS).filter(|ns| *ns > 0.0);
    let per_ns = |name: &str| counter(name).zip(elapsed).map(|(count, ns)| count / ns);
    vec![
        ("tick_p50_ns", tick(0.5)),
        ("tick_p95_ns", tick(0.95)),
        ("tick_p99_ns", tick(0.99)),
        ("tick_p999_ns", tick(0.999)),
        ("tick_max_ns", ticks.as_ref().map(|ticks| ticks.max() as f64)),
        ("job_p50_ns", job(0.5)),
        ("job_p99_ns", job(0.99)),
        ("jobs_per_s", per_ns("jobs_started").filter(|rate| *rate > 0.0).map(|rate| 1e9 * rate)),
        ("cores_used", per_ns("cpu_total_ns")),
        ("offload_share", offloaded(run)),
        ("guardrail_activations", guardrails(run)),
    ]
}

fn guardrails(run: &Run) -> Option<f64> {
    let names = ["gr1_activations", "gr2_activations", "gr3_activations"];
    let counted: Vec<u64> =
        names.iter().filter_map(|name| run.counters.get(*name).copied()).collect();
    (!counted.is_empty()).then(|| counted.iter().sum::<u64>() as f64)
}

/// By the counters, which a run of any length has.
fn offloaded(run: &Run) -> Option<f64> {
    let inline = *run.counters.get(names::DECISIONS_INLINE)? as f64;
    let offload = *run.counters.get(names::DECISIONS_OFFLOAD)? as f64;
    let all = inline + offload;
    (all > 0.0).then(|| offload / all)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
    fn single_decisions_have_a_mean_percentiles_and_a_deviation() {
        // 98 of 100 ns, then 200 ns and 1,100 ns: the 99th by rank is the second largest.
        let times = [vec![100; 98], vec![200, 1_100]].concat();
        let columns: [(&str, &[i64]); 2] = [("calls", &[1; 100]), ("batch_ns", &times)];
        let values = of_run(&row(&[("test", "decide"), ("part", "single")], &columns, &[]));
        let by_rank = (values["single_p50_ns"], values["single_p99_ns"]);
        assert_eq!((values["single_mean_ns"], by_rank), (111.0, (100.0, 200.0)));
        // From the sum of squares: 98 x 11^2 + 89^2 + 989^2, over 99.
        assert!((values["single_sd_ns"] - (997_900.0_f64 / 99.0).sqrt()).abs() < 1e-6);
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
    fn what_never_happens_counts_with_the_length() {
        let arms: Vec<i64> = vec![0; 120];
        let regret: Vec<i64> = (0..120).map(|step| if step < 60 { 0 } else { 5 }).collect();
        let columns: [(&str, &[i64]); 3] =
            [("arm", &arms), ("regret_ns", &regret), ("cost_ns", &arms)];
        let values = of_run(&row(&[("test", "replay")], &columns, &[]));
        assert_eq!((values["learning_steps"], values["regret_ns"]), (0.0, 300.0));
        assert_eq!((values["switch_to_offload_steps"], values["followed_share"]), (60.0, 0.0));
        assert!(!values.contains_key("switch_to_inline_steps"));
        let wrong = vec![5; 120];
        let columns: [(&str, &[i64]); 2] = [("arm", &arms), ("regret_ns", &wrong)];
        let values = of_run(&row(&[("test", "replay")], &columns, &[]));
        assert_eq!(values["learning_steps"], 120.0);
        assert!(!values.contains_key("followed_share"));
    }

    #[test]
    fn what_regrets_nothing_has_a_ratio() {
        let columns: [(&str, &[i64]); 2] = [("arm", &[0; 50]), ("regret_ns", &[0; 50])];
        let values = of_run(&row(&[("test", "replay")], &columns, &[]));
        assert_eq!((values["regret_ns"], values["regret_at_least_1_ns"]), (0.0, 1.0));
    }

    #[test]
    fn the_table_and_the_code_have_the_same_names() {
        let half: Vec<i64> = (0..120).map(|step| i64::from((60..90).contains(&step)) * 5).collect();
        let columns: [(&str, &[i64]); 12] = [
            ("calls", &[100, 100]),
            ("batch_ns", &[900, 900]),
            ("arm", &[0; 120]),
            ("regret_ns", &half),
            ("cost_ns", &[1; 120]),
            ("elapsed_ns", &[1_000]),
            ("cpu_ns", &[2_000]),
            ("inline_items", &[3]),
            ("offload_items", &[1]),
            ("tick_latency_ns", &[1, 2]),
            ("job_latency_ns", &[1, 2]),
            ("job_work_ns", &[1, 2]),
        ];
        let counters =
            [("jobs_started", 2), ("elapsed_ns", 10), ("cpu_total_ns", 5), ("gr1_activations", 1)];
        let cells: [&[(&str, &str)]; 7] = [
            &[("test", "decide"), ("part", "choose")],
            &[("test", "decide"), ("part", "cycle")],
            &[("test", "decide"), ("part", "cold")],
            &[("test", "decide"), ("part", "single")],
            &[("test", "replay")],
            &[("test", "stream")],
            &[("test", "wake")],
        ];
        let computed = cells.iter().flat_map(|cell| of_run(&row(cell, &columns, &counters)));
        let computed: BTreeSet<&str> = computed.map(|(name, _)| name).collect();
        let is_counter = |metric: &&Metric| metric.says.starts_with("Counter:");
        let table = METRICS.iter().filter(|metric| !is_counter(metric)).map(|metric| metric.name);
        assert_eq!(computed, table.collect());
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
