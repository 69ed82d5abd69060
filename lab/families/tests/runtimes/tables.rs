//! Tables of agents, of spread and over the reference, from sweeps whose truth is known.

use super::sweep::{EXPERIMENT, Fake, made, with_reference, world};
use lab_families::runtimes::Runtimes;
use lab_report::{Frame, Report, report};
use proof_kit::world::{field, number};

fn fakes() -> Vec<Fake> {
    let slow = Fake { slowness: 1.02, ..Fake::named("slow") };
    with_reference([slow, Fake::serial("one_by_one")])
}

fn frame_of(experiment: &str) -> Frame {
    world(experiment, &fakes()).frame(&Runtimes, |run| made(&fakes(), run))
}

fn read(frame: &Frame) -> Report {
    report(frame, &[&Runtimes]).expect("a report")
}

/// The rows of a table in which a column holds this.
fn rows_with<'r>(report: &'r Report, table: &str, (column, value): (&str, &str)) -> Vec<&'r str> {
    let mut lines = report.tables[table].lines();
    let header = lines.next().expect("a header");
    let place = header.split('\t').position(|name| name == column).expect(header);
    lines.filter(|line| line.split('\t').nth(place) == Some(value)).collect()
}

fn header<'r>(report: &'r Report, table: &str) -> Vec<&'r str> {
    report.tables[table].lines().next().expect("a header").split('\t').collect()
}

#[test]
fn every_agent_has_its_first_tokens_and_its_rates() {
    let report = read(&frame_of(EXPERIMENT));
    let of = |variant: &str, agent: &str, column: &str| {
        let keys = [("variant", variant), ("config", "hetero"), ("agent", agent)];
        number(&report, "agents.tsv", &keys, column)
    };
    for agent in ["0", "1"] {
        // 20 µs of prefill, then 24 µs a token.
        assert_eq!(of("tokio_default", agent, "ttft_p50_ns"), 20_000.0);
        let rate = of("tokio_default", agent, "tokens_per_s_stream");
        assert!((rate / (1e9 / 24_000.0) - 1.0).abs() < 0.002, "{rate}");
        let slow = of("slow", agent, "tokens_per_s_stream");
        assert!((rate / slow - 1.02).abs() < 0.002, "{rate} {slow}");
        // Waiting for first tokens is part of an agent's time.
        assert!(of("tokio_default", agent, "tokens_per_s") < rate);
        assert_eq!(of("tokio_default", agent, "runs"), 6.0);
    }
}

#[test]
fn agents_with_roles_are_called_by_them() {
    let roles = "agents = 2\n    roles = [\"collector\", \"insight\"]\n";
    let report = read(&frame_of(&EXPERIMENT.replace("agents = 2\n", roles)));
    let keys = [("variant", "slow"), ("config", "hetero"), ("agent", "insight")];
    assert_eq!(number(&report, "agents.tsv", &keys, "ttft_p95_ns"), 20_000.0);
    assert!(rows_with(&report, "agents.tsv", ("agent", "1")).is_empty());
}

#[test]
fn spread_is_told_within_configurations_and_over_all_runs() {
    let report = read(&frame_of(EXPERIMENT));
    let of = |variant: &str, column: &str| {
        number(&report, "within.tsv", &[("variant", variant)], column)
    };
    // One agent after the other: half of the time each, whatever their lengths.
    assert!(of("one_by_one", "sd_max") < 1e-3);
    let reference = |column: &str| of("tokio_default", column);
    assert!(reference("sd_mean") > 0.01 && reference("sd_mean") <= reference("sd_max"));
    assert!(0.0 < reference("cv_min") && reference("cv_min") <= reference("cv_max"));
    assert!(reference("cv") > 0.01);
    let worst = field(&report, "within.tsv", &[("variant", "tokio_default")], "sd_max_config");
    let keys = [("variant", "tokio_default"), ("config", worst.as_str())];
    let sd = number(&report, "cells-efficiency_as_published.tsv", &keys, "sd");
    assert_eq!(sd, reference("sd_max"));
    // The speed-up has the same ends, times two agents.
    for end in ["min", "max"] {
        let share = number(&report, "cells-efficiency_as_published.tsv", &keys, end);
        let times = number(&report, "cells-speed_up_as_published.tsv", &keys, end);
        assert!((times - 2.0 * share).abs() < 1e-12, "{end}: {times} {share}");
    }
}

