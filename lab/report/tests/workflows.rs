//! Whole reports of the workflows family, from sweeps whose truth is known.

mod workflows_world;

use lab_record::{Column, Status};
use lab_report::{Frame, Report, report};
use proptest::prelude::*;
use workflows_world::{Costs, DBOS, JOURNAL, MEMORY, PIPE_NS, POSTGRES, World, unit_draw};

/// A field of a table, by the values of key columns.
fn field(report: &Report, table: &str, keys: &[(&str, &str)], column: &str) -> String {
    let text = &report.tables[table];
    let mut lines = text.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let place = |name: &str| header.iter().position(|key| *key == name).expect("a column");
    let matches = |row: &Vec<&str>| keys.iter().all(|(key, value)| row[place(key)] == *value);
    let row = lines.find(matches).unwrap_or_else(|| panic!("{table} has no row {keys:?}:\n{text}"));
    row[place(column)].to_owned()
}

fn number(report: &Report, table: &str, keys: &[(&str, &str)], column: &str) -> f64 {
    field(report, table, keys, column).parse().expect("a number")
}

fn of(world: &World) -> Report {
    report(&world.frame()).expect("a report")
}

const COMMITS: &str = "postgres: a step over a bare commit";
const SYNCS: &str = "journal: a durable transition over a bare append and sync";
const BEYOND: &str =
    "postgres: what a step takes beyond its counted commits, less a fifth of DBOS's";

fn met(report: &Report, bar: &str) -> String {
    field(report, "bars.tsv", &[("bar", bar)], "met")
}

fn looks(variant: &str) -> String {
    format!("{variant}: looking every 50 ms over being told")
}

fn verdict(report: &Report, number: &str) -> String {
    let text = &report.tables["conclusions.tsv"];
    let line = text.lines().find(|line| line.starts_with(number)).expect("a conclusion");
    line.rsplit('\t').next().expect("a verdict").to_owned()
}

#[test]
fn a_report_of_known_workflows() {
    insta::assert_snapshot!(of(&World::default()).markdown);
}

#[test]
fn bars_are_met_where_the_formula_says_so() {
    let report = of(&World::default());
    // A step takes 200 + 300 + 400 µs and 10 % in the mean, a bare commit 300 µs.
    let measured = number(&report, "bars.tsv", &[("bar", COMMITS)], "measured");
    assert!((measured - 3.3).abs() < 0.1, "{measured}");
    assert_eq!(met(&report, COMMITS), "met");
    assert_eq!(met(&report, SYNCS), "met");
    assert_eq!(met(&report, &looks("memory")), "met");
    assert_eq!(met(&report, &looks("journal")), "met");
    assert_eq!(met(&report, &looks("postgres")), "–");
    assert_eq!(met(&report, BEYOND), "not measured: no dbos in this sweep");
}

#[test]
fn every_bar_can_fail() {
    let slow = of(&World::with("postgres", Costs { record_ns: 1_400_000, ..POSTGRES }));
    assert_eq!(met(&slow, COMMITS), "not met");
    let slow = of(&World::with("journal", Costs { record_ns: 500_000, ..JOURNAL }));
    assert_eq!(met(&slow, SYNCS), "not met");
    for (name, costs) in [("memory", MEMORY), ("journal", JOURNAL)] {
        let slow = of(&World::with(name, Costs { queue_ns: 2_000_000, ..costs }));
        assert_eq!(met(&slow, &looks(name)), "not met");
    }
    let near = of(&World::with("dbos", Costs { queue_ns: 100_000, next_ns: 100_000, ..POSTGRES }));
    assert_eq!(met(&near, BEYOND), "not met");
    let far = of(&World::with("dbos", DBOS));
    assert_eq!(met(&far, BEYOND), "met");
}

#[test]
fn few_restarts_give_no_interval_and_no_sure_bar() {
    let report = of(&World { blocks: 2, ..World::default() });
    assert_eq!(met(&report, COMMITS), "met by the estimate, not by the interval");
}

#[test]
fn parts_add_up_to_the_makespan() {
    let report = of(&World::default());
    let mut lines = report.tables["parts.tsv"].lines();
    assert!(lines.next().unwrap().starts_with("variant\tcell\ttasks\tmakespan_ns\thanding_in"));
    let mut rows = 0;
    for line in lines {
        let numbers: Vec<u64> = line.split('\t').skip(3).map(|n| n.parse().unwrap()).collect();
        assert_eq!(numbers[0], numbers[1..].iter().sum::<u64>(), "{line}");
        rows += 1;
    }
    assert_eq!(rows, 3 * 8);
    let told = [("variant", "postgres"), ("cell", "linear, told")];
    let part = |column: &str| number(&report, "parts.tsv", &told, column);
    // Four recordings of 400 µs and four waits of 300 µs; three times 200 µs to the next step.
    assert!((part("recording") / part("queue") - 4.0 / 3.0).abs() < 0.01);
    assert!((part("next_step") / part("queue") - 0.5).abs() < 0.01);
}

