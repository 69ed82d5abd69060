//! Whole reports of the engines family, from searches whose truth is known.

use std::sync::LazyLock;

use super::searches::Searches;
use lab_families::engines::Engines;
use lab_report::{Frame, Report};
use proof_kit::world::{expected, field, number};
use proptest::prelude::*;

fn report(frame: &Frame) -> Report {
    lab_report::report(frame, &[&Engines]).unwrap()
}

/// The report of the searches as planted by default: making it takes a second.
static REPORT: LazyLock<Report> = LazyLock::new(|| Searches::default().report());

fn measured(report: &Report, id: &str) -> f64 {
    number(report, "expectations.tsv", &[("id", id)], "measured")
}

fn near(value: f64, planted: f64) {
    assert!((value / planted - 1.0).abs() < 0.01, "{value} is not {planted}");
}

#[test]
fn a_report_of_known_searches() {
    insta::assert_snapshot!(REPORT.whole());
}

#[test]
fn the_published_statements_are_judged_by_what_was_planted() {
    let report = &*REPORT;
    let outcome = |id| expected(report, id);
    assert_eq!(outcome("smol_before_rayon"), "holds");
    assert_eq!(outcome("smol_before_tokio"), "fails");
    assert_eq!(outcome("smol_is_fastest"), "fails");
    assert_eq!(outcome("one_executor_thread_wins"), "fails");
    assert_eq!(outcome("smol_multi_takes_1_29"), "fails");
    assert_eq!(outcome("rayon_takes_1_15"), "holds");
    assert_eq!(outcome("tokio_takes_1_32"), "fails");
    near(measured(report, "rayon_takes_1_15"), 234.3 / 204.4);
    // 3 ms and 35 MB, on two threads and on one.
    near(measured(report, "one_executor_thread_wins"), 20.5 / 38.0);
}

#[test]
fn searches_as_published_hold_and_one_thread_may_win() {
    let (smol_multi, tokio) = (264.0 / 204.4, 269.3 / 204.4);
    let report = Searches { smol_multi, tokio, scales: false, ..Searches::default() }.report();
    for id in ["smol_is_fastest", "smol_multi_takes_1_29", "rayon_takes_1_15", "tokio_takes_1_32"] {
        assert_eq!(expected(&report, id), "holds", "{id}");
    }
    assert_eq!(expected(&report, "one_executor_thread_wins"), "cannot tell");
}

#[test]
fn one_cpu_cannot_show_what_a_second_thread_does() {
    let searches = Searches::default();
    let mut world = searches.world();
    world.cpus = 1;
    let report = world.report(&Engines, |run| searches.make(run));
    assert_eq!(expected(&report, "one_executor_thread_wins"), "not testable");
    assert_eq!(expected(&report, "rayon_takes_1_15"), "holds");
}

#[test]
fn bars_hold_where_the_formula_says_so() {
    let report = &*REPORT;
    let bar = |id, ratio, outcome: &str| {
        near(measured(report, id), ratio);
        assert_eq!(expected(report, id), outcome, "{id}");
    };
    // The peer and the engine are faster mapped, by as much.
    bar("best_over_ripgrep", 1.25 / 0.8, "holds");
    // In its own case the peer takes half the time.
    bar("best_over_ripgrep_in_case", 0.625 / 0.8, "fails");
    // It reads in one way alone.
    bar("best_over_duckdb", 3.0 / (0.8 * 0.95), "fails");
    bar("best_over_newline_scan", 1.0, "holds");
}

#[test]
fn a_bar_whose_cell_was_not_run_is_not_measured() {
    let mut frame = Searches::default().frame();
    frame.rows.retain(|row| row.run.cell["corpus"] != "gigabyte");
    let report = report(&frame);
    assert_eq!(expected(&report, "best_over_ripgrep"), "not measured");
    assert_eq!(expected(&report, "rayon_takes_1_15"), "holds");
}

