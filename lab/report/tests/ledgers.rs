//! Whole reports of the ledgers family, from sweeps whose truth is known.

mod threads;

use lab_record::{Column, Status};
use lab_report::{Frame, Report, ReportError, report};
use proptest::prelude::*;
use threads::World;

/// A field of a table, by the value of a key column.
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

const PUBLISHED: [(&str, &str); 2] =
    [("variant", "dashmap"), ("cell", "100 streams × 100, disjoint, deposits")];

#[test]
fn a_report_of_a_known_sweep() {
    insta::assert_snapshot!(report(&World::default().frame()).unwrap().markdown);
}

#[test]
fn the_planted_best_count_is_found() {
    let report = report(&World::default().frame()).unwrap();
    assert_eq!(field(&report, "best.tsv", &PUBLISHED, "label"), "2");
    let one_stream = [("variant", "dashmap"), ("cell", "1 stream × 100, disjoint, deposits")];
    assert_eq!(field(&report, "best.tsv", &one_stream, "label"), "1");
}

#[test]
fn counts_that_no_interval_tells_apart_are_a_tie() {
    let flat = World { extra_worker_ns: 0.0, second_worker_ns: 0.0, ..World::default() };
    let report = report(&flat.frame()).unwrap();
    assert_eq!(field(&report, "best.tsv", &PUBLISHED, "label"), "tie: 2, 4, 64");
}

#[test]
fn one_block_names_no_best_count_and_gives_no_advice() {
    let report = report(&World { blocks: 1, ..World::default() }.frame()).unwrap();
    let label = field(&report, "best.tsv", &PUBLISHED, "label");
    assert_eq!(label, "cannot tell: 2 by the median alone (n = 1)");
    assert!(report.markdown.contains("None: no cell has six blocks"), "{}", report.markdown);
}

#[test]
fn speed_ups_are_against_one_worker_and_against_sync() {
    let report = report(&World::default().frame()).unwrap();
    let two =
        [("variant", "dashmap"), ("streams", "100"), ("transactions", "100"), ("workers", "2")];
    // 505 µs at one worker, 500 µs without a runtime, 275 µs at two.
    let one = number(&report, "curve.tsv", &two, "speed_up_one");
    let sync = number(&report, "curve.tsv", &two, "speed_up_sync");
    assert!((one - 505.0 / 275.0).abs() < 0.01, "{one}");
    assert!((sync - 500.0 / 275.0).abs() < 0.01, "{sync}");
    let low = number(&report, "curve.tsv", &two, "speed_up_one_low");
    let high = number(&report, "curve.tsv", &two, "speed_up_one_high");
    assert!(low < 505.0 / 275.0 && 505.0 / 275.0 < high, "{low} {high}");
    assert!((number(&report, "curve.tsv", &two, "ns_per_transaction") - 27.5).abs() < 0.2);
}

#[test]
fn contrasts_are_paired_and_judged_as_declared() {
    let report = report(&World::default().frame()).unwrap();
    let verdict = |name: &str| field(&report, "contrasts.tsv", &[("name", name)], "verdict");
    assert_eq!(verdict("two_against_one"), "faster");
    assert_eq!(verdict("default_against_two"), "equivalent");
    assert_eq!(verdict("sixty_four_against_two"), "slower");
    let of =
        |column: &str| number(&report, "contrasts.tsv", &[("name", "two_against_one")], column);
    assert!((of("estimate") - (275.0_f64 / 505.0).ln()).abs() < 0.01, "{}", of("estimate"));
    assert_eq!(of("n"), 8.0);
    assert!((of("margin") - 1.05_f64.ln()).abs() < 1e-12);
    let header = report.tables["contrasts.tsv"].lines().next().unwrap();
    let columns = "name variant metric factor level reference n estimate low high confidence \
                   p_holm margin detectable verdict";
    assert_eq!(header.replace('\t', " "), columns);
}

fn cause(report: &Report, name: &str) -> String {
    field(report, "causes.tsv", &[("cause", name)], "verdict")
}

#[test]
fn a_penalty_of_threads_is_found_as_such() {
    let report = report(&World::default().frame()).unwrap();
    assert_eq!(cause(&report, "Too little work per transaction"), "supported");
    assert_eq!(cause(&report, "Thread overhead"), "supported");
    assert_eq!(cause(&report, "Contention on shards"), "not supported");
    assert_eq!(cause(&report, "Cache traffic"), "not supported");
    assert!(report.markdown.contains("not counted: this machine is imaginary"));
}

#[test]
fn a_penalty_of_shards_is_found_as_such() {
    let world =
        World { extra_worker_ns: 10.0, lock_ns: 10_000.0, shards_help: true, ..World::default() };
    let report = report(&world.frame()).unwrap();
    assert_eq!(cause(&report, "Thread overhead"), "not supported");
    assert_eq!(cause(&report, "Contention on shards"), "supported");
    assert_eq!(cause(&report, "Cache traffic"), "supported");
}

#[test]
fn a_cause_that_the_clean_runs_do_not_share_is_cannot_tell() {
    let mut frame = World::default().frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.block > 2) {
        row.run.gated = vec!["steal".into()];
    }
    let report = report(&frame).unwrap();
    assert_eq!(cause(&report, "Thread overhead"), "cannot tell");
    assert!(report.markdown.contains("Runs that passed the noise gate: cannot tell (n = 3)"));
}

#[test]
fn a_lab_that_tells_twins_apart_withholds() {
    let mut frame = World::default().frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.variant == "dashmap_twin") {
        let Some(Column::Raw(times)) = row.samples.columns.get_mut("elapsed_ns") else { continue };
        times.iter_mut().for_each(|ns| *ns += *ns / 50);
    }
    let report = report(&frame).unwrap();
    assert_eq!(cause(&report, "Thread overhead"), "withheld");
    let contrast = [("name", "two_against_one")];
    assert_eq!(field(&report, "contrasts.tsv", &contrast, "verdict"), "withheld");
    assert!(report.markdown.contains("told two equal programs apart"));
}