#[test]
fn looks_are_found_where_tasks_take_several_and_only_there() {
    let report = of(&World::with("dbos", DBOS));
    let found = |variant: &str, cell: &str| {
        field(&report, "looks.tsv", &[("values", variant), ("cell", cell)], "found")
    };
    // 160 to 192 ms are four looks of 50 ms, at times three more of ten.
    assert_eq!(found("dbos", "linear, looking every 10 ms"), "a lattice");
    assert_eq!(found("postgres", "linear, looking every 50 ms"), "one point: a poll or a constant");
    assert_ne!(found("dbos", "linear, told"), "a lattice");
    assert_eq!(found("postgres", "linear, told"), "below one step: no looks");
    let published = [("values", "published medians, TAS-166"), ("cell", "a whole look")];
    assert_eq!(field(&report, "looks.tsv", &published, "found"), "a lattice");
    let share = [("variant", "journal"), ("shape", "linear"), ("client", "looking every 50 ms")];
    assert!(number(&report, "looks-by-poll.tsv", &share, "look_share") > 0.97);
}

#[test]
fn the_tiers_stand_beside_the_published_ones() {
    let report = of(&World::default());
    let linear = [("scenario", "linear"), ("variant", "postgres")];
    assert_eq!(number(&report, "tiers.tsv", &linear, "published_1_ns"), 258.17e6);
    let p50 = number(&report, "tiers.tsv", &linear, "p50_ns");
    assert!((3.9e6..4.1e6).contains(&p50), "{p50}");
    let twice = [("scenario", "concurrent_tasks_2x"), ("variant", "memory")];
    assert!(number(&report, "tiers.tsv", &twice, "n") == 8.0);
    let tree = [("scenario", "hierarchical_tree")];
    assert_eq!(field(&report, "tiers.tsv", &tree, "variant"), "not measured");
}

#[test]
fn two_restarts_say_what_chance_says() {
    let steady = of(&World { noise: 0.001, ..World::default() });
    let told = [("variant", "postgres"), ("cell", "linear, told")];
    assert!(number(&steady, "restarts.tsv", &told, "sensitive_pairs_share") < 0.8);
    let shaky = of(&World { noise: 0.3, ..World::default() });
    assert!(number(&shaky, "restarts.tsv", &told, "sensitive_pairs_share") > 0.5);
    // Looking hides it: every task is seen at the first look.
    let looking = [("variant", "postgres"), ("cell", "linear, looking every 50 ms")];
    assert_eq!(number(&shaky, "restarts.tsv", &looking, "sensitive_pairs_share"), 0.0);
    assert_eq!(field(&shaky, "restarts.tsv", &looking, "two_runs_say"), "stable");
}

#[test]
fn recommendations_are_judged_by_what_was_measured() {
    let report = of(&World::default());
    assert_eq!(verdict(&report, "1."), "refuted");
    assert_eq!(verdict(&report, "2."), "refuted");
    assert_eq!(verdict(&report, "3."), "refuted");
    assert_eq!(verdict(&report, "4."), "reproduced");
    let durable = Costs { record_ns: 900_000, ..POSTGRES };
    assert_eq!(verdict(&of(&World::with("postgres", durable)), "4."), "refuted");
    let mut frame = World::default().frame();
    frame.rows.retain(|row| row.run.cell["poll_ms"] == "0");
    assert_eq!(verdict(&lab_report::report(&frame).unwrap(), "3."), "not testable");
}

#[test]
fn a_foreign_worker_is_a_difference_per_step() {
    let native = of(&World::default());
    assert!(native.markdown.contains("Not testable in this sweep: no worker but the native one"));
    let report = of(&World { python_ns: 40_000, noise: 0.0, ..World::default() });
    let of = |worker: &str, column: &str| {
        number(&report, "workers.tsv", &[("variant", "memory"), ("worker", worker)], column)
    };
    // A process over a thread; the language behind a C interface, and alone, over the process.
    for (worker, expected) in
        [("native_process", PIPE_NS as f64), ("python_ffi", 40_000.0), ("python_process", 80_000.0)]
    {
        let added = of(worker, "added_ns");
        assert!((added - expected).abs() < 600.0, "{worker} {added}");
    }
    assert_eq!(of("python_ffi", "ffi_call_ns"), 150.0);
}

#[test]
fn several_processes_stand_beside_threads() {
    let mut frame = World { noise: 0.0, ..World::default() }.frame();
    assert!(!report(&frame).unwrap().tables.contains_key("processes.tsv"));
    // The same runs twice, with each task observed twice as late as it was handed in.
    let is_told = |row: &lab_report::Row| {
        let cell = &row.run.cell;
        let usual = cell["shape"] == "linear" && cell["in_flight"] == "1" && cell["poll_ms"] == "0";
        usual && row.run.variant == "postgres"
    };
    let mut apart: Vec<lab_report::Row> =
        frame.rows.iter().filter(|r| is_told(r)).cloned().collect();
    let planned = frame.rows.len() as u64;
    for (row, order) in apart.iter_mut().zip(planned..) {
        row.run.order = order;
        row.run.cell.insert("processes".to_owned(), "4".to_owned());
        let submitted = row.samples.columns["task_submitted_ns"].clone();
        let (Column::Raw(from), Some(Column::Raw(to))) =
            (submitted, row.samples.columns.get_mut("task_observed_ns"))
        else {
            panic!("a world has every sample");
        };
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from + 2 * (*to - from));
    }
    frame.rows.extend(apart);
    frame.run_file.runs_planned = frame.rows.len() as u64;
    let keys = [("variant", "postgres"), ("cell", "linear, told, 4 processes")];
    let ratio = number(&report(&frame).unwrap(), "processes.tsv", &keys, "makespan_ratio");
    assert!((ratio - 2.0).abs() < 1e-9, "{ratio}");
}

