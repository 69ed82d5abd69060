//! Whole reports of the workflows family, from sweeps whose every stamp follows from a formula.

use std::collections::BTreeMap;

use lab_families::workflows::Workflows;
use lab_family::Places;
use lab_plan::PlannedRun;
use lab_protocol::workflows::{Step, Workload};
use lab_record::Status;
use lab_report::{FamilyReport, Frame, Report};
use proof_kit::world::{Made, World, expected, field, noise, number};
use proptest::prelude::*;

/// What a back end takes, in nanoseconds.
#[derive(Clone, Copy)]
struct Costs {
    /// From submission, and from one step's recording, until a step may be claimed.
    next_ns: i64,
    queue_ns: i64,
    record_ns: i64,
    commits_per_step: u64,
    syncs_per_step: u64,
    /// A bare commit or sync.
    bare_ns: u64,
}

const MEMORY: Costs = Costs {
    next_ns: 1_000,
    queue_ns: 4_000,
    record_ns: 500,
    commits_per_step: 0,
    syncs_per_step: 0,
    bare_ns: 0,
};
const JOURNAL: Costs = Costs {
    next_ns: 2_000,
    queue_ns: 10_000,
    record_ns: 210_000,
    syncs_per_step: 1,
    bare_ns: 200_000,
    ..MEMORY
};
const POSTGRES: Costs = Costs {
    next_ns: 200_000,
    queue_ns: 300_000,
    record_ns: 400_000,
    commits_per_step: 3,
    bare_ns: 300_000,
    ..MEMORY
};
/// A peer that takes 40 ms a step.
const DBOS: Costs = Costs {
    next_ns: 10_000_000,
    queue_ns: 20_000_000,
    record_ns: 10_000_000,
    commits_per_step: 2,
    ..POSTGRES
};

/// What a step takes more in a process of its own, and in Python behind a C interface than there.
const PIPE_NS: i64 = 9_000;
const PYTHON_NS: i64 = 40_000;

/// What is planted.
#[derive(Clone)]
struct Planted {
    blocks: u32,
    tasks: i64,
    /// Relative noise of a run, uniform within ± this.
    noise: f64,
    costs: BTreeMap<&'static str, Costs>,
    /// How much later than its original the twin notifies.
    twin_later_ns: i64,
}

impl Default for Planted {
    fn default() -> Self {
        let costs =
            [("memory", MEMORY), ("journal", JOURNAL), ("postgres", POSTGRES), ("dbos", DBOS)];
        Self { blocks: 8, tasks: 6, noise: 0.01, costs: costs.into(), twin_later_ns: 0 }
    }
}

/// A few cells, with every level that the experiment declares something of.
const CELLS: &str = include_str!("cells.toml");

impl Planted {
    fn with(name: &'static str, costs: Costs) -> Self {
        let mut planted = Self::default();
        planted.costs.insert(name, costs);
        planted
    }

    /// The repository's experiment, with fewer cells.
    fn world(&self) -> World {
        let text = include_str!("../../../../experiments/workflow.toml");
        let (head, rest) = text.split_once("# The published shapes").expect("cells");
        let (_, tail) = rest.split_once("[analysis]").expect("an analysis");
        // A question to a peer that is not planted.
        let (before, peer) = tail.split_once("# Four steps take tasker").expect("a contrast");
        let (_, after) = peer.split_once("# What it costs").expect("the next one");
        let tail = format!("{before}# What it costs{after}");
        let head = head.replace("blocks = 8", &format!("blocks = {}", self.blocks));
        let text = format!("{head}{CELLS}[analysis]{tail}");
        World::of(&text, &["workflow"], &["memory", "journal", "postgres", "dbos"])
    }

    fn frame(&self) -> Frame {
        self.world().frame(&Workflows, |run| self.make(run))
    }

    fn report(&self) -> Report {
        of(&self.frame())
    }

