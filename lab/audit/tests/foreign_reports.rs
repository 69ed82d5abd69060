//! `audit_document` as a stranger uses it: a report, perhaps its raw runs, no claim file.

use std::fmt::Write;

use lab_audit::{Document, Finding, Mapping, Raw, Severity, audit_document};

fn audit(text: &str) -> Vec<Finding> {
    audit_with(text, &[])
}

fn audit_with(text: &str, raws: &[Raw]) -> Vec<Finding> {
    audit_document(&Document::parse("report.md", text), raws, &Mapping::default())
}

/// The checks that found something, with the line and the severity.
fn found(text: &str) -> Vec<(String, usize, Severity)> {
    let short = |finding: Finding| {
        (finding.check, finding.place.line.unwrap_or_default(), finding.severity)
    };
    audit(text).into_iter().map(short).collect()
}

#[track_caller]
fn only(text: &str, check: &str, line: usize, severity: Severity) {
    assert_eq!(found(text), [(check.to_owned(), line, severity)]);
}

#[test]
fn the_readmes_example_gives_its_two_errors() {
    let findings = audit(include_str!("corpus/example.md"));
    let mut text = String::new();
    for finding in &findings {
        let line = finding.place.line.unwrap();
        writeln!(text, "{line}: {:?}: {}", finding.severity, finding.sentence).unwrap();
    }
    assert_eq!(text, include_str!("corpus/example.txt"));
}

#[test]
fn clean_reports_in_unusual_styles_give_nothing() {
    let reports = [
        include_str!("corpus/clean/baselines.md"),
        include_str!("corpus/clean/go_bench.md"),
        include_str!("corpus/clean/groups.md"),
        include_str!("corpus/clean/hyperfine.md"),
        include_str!("corpus/clean/load_test.md"),
        include_str!("corpus/clean/many_metrics.md"),
        include_str!("corpus/clean/ranking.md"),
        include_str!("corpus/clean/totals.md"),
        include_str!("corpus/clean/transposed.md"),
        include_str!("corpus/clean/versions.md"),
    ];
    for report in reports {
        assert_eq!(found(report), [], "{report}");
    }
}

#[test]
fn statistics_of_one_row_exclude_each_other() {
    let row =
        |cells: &str| format!("| x | mean | median | min | max | sd |\n|-|-|-|-|-|-|\n{cells}\n");
    assert_eq!(found(&row("| a | 5.0 | 4.9 | 4.0 | 6.2 | 0.7 |")), []);
    only(
        &row("| a | 6.4 | 6.0 | 4.0 | 6.2 | 0.7 |"),
        "outside_of_extremes",
        3,
        Severity::Impossible,
    );
    only(&row("| a | 5.0 | 4.9 | 4.0 | 6.2 | 3.1 |"), "sd_beyond_range", 3, Severity::Impossible);
    let percentiles = "| x | P50 | P95 | P99 |\n|-|-|-|-|\n| a | 5 ms | 9 ms | 7 ms |\n";
    only(percentiles, "percentile_order", 3, Severity::Impossible);
    let cv = "| x | mean (ms) | sd (ms) | CV (%) |\n|-|-|-|-|\n| a | 50.0 | 5.0 | 12.0 |\n";
    only(cv, "cv_of_sd_and_mean", 3, Severity::Impossible);
}

#[test]
fn transposed_tables_are_read_by_rows() {
    let clean = include_str!("corpus/clean/transposed.md");
    let wrong = clean.replace("| P95 | 4.41 ms | 1.62 ms |", "| P95 | 4.41 ms | 162 µs |");
    let found = found(&wrong);
    assert!(
        found.contains(&("percentile_order".to_owned(), 10, Severity::Impossible)),
        "{found:?}"
    );
}

#[test]
fn a_cut_off_number_is_not_impossible() {
    let table =
        "| x | run 1 | run 2 | run 3 | mean |\n|-|-|-|-|-|\n| a | 1.0 | 2.0 | 2.0 | 1.6 |\n";
    assert_eq!(found(table), []);
}

#[test]
fn few_values_show_no_high_percentile() {
    let table = "| x | n | P99 (ms) |\n|-|-|-|\n| a | 10 | 7.1 |\n| b | 10 | 7.3 |\n";
    only(table, "n_too_small", 3, Severity::Doubtful);
}

