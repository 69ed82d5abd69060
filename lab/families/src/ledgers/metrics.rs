//! The metrics of a run: one value each, from the medians over its repetitions.
//!
//! Repetitions of one process share its memory, its threads and its minute; they are no independent
//! samples, so a run gives one value and intervals come from blocks.

use std::collections::BTreeMap;

use lab_family::Unit::{Bytes, Count, Ns, PerSecond, Share};
use lab_family::{Cell, Metric, higher, lower, neither};
use lab_protocol::ledgers::names;
use lab_record::Samples;
use lab_report::Row;
use lab_stats::describe::median;
use toml::{Table, Value};

/// What is computed from a run, or counted by it.
pub(crate) const METRICS: &[Metric] = &[
    lower(
        ("elapsed_ns", "elapsed time"),
        Ns,
        "Median repetition, from before the first task until every stream is processed.",
    ),
    lower(
        ("teardown_ns", "time to tear down"),
        Ns,
        "Median time to drop accounts, records and streams.",
    ),
    lower((WITH_TEARDOWN, "elapsed time with tear-down"), Ns, "Median of the sum of both."),
    lower(
        ("ns_per_transaction", "time per transaction"),
        Ns,
        "`elapsed_ns` over the transactions of a repetition.",
    ),
    higher(
        ("transactions_per_s", "transactions per second"),
        PerSecond,
        "Transactions of a repetition over `elapsed_ns`.",
    ),
    lower(
        ("cpu_ns_per_transaction", "CPU time per transaction"),
        Ns,
        "CPU time of the process within `elapsed_ns`, per transaction.",
    ),
    neither(("cores_used", "CPUs in use"), Count, "CPU time of the process over elapsed time."),
    lower(
        ("switches_per_1000", "switches per 1,000 transactions"),
        Count,
        "Context switches of both kinds per 1,000 transactions.",
    ),
    lower(
        ("voluntary_switches_per_1000", "voluntary switches per 1,000 transactions"),
        Count,
        "Voluntary switches per 1,000 transactions.",
    ),
    lower(
        ("involuntary_switches_per_1000", "involuntary switches per 1,000 transactions"),
        Count,
        "Involuntary switches per 1,000 transactions.",
    ),
    lower(
        ("lock_waits_per_1000", "waits for locks per 1,000 transactions"),
        Count,
        "Acquisitions that found the lock taken, per 1,000 transactions.",
    ),
    lower(
        ("lock_wait_ns_per_transaction", "time in waits for locks per transaction"),
        Ns,
        "Time that workers waited for locks, per transaction.",
    ),
    lower(
        ("lock_wait_share", "share of time in waits for locks"),
        Share,
        "Time that workers waited for locks, of the time of all workers.",
    ),
    lower(
        ("tokio_parks_per_1000", "parks per 1,000 transactions"),
        Count,
        "Times that a Tokio worker parked, per 1,000 transactions.",
    ),
    neither(
        ("tokio_steals_per_1000", "steals per 1,000 transactions"),
        Count,
        "Tasks that a worker stole, per 1,000 transactions.",
    ),
    neither(
        ("tokio_polls_per_1000", "polls per 1,000 transactions"),
        Count,
        "Polls of tasks per 1,000 transactions.",
    ),
    lower(
        ("tokio_overflows_per_1000", "overflows per 1,000 transactions"),
        Count,
        "Overflows of a worker's queue per 1,000 transactions.",
    ),
    neither(
        ("tokio_local_schedules_per_1000", "local schedules per 1,000 transactions"),
        Count,
        "Tasks scheduled on the worker that woke them, per 1,000 transactions.",
    ),
    neither(
        ("tokio_busy_share", "busy share of workers"),
        Share,
        "Busy time of the workers, of the time of all workers.",
    ),
    lower(
        ("perf_cycles_per_transaction", "CPU cycles per transaction"),
        Count,
        "CPU cycles per transaction.",
    ),
    lower(
        ("perf_instructions_per_transaction", "instructions per transaction"),
        Count,
        "Instructions per transaction.",
    ),
    lower(
        ("perf_cache_misses_per_transaction", "cache misses per transaction"),
        Count,
        "Cache misses per transaction.",
    ),
    neither(
        ("memory_share_at_most", "share of the memory's bandwidth, at most"),
        Share,
        "Bytes that transactions move at most per second, over the memory bandwidth that a session \
         measured: each line of cache that one touches is read from memory and written back.",
    ),
    neither(
        ("shards_per_cpu", "shards per CPU"),
        Count,
        "Shards of the store over CPUs of the machine.",
    ),
    lower(("rss_high_water_bytes", "memory"), Bytes, "Counter: the largest resident memory."),
    lower(("cpu_total_ns", "CPU time"), Ns, "Counter: CPU time of the whole process."),
    neither(("workers", "workers"), Count, "Counter: workers, as the runtime says."),
    neither(("shards", "shards"), Count, "Counter: shards of the store."),
];

