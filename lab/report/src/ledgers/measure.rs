//! The metrics of a run: one value each, from the medians over its repetitions.
//!
//! Repetitions of one process share its memory, its threads and its minute; they are no independent
//! samples, so a run gives one value and intervals come from blocks.

use std::collections::BTreeMap;

use lab_record::{Run, Samples};
use lab_stats::describe::median;

use crate::frame::{Row, is_analysed};
use crate::measure::Measured;

/// The metrics that are computed from samples. Every counter of a run is a metric too, by its name.
pub const METRICS: [&str; 24] = [
    "elapsed_ns",
    "teardown_ns",
    "elapsed_with_teardown_ns",
    "ns_per_transaction",
    "transactions_per_s",
    "cpu_ns_per_transaction",
    "cores_used",
    "switches_per_1000",
    "voluntary_switches_per_1000",
    "involuntary_switches_per_1000",
    "lock_waits_per_1000",
    "lock_wait_ns_per_transaction",
    "lock_wait_share",
    "tokio_parks",
    "tokio_parks_per_1000",
    "tokio_steals_per_1000",
    "tokio_polls_per_1000",
    "tokio_overflows_per_1000",
    "tokio_local_schedules_per_1000",
    "tokio_busy_share",
    "voluntary_switches",
    "perf_cycles_per_transaction",
    "perf_instructions_per_transaction",
    "perf_cache_misses_per_transaction",
];

/// Columns whose median is stated per 1,000 transactions, and the metric's name.
const PER_1000: [(&str, &str); 7] = [
    ("voluntary_switches", "voluntary_switches_per_1000"),
    ("involuntary_switches", "involuntary_switches_per_1000"),
    ("lock_waits", "lock_waits_per_1000"),
    ("tokio_parks", "tokio_parks_per_1000"),
    ("tokio_steals", "tokio_steals_per_1000"),
    ("tokio_polls", "tokio_polls_per_1000"),
    ("tokio_overflows", "tokio_overflows_per_1000"),
];

/// Columns whose median is stated per transaction, and the metric's name.
const PER_TRANSACTION: [(&str, &str); 5] = [
    ("cpu_ns", "cpu_ns_per_transaction"),
    ("lock_wait_ns", "lock_wait_ns_per_transaction"),
    ("perf_cycles", "perf_cycles_per_transaction"),
    ("perf_instructions", "perf_instructions_per_transaction"),
    ("perf_cache_misses", "perf_cache_misses_per_transaction"),
];

/// A sum of two columns, row by row; kept under this name where a report's samples are slimmed.
pub(crate) const WITH_TEARDOWN: &str = "elapsed_with_teardown_ns";

/// Measures every run that enters the analysis and that `keep` lets through. `divide_by` is what
/// the experiment divided its transactions by.
pub(super) fn measure<'a>(
    rows: &[&'a Row],
    keep: &dyn Fn(&Row) -> bool,
    divide_by: u64,
) -> Vec<Measured<'a>> {
    let kept = rows.iter().copied().filter(|row| is_analysed(&row.run) && keep(row));
    kept.map(|row| Measured::new(row, of_run(row, divide_by))).collect()
}

/// Elapsed time plus teardown of each repetition.
pub(crate) fn with_teardown(samples: &Samples) -> Option<Vec<i64>> {
    if let Some(kept) = samples.raw(WITH_TEARDOWN) {
        return Some(kept.to_vec());
    }
    let (elapsed, teardown) = (samples.raw("elapsed_ns")?, samples.raw("teardown_ns")?);
    let aligned = elapsed.len() == teardown.len();
    aligned.then(|| elapsed.iter().zip(teardown).map(|(a, b)| a + b).collect())
}

