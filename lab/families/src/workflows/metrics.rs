//! The metrics of a run: one value each, the median over its tasks or over its steps.
//!
//! Tasks of one process share its database, its files and its minute; they are no independent
//! samples, so a run (a restart of everything) gives one value and intervals come from blocks.

use std::collections::BTreeMap;

use lab_family::Unit::{Bytes, Count, Ns, PerSecond, Share};
use lab_family::{Metric, higher, lower, neither};
use lab_protocol::workflows::names;
use lab_protocol::workflows::{Operation, Shape};
use lab_record::{Run, Samples};
use lab_report::{Distribution, Row};
use lab_stats::describe::median;

use crate::workflows::path;
use crate::workflows::task::{HAD, Step, TASK_ROWS, TWICE_MEDIANS, Task, tasks};

/// From the submission of a task until the client knows of its end.
pub(crate) const MAKESPAN: &str = "makespan_ns";
/// The last part of it, which push notification and polling differ in.
pub(crate) const NOTIFICATION: &str = "recorded_to_observed_ns";
/// Of the run with servers that were up before it, as of one that started them.
pub(crate) const CPU_WITH_SERVERS: &str = "cpu_with_servers_ns";

/// What is computed from a run, then what it counted itself.
pub(crate) const METRICS: &[Metric] = &[
    lower(
        (MAKESPAN, "end-to-end time"),
        Ns,
        "Median time of a task until the client knows of its end.",
    ),
    lower(
        ("makespan_p95_ns", "end-to-end time (P95)"),
        Ns,
        "95th percentile of the same over the tasks.",
    ),
    lower(
        ("completed_ns", "time until the end is recorded"),
        Ns,
        "Median time of a task until its end is recorded.",
    ),
    lower(
        ("step_ns", "time per step"),
        Ns,
        "Median over the tasks of makespan over number of steps.",
    ),
    neither(("steps_per_task", "steps per task"), Count, "Median number of steps of a task."),
    higher(
        ("steps_per_s", "steps per second"),
        PerSecond,
        "Steps over the time from the first submission until the client knows of all ends.",
    ),
    neither(
        ("tasks_under_way", "tasks under way"),
        Count,
        "Mean over the same time: tasks submitted of whose end the client does not know.",
    ),
    neither(
        ("steps_under_way", "steps under way"),
        Count,
        "Mean over the same time: steps that a worker has and whose result is not recorded.",
    ),
    lower(
        ("step_interval_ns", "time per step of all tasks"),
        Ns,
        "The same time over the number of steps.",
    ),
    higher(
        ("measured_share", "share of the program's life"),
        Share,
        "The same time over the program's life.",
    ),
    higher(
        ("rows_per_s", "rows per second"),
        PerSecond,
        "Rows of a batch over its makespan: median over the tasks.",
    ),
    lower(
        ("created_to_enqueued_ns", "time until queued"),
        Ns,
        "Median time until a step may be claimed.",
    ),
    lower(
        ("enqueued_to_claimed_ns", "time in the queue"),
        Ns,
        "Median time until a worker has a step.",
    ),
    lower(
        ("claimed_to_started_ns", "time from claim to start"),
        Ns,
        "Median time until its operation starts.",
    ),
    lower(("work_ns", "time of the operation"), Ns, "Median time of a step's operation."),
    lower(
        ("finished_to_recorded_ns", "time until recorded"),
        Ns,
        "Median time until a result is durable.",
    ),
    lower(
        (NOTIFICATION, "time to notify"),
        Ns,
        "Median time from the recorded end to the notification.",
    ),
    lower(
        ("dispatch_ns", "time of dispatch"),
        Ns,
        "Mean over the tasks: time on the critical path to the next step, in the queue and from \
         claim to start.",
    ),
    lower(
        ("recording_ns", "time of recording"),
        Ns,
        "Mean over the tasks: time on the critical path until a step's result is durable.",
    ),
    lower(("statements_per_step", "statements per step"), Count, "Database statements per step."),
    lower(("commits_per_step", "commits per step"), Count, "Commits per step."),
    lower(("messages_per_step", "messages per step"), Count, "Messages or notifications per step."),
    lower(("syncs_per_step", "syncs per step"), Count, "Syncs of the journal per step."),
    lower(
        ("durable_transition_ns", "time per durable transition"),
        Ns,
        "`completed_ns` × tasks over syncs.",
    ),
    lower(
        ("beyond_commits_ns", "time per step beyond commits"),
        Ns,
        "`step_ns` − `commits_per_step` × `bare_commit_ns`.",
    ),
    neither(
        ("bare_commit_ns", "time of a bare commit"),
        Ns,
        "Counter: median time of the least commit on the same database, between the tasks.",
    ),
    neither(
        ("bare_sync_ns", "time of a bare sync"),
        Ns,
        "Counter: median time of the least append and sync on the same file, of as many records \
         as tasks are in flight, between the tasks.",
    ),
    lower(
        ("ffi_call_ns", "time of a call through C"),
        Ns,
        "Counter: median time of an empty call through C.",
    ),
    neither(
        ("all_processes", "processes"),
        Count,
        "Counter: the variant, all that it started, and servers that were up before the run.",
    ),
    lower(
        ("all_pss_bytes", "memory of all processes"),
        Bytes,
        "Counter: their memory, a shared page once; a server that was up before the run also holds \
         what earlier runs left.",
    ),
    lower(("rss_high_water_bytes", "memory"), Bytes, "Counter: most memory of the variant."),
    lower(
        ("cpu_total_ns", "CPU time without servers"),
        Ns,
        "Counter: CPU time of the variant and its children, without servers that were up before \
         the run.",
    ),
    lower(
        (CPU_WITH_SERVERS, "CPU time"),
        Ns,
        "`cpu_total_ns` and what servers that were up before the run used during it.",
    ),
];

