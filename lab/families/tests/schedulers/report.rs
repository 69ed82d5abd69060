//! Whole reports of the schedulers family, from tests whose truth is known.

use std::sync::LazyLock;

use super::made_up::{Policy, Sweep};
use lab_families::schedulers::Schedulers;
use lab_plan::PlannedRun;
use lab_record::{Column, Expectation, ExpectationKind};
use lab_report::{FamilyReport, Frame, Report, report};
use proof_kit::world::{Made, expected, field, number};

fn frame(sweep: &Sweep) -> Frame {
    sweep.world().frame(&Schedulers, |run| sweep.run(run))
}

/// The report of the default sweep.
static KNOWN: LazyLock<Report> = LazyLock::new(|| of(&frame(&Sweep::default())));

fn of(frame: &Frame) -> Report {
    report(frame, &[&Schedulers]).unwrap()
}

/// The default sweep with what some runs left changed.
fn changed(change: impl Fn(&PlannedRun, &mut Made)) -> Frame {
    let sweep = Sweep::default();
    sweep.world().frame(&Schedulers, |run| {
        let mut made = sweep.run(run);
        change(run, &mut made);
        made
    })
}

fn scale(made: &mut Made, column: &str, factor: f64) {
    for (_, values) in made.columns.iter_mut().filter(|(name, _)| *name == column) {
        values.iter_mut().for_each(|value| *value = (*value as f64 * factor) as i64);
    }
}

#[test]
fn a_report_of_known_policies() {
    insta::assert_snapshot!(KNOWN.whole());
}

/// Of the default policies what the formula says.
#[test]
fn every_expectation_comes_out_as_the_formula_says() {
    let report = &*KNOWN;
    let fails = [
        "loom_rs_contention",
        "loom_rs_rate_over_oracle",
        "loom_rs_better_arm",
        "loom_rs_switch_to_inline",
        "loom_rs_follows_changes",
        "loom_rs_usable",
        // Load cannot make a wake-up faster: 215 µs against 50 µs.
        "published_ticks_protected",
        "published_starvation_protection",
        // It never offloads 240 µs.
        "published_learns_inline_240_offload_30",
        "published_fast_learning",
        // It never comes back to inline.
        "published_switch_to_inline",
        "published_adapts",
    ];
    for row in report.tables["expectations.tsv"].lines().skip(1) {
        let id = row.split('\t').next().unwrap();
        let word = if fails.contains(&id) { "fails" } else { "holds" };
        assert_eq!(expected(report, id), word, "{id}");
    }
    let measured = |id| number(report, "expectations.tsv", &[("id", id)], "measured");
    assert!((measured("bar_warm_decision") - 20.0 / 110.0).abs() < 0.005);
    assert!((measured("loom_rs_contention") - 4.0).abs() < 0.1);
    // 5 wrong steps of 1,000 against all of them.
    assert!((measured("bar_regret") - 200.0).abs() < 1.0);
}

/// Of every threshold a policy that misses it.
fn broken() -> Vec<(&'static str, Policy)> {
    let good = Sweep::default().thompson;
    vec![
        ("thompson_warm_decision", Policy { choose_ns: 300.0, ..good }),
        ("thompson_contention", Policy { contention: 3.0, ..good }),
        ("thompson_ticks_1_worker", Policy { tick_us: 2_000.0, ..good }),
        ("thompson_ticks_2_workers", Policy { tick_us: 2_000.0, ..good }),
        ("thompson_ticks_4_workers", Policy { tick_us: 2_000.0, ..good }),
        ("thompson_harm_prevented", Policy { tick_us: 2_900.0, ..good }),
        ("thompson_rate_over_offloading", Policy { throughput: 0.3, ..good }),
        ("thompson_rate_over_oracle", Policy { throughput: 0.8, ..good }),
        ("thompson_learns_steady_small", Policy { sees_cheap: false, ..good }),
        ("thompson_learns_slow", Policy { late: 90, ..good }),
        ("thompson_better_arm", Policy { sees_240: false, ..good }),
        ("thompson_switch_to_offload", Policy { late: 90, ..good }),
        ("thompson_switch_to_inline", Policy { late_back: 90, ..good }),
        ("thompson_follows_changes", Policy { late_back: u64::MAX, ..good }),
        ("thompson_ticks_closed_80", Policy { pressure_us: 900.0, ..good }),
        ("bar_warm_decision", Policy { choose_ns: 50.0, ..good }),
        ("bar_full_cycle", Policy { cycle_ns: 120.0, ..good }),
        ("bar_rate_alone", Policy { throughput: 0.6, ..good }),
        ("bar_rate_four_ordered", Policy { throughput: 0.6, ..good }),
        ("bar_rate_four_unordered", Policy { throughput: 0.6, ..good }),
        ("bar_oracle_four_ordered", Policy { throughput: 0.8, ..good }),
        ("bar_oracle_four_unordered", Policy { throughput: 0.8, ..good }),
        ("bar_regret", Policy { sees_240: false, ..good }),
    ]
}