    fn make(&self, run: &PlannedRun) -> Made {
        let workload: Workload =
            serde_json::from_value(run.work.workload(&Places::default())).expect("a workload");
        let costs = self.costs[run.variant.trim_end_matches("_twin")];
        let later = if run.variant.ends_with("_twin") { self.twin_later_ns } else { 0 };
        let mut columns: BTreeMap<&'static str, Vec<i64>> = BTreeMap::new();
        let mut put = |name: &'static str, value: i64| columns.entry(name).or_default().push(value);
        let mut start = 1_000_000_000_000 + i64::from(run.block);
        let mut count = 0;
        for task in 0..self.tasks {
            let within = 1.0 + 0.2 * (task as f64 + 0.5) / self.tasks as f64;
            let slower = within * noise(self.noise, run);
            let stamps = steps(&workload, run, costs, slower, start);
            let done = stamps.iter().map(|(.., stamp)| stamp[5]).max().expect("a step") + 100;
            let observed = later
                + match i64::from(workload.poll_ms) * 1_000_000 {
                    0 => done + 20_000,
                    poll => start + ((done - start) / poll + 1) * poll + 120_000,
                };
            put("task", task);
            put("task_submitted_ns", start);
            put("task_completed_ns", done);
            put("task_observed_ns", observed);
            count += stamps.len() as u64;
            for (step, part, stamp) in stamps {
                put("step_task", task);
                put("step", step);
                put("step_part", part);
                put("step_value", 4);
                STAMPS.iter().zip(stamp).for_each(|(name, value)| put(name, value));
            }
            start += (observed - start) / i64::from(workload.in_flight) + 1_000;
        }
        Made {
            columns: columns.into_iter().collect(),
            counters: counters(costs, run, count),
            ..Made::default()
        }
    }
}

const STAMPS: [&str; 6] = [
    "step_created_ns",
    "step_enqueued_ns",
    "step_claimed_ns",
    "step_started_ns",
    "step_finished_ns",
    "step_recorded_ns",
];

/// The steps of a task as (step, part, stamps).
fn steps(
    workload: &Workload,
    run: &PlannedRun,
    costs: Costs,
    slower: f64,
    start: i64,
) -> Vec<(i64, i64, [i64; 6])> {
    let scaled = |ns: i64| (ns as f64 * slower) as i64;
    let worker_ns = match run.cell["worker"].as_str() {
        "native" => 0,
        "native_process" => PIPE_NS,
        "python_ffi" => PIPE_NS + PYTHON_NS,
        _ => PIPE_NS + 2 * PYTHON_NS,
    };
    let apart = if run.cell["processes"] == "0" { 1 } else { 2 };
    let is_left_out = |step: &Step| ["manager_approval", "finance_review"].contains(&&*step.name);
    let mut stamps: Vec<(i64, i64, [i64; 6])> = Vec::new();
    for (index, step) in workload.shape.steps.iter().enumerate().filter(|(_, s)| !is_left_out(s)) {
        let before: Vec<u32> = step.after.iter().chain(&step.parts_of).copied().collect();
        let recorded = stamps.iter().filter(|(other, ..)| before.contains(&(*other as u32)));
        let ready = recorded.map(|(.., stamp)| stamp[5]).max().unwrap_or(start);
        for part in 0..if step.parts_of.is_some() { 5 } else { 1 } {
            let enqueued = ready + scaled(apart * costs.next_ns) + 10 * part;
            let claimed = enqueued + scaled(apart * costs.queue_ns);
            let finished = claimed + 300 + 2_000 + worker_ns;
            let recorded = finished + scaled(apart * costs.record_ns) + 5 * index as i64;
            let stamp = [start + 500, enqueued, claimed, claimed + 300, finished, recorded];
            stamps.push((index as i64, part, stamp));
        }
    }
    stamps
}