/// A step's transitions: the metric, and how long one took.
type Transition = (&'static str, fn(&Step) -> i64);
const TRANSITIONS: [Transition; 5] = [
    ("created_to_enqueued_ns", |step| step.enqueued - step.created),
    ("enqueued_to_claimed_ns", |step| step.claimed - step.enqueued),
    ("claimed_to_started_ns", |step| step.started - step.claimed),
    ("work_ns", |step| step.finished - step.started),
    ("finished_to_recorded_ns", |step| step.recorded - step.finished),
];

/// Operations of a back end: the counter, and the metric per step.
const OPERATIONS: [(&str, &str); 4] = [
    ("statements", "statements_per_step"),
    ("commits", "commits_per_step"),
    ("messages", "messages_per_step"),
    ("syncs", "syncs_per_step"),
];

/// Every metric that a run has the samples for.
pub(crate) fn of_run(row: &Row, shapes: &BTreeMap<String, Shape>) -> BTreeMap<&'static str, f64> {
    let Some(tasks) = tasks(&row.samples) else { return BTreeMap::new() };
    let shape = row.run.cell.get("shape").and_then(|name| shapes.get(name));
    let mut values = of_tasks(&row.run, &tasks);
    values.extend(of_steps(row, &tasks, shape));
    values.retain(|_, value| value.is_finite());
    values
}

/// What times of tasks and numbers of steps tell.
fn of_tasks(run: &Run, tasks: &[Task]) -> BTreeMap<&'static str, f64> {
    let mut values = BTreeMap::new();
    let mut put = |name: &'static str, value: Option<f64>| {
        values.extend(value.map(|value| (name, value)));
    };
    let step_count = tasks.iter().map(|task| task.step_count).sum::<usize>() as f64;
    let of_tasks = |read: fn(&Task) -> f64| median(&tasks.iter().map(read).collect::<Vec<_>>());
    let makespans = Distribution::of(tasks.iter().map(Task::makespan).collect());
    put(MAKESPAN, of_tasks(|task| task.makespan() as f64));
    put("makespan_p95_ns", makespans.map(|all| all.quantile(0.95) as f64));
    let completed = of_tasks(|task| (task.completed - task.submitted) as f64);
    put("completed_ns", completed);
    let step_ns = of_tasks(|task| task.makespan() as f64 / task.step_count as f64);
    put("step_ns", step_ns);
    put("steps_per_task", of_tasks(|task| task.step_count as f64));
    let span_ns = span_ns(tasks);
    put("steps_per_s", span_ns.map(|ns| step_count * 1e9 / ns));
    put("step_interval_ns", span_ns.map(|ns| ns / step_count));
    put("measured_share", span_ns.map(|ns| ns / run.process_ns as f64));
    let spent_ns: i64 = tasks.iter().map(Task::makespan).sum();
    put("tasks_under_way", span_ns.map(|span| spent_ns as f64 / span));
    put(NOTIFICATION, of_tasks(|task| (task.observed - task.completed) as f64));
    let counted = |counter: &str| run.counters.get(counter).map(|&count| count as f64);
    for (counter, name) in OPERATIONS {
        put(name, counted(counter).map(|count| count / step_count));
    }
    let syncs = counted(names::SYNCS).filter(|syncs| *syncs > 0.0);
    let transition = |(ns, syncs): (f64, f64)| ns * tasks.len() as f64 / syncs;
    put("durable_transition_ns", completed.zip(syncs).map(transition));
    let commits = counted(names::COMMITS).map(|commits| commits / step_count);
    let committing = commits.zip(counted(names::BARE_COMMIT_NS)).map(|(each, bare)| each * bare);
    put("beyond_commits_ns", step_ns.zip(committing).map(|(step, commits)| step - commits));
    let servers_ns: u64 = run.kept.values().map(|kept| kept.cpu_ns).sum();
    put(CPU_WITH_SERVERS, counted(names::CPU_TOTAL_NS).map(|own| own + servers_ns as f64));
    values
}

