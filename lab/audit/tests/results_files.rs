//! A document beside its raw runs or results file: linked by names and units, judged whatever
//! the fit.

use lab_audit::{Document, Finding, Mapping, Raw, Severity, audit_document};

fn audit(report: &str, file: &str, raw: &str) -> Vec<Finding> {
    let raws = Raw::tables(file, raw).unwrap();
    audit_document(&Document::parse("r.md", report), &raws, &Mapping::default()).findings
}

#[track_caller]
fn holds(report: &str, file: &str, raw: &str) {
    assert_eq!(audit(report, file, raw), [], "{file}");
}

/// The lines at which a check finds something.
fn lines(report: &str, file: &str, raw: &str, check: &str) -> Vec<usize> {
    let found = audit(report, file, raw);
    let mut lines: Vec<usize> = found
        .iter()
        .filter(|one| one.check == check && one.severity < Severity::Doubtful)
        .filter_map(|one| one.place.line)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

const CSV: &str = "engine,wall_ms\na,10.0\na,12.0\na,14.0\nb,20.0\nb,24.0\nb,22.0\n";

const TABLE: &str = "| Engine | Mean (ms) | SD (ms) |\n|-|-|-|\n| a | 12.0 | 2.00 |\n\
                     | b | 22.0 | 2.00 |\n";

#[test]
fn a_table_that_is_wrong_throughout_is_found() {
    holds(TABLE, "runs.csv", CSV);
    let wrong = TABLE.replace("12.0", "15.0").replace("22.0", "27.0").replace("2.00", "3.50");
    assert_eq!(lines(&wrong, "runs.csv", CSV, "raw_summary"), [3, 4]);
}

#[test]
fn cells_that_raw_rows_give_count_as_checked() {
    let coverage = |report: &str| {
        let raws = Raw::tables("runs.csv", CSV).unwrap();
        audit_document(&Document::parse("r.md", report), &raws, &Mapping::default()).coverage
    };
    let right = coverage(TABLE);
    assert_eq!((right.numbers, right.agree, right.disagree), (4, 4, 0));
    let wrong = coverage(&TABLE.replace("12.0", "15.0"));
    assert_eq!((wrong.numbers, wrong.agree, wrong.disagree), (4, 3, 1));
}

#[test]
fn a_header_alone_is_said_to_have_no_rows() {
    let error = Raw::tables("runs.csv", "engine,wall_ms\n").unwrap_err().to_string();
    assert_eq!(error, "runs.csv has a header and no rows");
}

#[test]
fn the_text_of_go_test() {
    let go = "goos: linux\nBenchmarkFast-8   1000   1000 ns/op\n\
              BenchmarkFast-8   1000   1200 ns/op\n\
              BenchmarkSlow-8   1000   9000 ns/op\nBenchmarkSlow-8   1000   9200 ns/op\nPASS\n";
    let table =
        "| Benchmark | Mean (ns) |\n|-|-|\n| BenchmarkFast | 1100 |\n| BenchmarkSlow | 9100 |\n";
    holds(table, "bench.txt", go);
    let wrong = table.replace("1100", "1900").replace("9100", "4400");
    assert_eq!(lines(&wrong, "bench.txt", go, "raw_summary"), [3, 4]);
}

#[test]
fn the_json_of_jmh() {
    let jmh = r#"[{"jmhVersion":"1.37","benchmark":"org.Sort.fast","mode":"avgt","primaryMetric":
        {"score":2.0,"scoreUnit":"ms/op","rawData":[[1.9,2.1]]}},
        {"jmhVersion":"1.37","benchmark":"org.Sort.slow","mode":"avgt","primaryMetric":
        {"score":8.0,"scoreUnit":"ms/op","rawData":[[7.8,8.2]]}}]"#;
    let table =
        "| Benchmark | Mean (ms) |\n|-|-|\n| org.Sort.fast | 2.0 |\n| org.Sort.slow | 8.0 |\n";
    holds(table, "jmh.json", jmh);
    let wrong = table.replace("2.0", "3.0").replace("8.0", "5.0");
    assert_eq!(lines(&wrong, "jmh.json", jmh, "raw_summary"), [3, 4]);
}