fn counters(costs: Costs, run: &PlannedRun, steps: u64) -> Vec<(&'static str, u64)> {
    let is_ffi = run.cell["worker"].ends_with("_ffi");
    let counts = [
        ("commits", costs.commits_per_step * steps),
        ("statements", 2 * costs.commits_per_step * steps),
        ("bare_commit_ns", if costs.commits_per_step > 0 { costs.bare_ns } else { 0 }),
        ("syncs", costs.syncs_per_step * steps),
        ("bare_sync_ns", if costs.syncs_per_step > 0 { costs.bare_ns } else { 0 }),
        ("ffi_call_ns", if is_ffi { 150 } else { 0 }),
        ("all_processes", 1),
        ("all_pss_bytes", 4 << 20),
    ];
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

fn of(frame: &Frame) -> Report {
    lab_report::report(frame, &[&Workflows]).unwrap_or_else(|error| panic!("{error}"))
}

const LINEAR: [(&str, &str); 2] = [("variant", "postgres"), ("cell", "linear")];

/// The expectations that rest on makespans.
const ON_MAKESPAN: [&str; 5] = [
    "postgres_step_over_commit",
    "memory_polling_over_push",
    "journal_polling_over_push",
    "postgres_beyond_commits",
    "relative_patterns",
];
const OTHERS: [&str; 2] = ["journal_transition_over_sync", "dispatch_over_recording"];

#[test]
fn a_report_of_known_workflows() {
    insta::assert_snapshot!(Planted::default().report().whole());
}

#[test]
fn expectations_hold_where_the_formula_says_so() {
    let report = Planted::default().report();
    // A step takes 200 + 300 + 400 µs and 10 % in the mean, a bare commit 300 µs.
    let id = [("id", "postgres_step_over_commit")];
    let measured = number(&report, "expectations.tsv", &id, "measured");
    assert!((measured - 3.3).abs() < 0.1, "{measured}");
    for id in ON_MAKESPAN.iter().chain(&OTHERS).filter(|id| **id != "relative_patterns") {
        assert_eq!(expected(&report, id), "holds", "{id}");
    }
    // With 50 ms polling a diamond of three stages is no shorter than a line of four.
    assert_eq!(expected(&report, "relative_patterns"), "fails");
}

#[test]
fn every_expectation_can_come_out_otherwise() {
    let outcome = |name, costs, id| expected(&Planted::with(name, costs).report(), id);
    let slow = Costs { record_ns: 1_400_000, ..POSTGRES };
    assert_eq!(outcome("postgres", slow, "postgres_step_over_commit"), "fails");
    assert_eq!(outcome("postgres", slow, "dispatch_over_recording"), "fails");
    let slow = Costs { record_ns: 500_000, ..JOURNAL };
    assert_eq!(outcome("journal", slow, "journal_transition_over_sync"), "fails");
    for (name, costs, id) in
        [("memory", MEMORY, ON_MAKESPAN[1]), ("journal", JOURNAL, ON_MAKESPAN[2])]
    {
        let slow = Costs { queue_ns: 2_000_000, ..costs };
        assert_eq!(outcome(name, slow, id), "fails");
    }
    let near = Costs { queue_ns: 100_000, next_ns: 100_000, ..POSTGRES };
    assert_eq!(outcome("dbos", near, "postgres_beyond_commits"), "fails");
    // Where a task takes many polls, polling keeps the pattern.
    let slow = Costs { queue_ns: 500_000_000, ..POSTGRES };
    assert_eq!(outcome("postgres", slow, "relative_patterns"), "holds");
}

#[test]
fn few_restarts_give_no_interval_and_no_answer() {
    let report = Planted { blocks: 2, ..Planted::default() }.report();
    assert_eq!(expected(&report, "postgres_step_over_commit"), "cannot tell");
}

#[test]
fn a_twin_that_differs_withholds_what_rests_on_the_metric_and_nothing_else() {
    let report = Planted { twin_later_ns: 400_000, ..Planted::default() }.report();
    for id in ON_MAKESPAN {
        assert_eq!(expected(&report, id), "withheld", "{id}");
    }
    for id in OTHERS {
        assert_eq!(expected(&report, id), "holds", "{id}");
    }
    // `postgres` ran no worker in Python, so the sixth contrast is not measured.
    for (table, withheld) in [("contrasts.tsv", 5), ("differences-1.tsv", 3)] {
        let text = &report.tables[table];
        assert_eq!(text.matches("\twithheld\tA/A failed").count(), withheld, "{text}");
    }
}

#[test]
fn an_outcome_that_the_clean_runs_do_not_share_is_cannot_tell() {
    let mut frame = Planted::default().frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.block > 3) {
        row.run.gated = vec!["steal".into()];
    }
    let report = of(&frame);
    let id = [("id", "dispatch_over_recording")];
    assert_eq!(field(&report, "expectations.tsv", &id, "outcome"), "cannot tell");
    let why = field(&report, "expectations.tsv", &id, "why");
    assert!(why.starts_with("all runs: holds; runs past the noise gate"), "{why}");
}

#[test]
fn parts_add_up_to_the_makespan() {
    let report = Planted::default().report();
    let mut lines = report.tables["parts.tsv"].lines();
    assert!(lines.next().unwrap().starts_with("variant\tcell\ttasks\tmakespan_ns\thanding_in"));
    for line in lines {
        let numbers: Vec<u64> = line.split('\t').skip(3).map(|n| n.parse().unwrap()).collect();
        assert_eq!(numbers[0], numbers[1..].iter().sum::<u64>(), "{line}");
    }
    let part = |column: &str| number(&report, "parts.tsv", &LINEAR, column);
    // Four recordings of 400 µs and four waits of 300 µs; three times 200 µs to the next step.
    assert!((part("recording") / part("queue") - 4.0 / 3.0).abs() < 0.01);
    assert!((part("next_step") / part("queue") - 0.5).abs() < 0.01);
}