#[test]
fn every_threshold_is_missed_by_a_policy_that_is_broken_in_it() {
    let whole = frame(&Sweep::default()).run_file.expectations;
    let rests_on =
        |one: &&Expectation| one.id.starts_with("thompson_") || one.kind == ExpectationKind::Bar;
    let asked = whole.iter().filter(rests_on).filter(|one| one.all_of.is_empty());
    assert!(asked.map(|one| one.id.as_str()).eq(broken().iter().map(|(id, _)| *id)));
    for (id, thompson) in broken() {
        let mut frame = frame(&Sweep { thompson, blocks: 6, ..Sweep::default() });
        // What else is declared is simulated at length.
        frame.run_file.analysis.comparisons.clear();
        frame.run_file.expectations.retain(|one| one.id == id);
        assert_eq!(expected(&of(&frame), id), "fails", "{id}");
    }
}

#[test]
fn other_numbers_give_other_outcomes() {
    let loom_rs = Policy {
        choose_ns: 400.0,
        late: 4,
        late_back: 4,
        sees_240: true,
        throughput: 0.3,
        tick_us: 45.0,
        pressure_us: 9_000.0,
        ..Sweep::default().loom_rs
    };
    let mut frame = frame(&Sweep { loom_rs, ..Sweep::default() });
    frame.run_file.analysis.comparisons.clear();
    let report = of(&frame);
    for (id, word) in [
        ("published_low_overhead", "fails"),
        ("published_starvation_protection", "holds"),
        ("published_fast_learning", "holds"),
        ("published_adapts", "holds"),
        ("published_guardrails_spare_ticks", "fails"),
        ("published_guardrails", "fails"),
        ("published_best_of_both", "fails"),
    ] {
        assert_eq!(expected(&report, id), word, "{id}");
    }
}

#[test]
fn an_interval_over_the_threshold_cannot_tell() {
    let near = Policy { choose_ns: 110.0 * 0.2995, ..Sweep::default().thompson };
    let report = of(&frame(&Sweep { thompson: near, noise: 0.05, ..Sweep::default() }));
    assert_eq!(expected(&report, "bar_warm_decision"), "cannot tell");
}

#[test]
fn without_six_blocks_nothing_holds_and_nothing_fails() {
    let report = of(&frame(&Sweep { blocks: 3, ..Sweep::default() }));
    for row in report.tables["expectations.tsv"].lines().skip(1) {
        let id = row.split('\t').next().unwrap();
        assert_eq!(expected(&report, id), "cannot tell", "{id}");
    }
    assert!(report.whole().contains("cannot tell: `"), "{}", report.whole());
}

/// (test, column that differs in the twin, metrics that rest on it).
const TWINS: [(&str, &str, &[&str]); 4] = [
    ("decide", "batch_ns", &["choose_ns", "cycle_ns"]),
    ("replay", "regret_ns", &["regret_ns", "regret_at_least_1_ns"]),
    ("stream", "elapsed_ns", &["items_per_s"]),
    ("wake", "tick_latency_ns", &["tick_p95_ns", "tick_p99_ns"]),
];

