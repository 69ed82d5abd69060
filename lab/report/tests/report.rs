//! Whole reports from sweeps whose truth is known.

mod sweep;

use std::collections::BTreeMap;

use lab_record::{CardUse, Column, Contrast, Pairing, Results, Scale, Spread, Status, Writer};
use lab_report::{Frame, Report, ReportError, report};
use proptest::prelude::*;
use sweep::{Fake, Sweep, on};

fn family() -> Vec<Fake> {
    vec![
        Fake::named("tokio_default"),
        Fake::twin("tokio_default"),
        Fake::named("async_std"),
        Fake { serial: true, ..Fake::named("async_std_as_published") },
        Fake { slowness: 0.99999, ..Fake::named("floor") },
    ]
}

fn against_reference(candidate: Fake) -> Vec<Fake> {
    vec![Fake::named("tokio_default"), Fake::twin("tokio_default"), candidate]
}

fn verdict(report: &Report, comparison: usize, variant: &str) -> String {
    let table = &report.tables[&format!("differences-{comparison}.tsv")];
    let line = table.lines().find(|line| line.split('\t').next() == Some(variant));
    line.and_then(|line| line.split('\t').next_back()).expect("a verdict").to_owned()
}

#[test]
fn a_report_of_a_known_sweep() {
    let mut frame = Sweep::of(family(), 6).frame();
    let failed = &mut frame.rows[3].run;
    failed.status = Status::Failed;
    failed.reason = Some("call 1 of agent 0: connection reset by the server".into());
    frame.rows[8].run.warmup = true;
    insta::assert_snapshot!(report(&frame).unwrap().markdown);
}

#[test]
fn two_percent_more_wall_time_is_slower() {
    let slow = Fake { slowness: 1.02, ..Fake::named("slow") };
    let report = report(&Sweep::of(against_reference(slow), 6).frame()).unwrap();
    assert_eq!(verdict(&report, 1, "slow"), "slower");
}

#[test]
fn less_wall_time_is_faster_and_lower_efficiency_is_worse() {
    let fast = Fake { slowness: 0.95, ..Fake::named("fast") };
    let serial = Fake { serial: true, ..Fake::named("serial") };
    let mut sweep = Sweep::of(against_reference(fast), 6);
    sweep.variants.push(serial);
    sweep.comparisons.push(on("efficiency_as_published", Scale::Difference, 0.01));
    let report = report(&sweep.frame()).unwrap();
    assert_eq!(verdict(&report, 1, "fast"), "faster");
    assert_eq!(verdict(&report, 2, "serial"), "slower");
}

#[test]
fn the_same_program_is_equivalent() {
    let report = report(&Sweep::of(against_reference(Fake::named("same")), 6).frame()).unwrap();
    assert_eq!(verdict(&report, 1, "same"), "equivalent");
}

#[test]
fn too_much_noise_is_cannot_tell() {
    let noisy = Fake { noise: 0.3, ..Fake::named("noisy") };
    let report = report(&Sweep::of(against_reference(noisy), 6).frame()).unwrap();
    assert_eq!(verdict(&report, 1, "noisy"), "cannot tell");
}

#[test]
fn a_lab_that_tells_twins_apart_withholds() {
    let mut variants = against_reference(Fake::named("same"));
    variants[1].slowness = 1.01;
    let report = report(&Sweep::of(variants, 6).frame()).unwrap();
    assert_eq!(verdict(&report, 1, "same"), "withheld");
    assert!(report.markdown.contains("**failed** at 0.01"), "{}", report.markdown);
}

#[test]
fn one_block_gives_no_verdict_and_says_so() {
    let report = report(&Sweep::of(family(), 1).frame()).unwrap();
    assert_eq!(verdict(&report, 1, "async_std"), "nan");
    assert!(report.markdown.contains("none: fewer than 6 pairs (3)"));
}

#[test]
fn a_lag_below_the_servers_own_error_is_withheld() {
    let lagging = Fake { lag_ns: 33_000, ..Fake::named("lagging") };
    let mut sweep = Sweep::of(against_reference(lagging), 6);
    sweep.comparisons = vec![on("delivery_lag_p50_ns", Scale::Difference, 500.0)];
    let (coarse, mut fine) = (sweep.frame(), sweep.frame());
    for row in &mut fine.rows {
        row.run.counters.insert("server_pacing_error_p99_ns".into(), 500);
    }
    assert_eq!(verdict(&report(&coarse).unwrap(), 1, "lagging"), "withheld");
    assert_eq!(verdict(&report(&fine).unwrap(), 1, "lagging"), "slower");
}

