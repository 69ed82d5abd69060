//! The metrics of a run: one value each, the median over its tasks or over its steps.
//!
//! Tasks of one process share its database, its files and its minute; they are no independent
//! samples, so a run (a restart of everything) gives one value and intervals come from blocks.

use std::collections::BTreeMap;

use lab_record::Run;
use lab_stats::describe::median;

use super::task::{Step, Task, tasks};
use crate::frame::{Row, is_analysed};
use crate::measure::Measured;
use crate::metrics::Distribution;

/// The metrics that are computed from samples. Every counter of a run is a metric too, by its name.
pub const METRICS: [&str; 18] = [
    MAKESPAN,
    "makespan_p95_ns",
    "completed_ns",
    "step_ns",
    "steps_per_task",
    "steps_per_s",
    "created_to_enqueued_ns",
    "enqueued_to_claimed_ns",
    "claimed_to_started_ns",
    "work_ns",
    "finished_to_recorded_ns",
    "recorded_to_observed_ns",
    "statements_per_step",
    "commits_per_step",
    "messages_per_step",
    "syncs_per_step",
    "durable_transition_ns",
    "beyond_commits_ns",
];

/// From hand-in until the client knows.
pub(super) const MAKESPAN: &str = "makespan_ns";

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
pub(super) const OPERATIONS: [(&str, &str); 4] = [
    ("statements", "statements_per_step"),
    ("commits", "commits_per_step"),
    ("messages", "messages_per_step"),
    ("syncs", "syncs_per_step"),
];

/// Measures every run that enters the analysis and that `keep` lets through.
pub(super) fn measure<'a>(rows: &[&'a Row], keep: &dyn Fn(&Row) -> bool) -> Vec<Measured<'a>> {
    let kept = rows.iter().copied().filter(|row| is_analysed(&row.run) && keep(row));
    let measured = |row: &'a Row| {
        let values = tasks(&row.samples).map(|tasks| of_tasks(&row.run, &tasks));
        Measured::new(row, values.unwrap_or_default())
    };
    kept.map(measured).collect()
}

fn of_tasks(run: &Run, tasks: &[Task]) -> BTreeMap<&'static str, f64> {
    let mut values = BTreeMap::new();
    let mut put = |name: &'static str, value: Option<f64>| {
        values.extend(value.filter(|value| value.is_finite()).map(|value| (name, value)));
    };
    let steps: Vec<&Step> = tasks.iter().flat_map(|task| &task.steps).collect();
    let of_tasks = |read: fn(&Task) -> f64| median(&tasks.iter().map(read).collect::<Vec<_>>());
    let makespans = Distribution::of(tasks.iter().map(Task::makespan).collect());
    put(MAKESPAN, of_tasks(|task| task.makespan() as f64));
    put("makespan_p95_ns", makespans.map(|all| all.quantile(0.95) as f64));
    let completed = of_tasks(|task| (task.completed - task.submitted) as f64);
    put("completed_ns", completed);
    let step_ns = of_tasks(|task| task.makespan() as f64 / task.steps.len() as f64);
    put("step_ns", step_ns);
    put("steps_per_task", of_tasks(|task| task.steps.len() as f64));
    put("steps_per_s", span_ns(tasks).map(|ns| steps.len() as f64 * 1e9 / ns));
    for (name, read) in TRANSITIONS {
        put(name, median(&steps.iter().map(|step| read(step) as f64).collect::<Vec<_>>()));
    }
    put("recorded_to_observed_ns", of_tasks(|task| (task.observed - task.completed) as f64));
    let counted = |counter: &str| run.counters.get(counter).map(|&count| count as f64);
    for (counter, name) in OPERATIONS {
        put(name, counted(counter).map(|count| count / steps.len() as f64));
    }
    let syncs = counted("syncs").filter(|syncs| *syncs > 0.0);
    let transition = |(ns, syncs): (f64, f64)| ns * tasks.len() as f64 / syncs;
    put("durable_transition_ns", completed.zip(syncs).map(transition));
    let commits = counted("commits").map(|commits| commits / steps.len() as f64);
    let committing = commits.zip(counted("bare_commit_ns")).map(|(each, bare)| each * bare);
    put("beyond_commits_ns", step_ns.zip(committing).map(|(step, commits)| step - commits));
    values
}

/// From the first hand-in until the client knows of all.
fn span_ns(tasks: &[Task]) -> Option<f64> {
    let first = tasks.iter().map(|task| task.submitted).min()?;
    let last = tasks.iter().map(|task| task.observed).max()?;
    (last > first).then_some((last - first) as f64)
}

#[cfg(test)]
mod tests {
    use lab_record::{Samples, Status};

    use super::*;

    const COLUMNS: [(&str, &[i64]); 15] = [
        ("task", &[0, 1]),
        ("task_submitted_ns", &[0, 1_000]),
        ("task_accepted_ns", &[10, 1_010]),
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
            "family": "workflows", "variant": "journal", "cell": {}, "status": Status::Ok,
            "verified": true, "binary_sha256": "", "start_ns": 0, "process_ns": 0,
            "counters": counters.iter().copied().collect::<BTreeMap<_, _>>(), "noise": {},
        });
        let columns = COLUMNS.map(|(name, values)| (name.to_owned(), values.to_vec()));
        Row {
            run: serde_json::from_value(run).unwrap(),
            samples: Samples::from_raw(columns.into()),
        }
    }

    #[test]
    fn a_run_is_one_value_per_metric() {
        let row = row(&[("syncs", 8), ("commits", 12), ("bare_commit_ns", 30)]);
        let measured = measure(&[&row], &|_| true);
        let expected = [
            (MAKESPAN, 900.0),
            ("makespan_p95_ns", 1_000.0),
            ("completed_ns", 800.0),
            ("step_ns", 450.0),
            ("steps_per_task", 2.0),
            ("steps_per_s", 4.0 * 1e9 / 1_800.0),
            ("created_to_enqueued_ns", 200.0),
            ("enqueued_to_claimed_ns", 35.0),
            ("work_ns", 10.0),
            ("finished_to_recorded_ns", 240.0),
            ("recorded_to_observed_ns", 100.0),
            ("syncs_per_step", 2.0),
            ("durable_transition_ns", 200.0),
            ("beyond_commits_ns", 360.0),
        ];
        for (name, value) in expected {
            assert_eq!(measured[0].value(name), Some(value), "{name}");
        }
        assert_eq!(measured[0].value("messages_per_step"), None);
    }

    #[test]
    fn a_run_without_its_columns_has_counters_only() {
        let mut row = row(&[("commits", 12)]);
        row.samples.columns.remove("step_claimed_ns");
        let measured = measure(&[&row], &|_| true);
        assert_eq!(measured[0].value(MAKESPAN), None);
        assert_eq!(measured[0].value("commits"), Some(12.0));
    }
}
