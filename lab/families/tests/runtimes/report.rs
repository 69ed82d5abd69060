//! Whole reports of agents, from sweeps whose truth is known.

use super::sweep::{EXPERIMENT, Fake, made, with_reference, world};
use lab_families::runtimes::Runtimes;
use lab_family::Family;
use lab_record::{CardUse, Results, Spread, Status, Writer};
use lab_report::{Frame, Report, ReportError, Row, report};
use proof_kit::world::{expected, field, number};
use proptest::prelude::*;

const TR115: &str = include_str!("../../../../experiments/tr115.toml");
const SERVERS: &str = include_str!("../../../../experiments/tables/tr115-servers.toml");

fn family() -> Vec<Fake> {
    let floor = Fake { slowness: 0.99999, ..Fake::named("floor") };
    let described = Fake::named("async_std");
    with_reference([described, Fake::serial("async_std_as_published"), floor])
}

fn frame_of(experiment: &str, fakes: &[Fake]) -> Frame {
    world(experiment, fakes).frame(&Runtimes, |run| made(fakes, run))
}

fn frame(fakes: &[Fake]) -> Frame {
    frame_of(EXPERIMENT, fakes)
}

fn read(frame: &Frame) -> Report {
    report(frame, &[&Runtimes]).expect("a report")
}

fn outcome(report: &Report, comparison: usize, variant: &str) -> String {
    field(report, &format!("differences-{comparison}.tsv"), &[("variant", variant)], "outcome")
}

/// The experiment with another line in place of one of its own.
fn with(old: &str, new: &str) -> String {
    assert!(EXPERIMENT.contains(old), "{old}");
    EXPERIMENT.replace(old, new)
}

fn comparison(metric: &str, scale: &str, margin: f64) -> String {
    format!(
        "[[analysis.comparisons]]\nmetric = \"{metric}\"\nscale = \"{scale}\"\n\
         margin = {margin:?}\ncells = {{ arrangement = [\"concurrent\"] }}\n[runtimes]"
    )
}

#[test]
fn a_report_of_a_known_sweep() {
    let mut frame = frame(&family());
    let failed = frame.rows.iter_mut().find(|row| !row.run.warmup).expect("a run");
    failed.run.status = Status::Failed;
    failed.run.reason = Some("call 1 of agent 0: connection reset by the server".into());
    insta::assert_snapshot!(read(&frame).whole());
}

#[test]
fn every_metric_of_the_table_is_measured() {
    let limited = with("[runtimes]", "[runtimes]\n    goodput_lag_ms = 1.0");
    let mut frame = frame_of(&limited, &family());
    for row in &mut frame.rows {
        row.run.counters.insert("cpu_total_ns".into(), 1_000_000);
        row.run.counters.insert("server_pacing_error_p50_ns".into(), 1_000);
        row.run.counters.insert("descriptors_left".into(), 0);
        row.run.counters.insert("leaked_tasks".into(), 0);
        // Agents come when they were to, and each call is dropped at its last token.
        for (name, like) in [
            ("agent_due_ns", "agent_start_ns"),
            ("call_dropped_ns", "call_last_token_ns"),
            ("server_left_ns", "call_last_token_ns"),
            ("server_after_drop_tokens", "call_agent"),
        ] {
            let column = row.samples.columns[like].clone();
            row.samples.columns.insert(name.into(), column);
        }
    }
    let study = lab_report::Study::of(&frame, &Runtimes);
    for metric in Runtimes.metrics() {
        let measured = study.all.iter().filter_map(|one| one.value(metric.name)).count();
        assert!(measured > 0, "{}", metric.name);
    }
}

