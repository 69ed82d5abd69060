//! Whole reports of the engines family, from searches whose truth is known.

mod engines_world;

use engines_world::World;
use lab_report::{Frame, Report, report};
use proptest::prelude::*;

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

const FASTEST: &str = "smol is the fastest of the tested engines";
const ONE_THREAD: &str = "The single-threaded executor is what wins";
const MULTI: &str = "The multi-threaded executor is 29 % slower than the single-threaded one";
const RAYON: &str = "Rayon takes 1.15 times as long as smol";
const TOKIO: &str = "Tokio takes 1.32 times as long as smol";

fn verdict(report: &Report, statement: &str) -> String {
    field(report, "statements.tsv", &[("statement", statement)], "verdict")
}

#[test]
fn a_report_of_known_searches() {
    insta::assert_snapshot!(report(&World::default().frame()).unwrap().markdown);
}

#[test]
fn the_published_statements_are_judged_by_what_was_planted() {
    let report = report(&World::default().frame()).unwrap();
    assert_eq!(verdict(&report, FASTEST), "refuted");
    assert_eq!(verdict(&report, ONE_THREAD), "refuted");
    assert_eq!(verdict(&report, MULTI), "direction only");
    assert_eq!(verdict(&report, RAYON), "reproduced");
    assert_eq!(verdict(&report, TOKIO), "refuted");
    let ratio = number(&report, "statements.tsv", &[("statement", RAYON)], "ratio");
    assert!((ratio - 234.3 / 204.4).abs() < 0.005, "{ratio}");
}

#[test]
fn a_world_as_published_reproduces_and_one_thread_may_win() {
    let world = World {
        smol_multi: 264.0 / 204.4,
        tokio: 269.3 / 204.4,
        scales: false,
        ..World::default()
    };
    let report = report(&world.frame()).unwrap();
    for statement in [FASTEST, MULTI, RAYON, TOKIO] {
        assert_eq!(verdict(&report, statement), "reproduced", "{statement}");
    }
    assert_eq!(verdict(&report, ONE_THREAD), "cannot tell");
}

#[test]
fn the_published_table_is_made_again_beside_its_figures() {
    let report = report(&World::default().frame()).unwrap();
    let of = |engine: &str, column: &str| {
        number(&report, "published.tsv", &[("engine", engine)], column)
    };
    // 3 ms and 35 MB on two threads.
    assert!((of("smol", "median_ns") / 20.5e6 - 1.0).abs() < 0.01);
    assert!((of("smol", "cores_used") - 2.0).abs() < 0.1);
    assert!((of("smol", "published_cores") - 6.75).abs() < 0.01);
    assert!((of("rayon", "published_ratio") - 1.146).abs() < 0.001);
    assert_eq!(of("smol", "n"), 8.0);
    let (min, max) = (of("smol", "min_ns"), of("smol", "max_ns"));
    assert!(min <= of("smol", "median_ns") && of("smol", "median_ns") <= max && max < 20.6e6);
}

#[test]
fn bars_are_met_where_the_formula_says_so() {
    let report = report(&World::default().frame()).unwrap();
    let bar = |peer: &str, column: &str| field(&report, "bars.tsv", &[("peer", peer)], column);
    // Both are faster mapped, by as much.
    let ripgrep: f64 = bar("ripgrep", "measured").parse().unwrap();
    assert!((ripgrep - 1.25 / 0.8).abs() < 0.01, "{ripgrep}");
    assert_eq!(bar("ripgrep", "met"), "met");
    assert_eq!(bar("ripgrep", "engine"), "threads (read mmap)");
    // In its own case the peer takes half the time, and nobody maps there.
    let in_case: f64 = bar("ripgrep --case-sensitive", "measured").parse().unwrap();
    assert!((in_case - 0.625 / 0.8).abs() < 0.01, "{in_case}");
    assert_eq!(bar("ripgrep --case-sensitive", "met"), "not met");
    assert_eq!(bar("ripgrep --case-sensitive", "cell"), "gigabyte, zyzzyva_case, 2 threads");
    assert_eq!(bar("duckdb", "met"), "not met");
    assert_eq!(bar("newline_scan", "met"), "met");
    let elsewhere = World { corpus: "xlarge", ..World::default() };
    let elsewhere = lab_report::report(&elsewhere.frame()).unwrap();
    let met = field(&elsewhere, "bars.tsv", &[("peer", "ripgrep")], "met");
    assert_eq!(met, "not the corpus of the bar");
}