/// What times of steps tell; of most runs in a committed record only what it keeps instead.
fn of_steps(row: &Row, tasks: &[Task], shape: Option<&Shape>) -> BTreeMap<&'static str, f64> {
    let mut values = BTreeMap::new();
    let mut put = |name: &'static str, value: Option<f64>| {
        values.extend(value.map(|value| (name, value)));
    };
    let under_way = had_ns(&row.samples, tasks).zip(span_ns(tasks));
    put("steps_under_way", under_way.map(|(had, span)| had as f64 / span));
    put("rows_per_s", shape.and_then(|shape| rows_per_s(&row.samples, tasks, shape)));
    let twice = twice_medians(&row.samples, tasks).unwrap_or_default();
    for ((name, _), twice) in TRANSITIONS.iter().zip(twice) {
        put(name, Some(twice as f64 / 2.0));
    }
    let parts = shape.and_then(|shape| path::of_run(&row.samples, tasks, shape));
    let mean = |sum: i64| sum as f64 / tasks.len() as f64;
    put("dispatch_ns", parts.map(|parts| mean(path::dispatch(&parts))));
    put("recording_ns", parts.map(|parts| mean(parts[path::RECORDING])));
    values
}

/// Twice the median of each transition over all steps, which is a whole number.
pub(crate) fn twice_medians(samples: &Samples, tasks: &[Task]) -> Option<Vec<i64>> {
    if let Some(kept) = samples.raw(TWICE_MEDIANS) {
        return Some(kept.to_vec());
    }
    let twice_median = |(_, read): &Transition| {
        let steps = tasks.iter().flat_map(|task| &task.steps);
        let took: Vec<f64> = steps.map(|step| read(step) as f64).collect();
        median(&took).map(|median| (2.0 * median) as i64)
    };
    TRANSITIONS.iter().map(twice_median).collect()
}

/// For how long workers had steps, all steps together.
pub(crate) fn had_ns(samples: &Samples, tasks: &[Task]) -> Option<i64> {
    if let Some(kept) = samples.raw(HAD) {
        return Some(kept.iter().sum());
    }
    let mut steps = tasks.iter().flat_map(|task| &task.steps).peekable();
    steps.peek().is_some().then(|| steps.map(|step| step.recorded - step.claimed).sum())
}

/// From the first submission until the client knows of all ends.
pub(crate) fn span_ns(tasks: &[Task]) -> Option<f64> {
    let first = tasks.iter().map(|task| task.submitted).min()?;
    let last = tasks.iter().map(|task| task.observed).max()?;
    (last > first).then_some((last - first) as f64)
}

/// How many rows of a batch each task adds up.
pub(crate) fn rows_of_tasks(samples: &Samples, tasks: &[Task], shape: &Shape) -> Vec<i64> {
    if let Some(kept) = samples.raw(TASK_ROWS) {
        return kept.to_vec();
    }
    let rows_of = |step: &Step| match shape.steps.get(step.step).map(|one| one.operation) {
        Some(Operation::SumRows(rows)) => rows as i64,
        _ => 0,
    };
    tasks.iter().map(|task| task.steps.iter().map(rows_of).sum()).collect()
}