#[test]
fn verdicts_find_what_was_planted() {
    let fakes = with_reference([
        Fake { slowness: 1.02, ..Fake::named("slow") },
        Fake { slowness: 0.95, ..Fake::named("fast") },
        Fake { noise: 0.3, ..Fake::named("noisy") },
        Fake::serial("one_by_one"),
        Fake::named("same"),
    ]);
    let text = with("[runtimes]", &comparison("efficiency_as_published", "difference", 0.01));
    // Ninety pairs; eighteen cannot tell how many runs are slow.
    let report = read(&frame_of(&text.replace("blocks = 6", "blocks = 30"), &fakes));
    let walls = ["slow", "fast", "noisy", "same"].map(|variant| outcome(&report, 1, variant));
    assert_eq!(walls, ["slower", "faster", "cannot tell", "equivalent"]);
    assert_eq!(outcome(&report, 2, "one_by_one"), "slower", "lower efficiency is worse");
    assert_eq!(outcome(&report, 2, "same"), "equivalent");
}

#[test]
fn one_block_gives_no_verdict_and_says_so() {
    let report = read(&frame_of(&with("blocks = 6", "blocks = 1"), &family()));
    assert_eq!(outcome(&report, 1, "async_std"), "cannot tell");
    let why = field(&report, "differences-1.tsv", &[("variant", "async_std")], "why");
    assert_eq!(why, "3 pairs, and 6 are needed");
}

#[test]
fn a_lag_below_the_servers_own_error_is_withheld() {
    let fakes = with_reference([Fake { lag_ns: 33_000, ..Fake::named("lagging") }]);
    let lag = with("[runtimes]", &comparison("delivery_lag_p50_ns", "difference", 500.0));
    let (coarse, mut fine) = (frame_of(&lag, &fakes), frame_of(&lag, &fakes));
    for row in &mut fine.rows {
        row.run.counters.insert("server_pacing_error_p99_ns".into(), 500);
    }
    let (coarse, fine) = (read(&coarse), read(&fine));
    assert_eq!((outcome(&coarse, 2, "lagging"), outcome(&fine, 2, "lagging")), {
        ("withheld".to_owned(), "slower".to_owned())
    });
    let why = field(&coarse, "differences-2.tsv", &[("variant", "lagging")], "why");
    assert!(why.starts_with("server pacing error p99 2 µs exceeds a quarter of"), "{why}");
    assert_ne!(outcome(&coarse, 1, "lagging"), "withheld", "wall time needs no stamps");
}

/// The server errs by 2 µs. A lag that is 3 µs longer is below four times that, the margin of half
/// of 30 µs above.
#[test]
fn a_direction_rests_on_the_estimate_and_equivalence_on_the_margin() {
    let fakes = with_reference([Fake { lag_ns: 33_000, ..Fake::named("lagging") }]);
    let lag = with("[runtimes]", &comparison("delivery_lag_p50_ns", "ratio", 0.5));
    let outcome = |text: &str| outcome(&read(&frame_of(text, &fakes)), 2, "lagging");
    assert_eq!(outcome(&lag), "withheld", "slower, within the margin");
    assert_eq!(outcome(&lag.replace("blocks = 6", "blocks = 30")), "equivalent");
}

#[test]
fn a_verdict_that_the_clean_runs_do_not_share_is_cannot_tell() {
    let fakes = with_reference([Fake { slowness: 1.02, ..Fake::named("slow") }]);
    let mut frame = frame(&fakes);
    for row in frame.rows.iter_mut().filter(|row| row.run.block > 1) {
        row.run.gated = vec!["steal".into()];
    }
    assert_eq!(outcome(&read(&frame), 1, "slow"), "cannot tell");
}

#[test]
fn failures_never_count_as_fast_runs() {
    let mut frame = frame(&with_reference([Fake::named("flaky")]));
    for row in frame.rows.iter_mut().filter(|row| row.run.variant == "flaky") {
        row.run.status = Status::Failed;
        row.run.counters.insert("wall_ns".into(), 1);
    }
    let report = read(&frame);
    assert!(report.whole().contains("**`flaky` has no analysed run**"), "{}", report.whole());
    assert!(report.whole().contains("Failed runs: 37."), "{}", report.whole());
}

