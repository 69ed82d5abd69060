//! `lab import` on files that the tools themselves wrote (`tests/import/`), trimmed of machine
//! names.

mod clusters;
mod goodput;
mod variants;

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use assert_cmd::assert::{Assert, OutputAssertExt};
use predicates::str::contains;
use proof_kit::Attack;
use serde_json::Value;
use tempfile::TempDir;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/import").join(name)
}

fn import(arguments: &[&str]) -> Assert {
    let program = std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap();
    let mut lab = Command::new(program);
    lab.current_dir(fixture(".")).arg("import").args(arguments);
    lab.assert()
}

fn text(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}

/// The lines of the records, and the ns of the first sample.
#[track_caller]
fn read(file: &str) -> (Vec<Value>, f64) {
    let printed = text(&import(&[file]).code(0));
    let mut lines: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Of runs that failed.
    lines.retain(|line| line["endings"].is_null());
    assert!(lines.iter().all(|line| line["schema"] == "lab-unpaired-1"), "{printed}");
    let first = lines[0]["ns"].as_f64().or(lines[0]["mean_ns"].as_f64());
    (lines, first.unwrap())
}

fn names(lines: &[Value]) -> Vec<&str> {
    let mut names: Vec<&str> =
        lines.iter().map(|line| line["benchmark"].as_str().unwrap()).collect();
    names.dedup();
    names
}

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-9, "{value} {expected}");
}

#[test]
fn each_tools_samples_are_nanoseconds_a_call() {
    let (lines, first) = read("hyperfine-old.json");
    assert_eq!((lines.len(), names(&lines)), (24, vec!["sleep 0.002", "sleep 0.004"]));
    near(first, 4_045_128.0);

    let (lines, first) = read("go-old.txt");
    assert_eq!(lines.len(), 24);
    assert_eq!(names(&lines)[1], "example.test/sum.BenchmarkSizes/n=10-2");
    near(first, 1_165.0);

    let (lines, first) = read("google.json");
    assert_eq!((lines.len(), names(&lines)), (12, vec!["BM_Fill/64", "BM_Fill/1024"]));
    near(first, 30.001_264_863_188);

    let (lines, first) = read("google.txt");
    assert_eq!((lines.len(), names(&lines)), (12, vec!["BM_Fill/64", "BM_Fill/1024"]));
    let file = fs::read_to_string(fixture("google.txt")).unwrap();
    let row = file.lines().find(|line| line.starts_with("BM_Fill/64 ")).unwrap();
    let time: f64 = row.split_whitespace().nth(1).unwrap().parse().unwrap();
    near(first, 1e3 * time);

    let (lines, first) = read("pytest.json");
    assert_eq!(names(&lines), ["test_b.py::test_sum", "test_b.py::test_sort"]);
    assert_eq!(lines.len(), 20);
    near(first, 18_096.799_999_511);

    let (lines, first) = read("criterion/sums/squares/100/new/sample.json");
    assert_eq!((lines.len(), names(&lines)), (12, vec!["sums/squares/100"]));
    let file = fs::read_to_string(fixture("criterion/sums/squares/100/new/sample.json"));
    let sample: Value = serde_json::from_str(&file.unwrap()).unwrap();
    near(first, sample["times"][0].as_f64().unwrap() / sample["iters"][0].as_f64().unwrap());
}