#[test]
fn tests_in_sentences_and_tables() {
    only("It differs, t(18) = 2.5, p = 0.001.", "p_of_t", 1, Severity::Impossible);
    assert_eq!(found("It differs, t(18) = 2.5, p = 0.022."), []);
    let table = "| pair | t | df | p |\n|-|-|-|-|\n| a, b | 2.50 | 18 | 0.022 |\n\
                 | a, c | 1.00 | 18 | <0.001 |\n";
    only(table, "p_of_t", 4, Severity::Impossible);
}

#[test]
fn totals_ranks_and_superlatives() {
    let total =
        "| part | s | n |\n|-|-|-|\n| a | 1.5 | 10 |\n| b | 2.5 | 30 |\n| Total | 4.6 | 40 |\n";
    only(total, "total_row", 5, Severity::Impossible);
    let fastest = "| x | time | note |\n|-|-|-|\n| a | 15 ms | fastest |\n| b | 12 ms | |\n";
    only(fastest, "superlative", 3, Severity::Impossible);
    let products = "| n | time | rate |\n|-|-|-|\n| 1 | 100 ms | 1000 ops/s |\n| 2 | 50 ms | \
                    2000 ops/s |\n| 4 | 25 ms | 4000 ops/s |\n| 8 | 20 ms | 8000 ops/s |\n";
    only(products, "time_times_throughput", 6, Severity::Doubtful);
}

/// Three engines with 20 runs each, whose statistics a report then states.
fn runs() -> Vec<(&'static str, Vec<f64>)> {
    let times = |base: f64| (0..20).map(|run| base + f64::from((run * 7) % 20) / 10.0).collect();
    vec![("alpha", times(20.0)), ("beta", times(31.0)), ("gamma", times(47.0))]
}

fn report(wrong: f64) -> String {
    let mut text = "| Engine | Mean (ms) | Min (ms) | Max (ms) |\n|-|-|-|-|\n".to_owned();
    for (name, times) in runs() {
        let mean = times.iter().sum::<f64>() / 20.0 + if name == "beta" { wrong } else { 0.0 };
        let (low, high) = (times[0], times[0] + 1.9);
        writeln!(text, "| **{name}** | {mean:.2} | {low:.1} | {high:.1} |").unwrap();
    }
    text
}

#[test]
fn a_report_is_compared_with_its_raw_runs() {
    let mut csv = "engine,run,wall_ns\n".to_owned();
    for (name, times) in runs() {
        for (run, time) in times.iter().enumerate() {
            writeln!(csv, "{name},{run},{:.0}", time * 1e6).unwrap();
        }
    }
    let raw = [Raw::parse("runs.csv", &csv).unwrap()];
    assert_eq!(audit_with(&report(0.0), &raw), []);
    let findings = audit_with(&report(0.3), &raw);
    let checks: Vec<&str> = findings.iter().map(|finding| finding.check.as_str()).collect();
    assert_eq!(checks, ["raw_summary"], "{findings:?}");
    assert_eq!(findings[0].severity, Severity::Impossible);
    assert_eq!(findings[0].place.line, Some(4));
}

#[test]
fn a_mapping_says_what_names_do_not() {
    let report = "| Engine | T | U |\n|-|-|-|\n| a | 5.0 | 4.0 |\n";
    let mapping = "[[table]]\n[table.columns]\nT = \"mean\"\nU = \"max\"\n";
    let mapping = Mapping::parse("map.toml", mapping).unwrap();
    let document = Document::parse("r.md", report);
    let findings = audit_document(&document, &[], &mapping);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].check, "outside_of_extremes");
    let wrong = Mapping::parse("map.toml", "tables = 3").unwrap_err().to_string();
    assert!(wrong.starts_with("map.toml is no mapping: "), "{wrong}");
}

#[test]
fn ten_thousand_rows_are_audited() {
    let mut csv = "engine,size,run,wall_ms,rss_mb\n".to_owned();
    for row in 0..10_000 {
        let (engine, size) = (row % 5, row / 5 % 4);
        let noise = f64::from((row * 7919) % 1009) / 100.0;
        writeln!(csv, "e{engine},{size},{row},{:.3},{:.1}", 50.0 + noise, 9.0 + noise).unwrap();
    }
    let raw = [Raw::parse("runs.csv", &csv).unwrap()];
    let report =
        "| Engine | Mean (ms) | P95 (ms) |\n|-|-|-|\n| e0 | 55.0 | 59.5 |\n| e1 | 55.0 | 59.5 |\n";
    audit_with(report, &raw);
}