#[test]
fn what_tells_twins_apart_is_withheld_and_nothing_else() {
    for (test, column, metrics) in TWINS {
        let frame = changed(|run, made| {
            if run.variant == "loom_rs_twin" && run.cell["test"] == test {
                scale(made, column, 1.1);
            }
        });
        let report = of(&frame);
        for one in frame.run_file.expectations.iter().filter(|one| one.all_of.is_empty()) {
            let withheld = one.metrics().iter().any(|metric| metrics.contains(metric));
            let outcome = expected(&report, &one.id);
            assert_eq!(outcome == "withheld", withheld, "{test}: {} {outcome}", one.id);
        }
        for (place, comparison) in frame.run_file.analysis.comparisons.iter().enumerate() {
            let table = &report.tables[&format!("differences-{}.tsv", place + 1)];
            let withheld = table.lines().filter(|line| line.contains("\twithheld\t")).count();
            let all = table.lines().count() - 1;
            let wanted = if metrics.contains(&comparison.metric.as_str()) { all } else { 0 };
            assert_eq!(withheld, wanted, "{test}: {}", comparison.metric);
        }
    }
}

#[test]
fn what_the_clean_runs_do_not_share_cannot_be_told() {
    let frame = changed(|run, made| {
        if run.block > 3 {
            made.gated = vec!["steal".to_owned()];
        }
    });
    let report = of(&frame);
    assert_eq!(expected(&report, "thompson_warm_decision"), "cannot tell");
    let why = field(&report, "expectations.tsv", &[("id", "bar_warm_decision")], "why");
    assert_eq!(why, "all runs: holds; runs past the noise gate: cannot tell");
}

#[test]
fn the_oracle_is_no_candidate() {
    let report = &*KNOWN;
    for (name, table) in report.tables.iter().filter(|(name, _)| name.starts_with("differences")) {
        assert!(!table.contains("oracle") && table.contains("thompson"), "{name}");
    }
}

#[test]
fn switch_times_are_a_distribution_with_its_nevers() {
    let report = &*KNOWN;
    let shift = |policy| [("costs", "shift"), ("variant", policy)];
    // Five steps late, of which two may still be missed in the first window that is settled.
    let away = number(report, "replay.tsv", &shift("thompson"), "switch_to_offload_steps");
    let back = number(report, "replay.tsv", &shift("loom_rs"), "switch_to_inline_steps");
    assert_eq!((away, back), (3.0, 250.0));
    let curve = |change, policy| [("change", change), ("policy", policy), ("steps", "200")];
    let never = curve("to inline", "loom_rs");
    assert_eq!(number(report, "switch-times.tsv", &never, "share"), 0.0);
    let always = curve("to offload", "thompson");
    assert_eq!(number(report, "switch-times.tsv", &always, "share"), 1.0);
    assert_eq!(field(report, "switch-times.tsv", &always, "changes"), "16");
}

#[test]
fn a_trajectory_shows_the_turn() {
    let report = &*KNOWN;
    let at = |step: &str| {
        let keys = [("change", "to offload"), ("policy", "thompson"), ("step", step)];
        number(report, "trajectory.tsv", &keys, "offload_share")
    };
    assert_eq!((at("-1"), at("4"), at("5"), at("199")), (0.0, 0.0, 1.0, 1.0));
}

#[test]
fn regret_stands_beside_the_better_fixed_arm() {
    let report = &*KNOWN;
    let bimodal = |policy| [("costs", "bimodal"), ("variant", policy)];
    let over = |policy| number(report, "cost-over-fixed.tsv", &bimodal(policy), "value");
    // Only the oracle knows which call will be long: offloading all is the best fixed arm.
    assert!((over("thompson") - 1.0).abs() < 1e-9 && over("oracle") < 0.5);
    let fixed = field(report, "cost-over-fixed.tsv", &bimodal("thompson"), "better fixed arm");
    assert_eq!(fixed, "always_offload");
    let end = [("costs", "inline_240_offload_30"), ("policy", "thompson"), ("step", "1000")];
    let regret = number(report, "regret.tsv", &end, "regret_ns");
    assert!((regret - 5.0 * 210_500.0).abs() < 5_000.0, "{regret}");
}