/// Columns whose median is stated per 1,000 transactions, and the metric's name.
const PER_1000: [(&str, &str); 8] = [
    ("voluntary_switches", "voluntary_switches_per_1000"),
    ("involuntary_switches", "involuntary_switches_per_1000"),
    ("lock_waits", "lock_waits_per_1000"),
    ("tokio_parks", "tokio_parks_per_1000"),
    ("tokio_steals", "tokio_steals_per_1000"),
    ("tokio_polls", "tokio_polls_per_1000"),
    ("tokio_overflows", "tokio_overflows_per_1000"),
    ("tokio_local_schedules", "tokio_local_schedules_per_1000"),
];

/// Columns whose median is stated per transaction, and the metric's name.
const PER_TRANSACTION: [(&str, &str); 5] = [
    ("cpu_ns", "cpu_ns_per_transaction"),
    ("lock_wait_ns", "lock_wait_ns_per_transaction"),
    ("perf_cycles", "perf_cycles_per_transaction"),
    ("perf_instructions", "perf_instructions_per_transaction"),
    ("perf_cache_misses", "perf_cache_misses_per_transaction"),
];

/// The bytes that one transaction moves at most, if no cache held anything of it before or kept
/// anything of it after. It reads its own entry of the stream, and in the map of accounts and in
/// that of records a lock, up to two lines of tags and up to two of the entry (of 56 and 24 bytes):
/// eleven lines, and each of them is read and written back.
const BYTES_AT_MOST: f64 = 11.0 * 2.0 * LINE_BYTES;
/// A line of cache of x86-64 and of most ARM CPUs.
const LINE_BYTES: f64 = 64.0;

/// A sum of two columns, row by row; kept under this name where a report's samples are slimmed.
pub(crate) const WITH_TEARDOWN: &str = "elapsed_with_teardown_ns";

/// What the experiment divides transactions and busy work by: 1 unless it is a smoke test.
pub(crate) fn divide_by(section: &Table) -> u64 {
    let divide_by = section.get("divide_by").and_then(Value::as_integer);
    divide_by.and_then(|by| u64::try_from(by).ok()).unwrap_or(1).max(1)
}

/// Elapsed time plus teardown of each repetition.
pub(crate) fn with_teardown(samples: &Samples) -> Option<Vec<i64>> {
    if let Some(kept) = samples.raw(WITH_TEARDOWN) {
        return Some(kept.to_vec());
    }
    let (elapsed, teardown) = (samples.raw(names::ELAPSED_NS)?, samples.raw(names::TEARDOWN_NS)?);
    let aligned = elapsed.len() == teardown.len();
    aligned.then(|| elapsed.iter().zip(teardown).map(|(a, b)| a + b).collect())
}

/// What a run's metrics need beside its row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around {
    /// As [`divide_by`] says.
    pub(crate) divide_by: u64,
    /// Of the machine.
    pub(crate) cpus: u32,
    /// The memory's bandwidth in bytes per second, where a session measured it.
    pub(crate) memory: Option<f64>,
}