#[test]
fn a_lab_that_tells_twins_apart_withholds() {
    let mut frame = World::default().frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.variant == "postgres_twin") {
        let Some(Column::Raw(ends)) = row.samples.columns.get_mut("task_observed_ns") else {
            continue;
        };
        ends.iter_mut().for_each(|ns| *ns += 400_000);
    }
    let report = report(&frame).unwrap();
    assert!(met(&report, COMMITS).starts_with("withheld: A/A failed"));
    assert!(verdict(&report, "4.").starts_with("withheld"));
    // This one rests on the published numbers alone.
    assert_eq!(verdict(&report, "1."), "refuted");
}

#[test]
fn a_verdict_that_the_clean_runs_do_not_share_is_cannot_tell() {
    let mut frame = World::default().frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.block > 2) {
        row.run.gated = vec!["steal".into()];
    }
    let report = report(&frame).unwrap();
    assert_eq!(verdict(&report, "4."), "cannot tell");
    assert!(met(&report, COMMITS).starts_with("cannot tell: all runs say met, those past"));
}

#[test]
fn what_is_missing_is_named_and_no_error() {
    let mut frame = World::default().frame();
    frame.rows.retain(|row| row.run.variant == "memory" && row.run.cell["shape"] == "csv_batch");
    let report = report(&frame).unwrap();
    assert!(report.markdown.contains("`postgres` has no analysed run"), "{}", report.markdown);
    assert!(report.markdown.contains("**Shapes without a run**: linear, diamond"));
    assert_eq!(met(&report, COMMITS), "not measured: no postgres in this sweep");
    assert_eq!(verdict(&report, "4."), "not testable");
}

#[test]
fn runs_without_samples_and_refusals_are_no_error() {
    let mut frame = World { blocks: 1, ..World::default() }.frame();
    for row in &mut frame.rows {
        if row.run.variant == "journal" {
            row.samples.columns.clear();
        } else if row.run.variant == "memory" {
            row.run.status = Status::Unsupported;
            row.run.reason = Some("keeps nothing".into());
        }
    }
    let report = report(&frame).unwrap();
    assert_eq!(field(&report, "unsupported.tsv", &[("variant", "memory")], "runs"), "8");
    frame.run_file.experiment_toml = "[[".into();
    let report = lab_report::report(&frame).unwrap();
    assert!(report.markdown.contains("does not say what the steps of linear"));
}

#[test]
fn the_repository_s_own_shapes_are_read() {
    let mut frame = World::default().frame();
    frame.run_file.experiment_toml = include_str!("../../../experiments/workflow.toml").into();
    let report = report(&frame).unwrap();
    assert!(!report.markdown.contains("does not say what the steps"));
    let batch = [("step", "process_batch 3"), ("segment", "work")];
    assert_eq!(number(&report, "waterfall.tsv", &batch, "lane"), 4.0);
}

#[test]
fn every_picture_has_its_numbers() {
    let report = of(&World::default());
    let files: Vec<&str> = report.figures.iter().map(|figure| figure.file.as_str()).collect();
    assert_eq!(files, ["looks.svg", "waterfall.svg"]);
    for table in ["looks-by-poll.tsv", "waterfall.tsv", "waterfall-panels.tsv"] {
        assert!(report.tables[table].lines().count() > 1, "{table}");
    }
    let panels = report.tables["waterfall-panels.tsv"].lines().count() - 1;
    assert_eq!(panels, 6, "three shapes on the floor and the reference");
}

#[test]
fn a_slimmed_record_gives_the_same_report() {
    let frame = World::default().frame();
    let mut slim = frame.clone();
    for row in &mut slim.rows {
        row.samples = lab_report::slim(&row.run, std::mem::take(&mut row.samples));
    }
    assert_eq!(report(&frame), report(&slim));
}

fn shuffled(frame: &Frame, seed: u64) -> Frame {
    let mut shuffled = frame.clone();
    let key = |order: u64| unit_draw(&[seed, order]);
    shuffled.rows.sort_by(|a, b| key(a.run.order).total_cmp(&key(b.run.order)));
    shuffled
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn the_order_of_lines_changes_nothing(seed in any::<u64>()) {
        let frame = World { blocks: 6, tasks: 4, ..World::default() }.frame();
        prop_assert_eq!(report(&frame), report(&shuffled(&frame, seed)));
    }
}