#[test]
fn without_a_penalty_there_is_nothing_to_explain() {
    let report = report(&World { extra_worker_ns: 0.0, ..World::default() }.frame()).unwrap();
    assert_eq!(cause(&report, "Thread overhead"), "not supported");
    assert_eq!(cause(&report, "Cache traffic"), "not supported");
}

#[test]
fn bars_are_met_where_the_formula_says_so() {
    let report = report(&World::default().frame()).unwrap();
    let hot = [("bar", "owned as fast as dashmap, hot")];
    let disjoint = [("bar", "owned as fast as dashmap, disjoint")];
    // 5.025 ms against 2.525 ms of 100,000 transactions; disjoint both take 2.525 ms.
    assert!((number(&report, "bars.tsv", &hot, "measured") - 5_025.0 / 2_525.0).abs() < 0.01);
    assert_eq!(field(&report, "bars.tsv", &disjoint, "met"), "not met");
    let harness = [("bar", "empty ledger over the cheapest variant")];
    assert_eq!(field(&report, "bars.tsv", &harness, "met"), "met");
}

#[test]
fn two_cpus_are_too_few_for_the_scalability_law_and_eight_are_not() {
    let two = report(&World::default().frame()).unwrap();
    assert!(two.markdown.contains("Not fitted."), "{}", two.markdown);
    let eight = World { cpus: 8, second_worker_ns: 0.0, ..World::default() };
    let eight = report(&eight.frame()).unwrap();
    let law = [("variant", "owned"), ("cell", "1000 streams × 100, disjoint, deposits")];
    assert!(number(&eight, "usl.tsv", &law, "largest_residual_share") < 0.02);
    // 5 µs of 5 ms cannot be spread over workers.
    assert!(number(&eight, "usl.tsv", &law, "sigma").abs() < 0.02);
}

#[test]
fn what_sixty_four_cpus_show_is_not_testable_on_two() {
    let report = report(&World::default().frame()).unwrap();
    let slower = "Beyond the best count more workers are slower: 64 take 1.8 times as long as 8";
    let verdict = field(&report, "conclusions.tsv", &[("statement", slower)], "verdict");
    assert_eq!(verdict, "not testable on 2 cores");
    assert!(report.markdown.contains("What 2 CPUs cannot show about 64"));
    let shards = [("statement", "The map likely has 16 to 32 shards (on 64 CPUs)")];
    assert_eq!(field(&report, "conclusions.tsv", &shards, "verdict"), "refuted");
}

#[test]
fn a_refusal_is_listed_once_and_is_no_failure() {
    let mut frame = World::default().frame();
    for row in &mut frame.rows {
        if row.run.variant == "owned" && row.run.cell["workers"] == "current_thread" {
            row.run.status = Status::Unsupported;
            row.run.reason = Some("needs workers of its own".into());
        }
    }
    let report = report(&frame).unwrap();
    let refused = [("variant", "owned")];
    assert_eq!(field(&report, "unsupported.tsv", &refused, "level"), "workers current_thread");
    assert_eq!(field(&report, "unsupported.tsv", &refused, "runs"), "24");
    assert!(report.markdown.contains("Runs that did not end well: 0."));
}

#[test]
fn what_is_missing_is_named_and_no_error() {
    let mut frame = World::default().frame();
    frame.rows.retain(|row| row.run.variant == "dashmap" && row.run.cell["workers"] == "1");
    let report = report(&frame).unwrap();
    assert!(report.markdown.contains("`owned` has no analysed run"), "{}", report.markdown);
    assert!(report.markdown.contains("so there is no curve"));
    assert_eq!(cause(&report, "Thread overhead"), "not measured");
}

#[test]
fn a_family_without_a_report_is_one_clear_error() {
    let mut frame = World::default().frame();
    frame.run_file.variants[0].family = "kitchens".into();
    let expected = ReportError::UnknownFamily {
        experiment: "made-up-threads".into(),
        family: "kitchens".into(),
    };
    assert_eq!(report(&frame).unwrap_err(), expected);
}

#[test]
fn every_picture_has_its_numbers() {
    let report = report(&World::default().frame()).unwrap();
    let files: Vec<&str> = report.figures.iter().map(|figure| figure.file.as_str()).collect();
    assert_eq!(files, ["curve.svg", "heatmap.svg"]);
    for figure in &report.figures {
        let table = figure.file.replace(".svg", ".tsv");
        assert!(report.tables[&table].lines().count() > 1, "{table}");
    }
}

#[test]
fn a_slimmed_record_gives_the_same_numbers() {
    let frame = World::default().frame();
    let mut slim = frame.clone();
    for row in &mut slim.rows {
        row.samples = lab_report::slim(&row.run, std::mem::take(&mut row.samples));
    }
    let (full, slim) = (report(&frame).unwrap(), report(&slim).unwrap());
    assert_eq!(full.tables, slim.tables);
    assert!(slim.markdown.contains("the middle repetitions alone are kept"));
}

fn shuffled(frame: &Frame, seed: u64) -> Frame {
    let mut shuffled = frame.clone();
    let key = |order: u64| threads::unit_draw(&[seed, order]);
    shuffled.rows.sort_by(|a, b| key(a.run.order).total_cmp(&key(b.run.order)));
    shuffled
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn the_order_of_lines_changes_nothing(seed in any::<u64>()) {
        let frame = World { blocks: 6, ..World::default() }.frame();
        prop_assert_eq!(report(&frame), report(&shuffled(&frame, seed)));
    }
}
