//! Whole reports of the schedulers family, from tests whose truth is known.

mod schedulers_world;

use lab_record::{Column, Status};
use lab_report::{Frame, Report, report};
use proptest::prelude::*;
use schedulers_world::{Policy, World};

/// A field of a table, by the value of key columns.
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
    report(&world.frame()).unwrap()
}

/// The outcome of the first threshold that contains these words.
fn outcome(report: &Report, policy: &str, threshold: &str) -> String {
    let rows = report.tables["checklist.tsv"].lines().map(|line| line.split('\t').collect());
    let found = rows
        .filter(|row: &Vec<&str>| row[0] == policy)
        .find(|row| row[1].contains(threshold))
        .unwrap_or_else(|| panic!("no threshold {threshold}"));
    found[3].to_owned()
}

fn verdict(report: &Report, conclusion: &str) -> String {
    let rows = report.tables["conclusions.tsv"].lines();
    let row = rows.map(|line| line.split('\t').collect::<Vec<_>>());
    let found = row.into_iter().find(|row| row[0].starts_with(conclusion)).expect("a conclusion");
    found[3].to_owned()
}

fn met(report: &Report, bar: &str, cell: &str) -> String {
    field(report, "bars.tsv", &[("bar", bar), ("cell", cell)], "met")
}

#[test]
fn a_report_of_known_policies() {
    insta::assert_snapshot!(of(&World::default()).markdown);
}

#[test]
fn bars_are_met_where_the_formula_says_so() {
    let report = of(&World::default());
    assert_eq!(met(&report, "warm choose(), thompson over loom_rs", "1 decider"), "met");
    assert_eq!(met(&report, "full cycle, thompson over loom_rs", "1 decider"), "met");
    let warm = [("bar", "warm choose(), thompson over loom_rs")];
    assert!((number(&report, "bars.tsv", &warm, "measured") - 20.0 / 110.0).abs() < 0.005);
    let shared = "warm choose() of thompson, all deciders at once over one";
    assert_eq!(met(&report, shared, "2 deciders against 1"), "met");
    let beside = [("bar", "warm choose() of loom_rs, all deciders at once over one")];
    assert!((number(&report, "bars.tsv", &beside, "measured") - 4.0).abs() < 0.1);
    let like = "mixed throughput, thompson over loom_rs";
    assert_eq!(met(&report, like, "concurrency 1, ordered, 1 Tokio and 2 pool threads"), "met");
    assert_eq!(met(&report, like, "concurrency 4, unordered, 1 Tokio and 2 pool threads"), "met");
    let oracle = "mixed throughput, thompson over oracle";
    assert_eq!(met(&report, oracle, "concurrency 1, ordered, 1 Tokio and 2 pool threads"), "met");
    let ticks = "tick P99 under 3 ms blocking work, thompson over always_offload";
    assert_eq!(met(&report, ticks, "1 Tokio worker"), "met");
    assert_eq!(met(&report, ticks, "2 Tokio workers"), "met");
    // 5 wrong steps of 1,000 against all of them.
    let regret = [("bar", "regret, loom_rs over thompson")];
    assert!((number(&report, "bars.tsv", &regret, "measured") - 200.0).abs() < 1.0);
}

#[test]
fn bars_that_are_missed_say_so() {
    let slow = Policy {
        choose_ns: 50.0,
        cycle_ns: 120.0,
        contention: 2.0,
        sees_240: false,
        throughput: 0.6,
        tick_us: 400.0,
        ..World::default().thompson
    };
    let report = of(&World { thompson: slow, ..World::default() });
    let words: Vec<&str> = report.tables["bars.tsv"]
        .lines()
        .skip(1)
        .map(|line| line.split('\t').nth(7).unwrap())
        .collect();
    let beside = words.iter().filter(|word| **word == "–").count();
    let missed = words.iter().filter(|word| **word == "not met").count();
    assert_eq!((beside, missed), (1, words.len() - 1), "{words:?}");
}

#[test]
fn a_bar_within_the_noise_is_met_by_the_estimate_alone() {
    let near = Policy { choose_ns: 110.0 * 0.2995, ..World::default().thompson };
    let report = of(&World { thompson: near, noise: 0.05, ..World::default() });
    let word = met(&report, "warm choose(), thompson over loom_rs", "1 decider");
    assert!(word.contains("by the estimate"), "{word}");
}