#[test]
fn polling_stands_beside_push_notification() {
    let report = Planted::default().report();
    let at = |poll: &'static str| [("variant", "journal"), ("shape", "linear"), ("poll_ms", poll)];
    let metric = |poll, column: &str| number(&report, "polling.tsv", &at(poll), column);
    let notified = metric("50", "recorded_to_observed_ns") / metric("50", "makespan_ns");
    assert!(notified > 0.97, "{notified}");
    assert_eq!(metric("0", "recorded_to_observed_ns"), 20_000.0);
    let ratio = number(&report, "polling-over-push.tsv", &at("50"), "makespan_ns");
    assert!(
        (ratio / (metric("50", "makespan_ns") / metric("0", "makespan_ns")) - 1.0).abs() < 0.01
    );
}

#[test]
fn the_tiers_stand_beside_the_published_ones() {
    let report = Planted::default().report();
    let linear = [("scenario", "linear"), ("variant", "postgres")];
    assert_eq!(number(&report, "tiers.tsv", &linear, "published_1_ns"), 258.17e6);
    let p50 = number(&report, "tiers.tsv", &linear, "p50_ns");
    assert!((3.9e6..4.1e6).contains(&p50), "{p50}");
    let twice = [("scenario", "concurrent_tasks_2x"), ("variant", "memory")];
    assert!(number(&report, "tiers.tsv", &twice, "n") == 8.0);
    let rows_per_s = |variant| {
        let keys = [("scenario", "csv_products_1000_rows"), ("variant", variant)];
        let number = |column| number(&report, "tiers.tsv", &keys, column);
        number("rows_per_s") * number("p50_ns") / 1e9
    };
    assert!((rows_per_s("postgres") - 1_000.0).abs() < 30.0, "{}", rows_per_s("postgres"));
    let python = [("scenario", "python linear"), ("worker", "python_process")];
    assert_eq!(field(&report, "tiers.tsv", &python, "variant"), "memory");
    assert!(!report.tables["tiers.tsv"].contains("ruby"), "no such worker ran");
}

#[test]
fn the_cluster_tier_is_of_several_processes() {
    let report = Planted::default().report();
    let tier = report.tables["tiers.tsv"].lines().filter(|line| line.starts_with("3 cluster"));
    assert_eq!(tier.count(), 3, "one task and two in the cluster, and two in one process");
    let single = [("scenario", "single_task_linear"), ("processes", "4")];
    assert_eq!(field(&report, "tiers.tsv", &single, "variant"), "postgres");
    let alone = [("scenario", "linear"), ("variant", "postgres")];
    let p50 = |keys: &[(&str, &str)]| number(&report, "tiers.tsv", keys, "p50_ns");
    assert!(p50(&single) > 1.5 * p50(&alone), "it does not repeat the first tier");
    // Two tasks, and the steps of both, in processes of four languages.
    let two = [("scenario", "concurrent_tasks_2x"), ("processes", "10")];
    assert_eq!(field(&report, "tiers.tsv", &two, "worker"), "four_languages");
    let under_way = |keys: &[(&str, &str)], what| number(&report, "tiers.tsv", keys, what);
    assert!(under_way(&single, "tasks_under_way") < 1.0);
    assert!(under_way(&two, "tasks_under_way") > 1.5);
    assert!(under_way(&two, "steps_under_way") > 1.5 * under_way(&single, "steps_under_way"));
}

#[test]
fn polling_hides_how_far_restarts_lie_apart() {
    let sensitive = |report: &Report, cell: &str| {
        let keys = [("variant", "postgres"), ("cell", cell)];
        number(report, "restarts.tsv", &keys, "sensitive_pairs_share")
    };
    let steady = Planted { noise: 0.001, ..Planted::default() }.report();
    assert_eq!(sensitive(&steady, "linear"), 0.0);
    let shaky = Planted { noise: 0.3, ..Planted::default() }.report();
    assert!(sensitive(&shaky, "linear") > 0.5);
    // Every task is seen at the first poll.
    assert_eq!(sensitive(&shaky, "linear, poll_ms 50"), 0.0);
}