#[test]
fn one_variant_alone_still_has_a_report() {
    let alone = with("twin = \"tokio_default\"", "");
    let report = read(&frame_of(&alone, &with_reference([])));
    assert!(
        report.whole().contains("* Only the reference ran, without an A/A."),
        "{}",
        report.whole()
    );
    assert!(report.whole().contains("this sweep has no twin"));
}

#[test]
fn no_run_at_all_is_one_clear_error() {
    let mut frame = frame(&family());
    frame.rows.clear();
    let error = report(&frame, &[&Runtimes]).unwrap_err();
    assert_eq!(error, ReportError::NoRuns { experiment: "made-up".into() });
}

#[test]
fn free_lengths_teach_the_lesson() {
    let free = with("\"paired\"", "\"unpaired\"").replace("\"controlled\"", "\"as_published\"");
    let report = read(&frame_of(&free, &family()));
    assert!(report.whole().contains("# The lesson"));
    assert_eq!(number(&report, "lesson.tsv", &[("config", "hetero")], "pool"), 12.0);
    let answer = "\n\nThe means of two groups of 5 runs of one program differ by over 1 pp in ";
    assert!(report.markdown.contains(answer), "{}", report.markdown);
    let few = read(&frame_of(&free.replace("blocks = 6", "blocks = 2"), &family()));
    assert!(few.whole().contains("# The lesson") && !few.markdown.contains(answer));
    assert!(!read(&frame(&family())).markdown.contains(answer));
}

#[test]
fn the_score_follows_the_lengths_of_replies() {
    let report = read(&frame(&family()));
    assert!(
        report.whole().contains(
            "the published score and the balance of the agents' token counts correlate by"
        )
    );
    let scores: Vec<f64> = report.tables["lowest.tsv"]
        .lines()
        .skip(1)
        .map(|line| line.split('\t').nth(1).unwrap().parse().unwrap())
        .collect();
    assert!(scores.is_sorted() && scores.len() == 10, "{scores:?}");
}

#[test]
fn a_published_variant_stands_beside_the_figures_of_its_runtime() {
    let report = read(&frame(&family()));
    for variant in ["async_std", "async_std_as_published"] {
        let said = number(&report, "published.tsv", &[("variant", variant)], "published_mean");
        assert_eq!(said, 0.5);
    }
    let servers = world(EXPERIMENT, &family()).attachments["servers"].clone();
    // Of no use beside means over other configurations.
    for without in [servers.replace("[published", "[x"), servers.replace("{ hetero =", "{ other =")]
    {
        let mut frame = frame(&family());
        frame.run_file.attachments.insert("servers".into(), without);
        assert!(!read(&frame).tables.contains_key("published.tsv"));
    }
}

#[test]
fn equal_configurations_are_a_second_aa() {
    let report = read(&frame(&family()));
    let second = "Second A/A, `gpu100` minus `ctx512`";
    assert!(report.whole().contains(second), "{}", report.whole());
    assert!(!report.whole().contains("minus `hetero`"));
}

#[test]
fn every_picture_has_its_numbers() {
    let report = read(&frame(&family()));
    for figure in &report.figures {
        let table = figure.file.replace(".svg", ".tsv");
        assert!(report.tables[&table].lines().count() > 1, "{table}");
        assert!(figure.caption.contains("time scaled 1/1000"), "{}", figure.caption);
    }
    assert_eq!(report.figures.len(), 5);
}

#[test]
fn a_stored_sweep_gives_the_report_of_the_one_in_memory() {
    let frame = frame_of(&with("blocks = 6", "blocks = 1"), &family());
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("stored-sweep");
    let _ = std::fs::remove_dir_all(&dir);
    let mut writer = Writer::create(&dir, &frame.run_file).unwrap();
    for row in &frame.rows {
        writer.run(row.run.clone(), &row.samples).unwrap();
    }
    // The last one says how many rows there were.
    for session in &frame.sessions {
        writer.session(session).unwrap();
    }
    let mut loaded = Frame::load(&Results::load(&dir).unwrap()).unwrap();
    assert!(loaded.head.take().is_some(), "what is stored is chained");
    assert_eq!(read(&loaded), read(&frame));
}