/// Two real runs against a paced server, of 20 and of 60 ms to the first token.
#[test]
fn requests_of_a_generator_are_samples_and_its_runs_are_compared() {
    let (lines, first) = read("aiperf-old.jsonl");
    // Two replies were read at one moment, so that it says 0 ms between their tokens: left out.
    assert_eq!((lines.len(), names(&lines)), (34, vec!["first_token", "reply", "mean_gap"]));
    let file = fs::read_to_string(fixture("aiperf-old.jsonl")).unwrap();
    let request: Value = serde_json::from_str(file.lines().next().unwrap()).unwrap();
    near(first, 1e6 * request["metrics"]["time_to_first_token"]["value"].as_f64().unwrap());
    let judged = import(&["aiperf-new.jsonl", "--against", "aiperf-old.jsonl", "--json"]);
    let judged: Value = serde_json::from_str(&text(&judged.code(10))).unwrap();
    let first = &judged["benchmarks"][0];
    assert_eq!((&first["benchmark"], &first["outcome"]), (&"first_token".into(), &"slower".into()));

    let (lines, first) = read("k6.jsonl");
    assert_eq!((lines.len(), names(&lines)), (8, vec!["reply", "first_token"]));
    near(first, 290_241_751.0);

    let (lines, first) = read("guidellm.json");
    assert_eq!((lines.len(), names(&lines)), (6, vec!["first_token", "mean_gap", "reply"]));
    let file: Value =
        serde_json::from_str(&fs::read_to_string(fixture("guidellm.json")).unwrap()).unwrap();
    let request = &file["benchmarks"][0]["requests"]["successful"][0];
    near(first, 1e6 * request["time_to_first_token_ms"].as_f64().unwrap());

    let dir = TempDir::new().unwrap();
    let vllm = dir.path().join("vllm.json");
    fs::write(&vllm, r#"{"completed":2,"ttfts":[0.25,0.0],"itls":[[0.01,0.03],[]]}"#).unwrap();
    let (lines, first) = read(vllm.to_str().unwrap());
    assert_eq!((lines.len(), names(&lines)), (2, vec!["first_token", "mean_chunk_gap"]));
    near(first, 250e6);
    near(lines[1]["ns"].as_f64().unwrap(), 20e6);
}

/// One method in two modes is one time in two units; a fork is a process.
#[test]
fn jmhs_rates_and_histograms_are_times_too() {
    let (lines, first) = read("jmh.json");
    let [rate, time] = names(&lines)[..] else { panic!("{lines:?}") };
    assert_eq!(rate, "example.Sums.sum (thrpt, size=100)");
    assert_eq!(time, "example.Sums.sum (avgt, size=100)");
    let file = fs::read_to_string(fixture("jmh.json")).unwrap();
    let file: Value = serde_json::from_str(&file).unwrap();
    near(first, 1e3 / file[0]["primaryMetric"]["rawData"][0][0].as_f64().unwrap());
    near(lines[8]["ns"].as_f64().unwrap(), {
        1e3 * file[1]["primaryMetric"]["rawData"][0][0].as_f64().unwrap()
    });
    assert_eq!(
        (lines.len(), lines[3]["fork"].as_u64(), lines[4]["fork"].as_u64()),
        (16, Some(0), Some(1))
    );

    let (lines, first) = read("jmh-sample.json");
    assert_eq!(lines.len(), 6);
    // (2166.784 + 2170.88 + 2 · 2179.072 + … + 4050.944) / 10 microseconds.
    near(first, 2_427_699.2);
}

#[test]
fn a_folder_of_criterion_and_its_summary_are_read() {
    let (lines, _) = read("criterion");
    assert_eq!(names(&lines), ["sums/squares/100", "sums/squares/1000"]);
    let (lines, _) = read("criterion/sums/squares/100/new/estimates.json");
    assert_eq!((lines.len(), lines[0]["ns"].is_null()), (1, true));
}

#[test]
fn records_are_read_back_as_they_were() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("r.jsonl");
    for file in ["jmh.json", "go-old.txt", "pytest-no-data.json"] {
        let (lines, _) = read(file);
        fs::write(&path, text(&import(&[file]))).unwrap();
        let (again, _) = read(path.to_str().unwrap());
        let known =
            |line: &Value| (line["benchmark"].clone(), line["tool"].clone(), line["fork"].clone());
        assert!(lines.iter().map(known).eq(again.iter().map(known)), "{again:?}");
        let time = |line: &Value| line["ns"].as_f64().or(line["mean_ns"].as_f64()).unwrap();
        lines.iter().zip(&again).for_each(|(line, again)| near(time(again), time(line)));
    }
}

#[test]
fn verdicts_say_that_drift_is_not_excluded() {
    let judged = import(&["--against", "hyperfine-old.json", "hyperfine-new.json"]).code(11);
    let judged = judged
        .stdout(contains("not interleaved: drift is not excluded; `lab compare` runs both"))
        .stderr(contains("note: sleep 0.004 is in the files of --against alone"));
    assert!(text(&judged).starts_with("sleep 0.002: cannot tell: "), "{}", text(&judged));

    let within = ["hyperfine-old.json", "--reference", "sleep 0.002", "--error-level", "5"];
    let slower = import(&within).code(10);
    slower.stdout(contains(
        "sleep 0.004 against sleep 0.002: slower (not interleaved: drift is not excluded): ",
    ));
}

#[test]
fn the_result_is_json_and_the_same_for_the_same_seed() {
    let arguments = ["--against", "go-old.txt", "go-new.txt", "--json", "--error-level", "5"];
    let judged = import(&arguments);
    let result: Value = serde_json::from_str(&text(&judged)).unwrap();
    assert_eq!(
        (&result["schema"], &result["interleaved"]),
        (&"lab-import-1".into(), &false.into())
    );
    let benchmarks = result["benchmarks"].as_array().unwrap();
    assert_eq!((benchmarks.len(), &benchmarks[0]["outcome"]), (3, &"slower".into()));
    assert_eq!(
        (&benchmarks[0]["samples"], &result["exit"]),
        (&serde_json::json!([8, 8]), &10.into())
    );
    assert!(benchmarks[0]["adjusted_p"].as_f64() >= benchmarks[0]["p"].as_f64());
    assert_eq!(text(&judged), text(&import(&arguments)));
}