/// Every threshold, and a policy that is broken in just what it asks.
fn broken() -> Vec<(&'static str, Policy)> {
    let good = World::default().thompson;
    vec![
        ("a warm decision takes", Policy { choose_ns: 300.0, ..good }),
        ("all deciders at once", Policy { contention: 3.0, ..good }),
        ("tick P99 under 3 ms work", Policy { tick_us: 2_000.0, ..good }),
        ("there is harm, and it is kept away", Policy { tick_us: 2_900.0, ..good }),
        ("× `always_offload`'s, one at a time", Policy { throughput: 0.3, ..good }),
        ("× `oracle`'s, one at a time", Policy { throughput: 0.8, ..good }),
        ("stable on `slow`", Policy { late: 90, ..good }),
        ("at least 90 % of steps take the better arm", Policy { sees_240: false, ..good }),
        ("median switch to offload", Policy { late: 90, ..good }),
        ("median switch back to inline", Policy { late_back: 90, ..good }),
        ("changes are followed at all", Policy { late_back: u64::MAX, ..good }),
        ("tick P99 beside `closed_80`", Policy { pressure_us: 900.0, ..good }),
    ]
}

#[test]
fn a_good_policy_passes_every_threshold() {
    let report = of(&World::default());
    for (threshold, _) in broken() {
        let threshold = threshold.replace('`', "");
        assert_eq!(outcome(&report, "thompson", &threshold), "PASS", "{threshold}");
    }
    assert_eq!(outcome(&report, "thompson", "stable on steady_small"), "PASS");
    assert!(report.markdown.contains("`thompson`: **PASS**"));
    assert!(report.markdown.contains("`loom_rs`: **FAIL**"));
}

#[test]
fn every_threshold_fails_a_policy_that_is_broken_in_it() {
    for (threshold, policy) in broken() {
        let world = World { thompson: policy, blocks: 6, ..World::default() };
        let mut frame = world.frame();
        // What is declared is simulated at length, and a checklist does not need it.
        frame.run_file.analysis.comparisons.clear();
        let report = report(&frame).unwrap();
        let threshold = threshold.replace('`', "");
        assert_eq!(outcome(&report, "thompson", &threshold), "FAIL", "{threshold}");
        assert!(report.markdown.contains("`thompson`: **FAIL**"));
    }
}

/// Offloading what is better inline, from the first step on.
#[test]
fn stable_on_cheap_work_fails_a_policy_that_offloads_it() {
    let mut frame = World::default().frame();
    for row in frame.rows.iter_mut() {
        let cell = &row.run.cell;
        let cheap = cell["test"] == "replay" && cell["costs"] == "steady_small";
        if cheap && row.run.variant == "thompson" {
            let steps = row.samples.raw("arm").unwrap().len();
            row.samples.columns.insert("arm".into(), Column::Raw(vec![1; steps]));
            row.samples.columns.insert("regret_ns".into(), Column::Raw(vec![9_000; steps]));
        }
    }
    let report = report(&frame).unwrap();
    assert_eq!(outcome(&report, "thompson", "stable on steady_small"), "FAIL");
}

#[test]
fn without_six_blocks_nothing_passes_and_nothing_fails() {
    let report = of(&World { blocks: 3, ..World::default() });
    for line in report.tables["checklist.tsv"].lines().skip(1) {
        assert!(line.ends_with("CANNOT TELL"), "{line}");
    }
    assert!(report.markdown.contains("cannot tell: `"), "{}", report.markdown);
    assert_eq!(verdict(&report, "1."), "cannot tell");
}

#[test]
fn conclusions_are_judged_on_the_published_crate() {
    let report = of(&World::default());
    let expected = [
        ("1.", "reproduced"),
        // Load cannot make a wake-up faster: 215 µs against 50 µs.
        ("2.", "refuted"),
        ("3.", "reproduced"),
        // It never offloads 240 µs.
        ("4.", "refuted"),
        // It never comes back to inline.
        ("5.", "refuted"),
        ("6.", "reproduced"),
        ("7.", "reproduced"),
    ];
    for (conclusion, word) in expected {
        assert_eq!(verdict(&report, conclusion), word, "{conclusion}");
    }
}

#[test]
fn other_numbers_give_other_verdicts() {
    let loom_rs = Policy {
        choose_ns: 400.0,
        late: 4,
        late_back: 4,
        sees_240: true,
        throughput: 0.3,
        tick_us: 45.0,
        pressure_us: 9_000.0,
        ..World::default().loom_rs
    };
    let report = of(&World { loom_rs, ..World::default() });
    let expected = [
        ("1.", "refuted"),
        ("2.", "reproduced"),
        ("4.", "reproduced"),
        ("5.", "reproduced"),
        ("6.", "refuted"),
        ("7.", "refuted"),
    ];
    for (conclusion, word) in expected {
        assert_eq!(verdict(&report, conclusion), word, "{conclusion}");
    }
}