#[test]
fn a_real_server_stamps_nothing_and_is_reported_all_the_same() {
    let real = with("\"paced\"\n    table", "\"given\"\n    table").replace("0.001", "1.0");
    let mut frame = frame_of(&real, &family());
    for row in &mut frame.rows {
        row.run.counters.retain(|name, _| !name.starts_with("server_pacing"));
        row.samples
            .columns
            .retain(|name, _| !name.starts_with("server_") && name != "token_sent_ns");
    }
    let report = read(&frame);
    assert!(report.whole().contains("These servers stamp no token"));
    assert!(report.whole().contains("keep no schedule of ours"));
    assert!(!report.whole().contains("Second A/A"), "a real server reads every option");
    assert!(report.tables["loss.tsv"].lines().count() > 1);
    // All replies are equally long here, so nothing is taken off.
    let keys = [("variant", "async_std"), ("metric", "tokens_per_s_pooled")];
    let rate = |column: &str| number(&report, "rates-at-equal-lengths.tsv", &keys, column);
    assert_eq!((rate("equal_share"), rate("adjusted")), (1.0, rate("ratio")));
    let simulated = |report: &Report| report.whole().contains("(simulated servers, ");
    assert!(!simulated(&report) && simulated(&read(&frame_of(EXPERIMENT, &family()))));
    assert_eq!(outcome(&report, 1, "async_std"), "cannot tell");
    let why = field(&report, "differences-1.tsv", &[("variant", "async_std")], "why");
    assert!(why.starts_with("typical run equivalent, tail unknown"), "{why}");
}

#[test]
fn a_repeat_that_the_gate_allowed_makes_no_second_pair() {
    let mut frame = frame(&with_reference([Fake::named("same")]));
    let is_same = |row: &&mut Row| row.run.variant == "same" && !row.run.warmup;
    let disturbed = frame.rows.iter_mut().find(is_same).unwrap();
    disturbed.run.gated = vec!["steal 7 %".into()];
    let mut repeat = disturbed.clone();
    repeat.run.attempt = 1;
    repeat.run.gated.clear();
    frame.rows.push(repeat);
    let report = read(&frame);
    assert_eq!(number(&report, "differences-1.tsv", &[("variant", "same")], "n"), 18.0);
    assert!(report.whole().contains("1 run disturbed from outside (steal 1)"));
}

#[test]
fn an_exported_report_differs_only_by_the_histograms_rounding() {
    let frame = frame_of(&with("blocks = 6", "blocks = 2"), &family());
    let mut slim = frame.clone();
    for row in &mut slim.rows {
        let samples = std::mem::take(&mut row.samples);
        row.samples = lab_report::FamilyReport::slim(&Runtimes, &frame.run_file, &row.run, samples);
    }
    let (full, slim) = (read(&frame), read(&slim));
    for table in ["efficiency.tsv", "loss.tsv", "values-1.tsv", "tokens.tsv", "speedups.tsv"] {
        assert_eq!(full.tables[table], slim.tables[table], "{table}");
    }
    assert!(slim.whole().contains("as HDR histograms of 2 digits"));
    assert_eq!(full.tables["lag.tsv"].lines().count(), slim.tables["lag.tsv"].lines().count());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn the_order_of_lines_changes_nothing(step in 1_u64..1000) {
        let frame = frame_of(&with("blocks = 6", "blocks = 2"), &family());
        let mut shuffled = frame.clone();
        shuffled.rows.sort_by_key(|row| row.run.order * step % 1009);
        prop_assert_eq!(read(&frame), read(&shuffled));
    }
}