#[test]
fn peers_stand_beside_the_floors_count() {
    let report = report(&World::default().frame()).unwrap();
    let peer = |peer: &str, column: &str| field(&report, "peers.tsv", &[("peer", peer)], column);
    assert_eq!(peer("ripgrep", "counts"), "+3 lines");
    assert_eq!(peer("duckdb", "counts"), "equal");
    assert_eq!(peer("newline_scan", "counts"), "looks for no word");
    assert_eq!(peer("ripgrep", "floor_matches"), "40");
    // A peer counts no bytes, and it read as many as the engines.
    let speed: f64 = peer("duckdb", "gigabytes_per_s").parse().unwrap();
    assert!((speed - 2.0 / 3.0).abs() < 0.02, "{speed}");
}

#[test]
fn small_corpora_are_won_by_one_thread_and_large_ones_by_many() {
    let report = report(&World { threads: 0.9, ..World::default() }.frame()).unwrap();
    let win = |corpus: &str, query: &str, threads: &str, column: &str| {
        let keys = [("corpus", corpus), ("query", query), ("threads", threads)];
        field(&report, "wins.tsv", &keys, column)
    };
    assert_eq!(win("small", "claude", "2", "winner"), "sequential");
    assert_eq!(win("xlarge", "claude", "2", "winner"), "threads");
    assert_eq!(win("xlarge", "claude", "2", "runner_up"), "smol");
    let advantage: f64 = win("xlarge", "claude", "2", "advantage").parse().unwrap();
    assert!((advantage - 1.0 / 0.9).abs() < 0.005, "{advantage}");
    let even = World { threads: 1.0, ..World::default() };
    let even = lab_report::report(&even.frame()).unwrap();
    let keys = [("corpus", "xlarge"), ("query", "zyzzyva"), ("threads", "2")];
    assert_eq!(field(&even, "wins.tsv", &keys, "winner"), "tie: smol, threads");
    let one = lab_report::report(&World { blocks: 1, ..World::default() }.frame()).unwrap();
    let label = field(&one, "wins.tsv", &keys, "winner");
    assert_eq!(label, "cannot tell: threads by the median alone (n = 1)");
}

#[test]
fn an_order_that_never_changes_has_a_concordance_of_one() {
    let report = report(&World { noise: 1e-6, ..World::default() }.frame()).unwrap();
    let smol = [("engine", "threads"), ("cell", "xlarge, claude, 2 threads")];
    assert_eq!(number(&report, "ranks.tsv", &smol, "kendall_w"), 1.0);
    assert_eq!(number(&report, "ranks.tsv", &smol, "firsts"), 8.0);
}

#[test]
fn settings_cost_what_was_planted() {
    let report = report(&World::default().frame()).unwrap();
    let setting = |factor: &str, level: &str, column: &str| {
        let keys = [("factor", factor), ("level", level), ("engine", "smol")];
        field(&report, "ablations.tsv", &keys, column)
    };
    let ratio =
        |factor: &str, level: &str| -> f64 { setting(factor, level, "ratio").parse().unwrap() };
    assert!((ratio("prefilter", "off") - 103.0 / 53.0).abs() < 0.01);
    assert_eq!(setting("prefilter", "off", "reading"), "slower");
    // By the search's own clock: dropping the files takes a second here.
    assert!((ratio("cache", "cold") - 3.0).abs() < 0.01);
    assert_eq!(setting("advise", "will_need", "reading"), "not shown to differ");
    assert_eq!(setting("read", "mmap", "reading"), "faster");
    assert!((ratio("chunk", "file") - 1.25).abs() < 0.06);
    let jemalloc = [("factor", "allocator"), ("level", "jemalloc"), ("engine", "threads")];
    assert!((number(&report, "ablations.tsv", &jemalloc, "ratio") - 0.9).abs() < 0.01);
    assert_eq!(field(&report, "ablations.tsv", &jemalloc, "reference"), "system");
}

#[test]
fn records_of_a_time_before_a_factor_are_read_without_it() {
    let mut frame = World::default().frame();
    for row in &mut frame.rows {
        row.run.cell.remove("chunk");
    }
    frame.rows.retain(|row| row.run.cell["query"] != "zyzzyva_case");
    let report = report(&frame).unwrap();
    assert_eq!(field(&report, "bars.tsv", &[("peer", "ripgrep")], "met"), "met");
    assert!(!report.tables["bars.tsv"].contains("case-sensitive"));
    assert!(report.markdown.contains("Not varied: chunk"), "{}", report.markdown);
}

