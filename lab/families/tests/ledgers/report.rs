//! Whole reports of the ledgers family, from sweeps whose truth is known.

use super::sweep::{Sweep, report};
use lab_record::Status;
use lab_report::FamilyReport;
use proof_kit::world::{expected, field, number};
use proptest::prelude::*;

const PUBLISHED: [(&str, &str); 2] =
    [("variant", "dashmap"), ("cell", "100 streams × 100, disjoint, deposits")];

#[test]
fn a_report_of_a_known_sweep() {
    insta::assert_snapshot!(Sweep::default().report().whole());
}

#[test]
fn the_planted_best_count_is_found() {
    let report = Sweep::default().report();
    assert_eq!(field(&report, "best.tsv", &PUBLISHED, "label"), "2");
    let one_stream = [("variant", "dashmap"), ("cell", "1 stream × 100, disjoint, deposits")];
    assert_eq!(field(&report, "best.tsv", &one_stream, "label"), "1");
}

#[test]
fn counts_that_no_interval_tells_apart_are_a_tie() {
    let flat = Sweep { extra_worker_ns: 0.0, second_worker_ns: 0.0, ..Sweep::default() };
    let label = field(&flat.report(), "best.tsv", &PUBLISHED, "label");
    assert!(label.starts_with("tie: 2, ") && label.ends_with(", 64"), "{label}");
}

#[test]
fn one_block_names_no_best_count_and_gives_no_advice() {
    let report = Sweep { blocks: 1, ..Sweep::default() }.report();
    let label = field(&report, "best.tsv", &PUBLISHED, "label");
    assert_eq!(label, "cannot tell: 2 by the median alone (n = 1)");
    assert!(report.whole().contains("None: no cell has six blocks"), "{}", report.whole());
    assert_eq!(expected(&report, "owned_hot"), "cannot tell");
}

#[test]
fn speed_ups_are_against_one_worker_and_against_the_floor() {
    let report = Sweep::default().report();
    let two = [
        ("variant", "dashmap"),
        ("streams", "100"),
        ("transactions", "100"),
        ("workers", "2"),
        ("spawn", "stream"),
    ];
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
    let report = Sweep::default().report();
    let outcome = |id: &str| field(&report, "contrasts.tsv", &[("id", id)], "outcome");
    assert_eq!(outcome("two_against_one"), "faster");
    // Nine pairs tell that the typical run is equivalent, and nothing of its tail.
    assert_eq!(outcome("shards_of_64_cpus_at_64"), "cannot tell");
    let why = field(&report, "contrasts.tsv", &[("id", "shards_of_64_cpus_at_64")], "why");
    assert!(why.starts_with("typical run equivalent, tail unknown, share of slow"), "{why}");
    assert_eq!(outcome("sixteen_against_eight"), "slower");
    let of = |column: &str| number(&report, "contrasts.tsv", &[("id", "two_against_one")], column);
    assert!((of("estimate") - (275.0_f64 / 505.0).ln()).abs() < 0.01, "{}", of("estimate"));
    assert_eq!(of("n"), 9.0);
    assert!((of("margin") - 1.05_f64.ln()).abs() < 1e-12);
}

#[test]
fn the_harness_is_no_candidate() {
    let report = Sweep::default().report();
    let compared = |variant: &str| report.tables["differences-1.tsv"].contains(variant);
    assert!(compared("owned") && !compared("empty"), "{}", report.tables["differences-1.tsv"]);
}

const CAUSES: [&str; 4] =
    ["cause_too_little_work", "cause_overhead", "cause_shards", "cause_caches"];

fn causes(sweep: &Sweep) -> [String; 4] {
    let report = sweep.report();
    CAUSES.map(|id| expected(&report, id))
}

#[test]
fn a_cost_of_threads_is_found_as_such() {
    let large = Sweep { cpus: 64, ..Sweep::default() };
    assert_eq!(causes(&large), ["holds", "holds", "fails", "fails"]);
    let small = Sweep::default();
    assert_eq!(causes(&small), ["holds", "holds", "not testable", "not testable"]);
}

#[test]
fn a_cost_of_shards_is_found_as_such() {
    let locks = Sweep {
        cpus: 64,
        extra_worker_ns: 10.0,
        lock_ns: 10_000.0,
        shards_help: true,
        ..Sweep::default()
    };
    assert_eq!(causes(&locks), ["holds", "fails", "holds", "holds"]);
}

#[test]
fn without_a_cost_there_is_nothing_to_explain() {
    let flat = Sweep { cpus: 64, extra_worker_ns: 0.0, ..Sweep::default() };
    assert_eq!(causes(&flat), ["fails", "fails", "fails", "fails"]);
}

#[test]
fn what_the_clean_runs_do_not_share_cannot_be_told() {
    let report = Sweep { last_clean_block: 2, ..Sweep::default() }.report();
    let why = |id: &str| field(&report, "expectations.tsv", &[("id", id)], "why");
    assert_eq!(expected(&report, "harness_one"), "cannot tell");
    assert_eq!(why("harness_one"), "all runs: holds; runs past the noise gate: cannot tell");
    assert_eq!(expected(&report, "cause_overhead"), "cannot tell");
}