#[test]
fn peers_stand_beside_the_floors_count() {
    let report = &*REPORT;
    let cell = ("cell", "gigabyte, zyzzyva, 2 threads");
    let of = |peer, column| number(report, "peers.tsv", &[("program", peer), cell], column);
    assert_eq!(of("ripgrep", "matches_beyond_floor"), 3.0);
    assert_eq!(of("duckdb", "matches_beyond_floor"), 0.0);
    assert_eq!(of("newline_scan", "matches_beyond_floor"), -40.0);
    // A peer counts no bytes, and it read as many as the engines.
    near(of("duckdb", "gigabytes_per_s"), 2.0 / 3.0);
    let read = ("read", "buffered");
    let keys = [("variant", "duckdb"), ("query", "zyzzyva"), ("threads", "2"), read];
    let over = number(report, "peers-over-reference.tsv", &keys, "process_wall_ns");
    near(over, 3.0 / (234.3 / 204.4));
    let judged = report.tables["verdicts-2.tsv"].lines();
    assert!(judged.into_iter().all(|line| !line.starts_with("ripgrep")));
}

#[test]
fn small_corpora_are_won_by_one_thread_and_large_ones_by_many() {
    let report = &*REPORT;
    let win = |report: &Report, corpus: &str, threads: &str, column: &str| {
        let keys = [("corpus", corpus), ("query", "claude"), ("threads", threads)];
        field(report, "wins.tsv", &keys, column)
    };
    assert_eq!(win(report, "small", "1", "winner"), "sequential");
    assert_eq!(win(report, "xlarge", "2", "winner"), "threads");
    assert_eq!(win(report, "xlarge", "2", "runner_up"), "tokio");
    near(win(report, "xlarge", "2", "advantage").parse().unwrap(), 0.9 / 0.8);
    let even = Searches { threads: 0.9, ..Searches::default() }.report();
    assert_eq!(win(&even, "xlarge", "2", "winner"), "tie: threads, tokio");
    let one = Searches { blocks: 1, ..Searches::default() }.report();
    assert_eq!(win(&one, "xlarge", "2", "winner"), "threads? (n = 1)");
}

#[test]
fn the_map_has_small_corpora_and_frequent_words_first() {
    let report = &*REPORT;
    let index = |column: &str, level: &str| {
        number(report, "crossover.tsv", &[(column, level)], &format!("{column}_index"))
    };
    let corpora = ["small", "medium", "large", "xlarge", "gigabyte"];
    assert!(corpora.map(|corpus| index("corpus", corpus)).is_sorted());
    let queries = ["claude", "narwhal", "quokka", "zyzzyva"];
    assert!(queries.map(|query| index("query", query)).is_sorted());
}

#[test]
fn the_map_has_what_several_numbers_of_threads_have() {
    let cells = |table: &str, has: &dyn Fn(&[&str]) -> bool| {
        let rows = REPORT.tables[table].lines().map(|row| row.split('\t').collect::<Vec<_>>());
        rows.filter(|row| has(row)).count()
    };
    let is_of = |name: &'static str| move |row: &[&str]| row.contains(&name);
    for alone in ["tenth", "default"] {
        assert!(cells("wins.tsv", &is_of(alone)) > 0, "{alone}");
        assert_eq!(cells("crossover.tsv", &is_of(alone)), 0, "{alone}");
    }
    for threads in ["1", "2", "4"] {
        assert!(cells("crossover.tsv", &|row| row[0] == threads) > 1, "{threads} threads");
    }
}

#[test]
fn an_order_that_never_changes_has_a_concordance_of_one() {
    let report = Searches { noise: 1e-6, ..Searches::default() }.report();
    let cell = [("cell", "xlarge, quokka, 4 threads")];
    assert_eq!(number(&report, "stability.tsv", &cell, "kendall_w"), 1.0);
    assert_eq!(field(&report, "stability.tsv", &cell, "first"), "threads");
    assert_eq!(number(&report, "stability.tsv", &cell, "firsts"), 10.0);
}

