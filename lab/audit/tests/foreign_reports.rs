//! `audit_document` as a stranger uses it: a report, perhaps its raw runs, no claim file.

use std::fmt::Write;

use lab_audit::{Document, Finding, Mapping, Raw, Severity, audit_document};

fn audit(text: &str) -> Vec<Finding> {
    audit_with(text, &[])
}

fn audit_with(text: &str, raws: &[Raw]) -> Vec<Finding> {
    audit_document(&Document::parse("report.md", text), raws, &Mapping::default()).findings
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
    only("It differs, t(18) = 2.5, p = 0.001.", "p_of_test", 1, Severity::Impossible);
    assert_eq!(found("It differs, t(18) = 2.5, p = 0.022."), []);
    let table = "| pair | t | df | p |\n|-|-|-|-|\n| a, b | 2.50 | 18 | 0.022 |\n\
                 | a, c | 1.00 | 18 | <0.001 |\n";
    only(table, "p_of_test", 4, Severity::Impossible);
}

#[test]
fn totals_and_averages_below_their_rows() {
    let total =
        "| part | s | n |\n|-|-|-|\n| a | 1.5 | 10 |\n| b | 2.5 | 30 |\n| Total | 4.6 | 40 |\n";
    only(total, "total_row", 5, Severity::Inconsistent);
    only(&total.replace("4.6", "1.0"), "total_row", 5, Severity::Impossible);
    let list = "| x | Time (ms) |\n|-|-|\n| a | 15.0 |\n| b | 11.0 |\n\n- Mean time: 13.0 ms\n\
                - Max time: 15 ms\n";
    assert_eq!(found(list), []);
    only(&list.replace("time: 13.0", "time: 14.0"), "statistic_of_rows", 6, Severity::Inconsistent);
}

#[test]
fn changes_are_of_the_columns_that_their_names_say() {
    let table = "| Metric | Old | New | Change |\n|-|-|-|-|\n| P50 | 20 ms | 15 ms | -25 % |\n\
                 | P99 | 80 ms | 60 ms | -25 % |\n| Rate | 50 op/s | 65 op/s | +30 % |\n";
    assert_eq!(found(table), []);
    only(&table.replace("+30 %", "+3 %"), "ratio", 5, Severity::Inconsistent);
    // However many are wrong, the names say what they are of.
    let wrong = table.replace("-25 %", "-55 %").replace("+30 %", "+3 %");
    assert_eq!(found(&wrong).len(), 3);
    let speedups = "| x | Time (ms) | Speedup |\n|-|-|-|\n| a | 40 | 1.0x |\n| b | 20 | 3.0x |\n\
                    | c | 20 | 4.0x |\n| d | 10 | 9.0x |\n";
    assert_eq!(found(speedups).len(), 3);
}

#[test]
fn settings_ranks_and_quantisations_explain_nothing() {
    let quantised =
        "| Model | q4_K_M | q8_0 |\n|-|-|-|\n| a | 76.6 | 46.6 |\n| b | 31.2 | 19.8 |\n";
    assert_eq!(found(quantised), []);
    let quarters = "| Year | Q1 | Q2 | Q3 | Q4 |\n|-|-|-|-|-|\n| 2024 | 9 | 7 | 5 | 6 |\n";
    assert_eq!(found(quarters), []);
    let runs = "| Run | Threads | Speedup |\n|-|-|-|\n| 1 | 1 | 1.00x |\n| 2 | 2 | 1.70x |\n\
                | 3 | 4 | 2.10x |\n";
    assert_eq!(found(runs), []);
}

#[test]
fn ranks_follow_the_column_that_the_caption_names() {
    let table = "Ranked by time:\n\n| Rank | x | Time (ms) | Memory (MB) |\n|-|-|-|-|\n\
                 | 1 | a | 10 | 7 |\n| 2 | b | 12 | 5 |\n| 3 | c | 15 | 9 |\n";
    assert_eq!(found(table), []);
    only(&table.replace("| 12 |", "| 9 |"), "rank_order", 7, Severity::Inconsistent);
}

#[test]
fn one_quantity_is_stated_twice() {
    let text = "# Engines\n\n| Engine | Mean (ms) | Runs |\n|-|-|-|\n| alpha | 404.1 | 9 |\n\
                | beta | 559.3 | 9 |\n\n## 2.1 alpha\n\n- Mean: 404.1 ms\n- Cost: $3\n";
    assert_eq!(found(text), []);
    only(&text.replace("Mean: 404.1", "Mean: 440.1"), "stated_twice", 10, Severity::Inconsistent);
    let than = format!("{text}\nThe engine alpha is 38 % faster than beta.\n");
    assert_eq!(found(&than), []);
    only(&than.replace("38 %", "83 %"), "compared_with", 13, Severity::Inconsistent);
}

#[test]
fn tests_beside_their_samples() {
    let text = "| Engine | Runs | Mean (ms) | Std (ms) |\n|-|-|-|-|\n\
                | alpha | 100 | 50.0 | 10.0 |\n\
                | beta | 100 | 60.0 | 10.0 |\n\n\
                **alpha vs beta:**\n- p-value: < 0.001\n\
                - Cohen's d: 1.00\n";
    assert_eq!(found(text), []);
    only(&text.replace("d: 1.00", "d: 1.60"), "test_of_samples", 8, Severity::Inconsistent);
}

#[test]
fn counts_of_a_list_add_up() {
    let list = "- A: 100% (4/4 runs)\n- B: 75% (3/4 runs)\n- Overall: 88% (7/8 runs)\n";
    assert_eq!(found(list), []);
    let wrong = list.replace("88% (7/8 runs)", "75% (6/8 runs)");
    only(&wrong, "total_of_counts", 3, Severity::Inconsistent);
}

#[test]
fn coverage_counts_what_was_checked() {
    let table = "| x | run 1 | run 2 | mean | Δ |\n|-|-|-|-|-|\n| a | 1.0 | 2.0 | 1.5 | 7 % |\n";
    let audit = audit_document(&Document::parse("r.md", table), &[], &Mapping::default());
    assert_eq!((audit.coverage.numbers, audit.coverage.agree, audit.coverage.untied), (4, 1, 1));
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
    let findings = audit_document(&document, &[], &mapping).findings;
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
