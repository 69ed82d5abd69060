//! What a server that is kept up uses during a run belongs to the run.

use std::collections::BTreeMap;

use lab_families::workflows::Workflows;
use lab_record::Kept;
use lab_report::{Frame, flat, report};
use proof_kit::world::{Made, World, number};

const EXPERIMENT: &str = r#"
schema = 1
name = "kept"
question = "What does a task take?"
family = "workflows"
seed = 1
blocks = 1
[variants]
tags = ["workflow"]
[[cells]]
shape = ["linear"]
[analysis]
reference = "journal"
pairing = "paired"
alpha = 0.05
[[analysis.comparisons]]
metric = "cpu_with_servers_ns"
scale = "ratio"
margin = 0.05
cells = { shape = ["linear"] }
[workflows]
tasks = 1
warmup_tasks = 1
[workflows.defaults]
shape = "linear"
in_flight = "1"
poll_ms = "0"
workers = "1"
worker = "native"
[workflows.shape.linear]
steps = [{ name = "only", operation = "square" }]
"#;

/// A task of one step in each run.
const COLUMNS: [(&str, i64); 13] = [
    ("task", 0),
    ("task_submitted_ns", 0),
    ("task_completed_ns", 900),
    ("task_observed_ns", 1_000),
    ("step_task", 0),
    ("step", 0),
    ("step_part", 0),
    ("step_created_ns", 5),
    ("step_enqueued_ns", 10),
    ("step_claimed_ns", 40),
    ("step_started_ns", 50),
    ("step_finished_ns", 60),
    ("step_recorded_ns", 900),
];

/// Runs of a variant with servers and of one without, each of 1,000 ns of CPU time of its own.
fn frame(servers: &[(&str, u64)]) -> Frame {
    let world = World::of(EXPERIMENT, &["workflow"], &["journal", "postgres"]);
    let mut frame = world.frame(&Workflows, |_| Made {
        columns: COLUMNS.map(|(name, value)| (name, vec![value])).into(),
        counters: vec![("cpu_total_ns", 1_000)],
        ..Made::default()
    });
    let kept = |cpu_ns| Kept { start: 1, runs_before: 0, cpu_ns };
    let kept: BTreeMap<String, Kept> =
        servers.iter().map(|(name, cpu_ns)| ((*name).to_owned(), kept(*cpu_ns))).collect();
    for row in frame.rows.iter_mut().filter(|row| row.run.variant == "postgres") {
        row.run.kept.clone_from(&kept);
    }
    frame
}

/// A column of the analysed runs, by variant.
fn column(frame: &Frame, name: &str) -> BTreeMap<String, String> {
    let flat = flat(frame, &[&Workflows]).unwrap();
    let place = |name: &str| flat.columns.iter().position(|column| column == name).unwrap();
    let (variant, value) = (place("variant"), place(name));
    flat.rows.iter().map(|row| (row[variant].clone(), row[value].clone())).collect()
}

#[test]
fn cpu_time_is_that_of_the_run_with_its_servers() {
    let frame = frame(&[("postgresql", 700), ("rabbitmq", 50)]);
    let report = report(&frame, &[&Workflows]).unwrap();
    let of = |variant, metric| number(&report, "metrics.tsv", &[("variant", variant)], metric);
    assert_eq!(of("postgres", "cpu_with_servers_ns"), 1_750.0);
    assert_eq!(of("journal", "cpu_with_servers_ns"), 1_000.0);
    // What the law holds against the kernel's count stays as it was counted.
    assert_eq!(of("postgres", "cpu_total_ns"), 1_000.0);
    assert_eq!(column(&frame, "cpu_with_servers_ns")["postgres"], "1750");
}

#[test]
fn a_record_without_kept_servers_has_what_its_runs_counted() {
    let frame = frame(&[]);
    let both = ["cpu_with_servers_ns", "cpu_total_ns"].map(|name| column(&frame, name));
    assert_eq!(both[0], both[1]);
    assert_eq!(both[0].len(), 2);
    // Its table is as it was before servers were kept up.
    let table = &report(&frame, &[&Workflows]).unwrap().tables["metrics.tsv"];
    assert!(table.contains("\tcpu_total_ns\t") && !table.contains("cpu_with_servers_ns"));
}