#[test]
fn settings_cost_what_was_planted() {
    let report = &*REPORT;
    let setting = |factor, level, engine, column| {
        let keys = [("factor", factor), ("level", level), ("engine", engine)];
        number(report, "ablations.tsv", &keys, column)
    };
    let smol = |factor, level| setting(factor, level, "smol", "ratio");
    near(smol("prefilter", "off"), 103.0 / 53.0);
    // By the search's own clock: dropping the files takes a second here.
    near(smol("cache", "cold"), 3.0);
    near(smol("chunk", "file"), 65.5 / 53.0);
    near(smol("read", "mmap"), 0.95);
    near(setting("allocator", "jemalloc", "rayon", "ratio"), 0.9);
    // Where nothing was planted, the interval holds 1.
    let end = |column| setting("advise", "will_need", "smol", column);
    assert!(end("ratio_low") <= 1.0 && 1.0 <= end("ratio_high"));
    // A setting that is crossed with another one stands in a row of its own.
    let crossed = [
        ("factor", "advise"),
        ("level", "will_need"),
        ("engine", "smol"),
        ("cell", "tenth, quokka, 2 threads, cache cold"),
    ];
    assert_eq!(field(report, "ablations-by-cell.tsv", &crossed, "metric"), "wall_ns");
}

#[test]
fn records_of_a_time_before_a_factor_are_read_without_it() {
    let mut frame = Searches::default().frame();
    frame.rows.retain(|row| row.run.cell["chunk"] == "default");
    for row in &mut frame.rows {
        row.run.cell.remove("chunk");
    }
    let report = report(&frame);
    assert_eq!(expected(&report, "best_over_ripgrep"), "holds");
    assert!(!report.tables["ablations.tsv"].contains("chunk"));
}

#[test]
fn the_roofline_has_its_ceiling_where_the_memory_was_measured() {
    let mut frame = Searches::default().frame();
    let without = report(&frame);
    assert!(without.whole().contains("No session measured the memory's bandwidth"));
    assert!(!without.tables["roofline.tsv"].contains("ceiling"));
    let floors = serde_json::json!({
        "memory_read_bytes_per_s": 10_000_000_000_u64,
        "page_cache_read_bytes_per_s": 4_000_000_000_u64,
    });
    frame.sessions[0].environment.insert("floors".into(), floors);
    let report = report(&frame);
    let threads = [("program", "threads"), ("read", "mmap")];
    let of = |column| number(&report, "roofline.tsv", &threads, column);
    near(of("gigabytes_per_s"), 2.0 / (0.8 * 0.95));
    near(of("memory_share"), of("gigabytes_per_s") / 10.0);
    let kind = |program| field(&report, "roofline.tsv", &[("program", program)], "kind");
    assert_eq!(kind("memory bandwidth"), "ceiling");
    let copied = [("program", "page cache, copied")];
    near(number(&report, "roofline.tsv", &copied, "gigabytes_per_s"), 4.0);
    near(number(&report, "roofline.tsv", &copied, "memory_share"), 0.4);
    // It counts newlines and is no limit: engines pass it.
    assert_eq!(kind("newline_scan"), "peer");
}

#[test]
fn what_a_search_takes_is_read_from_its_counters() {
    let report = &*REPORT;
    let smol = [("program", "smol"), ("cell", "gigabyte, zyzzyva, 2 threads")];
    let phases = |column| number(report, "phases.tsv", &smol, column);
    near(phases("scan_share"), 0.6);
    near(phases("phases_over_search"), 2.0);
    assert_eq!(phases("outside_search_ns"), 900_000.0);
    let resources = |column| number(report, "resources.tsv", &smol, column);
    let parsed = 40.0 / 2_000_000.0;
    near(resources("parsed_share"), parsed);
    near(resources("touched_per_byte"), 1.0 + parsed);
    near(resources("gigabytes_per_s"), 1.0 / 0.503);
    let published = [("program", "smol"), ("cell", "xlarge, claude, default threads")];
    near(number(report, "phases.tsv", &published, "process_wall_ns"), 20.5e6);
}