/// Every metric that a run has the samples for.
pub(crate) fn of_run(row: &Row, around: Around) -> BTreeMap<&'static str, f64> {
    let Around { divide_by, cpus, memory } = around;
    let (run, samples) = (&row.run, &row.samples);
    let mut values = BTreeMap::new();
    let mut put = |name: &'static str, value: Option<f64>| {
        values.extend(value.filter(|value| value.is_finite()).map(|value| (name, value)));
    };
    let of = |column: &str| middle(samples.raw(column)?);
    let elapsed = of(names::ELAPSED_NS).filter(|ns| *ns > 0.0);
    put("elapsed_ns", elapsed);
    put("teardown_ns", of(names::TEARDOWN_NS));
    put(WITH_TEARDOWN, with_teardown(samples).and_then(|sums| middle(&sums)));
    put("cores_used", of(names::CPU_NS).zip(elapsed).map(|(cpu, elapsed)| cpu / elapsed));
    let count = transactions(&run.cell, divide_by);
    put("ns_per_transaction", elapsed.zip(count).map(|(ns, count)| ns / count));
    let rate = elapsed.zip(count).map(|(ns, count)| 1e9 * count / ns);
    put("transactions_per_s", rate);
    put("memory_share_at_most", rate.zip(memory).map(|(rate, all)| BYTES_AT_MOST * rate / all));
    for (column, name) in PER_1000 {
        put(name, of(column).zip(count).map(|(total, count)| 1e3 * total / count));
    }
    for (column, name) in PER_TRANSACTION {
        put(name, of(column).zip(count).map(|(total, count)| total / count));
    }
    let both = of(names::VOLUNTARY_SWITCHES).zip(of(names::INVOLUNTARY_SWITCHES));
    let switches = both.map(|(voluntary, involuntary)| voluntary + involuntary);
    put("switches_per_1000", switches.zip(count).map(|(total, count)| 1e3 * total / count));
    let workers = run.counters.get(names::WORKERS).map(|&workers| workers as f64);
    let all_workers_ns = elapsed.zip(workers).map(|(elapsed, workers)| elapsed * workers);
    put(
        "lock_wait_share",
        of(names::LOCK_WAIT_NS).zip(all_workers_ns).map(|(wait, all)| wait / all),
    );
    put(
        "tokio_busy_share",
        of(names::TOKIO_BUSY_NS).zip(all_workers_ns).map(|(busy, all)| busy / all),
    );
    let shards = run.counters.get(names::SHARDS).map(|&shards| shards as f64);
    put("shards_per_cpu", shards.map(|shards| shards / f64::from(cpus)));
    values
}

/// The median of a column, `None` of an empty one.
fn middle(column: &[i64]) -> Option<f64> {
    median(&column.iter().map(|&value| value as f64).collect::<Vec<_>>())
}

/// Transactions of one repetition in a cell.
pub(crate) fn transactions(cell: &Cell, divide_by: u64) -> Option<f64> {
    let level = |factor: &str| cell.get(factor)?.parse::<u64>().ok();
    let per_stream = (level("transactions")? / divide_by).max(1);
    Some((level("streams")? * per_stream) as f64).filter(|count| *count > 0.0)
}

#[cfg(test)]
mod tests {
    use lab_record::Status;

    use super::*;

    const AROUND: Around = Around { divide_by: 1, cpus: 2, memory: Some(1e12) };

    fn row(columns: &[(&str, &[i64])]) -> Row {
        let cell = [("streams", "10"), ("transactions", "100")];
        let run = serde_json::json!({
            "schema": 1, "order": 0, "attempt": 0, "block": 0, "warmup": false,
            "family": "ledgers", "variant": "dashmap", "cell": BTreeMap::from(cell),
            "status": Status::Ok, "verified": true, "binary_sha256": "", "start_ns": 0,
            "process_ns": 0, "counters": {"workers": 4, "shards": 8}, "noise": {},
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
        let values = of_run(&row, AROUND);
        let expected = [
            ("elapsed_ns", 2_000.0),
            (WITH_TEARDOWN, 9_000.0),
            ("ns_per_transaction", 2.0),
            ("transactions_per_s", 5e8),
            ("cores_used", 1.5),
            ("lock_wait_share", 0.1),
            ("switches_per_1000", 5.0),
            ("shards_per_cpu", 4.0),
            // 1,408 bytes for each of 5 * 10^8 transactions a second, of 10^12 bytes.
            ("memory_share_at_most", 0.704),
        ];
        for (name, value) in expected {
            assert_eq!(values.get(name), Some(&value), "{name}");
        }
        assert!(!values.contains_key("perf_cache_misses_per_transaction"));
        // A smoke test that divides its transactions by ten did a tenth of them.
        let smoke = Around { divide_by: 10, ..AROUND };
        assert_eq!(of_run(&row, smoke)["ns_per_transaction"], 20.0);
        let unmeasured = of_run(&row, Around { memory: None, ..AROUND });
        assert!(!unmeasured.contains_key("memory_share_at_most"));
    }

    /// Every column and counter that a variant may leave, so that every metric can be computed.
    #[test]
    fn the_table_has_exactly_what_a_run_can_give() {
        let columns = PER_1000.iter().chain(&PER_TRANSACTION).map(|(column, _)| *column);
        let columns: Vec<(&str, &[i64])> = columns
            .chain(["elapsed_ns", "teardown_ns", "tokio_busy_ns"])
            .map(|column| (column, &[3][..]))
            .collect();
        let mut given: Vec<&str> = of_run(&row(&columns), AROUND).into_keys().collect();
        given.extend(["rss_high_water_bytes", "cpu_total_ns", "workers", "shards"]);
        let mut table: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        given.sort_unstable();
        table.sort_unstable();
        assert_eq!(given, table);
    }
}