#[test]
fn the_best_policy_is_named_with_those_that_are_no_worse() {
    let report = &*KNOWN;
    let mixed = [(
        "work",
        "stream: work mixed, concurrency 1, order ordered, tokio_workers 1, rayon_threads 1",
    )];
    assert_eq!(field(report, "which-policy.tsv", &mixed, "best"), "thompson");
    assert_eq!(field(report, "which-policy.tsv", &mixed, "next"), "ewma");
    let shift = [("work", "replay: costs shift")];
    assert_eq!(field(report, "which-policy.tsv", &shift, "best"), "threshold");
    let bimodal = [("work", "replay: costs bimodal")];
    let tied = field(report, "which-policy.tsv", &bimodal, "tied");
    assert_eq!(tied, "ewma, loom_rs, thompson, threshold");
}

#[test]
fn the_best_ratio_of_threads_is_named_with_those_that_are_no_worse() {
    let report = of(&changed(|run, made| {
        let threads = ["tokio_workers", "rayon_threads"].map(|factor| run.cell[factor].as_str());
        match (run.cell["test"].as_str(), threads) {
            ("stream", ["2", "2"]) => scale(made, "elapsed_ns", 0.5),
            ("wake", ["1", _]) => scale(made, "tick_latency_ns", 0.5),
            _ => {}
        }
    }));
    let stream = [("policy", "thompson"), ("work", "mixed"), ("concurrency", "4")];
    assert_eq!(field(&report, "best-ratio-stream.tsv", &stream, "best"), "2:2");
    assert_eq!(field(&report, "best-ratio-stream.tsv", &stream, "tied"), "");
    let wake = [("policy", "thompson"), ("load", "block_3ms")];
    assert_eq!(field(&report, "best-ratio-wake.tsv", &wake, "best"), "1:2");
    assert!(!report.tables["best-ratio-wake.tsv"].contains("idle"));
}

#[test]
fn starvation_and_pressure_are_told_at_each_load_and_ratio() {
    let report = of(&changed(|run, made| {
        let is_loom = run.variant == "loom_rs";
        if is_loom && run.cell["load"] == "closed_80" {
            made.counters.extend([
                ("strikes", 3),
                ("pressure_last_milli", 2_500),
                ("pressure_mean_milli", 1_500),
                ("pressure_most_milli", 9_000),
            ]);
        } else if is_loom && run.cell["test"] == "stream" {
            made.counters.push(("strikes", 1));
        }
    }));
    let told = |keys: &[(&str, &str)], column| number(&report, "starvation.tsv", keys, column);
    let beside = [("load", "closed_80"), ("policy", "loom_rs")];
    assert_eq!(told(&beside, "starvation_events"), 24.0);
    let index = ["pressure_last", "pressure_mean", "pressure_most"].map(|key| told(&beside, key));
    assert_eq!(index, [2.5, 1.5, 9.0]);
    let threads = [("tokio_workers", "2"), ("rayon_threads", "1"), ("policy", "loom_rs")];
    assert_eq!(told(&threads, "starvation_events"), 8.0);
    // A record from before it was counted has no column of it.
    assert!(!KNOWN.tables["starvation.tsv"].contains("pressure"));
}

#[test]
fn an_oracle_with_regret_is_a_missed_answer() {
    let good = &KNOWN.whole();
    assert!(good.contains("the oracle's regret is 0 in all 72 replays"));
    let frame = changed(|run, made| {
        if run.variant == "oracle" && run.cell["test"] == "replay" {
            made.columns[2].1[3] = 5;
        }
    });
    assert!(of(&frame).whole().contains("**Known answer missed**"));
}