#[test]
fn the_summary_of_k6() {
    let k6 = r#"{"metrics":{"http_req_duration":{"avg":12.5,"min":1.0,"med":11.0,"max":90.0,
        "p(90)":20.0,"p(95)":31.5},"http_reqs":{"count":100,"rate":9.7}}}"#;
    let table = "| Metric | Mean (ms) | P90 (ms) | P95 (ms) |\n|-|-|-|-|\n\
                 | http_req_duration | 12.5 | 20.0 | 31.5 |\n";
    holds(table, "k6.json", k6);
    let wrong = table.replace("12.5", "15.5").replace("31.5", "41.5");
    assert_eq!(lines(&wrong, "k6.json", k6, "differs_from_results"), [3]);
}

/// With numbers that JSON does not have, and a benchmark that failed.
#[test]
fn the_json_of_benchmark_dot_net() {
    let one = |method: &str, parameters: &str, mean: f64| {
        format!(
            r#"{{"Namespace": null, "Type": "T", "Method": "{method}", "Parameters": "{parameters}",
            "Statistics": {{"OriginalValues": [{mean}], "N": 1, "Min": {mean}, "Mean": {mean},
            "Max": {mean}, "Skewness": NaN, "StandardError": -Infinity}}}}"#
        )
    };
    let failed = r#"{"Namespace": null, "Method": "Bad", "Parameters": "", "Statistics": null}"#;
    let file = |benchmarks: &[String]| {
        format!(r#"{{"Title": "t", "Benchmarks": [{}, {failed}]}}"#, benchmarks.join(","))
    };
    let json = file(&[one("Sort", "N=7", 45_678.0), one("Find", "", 1_250.0)]);
    let table = "| Method | Mean [μs] |\n|-|-|\n| Sort | 45.678 |\n| Find | 1.25 |\n";
    holds(table, "bdn.json", &json);
    let wrong = table.replace("45.678", "54.678");
    assert_eq!(lines(&wrong, "bdn.json", &json, "differs_from_results"), [3]);
}

#[test]
fn json_with_numbers_that_it_does_not_have() {
    let json = r#"[{"engine": "a", "wall_ms": 10.0, "rate": NaN}, {"engine": "a", "wall_ms": 14.0},
        {"engine": "b NaN", "wall_ms": 20.0, "rate": Infinity},
        {"engine": "b NaN", "wall_ms": 24.0}]"#;
    let table = "| Engine | Mean (ms) |\n|-|-|\n| a | 12.0 |\n| b NaN | 22.0 |\n";
    holds(table, "runs.json", json);
    let wrong = table.replace("12.0", "15.0").replace("22.0", "27.0");
    assert_eq!(lines(&wrong, "runs.json", json, "raw_summary"), [3, 4]);
}

#[test]
fn the_csv_of_benchmark_dot_net() {
    let csv = "Method;Mean;StdDev\nFast;1.234 ms;0.010 ms\nSlow;5.678 ms;0.020 ms\n";
    let table = "| Method | Mean | StdDev |\n|-|-|-|\n| Fast | 1.234 ms | 0.010 ms |\n\
                 | Slow | 5.678 ms | 0.020 ms |\n";
    holds(table, "bdn.csv", csv);
    let wrong = table.replace("1.234", "1.334").replace("5.678", "6.678");
    assert_eq!(lines(&wrong, "bdn.csv", csv, "differs_from_results"), [3, 4]);
}

#[test]
fn the_json_of_a_serving_benchmark() {
    let json = r#"{"completed":100,"mean_ttft_ms":41.5,"median_ttft_ms":39.0,"p99_ttft_ms":88.1,
        "mean_tpot_ms":9.25}"#;
    let list =
        "# Serving\n\n- Mean TTFT (ms): 41.5\n- P99 TTFT (ms): 88.1\n- Mean TPOT (ms): 9.25\n";
    holds(list, "vllm.json", json);
    let wrong = list.replace("41.5", "14.5").replace("9.25", "7.25");
    assert_eq!(lines(&wrong, "vllm.json", json, "differs_from_results"), [3, 5]);
}