fn rows_per_s(samples: &Samples, tasks: &[Task], shape: &Shape) -> Option<f64> {
    let rows = rows_of_tasks(samples, tasks, shape);
    let rate = |(task, rows): (&Task, &i64)| *rows as f64 * 1e9 / task.makespan() as f64;
    let rates: Vec<f64> = tasks.iter().zip(&rows).map(rate).collect();
    median(&rates).filter(|rate| *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lab_record::{Samples, Status};
    use lab_report::Measured;

    use super::*;

    const COLUMNS: [(&str, &[i64]); 14] = [
        ("task", &[0, 1]),
        ("task_submitted_ns", &[0, 1_000]),
        ("task_completed_ns", &[900, 1_700]),
        ("task_observed_ns", &[1_000, 1_800]),
        ("step_task", &[0, 0, 1, 1]),
        ("step", &[0, 1, 0, 1]),
        ("step_part", &[0, 0, 0, 0]),
        ("step_created_ns", &[5, 5, 1_005, 1_005]),
        ("step_enqueued_ns", &[10, 500, 1_010, 1_400]),
        ("step_claimed_ns", &[40, 540, 1_040, 1_440]),
        ("step_started_ns", &[50, 550, 1_050, 1_450]),
        ("step_finished_ns", &[60, 560, 1_060, 1_460]),
        ("step_recorded_ns", &[400, 800, 1_300, 1_650]),
        ("step_value", &[4, 16, 9, 81]),
    ];

    fn row(counters: &[(&str, u64)]) -> Row {
        let run = serde_json::json!({
            "schema": 1, "order": 0, "attempt": 0, "block": 0, "warmup": false,
            "family": "workflows", "variant": "journal", "cell": { "shape": "pair" },
            "status": Status::Ok,
            "verified": true, "binary_sha256": "", "start_ns": 0, "process_ns": 7_200,
            "counters": counters.iter().copied().collect::<BTreeMap<_, _>>(), "noise": {},
        });
        let columns = COLUMNS.map(|(name, values)| (name.to_owned(), values.to_vec()));
        Row {
            run: serde_json::from_value(run).unwrap(),
            samples: Samples::from_raw(columns.into()),
        }
    }

    fn shapes() -> BTreeMap<String, Shape> {
        let steps = r#"{ name = "a", operation = "square" },
            { name = "b", after = ["a"], operation = { sum_rows = 2 } }"#;
        let section = format!("[shape.pair]\nsteps = [{steps}]").parse().unwrap();
        crate::workflows::shape::stored(&section)
    }

    #[test]
    fn a_run_is_one_value_per_metric() {
        let row = row(&[("syncs", 8), ("commits", 12), ("bare_commit_ns", 30)]);
        let values = of_run(&row, &shapes());
        let expected = [
            (MAKESPAN, 900.0),
            ("makespan_p95_ns", 1_000.0),
            ("completed_ns", 800.0),
            ("step_ns", 450.0),
            ("steps_per_task", 2.0),
            ("steps_per_s", 4.0 * 1e9 / 1_800.0),
            ("step_interval_ns", 450.0),
            ("tasks_under_way", 1.0),
            ("measured_share", 0.25),
            // 360, 260, 260 and 210 ns of 1,800.
            ("steps_under_way", 1_090.0 / 1_800.0),
            // Two rows of a task of 1,000 ns and of one of 800 ns.
            ("rows_per_s", 2.25e6),
            ("created_to_enqueued_ns", 200.0),
            ("enqueued_to_claimed_ns", 35.0),
            ("work_ns", 10.0),
            ("finished_to_recorded_ns", 240.0),
            (NOTIFICATION, 100.0),
            ("dispatch_ns", 190.0),
            ("recording_ns", 505.0),
            ("syncs_per_step", 2.0),
            ("durable_transition_ns", 200.0),
            ("beyond_commits_ns", 360.0),
        ];
        for (name, value) in expected {
            assert_eq!(values.get(name), Some(&value), "{name}");
        }
        assert_eq!(values.get("messages_per_step"), None);
    }

    #[test]
    fn the_table_has_what_is_computed_and_counted() {
        let counters = OPERATIONS.map(|(counter, _)| (counter, 8));
        let row = row(&[&counters[..], &[("bare_commit_ns", 30), ("cpu_total_ns", 9)]].concat());
        let values = of_run(&row, &shapes());
        let is_counted = |metric: &&Metric| metric.says.starts_with("Counter: ");
        let (counted, computed): (Vec<&Metric>, Vec<&Metric>) =
            METRICS.iter().partition(is_counted);
        let names: BTreeSet<&str> = computed.iter().map(|metric| metric.name).collect();
        assert_eq!(names, values.keys().copied().collect());
        assert_eq!(names.len() + counted.len(), METRICS.len(), "a name is there twice");
        assert!(counted.iter().all(|metric| !names.contains(metric.name)));
    }

    #[test]
    fn a_run_without_its_columns_or_its_shape_lacks_what_rests_on_them() {
        let mut row = row(&[("commits", 12)]);
        let without_shape = of_run(&row, &BTreeMap::new());
        assert!(without_shape.contains_key(MAKESPAN));
        assert!(!without_shape.contains_key("dispatch_ns"));
        row.samples.columns.remove("step_claimed_ns");
        assert_eq!(of_run(&row, &shapes()), BTreeMap::new());
        assert_eq!(Measured::new(&row, BTreeMap::new()).value("commits"), Some(12.0));
    }
}