#[test]
fn a_verdict_that_the_clean_runs_do_not_share_is_cannot_tell() {
    let slow = Fake { slowness: 1.02, ..Fake::named("slow") };
    let mut frame = Sweep::of(against_reference(slow), 6).frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.block > 0) {
        row.run.gated = vec!["steal".into()];
    }
    assert_eq!(verdict(&report(&frame).unwrap(), 1, "slow"), "cannot tell");
}

#[test]
fn failures_never_count_as_fast_runs() {
    let mut frame = Sweep::of(against_reference(Fake::named("flaky")), 6).frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.variant == "flaky") {
        row.run.status = Status::Failed;
        row.run.counters.insert("wall_ns".into(), 1);
    }
    let report = report(&frame).unwrap();
    assert!(report.markdown.contains("No run pair with `tokio_default` has this metric"));
    assert!(report.markdown.contains("Runs that did not end well: 37."), "{}", report.markdown);
}

#[test]
fn one_variant_alone_still_has_a_report() {
    let frame = Sweep::of(vec![Fake::named("tokio_default")], 2).frame();
    let report = report(&frame).unwrap();
    assert!(report.markdown.contains("cannot be answered from these records"));
    assert!(report.markdown.contains("this sweep has no twin"));
}

#[test]
fn no_run_at_all_is_one_clear_error() {
    let mut frame = Sweep::of(family(), 1).frame();
    frame.rows.clear();
    let error = report(&frame).unwrap_err();
    assert_eq!(error, ReportError::NoRuns { experiment: "made-up".into() });
}

#[test]
fn free_lengths_teach_the_lesson() {
    let sweep = Sweep { pairing: Pairing::Unpaired, ..Sweep::of(family(), 6) };
    let report = report(&sweep.frame()).unwrap();
    assert!(report.markdown.contains("## The lesson"));
    assert!(report.tables.contains_key("lesson.tsv"));
}

#[test]
fn every_picture_has_its_numbers() {
    let report = report(&Sweep::of(family(), 2).frame()).unwrap();
    for figure in &report.figures {
        let table = figure.file.replace(".svg", ".tsv");
        assert!(report.tables[&table].lines().count() > 1, "{table}");
        assert!(figure.caption.contains("time scaled 1/1000"), "{}", figure.caption);
    }
    assert_eq!(report.figures.len(), 4);
}

#[test]
fn a_stored_sweep_gives_the_report_of_the_one_in_memory() {
    let frame = Sweep::of(family(), 1).frame();
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("stored-sweep");
    let _ = std::fs::remove_dir_all(&dir);
    let mut writer = Writer::create(&dir, &frame.run_file).unwrap();
    for session in &frame.sessions {
        writer.session(session).unwrap();
    }
    for row in &frame.rows {
        writer.run(row.run.clone(), &row.samples).unwrap();
    }
    let loaded = Frame::load(&Results::load(&dir).unwrap()).unwrap();
    assert_eq!(report(&loaded), report(&frame));
}

#[test]
fn a_real_server_stamps_nothing_and_is_reported_all_the_same() {
    let mut frame = Sweep::of(family(), 6).frame();
    for row in &mut frame.rows {
        row.run.counters.retain(|name, _| !name.starts_with("server_"));
        let columns = &mut row.samples.columns;
        columns.retain(|name, _| !name.starts_with("server_"));
        if let Some(Column::Raw(sent)) = columns.get_mut("token_sent_ns") {
            sent.fill(-1);
        }
        if let Some(eval) = columns.get("call_eval_ns").cloned() {
            columns.insert("call_server_total_ns".into(), eval);
        }
    }
    let report = report(&frame).unwrap();
    assert!(report.markdown.contains("These servers stamp no token"));
    assert!(report.markdown.contains("keep no schedule of ours"));
    assert!(report.tables["loss.tsv"].lines().count() > 1);
    assert_eq!(verdict(&report, 1, "async_std"), "equivalent");
}

#[test]
fn a_repeat_that_the_gate_allowed_makes_no_second_pair() {
    let mut frame = Sweep::of(against_reference(Fake::named("same")), 6).frame();
    let disturbed = frame.rows.iter_mut().find(|row| row.run.variant == "same").unwrap();
    disturbed.run.gated = vec!["steal 7 %".into()];
    let mut repeat = disturbed.clone();
    repeat.run.attempt = 1;
    repeat.run.gated.clear();
    frame.rows.push(repeat);
    let report = report(&frame).unwrap();
    assert!(report.markdown.contains("| `same` | 18 |"), "{}", report.markdown);
    assert!(report.markdown.contains("1 runs disturbed from outside (steal 1)"));
}