#[test]
fn ratios_beside_times_are_not_held_against_the_only_measured_column() {
    let json = r#"{"results": [{"command": "old", "mean": 0.020, "times": [0.019, 0.021]},
        {"command": "new", "mean": 0.010, "times": [0.009, 0.011]}]}"#;
    let table = "| tool | time, ms | against old |\n|---|---|---|\n| old | 20.0 | 1.00× |\n\
                 | new | 10.0 | 2.00× |\n";
    holds(table, "results.json", json);
    let wrong = table.replace("| 10.0 |", "| 14.0 |");
    assert_eq!(lines(&wrong, "results.json", json, "raw_summary"), [4]);
}

/// The JSON and the Markdown of one run of hyperfine; ours writes the same JSON.
const HYPERFINE: &str = r#"{"results": [
    {"command": "old", "mean": 0.0204, "stddev": 0.0006, "median": 0.0203, "user": 0.01,
     "system": 0.002, "min": 0.0198, "max": 0.0211, "times": [0.0198, 0.0203, 0.0211]},
    {"command": "new", "mean": 0.0102, "stddev": 0.0003, "median": 0.0101, "user": 0.01,
     "system": 0.002, "min": 0.0099, "max": 0.0106, "times": [0.0099, 0.0101, 0.0106]}]}"#;

#[test]
fn every_export_of_one_run_agrees_with_the_others() {
    let markdown = "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n\
                    |:---|---:|---:|---:|---:|\n\
                    | `old` | 20.4 ± 0.6 | 19.8 | 21.1 | 2.00 ± 0.08 |\n\
                    | `new` | 10.2 ± 0.3 | 9.9 | 10.6 | 1.00 |\n";
    let ours = "| Command | Median [ms] | Wall time against the first (interval) | Verdict |\n\
                |:---|---:|:---|:---|\n| `old` | 20.30 | - | reference |\n\
                | `new` | 10.10 | -50.25 % (-51.00 … -49.00) | faster |\n";
    let csv = "command,mean,stddev,median,user,system,min,max\n\
               old,0.0204,0.0006,0.0203,0.01,0.002,0.0198,0.0211\n\
               new,0.0102,0.0003,0.0101,0.01,0.002,0.0099,0.0106\n";
    for page in [markdown, ours] {
        for (file, text) in [("r.json", HYPERFINE), ("r.csv", csv), ("page.md", page)] {
            holds(page, file, text);
        }
    }
    for (file, text) in [("r.json", HYPERFINE), ("r.csv", csv)] {
        let wrong = markdown.replace("20.4 ±", "24.4 ±");
        assert_eq!(audit(&wrong, file, text)[0].place.line, Some(3), "{file}");
        let wrong = ours.replace("10.10", "11.10");
        assert_eq!(audit(&wrong, file, text)[0].place.line, Some(4), "{file}");
    }
    let wrong = markdown.replace("| 9.9 |", "| 9.3 |");
    assert_eq!(lines(&wrong, "page.md", markdown, "differs_from_results"), [4]);
}

#[test]
fn factors_of_two_rows_of_a_results_page() {
    let page = "# tool\n\n| Task | Speed | Memory |\n|---|---|---|\n\
                | read | 300x faster than peer | 200x less |\n";
    let results = "| Task | Client | Mean time | Peak memory | Success |\n\
                   |---|---|---:|---:|---:|\n\
                   | read | tool | 80.0 ms | 10.0 MB | 100 % |\n\
                   | read | peer | 24.0 s | 2.0 GB | 100 % |\n";
    holds(page, "report.md", results);
    let wrong = page.replace("300x", "330x");
    assert_eq!(lines(&wrong, "report.md", results, "compared_with"), [5]);
    let failed = results.replace("2.0 GB | 100 %", "2.0 GB | 0 %");
    let found = audit(page, "report.md", &failed);
    assert_eq!((found.len(), found[0].severity), (1, Severity::Doubtful), "{found:?}");
}

#[test]
fn a_file_that_nothing_can_be_tied_to_is_named() {
    let untied = |report: &str| {
        let raws = Raw::tables("runs.csv", CSV).unwrap();
        audit_document(&Document::parse("r.md", report), &raws, &Mapping::default()).untied
    };
    assert_eq!(untied(TABLE), [""; 0]);
    assert_eq!(untied("| Size | Colour |\n|-|-|\n| big | red |\n"), ["runs.csv"]);
}