#[test]
fn a_lab_that_tells_twins_apart_withholds_what_rests_on_the_metric() {
    let report = Sweep { twin_factor: 1.02, ..Sweep::default() }.report();
    let lines = report.tables["expectations.tsv"].lines().skip(1);
    let outcomes: Vec<(&str, String)> = lines
        .map(|line| line.split('\t').next().unwrap())
        .map(|id| (id, expected(&report, id)))
        .collect();
    for (id, outcome) in &outcomes {
        match outcome.as_str() {
            // Shards are counted, and the twin has as many.
            "fails" => assert_eq!(*id, "few_shards"),
            // Nobody measured the memory of a machine that was made up.
            "not measured" => assert_eq!(*id, "cause_memory"),
            outcome => assert!(["withheld", "not testable"].contains(&outcome), "{id}: {outcome}"),
        }
    }
    assert!(outcomes.iter().any(|(id, outcome)| *id == "few_shards" && outcome == "fails"));
    for (table, column) in [("contrasts.tsv", "id"), ("differences-1.tsv", "variant")] {
        let keys =
            report.tables[table].lines().skip(1).map(|line| line.split('\t').next().unwrap());
        for key in keys.filter(|key| !["rayon", "smol", "sharded_mutex"].contains(key)) {
            assert_eq!(field(&report, table, &[(column, key)], "outcome"), "withheld", "{key}");
        }
    }
    assert!(report.whole().contains("no time below is ground for a choice"));
}

#[test]
fn bars_hold_where_the_formula_says_so() {
    let report = Sweep::default().report();
    // 5.025 ms against 2.525 ms of 100,000 transactions; disjoint both take 2.525 ms.
    let hot = number(&report, "expectations.tsv", &[("id", "owned_hot")], "measured");
    assert!((hot - 5_025.0 / 2_525.0).abs() < 0.01, "{hot}");
    assert_eq!(expected(&report, "owned_disjoint"), "fails");
    // 105 µs against 5 ms without a runtime, 75 µs against 2.525 ms.
    assert_eq!(expected(&report, "harness_one"), "holds");
    assert_eq!(expected(&report, "harness_several"), "holds");
}

#[test]
fn published_statements_are_judged_on_the_machine() {
    let small = Sweep::default().report();
    assert_eq!(expected(&small, "eight_beats_64"), "not testable");
    assert_eq!(expected(&small, "few_shards"), "fails");
    assert_eq!(expected(&small, "one_stream_needs_no_workers"), "holds");
    // More streams make one worker 2 times as fast, and two workers 12 times.
    assert_eq!(expected(&small, "growth_is_parallelism"), "holds");
    assert_eq!(expected(&small, "small_1_stream"), "holds");
    assert_eq!(expected(&small, "small_100_streams"), "fails");
    assert_eq!(expected(&small, "large_loads_want_all"), "holds");
    let large = Sweep { cpus: 64, ..Sweep::default() }.report();
    assert_eq!(expected(&large, "eight_beats_64"), "holds");
    assert_eq!(expected(&large, "sixteen_slower_than_eight"), "holds");
}

#[test]
fn two_cpus_are_too_few_for_the_scalability_law_and_eight_are_not() {
    let two = Sweep::default().report();
    assert!(two.whole().contains("Not fitted."), "{}", two.whole());
    let eight = Sweep { cpus: 8, lanes: 8.0, second_worker_ns: 0.0, ..Sweep::default() };
    let eight = eight.report();
    let law = [("variant", "owned"), ("cell", "1000 streams × 100, disjoint, deposits")];
    assert!(number(&eight, "usl.tsv", &law, "largest_residual_share") < 0.02);
    // 5 µs of 5 ms cannot be spread over workers.
    assert!(number(&eight, "usl.tsv", &law, "sigma").abs() < 0.02);
}

#[test]
fn a_refusal_is_no_failure() {
    let mut frame = Sweep::default().frame();
    for row in &mut frame.rows {
        if row.run.variant == "owned" && row.run.cell["workers"] == "current_thread" {
            row.run.status = Status::Unsupported;
            row.run.reason = Some("needs workers of its own".into());
        }
    }
    let report = report(&frame);
    assert_eq!(field(&report, "unsupported.tsv", &[("variant", "owned")], "runs"), "27");
    assert!(report.whole().contains(", failed 0"));
}

#[test]
fn what_is_missing_is_named_and_no_error() {
    let mut frame = Sweep::default().frame();
    frame.rows.retain(|row| row.run.variant == "dashmap" && row.run.cell["workers"] == "1");
    let report = report(&frame);
    assert!(report.whole().contains("`owned` has no analysed run"), "{}", report.whole());
    assert!(report.whole().contains("so there is no curve"));
    assert_eq!(expected(&report, "cause_overhead"), "not measured");
}

#[test]
fn every_picture_has_its_numbers() {
    let report = Sweep::default().report();
    let files: Vec<&str> = report.figures.iter().map(|figure| figure.file.as_str()).collect();
    assert_eq!(files, ["curve.svg", "heatmap.svg"]);
    for figure in &report.figures {
        let table = figure.file.replace(".svg", ".tsv");
        assert!(report.tables[&table].lines().count() > 1, "{table}");
    }
}

#[test]
fn a_slimmed_record_gives_the_same_numbers() {
    let frame = Sweep::default().frame();
    let mut slim = frame.clone();
    for row in &mut slim.rows {
        row.samples = lab_families::ledgers::Ledgers.slim(
            &frame.run_file,
            &row.run,
            std::mem::take(&mut row.samples),
        );
    }
    let (full, slim) = (report(&frame), report(&slim));
    assert_eq!(full.tables, slim.tables);
    assert!(slim.whole().contains("keep the one or two middle repetitions"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn the_order_of_lines_changes_nothing(rotation in 1_usize..500) {
        let frame = Sweep { blocks: 6, ..Sweep::default() }.frame();
        let mut turned = frame.clone();
        turned.rows.rotate_left(rotation);
        turned.rows[..rotation].reverse();
        prop_assert_eq!(report(&frame), report(&turned));
    }
}