#[test]
fn a_lab_that_tells_twins_apart_withholds() {
    // Of another metric: the twin's memory is its original's.
    let more = "\n[[expect]]\nid = \"memory\"\nkind = \"check\"\nsays = \"little memory\"\n\
                cells = { threads = \"2\" }\nat_most = 6e6\n\
                value = { variant = \"smol\", metric = \"rss_high_water_bytes\" }\n";
    let report = Searches { twin: 2.0, more, ..Searches::default() }.report();
    let outcomes = |table: &str, keys: [&str; 2]| -> Vec<(String, String)> {
        let text = &report.tables[table];
        let header: Vec<&str> = text.lines().next().unwrap().split('\t').collect();
        let places = keys.map(|key| header.iter().position(|name| *name == key).unwrap());
        let rows = text.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
        rows.map(|row| (row[places[0]].to_owned(), row[places[1]].to_owned())).collect()
    };
    for (id, outcome) in outcomes("expectations.tsv", ["id", "outcome"]) {
        let is_of_memory = id == "memory";
        assert_eq!(outcome, if is_of_memory { "holds" } else { "withheld" }, "{id}");
    }
    for table in ["verdicts-1.tsv", "verdicts-2.tsv"] {
        for (variant, outcome) in outcomes(table, ["variant", "outcome"]) {
            assert_eq!(outcome, "withheld", "{table} {variant}");
        }
    }
}

#[test]
fn an_outcome_that_the_clean_runs_do_not_share_is_cannot_tell() {
    let mut frame = Searches::default().frame();
    for row in frame.rows.iter_mut().filter(|row| row.run.block > 3) {
        row.run.gated = vec!["steal".into()];
    }
    assert_eq!(expected(&report(&frame), "rayon_takes_1_15"), "cannot tell");
}

#[test]
fn what_is_missing_is_named_and_no_error() {
    let mut frame = Searches::default().frame();
    let whole = frame.clone();
    frame.rows.retain(|row| row.run.variant == "smol" && row.run.cell["threads"] == "1");
    let smol = report(&frame);
    assert_eq!(expected(&smol, "rayon_takes_1_15"), "not measured");
    assert!(smol.whole().contains("**`threads` has no analysed run**"), "{}", smol.whole());
    frame.rows = whole.rows.into_iter().filter(|row| row.run.variant == "duckdb").collect();
    let duckdb = report(&frame);
    assert!(!duckdb.tables.contains_key("wins.tsv"));
    assert!(duckdb.tables.contains_key("peers.tsv"));
}

#[test]
fn runs_without_a_time_of_their_process_are_counted() {
    let mut frame = Searches { blocks: 1, ..Searches::default() }.frame();
    let run = frame.rows.iter_mut().rev().find(|row| row.run.variant == "smol").unwrap();
    run.run.counters.remove("process_wall_ns");
    let report = report(&frame);
    assert!(report.whole().contains("**1 analysed runs have no time by the lab**"));
}

#[test]
fn a_smoke_test_gives_no_verdict() {
    let searches = Searches::default();
    let mut world = searches.world();
    world.profile = Some("quick".to_owned());
    let report = world.report(&Engines, |run| searches.make(run));
    for table in ["expectations.tsv", "verdicts-1.tsv", "phases.tsv"] {
        assert!(!report.tables.contains_key(table), "{table}");
    }
    assert!(report.tables["roofline.tsv"].contains("newline_scan"));
}

#[test]
fn every_picture_has_its_numbers() {
    let report = &*REPORT;
    let files: Vec<&str> = report.figures.iter().map(|figure| figure.file.as_str()).collect();
    assert_eq!(files, ["roofline.svg", "crossover.svg"]);
    for figure in &report.figures {
        let table = figure.file.replace(".svg", ".tsv");
        assert!(report.tables[&table].lines().count() > 1, "{table}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2))]
    #[test]
    fn the_order_of_lines_changes_nothing(shift in 1_usize..1_000) {
        let frame = Searches { blocks: 6, ..Searches::default() }.frame();
        let mut turned = frame.clone();
        turned.rows.rotate_left(shift);
        turned.rows[..500].reverse();
        prop_assert_eq!(report(&frame), report(&turned));
    }
}