#[test]
fn the_roofline_has_its_ceilings() {
    let mut frame = World::default().frame();
    let without = report(&frame).unwrap();
    assert!(without.markdown.contains("no session recorded one"));
    let floors = serde_json::json!({ "memory_read_bytes_per_s": 10_000_000_000_u64 });
    frame.sessions[0].environment.insert("floors".into(), floors);
    let report = report(&frame).unwrap();
    let threads = [("program", "threads"), ("read", "mmap")];
    let speed = number(&report, "roofline.tsv", &threads, "gigabytes_per_s");
    assert!((speed - 2.0 / (0.8 * 0.95)).abs() < 0.03, "{speed}");
    assert!(
        (number(&report, "roofline.tsv", &threads, "memory_share") - speed / 10.0).abs() < 1e-9
    );
    let of_scan = number(&report, "roofline.tsv", &threads, "newline_scan_share");
    assert!((of_scan - 1.0).abs() < 0.01, "{of_scan}");
    assert_eq!(field(&report, "roofline.tsv", &[("program", "newline_scan")], "kind"), "ceiling");
    let smol = [("engine", "smol"), ("cell", "gigabyte, zyzzyva, 2 threads")];
    let of = |column| number(&report, "resources.tsv", &smol, column);
    assert!((of("memory_share") - of("gigabytes_per_s") / 10.0).abs() < 1e-9);
    assert!((of("touched_per_byte") - 1.0 - 40.0 / 2_000_000.0).abs() < 1e-9);
}

#[test]
fn phases_sum_to_all_workers_time() {
    let report = report(&World::default().frame()).unwrap();
    let smol = [("engine", "smol"), ("cell", "gigabyte, zyzzyva, 2 threads")];
    assert!((number(&report, "phases.tsv", &smol, "scan_share") - 0.6).abs() < 1e-6);
    assert!((number(&report, "phases.tsv", &smol, "phases_over_search") - 2.0).abs() < 0.01);
    assert_eq!(number(&report, "phases.tsv", &smol, "outside_search_ns"), 900_000.0);
    let parsed = number(&report, "resources.tsv", &smol, "parsed_share");
    assert!((parsed - 40.0 / 2_000_000.0).abs() < 1e-12, "{parsed}");
}

#[test]
fn who_is_missing_is_named() {
    let report = report(&World::default().frame()).unwrap();
    for words in [
        "`io_uring` has no analysed run",
        "**Not in this sweep**: `tokio_async`, `smolscale`, `grep`, `ugrep`, `jq`;",
        "reads as it likes",
        "Runs that did not end well: 0.",
    ] {
        assert!(report.markdown.contains(words), "{words}");
    }
}

#[test]
fn a_lab_that_tells_twins_apart_withholds() {
    let mut frame = World::default().frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.variant == "rayon_twin") {
        *row.run.counters.get_mut("hyperfine_wall_ns").unwrap() *= 2;
    }
    let report = report(&frame).unwrap();
    assert_eq!(verdict(&report, RAYON), "withheld: A/A failed");
    assert!(report.markdown.contains("told two equal programs apart"));
}

#[test]
fn a_verdict_that_the_clean_runs_do_not_share_is_cannot_tell() {
    let mut frame = World::default().frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.block > 2) {
        row.run.gated = vec!["steal".into()];
    }
    let report = report(&frame).unwrap();
    assert_eq!(verdict(&report, RAYON), "cannot tell");
    assert!(report.markdown.contains("runs that passed the noise gate: cannot tell (n = 3)"));
}

#[test]
fn what_is_missing_is_no_error() {
    let mut frame = World::default().frame();
    let whole = frame.clone();
    frame.rows.retain(|row| row.run.variant == "smol" && row.run.cell["threads"] == "1");
    let smol = report(&frame).unwrap();
    assert_eq!(verdict(&smol, RAYON), "not measured");
    assert_eq!(field(&smol, "bars.tsv", &[("peer", "ripgrep")], "met"), "not measured");
    frame.rows = whole.rows.into_iter().filter(|row| row.run.variant == "duckdb").collect();
    assert!(report(&frame).unwrap().markdown.contains("Cannot be said"));
}

#[test]
fn every_picture_has_its_numbers() {
    let report = report(&World::default().frame()).unwrap();
    let files: Vec<&str> = report.figures.iter().map(|figure| figure.file.as_str()).collect();
    assert_eq!(files, ["roofline.svg", "crossover.svg"]);
    for figure in &report.figures {
        let table = figure.file.replace(".svg", ".tsv");
        assert!(report.tables[&table].lines().count() > 1, "{table}");
    }
}

fn shuffled(frame: &Frame, seed: u64) -> Frame {
    let mut shuffled = frame.clone();
    let key = |order: u64| engines_world::unit_draw(&[seed, order]);
    shuffled.rows.sort_by(|a, b| key(a.run.order).total_cmp(&key(b.run.order)));
    shuffled
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]
    #[test]
    fn the_order_of_lines_changes_nothing(seed in any::<u64>()) {
        let frame = World { blocks: 6, ..World::default() }.frame();
        prop_assert_eq!(report(&frame), report(&shuffled(&frame, seed)));
    }
}