#[test]
fn an_exported_report_differs_only_by_the_histograms_rounding() {
    let frame = Sweep::of(family(), 2).frame();
    let mut slim = frame.clone();
    for row in &mut slim.rows {
        row.samples = lab_report::slim(&row.run, std::mem::take(&mut row.samples));
    }
    let (full, slim) = (report(&frame).unwrap(), report(&slim).unwrap());
    for table in ["efficiency.tsv", "loss.tsv", "values-1.tsv", "tokens.tsv", "speedups.tsv"] {
        assert_eq!(full.tables[table], slim.tables[table], "{table}");
    }
    assert!(slim.markdown.contains("as HDR histograms of 2 digits"));
    assert_eq!(full.tables["lag.tsv"].lines().count(), slim.tables["lag.tsv"].lines().count());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn the_order_of_lines_changes_nothing(seed in any::<u64>()) {
        let frame = Sweep::of(family(), 2).frame();
        let mut shuffled = frame.clone();
        shuffled.rows.sort_by(|a, b| {
            let key = |order: u64| sweep::unit_draw(&[seed, order]);
            key(a.run.order).total_cmp(&key(b.run.order))
        });
        prop_assert_eq!(report(&frame), report(&shuffled));
    }
}

/// Every concurrent run again with one server, in twice the wall time.
fn with_one_server_too(frame: &mut Frame) {
    let mut more = Vec::new();
    for row in frame.rows.iter_mut().filter(|row| row.run.cell.contains_key("arrangement")) {
        let mut once = row.clone();
        row.run.cell.insert("servers".into(), "2".into());
        once.run.cell.insert("servers".into(), "1".into());
        if let Some(wall_ns) = once.run.counters.get_mut("wall_ns") {
            *wall_ns *= 2;
        }
        if once.run.cell["arrangement"] == "concurrent" {
            more.push(once);
        }
    }
    frame.rows.extend(more);
    let contrast = |metric: &str| Contrast {
        name: format!("{metric}_with_a_server_each"),
        variant: "tokio_default".into(),
        metric: metric.into(),
        factor: "servers".into(),
        level: "2".into(),
        reference: "1".into(),
        scale: Scale::Ratio,
        margin: 0.05,
        cells: BTreeMap::from([("arrangement".into(), vec!["concurrent".into()])]),
    };
    frame.run_file.analysis.contrasts = vec![contrast("wall_ns"), contrast("tokens_per_s_pooled")];
}

#[test]
fn a_server_each_against_one_for_both_is_answered_first() {
    let mut frame = Sweep::of(family(), 8).frame();
    with_one_server_too(&mut frame);
    let report = report(&frame).unwrap();
    let answer = report.markdown.lines().find(|line| line.contains("One server for all")).unwrap();
    let said = ["`wall_ns` of `tokio_default`", "-50.0 %", "faster", "+100.0 %", "n = 24"];
    for words in said {
        assert!(answer.contains(words), "{words}: {answer}");
    }
    assert!(report.tables["contrasts.tsv"].contains("wall_ns_with_a_server_each"));
    // One server for both, too, is held against agents that were alone.
    let loss = |servers: &str| {
        let mut lines = report.tables["cells-efficiency_true.tsv"].lines();
        let found = lines.find(|line| {
            line.starts_with("tokio_default\tchimera_hetero") && line.contains(servers)
        });
        found.unwrap().split('\t').nth(5).unwrap().parse::<f64>().unwrap()
    };
    assert!((loss("servers=2") / loss("servers=1") - 2.0).abs() < 1e-3);
}

#[test]
fn what_the_cards_did_is_told_and_why_it_is_not_known() {
    let mut frame = Sweep::of(family(), 2).frame();
    let spread = |median, max| Some(Spread { median, max });
    for row in &mut frame.rows {
        if row.run.cell.get("config").is_some_and(|config| config == "chimera_hetero") {
            row.run.gpu = Some(vec![CardUse {
                card: 0,
                name: "Imaginary Card".into(),
                samples: 5,
                utilisation_percent: spread(40, 97),
                memory_used_bytes: spread(3 << 30, 4 << 30),
                clock_hz: spread(1_980_000_000, 1_980_000_000),
                power_mw: spread(350_500, 600_000),
            }]);
        } else {
            row.run.gpu_reason = Some("no sample fell into the run".into());
        }
    }
    let report = report(&frame).unwrap();
    let runs = 2 * family().len();
    let expected = format!(
        "0\tImaginary Card\tchimera_hetero\tconcurrent\t{runs}\t{}\t0.4\t0.97\t{}\t{}\t\
         1980\t350.5\t600\n",
        5 * runs,
        3u64 << 30,
        4u64 << 30,
    );
    assert!(report.tables["cards.tsv"].contains(&expected), "{}", report.tables["cards.tsv"]);
    assert!(report.markdown.contains("no card was watched: no sample fell into the run."));
    let silent = lab_report::report(&Sweep::of(family(), 2).frame()).unwrap();
    assert!(!silent.markdown.contains("What the cards did"));
}