/// One server for both agents beside one each, as TR113 asks.
fn with_servers() -> String {
    let cells = "servers = [\"2\"]\n[[cells]]\nconfig = [\"hetero\", \"ctx512\", \"gpu100\"]\n\
                 arrangement = [\"concurrent\"]\nservers = [\"1\"]\n[analysis]\n";
    let contrasts = ["wall_ns", "tokens_per_s_pooled", "cpu_per_token_ns"].map(|metric| {
        format!(
            "[[analysis.contrasts]]\nid = \"{metric}_with_a_server_each\"\nmargin = 0.05\n\
             variant = \"tokio_default\"\nmetric = \"{metric}\"\nfactor = \"servers\"\n\
             level = \"2\"\nreference = \"1\"\nscale = \"ratio\"\n\
             cells = {{ arrangement = [\"concurrent\"] }}\n"
        )
    });
    with("[analysis]", cells).replace("[runtimes]", &(contrasts.concat() + "[runtimes]"))
}

/// With one server the agents take turns.
fn with_servers_made(fakes: &[Fake], run: &lab_plan::PlannedRun) -> proof_kit::world::Made {
    let mut fakes = fakes.to_vec();
    if run.cell["servers"] == "1" {
        fakes.iter_mut().for_each(|fake| fake.slowness *= 2.0);
    }
    made(&fakes, run)
}

#[test]
fn where_only_the_reference_ran_its_contrasts_come_first() {
    let fakes = with_reference([]);
    let text = with_servers();
    let frame = world(&text, &fakes).frame(&Runtimes, |run| with_servers_made(&fakes, run));
    let report = read(&frame);
    let opening = &report.markdown;
    let twin =
        "\n* Only the reference and its twin ran; on wall time: A/A (`tokio_default_twin`): ";
    assert!(opening.contains(twin), "{opening}");
    let answer = "\n\nWith servers 2 `tokio_default` takes ";
    let answer = opening.find(answer).map(|start| &opening[start + 2..]).expect(opening);
    let answer = answer.lines().next().unwrap();
    assert!(answer.ends_with(" less wall time than with servers 1."), "{answer}");
    let sentence = "* Wall time with servers 2 against 1: -";
    let line = opening.lines().find(|line| line.starts_with(sentence)).expect(opening);
    assert!(line.ends_with("faster (`wall_ns_with_a_server_each`)."), "{line}");
    // One server for both, too, is held against agents that were alone.
    let efficiency = |config: &str| {
        let keys = [("variant", "tokio_default"), ("config", config)];
        number(&report, "cells-efficiency_true.tsv", &keys, "median")
    };
    let ratio = efficiency("hetero servers=2") / efficiency("hetero servers=1");
    assert!((1.8..2.0).contains(&ratio), "{ratio}");
}

#[test]
fn a_lab_that_tells_twins_apart_withholds() {
    let expect = |id: &str, metric: &str| {
        format!(
            "[[expect]]\nid = \"{id}\"\nkind = \"check\"\nsays = \"-\"\nat_most = 1e12\n\
             cells = {{ arrangement = \"concurrent\" }}\n\
             value = {{ variant = \"same\", metric = \"{metric}\" }}\n"
        )
    };
    let expectations = expect("wall", "wall_ns") + &expect("cpu", "cpu_per_token_ns");
    let text = with_servers().replace("[runtimes]", &(expectations + "[runtimes]"));
    let mut fakes = with_reference([Fake::named("same")]);
    fakes.push(Fake { slowness: 1.01, ..Fake::named("tokio_default_twin") });
    let made = |run: &lab_plan::PlannedRun| with_servers_made(&fakes, run);
    let report = world(&text, &fakes[..2]).report(&Runtimes, made);
    let contrast = |metric: &str| {
        let id = format!("{metric}_with_a_server_each");
        field(&report, "contrasts.tsv", &[("id", &id)], "outcome")
    };
    assert_eq!(outcome(&report, 1, "same"), "withheld");
    assert_eq!((contrast("wall_ns"), expected(&report, "wall")), {
        ("withheld".to_owned(), "withheld".to_owned())
    });
    // The twin's CPU time is that of its original.
    assert_ne!(contrast("cpu_per_token_ns"), "withheld");
    assert_eq!(expected(&report, "cpu"), "holds");
    assert!(report.whole().contains("**failed** at 0.01"), "{}", report.whole());
}