#[test]
fn switch_times_are_a_distribution_with_its_nevers() {
    let report = of(&World::default());
    let away = [("change", "to offload"), ("policy", "thompson")];
    // Five steps late, of which two may still be missed in the first window that is settled.
    assert_eq!(number(&report, "switches.tsv", &away, "median"), 3.0);
    assert_eq!(field(&report, "switches.tsv", &away, "never"), "0");
    assert_eq!(field(&report, "switches.tsv", &away, "changes"), "16");
    let back = [("change", "to inline"), ("policy", "loom_rs")];
    assert_eq!(field(&report, "switches.tsv", &back, "never"), "8");
    let curve = [("change", "to inline"), ("policy", "loom_rs"), ("steps", "200")];
    assert_eq!(number(&report, "switch-times.tsv", &curve, "share"), 0.0);
}

#[test]
fn a_trajectory_shows_the_turn() {
    let report = of(&World::default());
    let at = |step: &str| {
        let keys = [("change", "to offload"), ("policy", "thompson"), ("step", step)];
        number(&report, "trajectory.tsv", &keys, "offload_share")
    };
    assert_eq!((at("-1"), at("4"), at("5"), at("199")), (0.0, 0.0, 1.0, 1.0));
}

#[test]
fn ratios_of_threads_are_compared_in_one_stream() {
    let report = of(&World::default());
    let items = |ratio| {
        let keys = [("tokio:rayon", ratio), ("policy", "oracle"), ("metric", "items_per_s")];
        number(&report, "ratios.tsv", &keys, "value")
    };
    // 1:2 ran one at a time too, where half as many are done.
    assert!((items("1:2") / items("2:1") - 1.0).abs() < 0.02);
    assert!(report.markdown.contains("(concurrency 4, order ordered)"));
}

/// loom-rs refuses more threads than processors.
#[test]
fn a_policy_that_refuses_the_usual_threads_is_compared_where_both_ran() {
    let mut frame = World::default().frame();
    frame.rows.retain(|row| {
        let stream = row.run.cell["test"] == "stream" && row.run.cell["order"] == "ordered";
        !(stream && row.run.variant == "loom_rs" && row.run.cell["tokio_workers"] == "1")
    });
    let report = report(&frame).unwrap();
    let like = "mixed throughput, thompson over loom_rs";
    let cell = "concurrency 4, ordered, 2 Tokio and 1 pool threads";
    assert_eq!(met(&report, like, cell), "met");
    assert_eq!(met(&report, like, "concurrency 1, ordered"), "not measured");
}

#[test]
fn regret_stands_beside_the_better_fixed_arm() {
    let report = of(&World::default());
    let bimodal = |policy| [("costs", "bimodal"), ("policy", policy)];
    let over = |policy| number(&report, "cost-over-fixed.tsv", &bimodal(policy), "value");
    // Nobody but the oracle knows which call will be long: offloading all is the best fixed arm.
    assert!((over("thompson") - 1.0).abs() < 1e-9 && over("oracle") < 0.5);
    let fixed = field(&report, "cost-over-fixed.tsv", &bimodal("thompson"), "better fixed arm");
    assert_eq!(fixed, "always_offload");
    let end = [("costs", "inline_240_offload_30"), ("policy", "thompson"), ("step", "1000")];
    let regret = number(&report, "regret.tsv", &end, "regret_ns");
    assert!((regret - 5.0 * 210_500.0).abs() < 5_000.0, "{regret}");
}

#[test]
fn the_best_policy_is_named_with_those_that_are_no_worse() {
    let report = of(&World::default());
    let mixed = [("work", "stream of mixed items, 1 in flight, ordered, 1:2 threads")];
    assert_eq!(field(&report, "which-policy.tsv", &mixed, "best"), "thompson");
    assert_eq!(field(&report, "which-policy.tsv", &mixed, "next"), "ewma");
    let shift = [("work", "replay of shift")];
    assert_eq!(field(&report, "which-policy.tsv", &shift, "best"), "threshold");
    let bimodal = [("work", "replay of bimodal")];
    let tied = field(&report, "which-policy.tsv", &bimodal, "tied");
    assert_eq!(tied, "threshold, ewma, thompson, loom_rs");
}

#[test]
fn a_lab_that_tells_twins_apart_withholds() {
    let mut frame = World::default().frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.variant == "always_inline_twin") {
        let Some(Column::Raw(batches)) = row.samples.columns.get_mut("batch_ns") else { continue };
        batches.iter_mut().for_each(|ns| *ns += *ns / 10);
    }
    let report = report(&frame).unwrap();
    assert_eq!(outcome(&report, "thompson", "a warm decision takes"), "CANNOT TELL");
    let word = met(&report, "warm choose(), thompson over loom_rs", "1 decider");
    assert!(word.starts_with("withheld"), "{word}");
    // Another metric is not in doubt.
    let ticks = "tick P99 under 3 ms blocking work, thompson over always_offload";
    assert_eq!(met(&report, ticks, "1 Tokio worker"), "met");
}