#[test]
fn what_did_not_run_is_no_error() {
    let whole = frame(&Sweep { blocks: 1, ..Sweep::default() });
    for (test, measured) in [
        ("decide", "thompson_warm_decision"),
        ("replay", "thompson_better_arm"),
        ("stream", "thompson_rate_over_oracle"),
        ("wake", "thompson_ticks_1_worker"),
    ] {
        let mut frame = whole.clone();
        frame.rows.retain(|row| row.run.cell["test"] == test);
        let report = of(&frame);
        for one in frame.run_file.expectations.iter().filter(|one| one.all_of.is_empty()) {
            let asks = &one.cells["test"].names()[0];
            let word = if asks == test { "cannot tell" } else { "not measured" };
            assert_eq!(expected(&report, &one.id), word, "{test}: {}", one.id);
        }
        assert_eq!(expected(&report, measured), "cannot tell");
        assert!(report.tables.contains_key(&format!("{test}.tsv")));
    }
    let mut frame = whole;
    frame.rows.retain(|row| row.run.cell["test"] == "decide" && row.run.variant == "loom_rs");
    let report = of(&frame);
    assert!(report.whole().contains("`thompson` has no analysed run"));
    assert!(report.figures.is_empty());
    assert_eq!(expected(&report, "published_adapts"), "not measured");
}

#[test]
fn a_refusal_is_listed_once_and_is_no_failure() {
    let frame = changed(|run, made| {
        if run.variant == "loom_rs" && run.cell["order"] == "unordered" {
            made.unsupported = Some("its streams keep their order".to_owned());
        }
    });
    let report = of(&frame);
    assert_eq!(field(&report, "unsupported.tsv", &[("variant", "loom_rs")], "runs"), "8");
    assert!(report.whole().contains(", failed 0"));
    assert_eq!(expected(&report, "bar_rate_four_unordered"), "not measured");
    assert_eq!(expected(&report, "bar_rate_four_ordered"), "holds");
}

#[test]
fn every_picture_has_its_numbers() {
    let report = &*KNOWN;
    let files: Vec<&str> = report.figures.iter().map(|figure| figure.file.as_str()).collect();
    assert_eq!(files, ["regret.svg", "switch-times.svg", "trajectory.svg", "stalls.svg"]);
    for figure in &report.figures {
        let table = figure.file.replace(".svg", ".tsv");
        assert!(report.tables[&table].lines().count() > 1, "{table}");
    }
}

fn slimmed(frame: &Frame) -> Frame {
    let mut slim = frame.clone();
    for row in &mut slim.rows {
        row.samples = Schedulers.slim(&frame.run_file, &row.run, std::mem::take(&mut row.samples));
    }
    slim
}

#[test]
fn a_slimmed_record_gives_the_same_numbers() {
    let mut frame = frame(&Sweep { blocks: 6, ..Sweep::default() });
    frame.rows.retain(|row| row.run.cell["test"] != "wake");
    let slim = slimmed(&frame);
    assert!(slim.rows.iter().all(|row| !row.samples.columns.contains_key("item_arm")));
    assert_eq!(of(&frame), of(&slim));
}

#[test]
fn slimmed_ticks_keep_their_percentiles_within_a_digit() {
    let frame = frame(&Sweep { blocks: 6, ..Sweep::default() });
    let slim = slimmed(&frame);
    let is_histogram = |column: &Column| matches!(column, Column::Histogram(_));
    assert!(slim.rows.iter().flat_map(|row| row.samples.columns.values()).any(is_histogram));
    let keys = [("load", "block_3ms"), ("tokio_workers", "1"), ("variant", "thompson")];
    let p99 = |frame: &Frame| number(&of(frame), "wake.tsv", &keys, "tick_p99_ns");
    let (full, slim) = (p99(&frame), p99(&slim));
    assert!((slim / full - 1.0).abs() < 0.02, "{full} {slim}");
}

#[test]
fn the_order_of_lines_changes_nothing() {
    let frame = frame(&Sweep { blocks: 2, ..Sweep::default() });
    let mut other = frame.clone();
    other.rows.reverse();
    other.rows.rotate_left(17);
    assert_eq!(of(&frame), of(&other));
}