/// The committed experiment, without columns that have a row per token.
fn tr115(fakes: &[Fake]) -> Report {
    let mut fakes = fakes.to_vec();
    fakes.extend(["tokio_localset", "smol", "smol_1kb"].map(Fake::named));
    let mut world = world(TR115, &fakes);
    world.variants.retain(|(name, _)| !name.ends_with("_twin"));
    world.attachments.insert("servers".into(), SERVERS.into());
    world.report(&Runtimes, |run| {
        let mut made = made(&fakes, run);
        made.columns.retain(|(name, _)| !name.starts_with("token_"));
        made
    })
}

fn outcomes(report: &Report, ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| expected(report, id)).collect()
}

const OF_THE_HARNESS: [&str; 2] = ["async_std_serial_as_published", "async_std_half_as_published"];
const OF_THE_RUNTIME: [&str; 3] = [
    "async_std_serial_by_its_bridge",
    "async_std_half_by_its_bridge",
    "async_std_half_without_the_lock",
];

#[test]
fn a_lock_in_the_harness_is_no_property_of_the_runtime() {
    let report = tr115(&family());
    assert_eq!(outcomes(&report, &OF_THE_HARNESS), ["holds"; 2]);
    assert_eq!(outcomes(&report, &OF_THE_RUNTIME), ["fails"; 3]);
    let contention = ["serial_agents_contend", "parallel_agents_do_not_contend"];
    assert_eq!(outcomes(&report, &contention), ["fails"; 2]);
    assert_eq!(expected(&report, "two_agents_nearly_double"), "fails");
    assert_eq!(expected(&report, "server_keeps_its_pace"), "holds");
}

#[test]
fn a_runtime_that_serializes_bears_the_published_cause_out() {
    let serial = [Fake::serial("async_std"), Fake::serial("async_std_as_published")];
    let report = tr115(&with_reference(serial.into_iter().chain([Fake::named("floor")])));
    assert_eq!(outcomes(&report, &OF_THE_HARNESS), ["holds"; 2]);
    assert_eq!(outcomes(&report, &OF_THE_RUNTIME), ["holds"; 3]);
}

#[test]
fn a_serial_twin_withholds_every_published_statement() {
    let mut fakes = family();
    fakes.push(Fake::serial("tokio_default_twin"));
    let report = tr115(&fakes);
    assert_eq!(outcomes(&report, &OF_THE_HARNESS), ["withheld"; 2]);
    assert_eq!(outcomes(&report, &OF_THE_RUNTIME), ["withheld"; 3]);
    let others =
        ["serial_agents_contend", "parallel_agents_do_not_contend", "two_agents_nearly_double"];
    assert_eq!(outcomes(&report, &others), ["withheld"; 3]);
    assert_eq!(expected(&report, "server_keeps_its_pace"), "holds");
}

#[test]
fn what_the_cards_did_is_told_and_why_it_is_not_known() {
    let mut frame = frame(&family());
    let spread = |median, max| Some(Spread { median, max });
    for row in &mut frame.rows {
        if row.run.cell["config"] == "hetero" {
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
    let report = read(&frame);
    // The twin, too, runs in each of six blocks.
    let runs = 6 * (family().len() + 1);
    let expected = format!(
        "0\tImaginary Card\thetero\tconcurrent\t{runs}\t{}\t0.4\t0.97\t{}\t{}\t1980\t350.5\t600\n",
        5 * runs,
        3u64 << 30,
        4u64 << 30,
    );
    assert!(report.tables["cards.tsv"].contains(&expected), "{}", report.tables["cards.tsv"]);
    assert!(report.whole().contains("Runs without a watched card: no sample fell into the run."));
    let silent = read(&self::frame(&family()));
    assert!(!silent.whole().contains("What the cards did"));
}