#[test]
fn what_the_clean_runs_do_not_share_cannot_be_told() {
    let mut frame = World::default().frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.block > 2) {
        row.run.gated = vec!["steal".into()];
    }
    let report = report(&frame).unwrap();
    assert_eq!(outcome(&report, "thompson", "a warm decision takes"), "CANNOT TELL");
    assert_eq!(verdict(&report, "1."), "cannot tell");
    let word = met(&report, "warm choose(), thompson over loom_rs", "1 decider");
    assert!(word.starts_with("cannot tell: all runs say met"), "{word}");
}

#[test]
fn an_oracle_with_regret_is_a_missed_answer() {
    let mut frame = World::default().frame();
    let report_of = |frame: &Frame| report(frame).unwrap().markdown;
    assert!(report_of(&frame).contains("the oracle's regret is 0 in all 40 replays"));
    for row in frame.rows.iter_mut().filter(|row| row.run.variant == "oracle") {
        let Some(Column::Raw(regret)) = row.samples.columns.get_mut("regret_ns") else { continue };
        regret[3] = 5;
    }
    assert!(report_of(&frame).contains("**Known answer missed**"));
}

#[test]
fn what_is_missing_is_named_and_no_error() {
    let whole = World { blocks: 1, ..World::default() }.frame();
    for kept in ["decide", "replay", "stream", "wake", "nothing"] {
        let mut frame = whole.clone();
        frame.rows.retain(|row| row.run.cell["test"] == kept || row.run.variant == "ewma");
        let report = report(&frame).unwrap();
        assert!(report.markdown.contains("not measured"), "{kept}");
    }
    let mut frame = whole;
    frame.rows.retain(|row| row.run.cell["test"] == "decide" && row.run.variant == "loom_rs");
    let report = report(&frame).unwrap();
    assert!(report.markdown.contains("`thompson` has no analysed run"));
    assert!(report.markdown.contains("No run of this sweep measured it."));
    assert!(report.figures.is_empty());
    assert_eq!(verdict(&report, "5."), "not testable");
}

#[test]
fn a_refusal_is_listed_once_and_is_no_failure() {
    let mut frame = World::default().frame();
    for row in &mut frame.rows {
        if row.run.variant == "loom_rs" && row.run.cell["order"] == "unordered" {
            row.run.status = Status::Unsupported;
            row.run.reason = Some("its streams keep their order".into());
        }
    }
    let report = report(&frame).unwrap();
    assert_eq!(field(&report, "unsupported.tsv", &[("variant", "loom_rs")], "runs"), "8");
    assert!(report.markdown.contains("Runs that did not end well: 0."));
    let like = "mixed throughput, thompson over loom_rs";
    assert_eq!(met(&report, like, "concurrency 4, unordered"), "not measured");
}

#[test]
fn every_picture_has_its_numbers() {
    let report = of(&World::default());
    let files: Vec<&str> = report.figures.iter().map(|figure| figure.file.as_str()).collect();
    assert_eq!(files, ["switch-times.svg", "trajectory.svg", "regret.svg", "stalls.svg"]);
    for figure in &report.figures {
        let table = figure.file.replace(".svg", ".tsv");
        assert!(report.tables[&table].lines().count() > 1, "{table}");
    }
}

#[test]
fn a_slimmed_record_gives_the_same_numbers() {
    let mut frame = World { blocks: 6, ..World::default() }.frame();
    frame.rows.retain(|row| row.run.cell["test"] != "wake");
    let mut slim = frame.clone();
    for row in &mut slim.rows {
        row.samples = lab_report::slim(&row.run, std::mem::take(&mut row.samples));
    }
    assert_eq!(report(&frame).unwrap(), report(&slim).unwrap());
}

#[test]
fn slimmed_ticks_keep_their_percentiles_within_a_digit() {
    let frame = World { blocks: 6, ..World::default() }.frame();
    let mut slim = frame.clone();
    for row in &mut slim.rows {
        row.samples = lab_report::slim(&row.run, std::mem::take(&mut row.samples));
    }
    let keys = [("load", "block_3ms"), ("policy", "thompson"), ("metric", "tick_p99_ns")];
    let p99 = |frame| number(&report(frame).unwrap(), "wake.tsv", &keys, "value");
    let (full, slim) = (p99(&frame), p99(&slim));
    assert!((slim / full - 1.0).abs() < 0.02, "{full} {slim}");
}

fn shuffled(frame: &Frame, seed: u64) -> Frame {
    let mut shuffled = frame.clone();
    let key = |order: u64| schedulers_world::unit_draw(&[seed, order]);
    shuffled.rows.sort_by(|a, b| key(a.run.order).total_cmp(&key(b.run.order)));
    shuffled
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn the_order_of_lines_changes_nothing(seed in any::<u64>()) {
        let frame = World { blocks: 2, ..World::default() }.frame();
        prop_assert_eq!(report(&frame), report(&shuffled(&frame, seed)));
    }
}