/// Repetitions are samples, and rows of statistics are none; a benchmark's name may end as theirs.
#[test]
fn a_table_of_google_benchmark_with_statistics_alone_has_means() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("table");
    let table = "Run on (2 X 2596 MHz CPU s)\n---\n\
        Benchmark                Time             CPU   Iterations UserCounters...\n---\n\
        BM_Sum_mean           21.6 us         19.5 us            6 bytes=1k\n\
        BM_Sum_median         20.7 us         18.1 us            6 bytes=1k\n\
        BM_Sum_stddev         4.92 us         2.76 us            6 bytes=0\n\
        BM_Sum_cv            22.73 %         14.10 %             6 bytes=0.00%\n\
        BM_of_mean            3.00 ms         2.90 ms          100\n\
        BM_Broken             ERROR OCCURRED: 'no file'\n";
    fs::write(&path, table).unwrap();
    let (lines, mean) = read(path.to_str().unwrap());
    assert_eq!(names(&lines), ["BM_Sum", "BM_of_mean"]);
    near(mean, 21_600.0);
    assert!(lines[0]["ns"].is_null(), "{lines:?}");
    near(lines[1]["ns"].as_f64().unwrap(), 3e6);
    import(&[path.to_str().unwrap()]).stdout(contains(r#""endings":{"the error `no file`":1}"#));
}

#[test]
fn what_has_no_spread_is_imported_and_not_judged() {
    for file in ["pytest-no-data.json", "google-aggregates.json"] {
        let (lines, mean) = read(file);
        assert!(lines.len() == 2 && mean > 0.0 && lines[0]["ns"].is_null());
        let judged = import(&["--against", file, file]).code(11);
        judged.stdout(contains("not measured, 0 and 0 samples")).stdout(contains("not judgeable"));
    }
    // Two forks are two samples, however many iterations they had.
    let few = import(&["--against", "jmh.json", "jmh.json"]).code(11);
    few.stdout(contains("2 and 2 processes, of which each counts once, are too few: 5 are needed"));
}

#[test]
fn what_is_broken_is_one_sentence_and_a_code() {
    let dir = TempDir::new().unwrap();
    let sentence = |code, content: &str, expected: &str| {
        let _attack = Attack::on("import", &format!("a file of {content}"));
        let path = dir.path().join("file");
        fs::write(&path, content).unwrap();
        let assert =
            import(&[path.to_str().unwrap()]).code(code).stderr(contains(expected.to_owned()));
        let errors = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert_eq!(text(&assert), "");
    };
    sentence(2, "a table of numbers", "is no result that can be imported");
    sentence(2, "{\"a\": 1}", "is no result that can be imported");
    sentence(4, "{\"results\": [", "is broken JSON: EOF");
    sentence(4, "{\"results\": []}", "holds no finished benchmark");
    let hyperfine =
        |times: &str| format!("{{\"results\": [{{\"command\": \"a\", \"times\": {times}}}]}}");
    sentence(
        4,
        &hyperfine("3"),
        "file: `results[0].times` should be an array, and is another number",
    );
    sentence(4, &hyperfine("[\"x\"]"), "`results[0].times[0]` should be a number above 0");
    sentence(4, &hyperfine("[0, NaN]"), "`results[0].times[0]` should be a number above 0");
    sentence(4, &hyperfine("null"), "`results[0].mean` should be a number above 0, and is nothing");
    sentence(4, "{\"iters\": [1, 2], \"times\": [1]}", "`times` should be as long as `iters`");
    sentence(4, "BenchmarkA-2 10 x ns/op", "file, line 1: expected a number of nanoseconds");
    let google = "Benchmark Time CPU Iterations\nBM_A x ns 1 ns 10";
    sentence(4, google, "file, line 2: expected a time above 0 before its unit");
    let jmh =
        r#"[{"benchmark": "a", "mode": "avgt", "primaryMetric": {"scoreUnit": "fortnights/op"}}]"#;
    sentence(4, jmh, "`[0].primaryMetric.scoreUnit` should be a unit such as `us/op`");
    sentence(4, "{\"schema\": \"lab-unpaired-2\"}", "line 1: expected one sample");
    let google =
        r#"{"context": {}, "benchmarks": [{"name": "a", "real_time": 1, "time_unit": "x"}]}"#;
    sentence(4, google, "`benchmarks[0].time_unit` should be one of ns, us, ms and s");

    import(&["/no/such"]).code(4).stderr(contains("cannot read /no/such"));
    import(&["/dev"]).code(2).stderr(contains("/dev holds no `new/sample.json` of criterion"));
    let nothing = import(&["go-old.txt", "--reference", "x"]).code(2);
    nothing.stderr(contains("there is no benchmark `x`; there are: `example.test/sum.Bench"));
    let apart = import(&["--against", "go-old.txt", "pytest.json"]).code(2);
    apart.stderr(contains("no benchmark has the same name in both"));
    import(&["go-old.txt", "--margin", "0", "--against", "go-new.txt"]).code(2);
}

#[test]
fn a_reader_that_is_gone_changes_no_code() {
    for (arguments, code) in
        [(&["go-old.txt"][..], 0), (&["go-new.txt", "--against", "go-old.txt"], 11)]
    {
        let mut lab = Command::new(std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap());
        lab.current_dir(fixture(".")).arg("import").args(arguments);
        let mut child = lab.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{errors}");
    }
}