#[test]
fn a_foreign_worker_is_a_difference_per_step() {
    let report = Planted { noise: 0.0, ..Planted::default() }.report();
    let of = |worker: &str, column: &str| {
        number(&report, "workers.tsv", &[("variant", "memory"), ("worker", worker)], column)
    };
    // A process over a thread; the language behind a C interface, and alone, over the process.
    for (worker, expected) in
        [("native_process", PIPE_NS), ("python_ffi", PYTHON_NS), ("python_process", 2 * PYTHON_NS)]
    {
        assert_eq!(of(worker, "added_ns"), expected as f64, "{worker}");
    }
    assert_eq!(of("python_ffi", "ffi_call_ns"), 150.0);
    // Without noise the interval is the point.
    let ends = ["added_share_low", "added_share_high"].map(|end| of("python_ffi", end));
    assert_eq!(ends, [of("python_ffi", "added_share"); 2]);
}

#[test]
fn several_processes_stand_beside_threads() {
    let mut frame = Planted { noise: 0.0, ..Planted::default() }.frame();
    let keys = [("variant", "postgres"), ("in_flight", "4"), ("processes", "4")];
    let ratio = number(&of(&frame), "processes.tsv", &keys, "makespan_ns");
    assert!((1.95..2.0).contains(&ratio), "{ratio}");
    frame.rows.retain(|row| row.run.cell["processes"] == "0");
    assert!(!of(&frame).tables.contains_key("processes.tsv"));
}

#[test]
fn what_is_missing_is_named_and_no_error() {
    let mut frame = Planted::default().frame();
    frame.rows.retain(|row| row.run.variant == "memory" && row.run.cell["shape"] == "csv_batch");
    let report = of(&frame);
    assert!(report.whole().contains("`postgres` has no analysed run"), "{}", report.whole());
    let missing = "**Shapes without a run**: complex_dag, conditional, diamond, hierarchical_tree";
    assert!(report.whole().contains(missing), "{}", report.whole());
    for id in ON_MAKESPAN.iter().chain(&OTHERS) {
        assert_eq!(expected(&report, id), "not measured", "{id}");
    }
}

#[test]
fn runs_without_samples_and_refusals_are_no_error() {
    let mut frame = Planted { blocks: 1, ..Planted::default() }.frame();
    for row in &mut frame.rows {
        if row.run.variant == "journal" {
            row.samples.columns.clear();
        } else if row.run.variant == "memory" {
            row.run.status = Status::Unsupported;
            row.run.reason = Some("keeps nothing".into());
        }
    }
    let report = of(&frame);
    assert_eq!(field(&report, "unsupported.tsv", &[("variant", "memory")], "runs"), "14");
    frame.run_file.experiment_toml = "[[".into();
    assert!(!of(&frame).tables.contains_key("waterfall.tsv"), "there are no shapes");
}

#[test]
fn a_record_of_the_section_s_former_name_is_read() {
    let frame = Planted { blocks: 1, ..Planted::default() }.frame();
    let mut former = frame.clone();
    let text = &mut former.run_file.experiment_toml;
    *text = text.replace("[workflows", "[workflow");
    assert_eq!(of(&former), of(&frame));
}

#[test]
fn every_picture_has_its_numbers() {
    let report = Planted::default().report();
    let files: Vec<&str> = report.figures.iter().map(|figure| figure.file.as_str()).collect();
    assert_eq!(files, ["polling.svg", "waterfall.svg"]);
    assert!(report.tables["polling.tsv"].lines().count() > 1);
    let panels = report.tables["waterfall-panels.tsv"].lines().count() - 1;
    assert_eq!(panels, 12, "six shapes on the floor and the reference");
    let batch = [("step", "process_batch 3"), ("segment", "work")];
    assert_eq!(number(&report, "waterfall.tsv", &batch, "lane"), 4.0);
}

#[test]
fn a_slimmed_record_gives_the_same_report() {
    let frame = Planted::default().frame();
    let mut slim = frame.clone();
    for row in &mut slim.rows {
        row.samples = Workflows.slim(&frame.run_file, &row.run, std::mem::take(&mut row.samples));
    }
    assert_eq!(of(&frame), of(&slim));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn the_order_of_lines_changes_nothing(seed in any::<u64>()) {
        let frame = Planted { blocks: 2, tasks: 2, ..Planted::default() }.frame();
        let mut shuffled = frame.clone();
        shuffled.rows.sort_by_key(|row| (row.run.order + 1).wrapping_mul(seed | 1));
        prop_assert_eq!(of(&frame), of(&shuffled));
    }
}