#[test]
fn variants_stand_over_the_reference_by_cell_and_by_how_equal_the_work_is() {
    let report = read(&frame_of(EXPERIMENT));
    for config in ["hetero", "ctx512", "gpu100"] {
        let keys = [("variant", "slow"), ("config", config)];
        let ratio = number(&report, "over-reference.tsv", &keys, "wall_ns");
        assert!((1.015..1.021).contains(&ratio), "{config}: {ratio}");
    }
    let by_work = |variant: &str, work: &str, column: &str| {
        let keys = [("variant", variant), ("work", work)];
        number(&report, "over-reference-by-work.tsv", &keys, column)
    };
    let halves = ["more equal", "less equal"];
    assert_eq!(halves.map(|work| by_work("slow", work, "n")).iter().sum::<f64>(), 18.0);
    assert!(halves.iter().all(|work| (1.015..1.021).contains(&by_work("slow", work, "wall_ns"))));
    // Who works alone is not slowed down by another agent, and has less to lose by a short one.
    let [more, less] = halves.map(|work| by_work("one_by_one", work, "wall_ns"));
    assert!(less < more && more < 1.0, "{less} {more}");
}

#[test]
fn agents_are_drawn_over_time_with_their_threads_where_records_have_them() {
    let mut frame = frame_of(EXPERIMENT);
    let report = read(&frame);
    let rows = rows_with(&report, "timeline.tsv", ("variant", "one_by_one"));
    // Two agents, two calls each, waiting and streaming.
    assert_eq!(rows.len(), 8);
    let cell = |row: &str, column: &str| {
        let place = header(&report, "timeline.tsv").iter().position(|name| *name == column);
        row.split('\t').nth(place.unwrap()).unwrap().to_owned()
    };
    let of_agent = |agent: &str| -> Vec<&str> {
        rows.iter().filter(|row| cell(row, "agent") == agent).copied().collect()
    };
    let ms = |row: &str, column: &str| cell(row, column).parse::<f64>().unwrap();
    let ended = of_agent("0").into_iter().map(|row| ms(row, "to_ms")).fold(0.0, f64::max);
    let began = of_agent("1").into_iter().map(|row| ms(row, "from_ms")).fold(f64::MAX, f64::min);
    assert!(ended <= began, "one after the other: {ended} {began}");
    assert!(of_agent("1").into_iter().all(|row| cell(row, "thread") == "1"));
    assert!(report.figures.iter().any(|figure| figure.file == "timeline.svg"));

    for row in &mut frame.rows {
        row.samples.columns.remove("call_thread");
    }
    assert!(!header(&read(&frame), "timeline.tsv").contains(&"thread"));
}

#[test]
fn threads_that_wait_and_agents_that_move_are_told_where_records_have_them() {
    let mut frame = frame_of(EXPERIMENT);
    let report = read(&frame);
    // 12 µs of CPU time a token, two tokens in 24 µs, three threads; first and last token cost
    // something, too.
    let keys = [("variant", "tokio_default")];
    let of = |column: &str| number(&report, "costs.tsv", &keys, column);
    assert!((0.2..0.35).contains(&of("threads_busy_share")), "{}", of("threads_busy_share"));
    let rule = "Threads busy for over 80 % of the time (TR115): 0 of";
    assert!(report.whole().contains(rule), "{}", report.whole());
    let told = ["migrations", "queue_depth_mean", "queue_depth_max", "prompt_tokens"];
    assert_eq!(told.map(of), [4.0, 0.5, 2.0, 20.5]);

    for row in &mut frame.rows {
        row.run.counters.retain(|name, _| !name.starts_with("queue_depth"));
        row.samples.columns.remove("agent_migrations");
        row.samples.columns.remove("call_prompt_eval_count");
    }
    let old = read(&frame);
    assert!(told.iter().all(|name| !header(&old, "costs.tsv").contains(name)));
}

#[test]
fn a_record_without_instants_has_no_picture_of_them() {
    let mut frame = frame_of(EXPERIMENT);
    let drawn = |frame: &Frame| -> Vec<String> {
        read(frame).figures.into_iter().map(|figure| figure.file).collect()
    };
    let of_instants = ["efficiency.svg", "tokens.svg", "timeline.svg"];
    assert!(of_instants.iter().all(|file| drawn(&frame).contains(&(*file).to_owned())));
    for row in &mut frame.rows {
        let is_instant = |name: &str| name.starts_with("agent_") || name.starts_with("call_");
        row.samples.columns.retain(|name, _| !is_instant(name) || name == "call_tokens");
    }
    assert!(!drawn(&frame).iter().any(|file| of_instants.contains(&file.as_str())));
    assert!(read(&frame).tables.contains_key("tokens.tsv"));
}