fn of_run(row: &Row, divide_by: u64) -> BTreeMap<&'static str, f64> {
    let (run, samples) = (&row.run, &row.samples);
    let mut values = BTreeMap::new();
    let mut put = |name: &'static str, value: Option<f64>| {
        values.extend(value.filter(|value| value.is_finite()).map(|value| (name, value)));
    };
    let of = |column: &str| middle(samples.raw(column)?);
    let elapsed = of("elapsed_ns").filter(|ns| *ns > 0.0);
    put("elapsed_ns", elapsed);
    put("teardown_ns", of("teardown_ns"));
    put(WITH_TEARDOWN, with_teardown(samples).and_then(|sums| middle(&sums)));
    put("tokio_parks", of("tokio_parks"));
    put("voluntary_switches", of("voluntary_switches"));
    put("cores_used", of("cpu_ns").zip(elapsed).map(|(cpu, elapsed)| cpu / elapsed));
    let count = transactions(run, divide_by);
    put("ns_per_transaction", elapsed.zip(count).map(|(ns, count)| ns / count));
    put("transactions_per_s", elapsed.zip(count).map(|(ns, count)| 1e9 * count / ns));
    for (column, name) in PER_1000 {
        put(name, of(column).zip(count).map(|(total, count)| 1e3 * total / count));
    }
    for (column, name) in PER_TRANSACTION {
        put(name, of(column).zip(count).map(|(total, count)| total / count));
    }
    let both = of("voluntary_switches").zip(of("involuntary_switches"));
    let switches = both.map(|(voluntary, involuntary)| voluntary + involuntary);
    put("switches_per_1000", switches.zip(count).map(|(total, count)| 1e3 * total / count));
    let workers = run.counters.get("workers").map(|&workers| workers as f64);
    let all_workers_ns = elapsed.zip(workers).map(|(elapsed, workers)| elapsed * workers);
    put("lock_wait_share", of("lock_wait_ns").zip(all_workers_ns).map(|(wait, all)| wait / all));
    put("tokio_busy_share", of("tokio_busy_ns").zip(all_workers_ns).map(|(busy, all)| busy / all));
    values
}

/// The median of a column, `None` of an empty one.
fn middle(column: &[i64]) -> Option<f64> {
    median(&column.iter().map(|&value| value as f64).collect::<Vec<_>>())
}

/// Transactions of one repetition.
fn transactions(run: &Run, divide_by: u64) -> Option<f64> {
    let level = |factor: &str| run.cell.get(factor)?.parse::<u64>().ok();
    let per_stream = (level("transactions")? / divide_by).max(1);
    Some((level("streams")? * per_stream) as f64).filter(|count| *count > 0.0)
}

#[cfg(test)]
mod tests {
    use lab_record::Status;

    use super::*;

    fn row(columns: &[(&str, &[i64])]) -> Row {
        let cell = [("streams", "10"), ("transactions", "100")];
        let run = serde_json::json!({
            "schema": 1, "order": 0, "attempt": 0, "block": 0, "warmup": false,
            "family": "ledgers", "variant": "dashmap", "cell": BTreeMap::from(cell),
            "status": Status::Ok, "verified": true, "binary_sha256": "", "start_ns": 0,
            "process_ns": 0, "counters": {"workers": 4}, "noise": {},
        });
        let columns = columns.iter().map(|(name, values)| ((*name).to_owned(), values.to_vec()));
        Row {
            run: serde_json::from_value(run).unwrap(),
            samples: Samples::from_raw(columns.collect()),
        }
    }

    #[test]
    fn a_run_is_one_value_the_median_of_its_repetitions() {
        let row = row(&[
            ("elapsed_ns", &[1_000, 9_000, 2_000]),
            ("teardown_ns", &[500, 0, 9_000]),
            ("cpu_ns", &[3_000, 3_000, 3_000]),
            ("lock_wait_ns", &[800, 800, 800]),
            ("voluntary_switches", &[4, 5, 6]),
            ("involuntary_switches", &[0, 0, 1]),
        ]);
        let values = of_run(&row, 1);
        let expected = [
            ("elapsed_ns", 2_000.0),
            (WITH_TEARDOWN, 9_000.0),
            ("ns_per_transaction", 2.0),
            ("transactions_per_s", 5e8),
            ("cores_used", 1.5),
            ("lock_wait_share", 0.1),
            ("switches_per_1000", 5.0),
        ];
        for (name, value) in expected {
            assert_eq!(values.get(name), Some(&value), "{name}");
        }
        assert!(!values.contains_key("perf_cache_misses_per_transaction"));
        // A smoke test that divides its transactions by ten did a tenth of them.
        assert_eq!(of_run(&row, 10)["ns_per_transaction"], 20.0);
    }
}
