//! Whole reports from sweeps whose truth is known.

mod sweep;

use lab_record::{Column, Pairing, Results, Scale, Status, Writer};
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
