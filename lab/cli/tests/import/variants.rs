//! What the tools and their relatives write besides the plain case.

use std::{fs, path::PathBuf, process::Command};

use assert_cmd::assert::{Assert, OutputAssertExt};
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder of files.
pub struct World(TempDir);

impl World {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Gives the name.
    pub fn write(&self, name: &str, text: &str) -> String {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
        name.to_owned()
    }

    pub fn import(&self, args: &[&str]) -> Assert {
        let mut lab = Command::new(std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap());
        lab.current_dir(self.0.path()).arg("import").args(args);
        lab.assert()
    }

    /// Names, and the first time of each.
    fn times(&self, file: &str) -> Vec<(String, f64)> {
        let printed = self.import(&[file]).code(0).get_output().stdout.clone();
        let lines = String::from_utf8(printed).unwrap();
        let mut times: Vec<(String, f64)> = Vec::new();
        for line in lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let name = line["benchmark"].as_str().unwrap().to_owned();
            if times.last().is_none_or(|(last, _)| *last != name) {
                times.push((name, line["ns"].as_f64().unwrap()));
            }
        }
        times
    }
}

#[test]
fn a_benchmark_is_one_set_of_parameters() {
    let world = World::new();
    let result = |size: &str, seconds: f64| {
        json!({"command": "pack", "times": (0..8).map(|at| seconds + f64::from(at) / 1e3)
            .collect::<Vec<_>>(), "parameters": {"size": size, "mode": "x"}})
    };
    let file = |last: f64| {
        json!({"results": [result("1", 0.5), result("10", 1.5), result("99", last)]}).to_string()
    };
    world.write("old.json", &file(4.0));
    world.write("new.json", &file(5.0));
    let names: Vec<String> = world.times("old.json").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names[2], "pack (mode=x, size=99)");
    let judged = world.import(&["--against", "old.json", "new.json"]).code(10);
    judged
        .stdout(contains("pack (mode=x, size=99): slower"))
        .stdout(contains("slower").count(1))
        .stdout(contains("pack (mode=x, size=1): equivalent"));

    // Without parameters their order is all that tells them apart.
    let twice =
        json!({"results": [{"command": "p", "times": [1, 2]}, {"command": "p", "times": [3]}]});
    world.write("twice.json", &twice.to_string());
    assert_eq!(world.times("twice.json"), [("p".to_owned(), 1e9), ("p #2".to_owned(), 3e9)]);
    world.import(&["twice.json"]).stderr(contains("more than one is named `p`"));

    // Settings of Go's format, where they change within a file.
    let run = |allocator: &str, ns: u32| {
        format!("allocator: {allocator}\nBenchmarkNew-2 100 {ns} ns/op\nkey: logged {ns}\n")
    };
    world.write("go.txt", &(run("tls", 70) + &run("pools", 50)));
    let names = world.times("go.txt");
    assert_eq!(names[0], ("BenchmarkNew-2 (allocator=tls)".to_owned(), 70.0));
    assert_eq!(names[1], ("BenchmarkNew-2 (allocator=pools)".to_owned(), 50.0));
    world.write("go.txt", &(run("tls", 70) + &run("tls", 50)));
    assert_eq!(world.times("go.txt").len(), 1);
}

#[test]
fn messages_of_cargo_criterion_have_their_samples() {
    let world = World::new();
    let message = |id: &str, unit: &str, total: f64| {
        json!({"reason": "benchmark-complete", "id": id, "unit": unit, "iteration_count": [2, 4],
            "measured_values": [total, 2.0 * total], "mean": {"estimate": 1.0, "unit": unit},
            "change": {"mean": {"estimate": 0.03, "unit": "%"}}})
        .to_string()
    };
    let group = json!({"reason": "group-complete", "group_name": "g"}).to_string();
    let lines = [message("g/a", "ns", 50.0), message("g/b", "us", 8.0), group];
    world.write("m.jsonl", &(lines.join("\n") + "\n" + &message("g/c", "cycles", 9.0)));
    let expected = [("g/a", 25.0), ("g/b", 4_000.0)];
    assert_eq!(world.times("m.jsonl"), expected.map(|(name, ns)| (name.to_owned(), ns)));
    world.import(&["m.jsonl"]).stderr(contains("`unit` should be a unit of time such as `ns`"));
}

/// A relative change looks like a time.
#[test]
fn a_change_of_criterion_is_no_time() {
    let world = World::new();
    let point = |value: f64| json!({"point_estimate": value, "standard_error": 0.1});
    let time = |value: f64| {
        let (mean, dev) = (point(value), point(3.0));
        json!({"mean": mean, "median": mean, "std_dev": dev, "median_abs_dev": dev}).to_string()
    };
    let change = |value: f64| json!({"mean": point(value), "median": point(value)}).to_string();
    world.write("criterion/hash/new/estimates.json", &time(640.0));
    world.write("criterion/hash/base/estimates.json", &time(600.0));
    world.write("criterion/hash/change/estimates.json", &change(0.07));
    world.write("copied.json", &change(-0.07));
    for file in ["criterion/hash/change/estimates.json", "copied.json"] {
        let refused = world.import(&[file]).code(2).stdout("");
        refused.stderr(contains("holds a relative change of criterion, no time"));
    }
    let all = ["new", "base", "change"].map(|run| format!("criterion/hash/{run}/estimates.json"));
    let all = all.each_ref().map(String::as_str);
    world.write("criterion/hash/new/benchmark.json", r#"{"full_id": "hash"}"#);
    world.write("criterion/hash/new/tukey.json", "[1.0, 2.0, 3.0, 4.0]");
    let beside = ["criterion/hash/new/benchmark.json", "criterion/hash/new/tukey.json"];
    world.import(&[&all[..], &beside].concat()).code(0).stderr(contains("no time of criterion's"));
    let printed = world.import(&all).code(0).stderr(contains("no time; left out"));
    printed.stdout(contains("640.0").and(contains("600.0")).and(contains("0.07").not()));

    // The run before is not counted with the last one, nor a mean with its samples.
    let sample = |ns: f64| {
        let iters: Vec<f64> = (1..12).map(f64::from).collect();
        let times: Vec<f64> =
            iters.iter().map(|count| count * ns * (1.0 + 0.002 * count.sin())).collect();
        json!({"iters": iters, "times": times}).to_string()
    };
    for run in ["new", "base"] {
        world.write(&format!("criterion/hash/{run}/sample.json"), &sample(640.0));
    }
    world.write("old/hash/new/sample.json", &sample(500.0));
    let [new, base, _] = all;
    let samples = ["criterion/hash/new/sample.json", "criterion/hash/base/sample.json"];
    let old = "old/hash/new/sample.json";
    let args = [&["--against", old, new, base], &samples[..]].concat();
    let judged = world.import(&args).code(10);
    judged
        .stdout(contains("11 and 11 samples of one process a side"))
        .stderr(contains("left out: `new/sample.json` says the same or later"));
}

#[test]
fn what_is_no_number_is_named_and_the_rest_is_read() {
    let world = World::new();
    let entry = |name: &str, time: &str| {
        format!(
            r#"{{"name": "{name}", "real_time": {time}, "time_unit": "ms", "misses": NaN,
            "per_second": -Infinity}}"#
        )
    };
    let google = |entries: &[String]| {
        format!(
            r#"{{"context": {{"library_build_type": "debug", "cpu_scaling_enabled": true}},
            "benchmarks": [{}]}}"#,
            entries.join(",")
        )
    };
    let file = google(&[entry("BM_a", "2.5"), entry("BM_a", "NaN"), entry("BM_NaN", "1.5")]);
    world.write("g.json", &file);
    let read = world.import(&["g.json"]).code(0);
    read.stderr(contains(
        "note: g.json: `benchmarks[1].real_time` should be a number above 0, and is null or no \
         number; left out",
    ))
    .stderr(contains("the benchmark library was built for debugging"))
    .stderr(contains("CPU scaling was on"));
    assert_eq!(world.times("g.json"), [("BM_a".to_owned(), 2.5e6), ("BM_NaN".to_owned(), 1.5e6)]);

    let table = "***WARNING*** CPU scaling is enabled, the benchmark real time measurements may be \
        noisy\nRun on (4 X 2100 MHz CPU s)\n***WARNING*** Library was built as DEBUG.\n\
        Benchmark Time CPU Iterations\nBM_b 5 ms 5 ms 10\n";
    world.write("g.txt", table);
    let read = world.import(&["g.txt"]).code(0).stderr(contains("built for debugging"));
    read.stderr(contains("CPU scaling was on")).stdout(contains(r#""MHz":"2100""#));

    let stats = r#"{"data": [0.5, 0.25], "ops": Infinity, "mean": 0.375}"#;
    let pytest = format!(
        r#"{{"machine_info": {{}}, "benchmarks": [{{"fullname": "t::a", "stats": {stats}}},
        {{"fullname": "t::b", "stats": {{"mean": NaN}}}}]}}"#
    );
    world.write("p.json", &pytest);
    world.import(&["p.json"]).code(0).stderr(contains("`benchmarks[1].stats.mean`"));
    assert_eq!(world.times("p.json"), [("t::a".to_owned(), 5e8)]);

    // Many are counted.
    let times = [vec!["0"; 9], vec!["1"; 3]].concat().join(",");
    let file = format!(r#"{{"results": [{{"command": "c", "times": [{times}]}}]}}"#);
    world.write("h.json", &file);
    let read = world.import(&["h.json"]).code(0).stdout(contains("\n").count(3));
    read.stderr(contains("`results[0].times[2]`").and(contains("6 more are left out")));
}

#[test]
fn units_of_relatives_are_times_too() {
    let world = World::new();
    let jmh = |mode: &str, unit: &str, score: f64| {
        json!([{"benchmark": "K.k", "mode": mode, "params": {"n": 3},
            "primaryMetric": {"scoreUnit": unit, "rawData": [[score]]}}])
        .to_string()
    };
    for (mode, unit, score, ns) in [
        ("thrpt", "ops/sec", 250.0, 4e6),
        ("avgt", "sec/op", 0.25, 2.5e8),
        ("avgt", "µs/op", 7.0, 7e3),
        ("avgt", "millis/op", 7.0, 7e6),
        ("ss", "min/op", 2.0, 1.2e11),
    ] {
        world.write("k.json", &jmh(mode, unit, score));
        assert_eq!(world.times("k.json"), [(format!("K.k ({mode}, n=3)"), ns)]);
        world.import(&["k.json"]).stderr("");
    }
    world.write("k.json", &jmh("avgt", "ops/ms", 5.0));
    assert_eq!(world.times("k.json")[0].1, 2e5);
    let note = "the mode is avgt and the unit ops/ms, read as a rate";
    world.import(&["k.json"]).stderr(contains(note));

    world.write(
        "units.bench",
        "BenchmarkChat/model=m 40 12.5 ms/token 80 token/sec\n\
         BenchmarkAsk 3 2.5 sec/op 7 B/op\nBenchmarkWait 100 9.1 p95-ms\n\
         BenchmarkBoth-2 9 5 ns/op 2 us/key\n",
    );
    let expected = [
        ("BenchmarkChat/model=m (per token)", 1.25e7),
        ("BenchmarkAsk", 2.5e9),
        ("BenchmarkBoth-2", 5.0),
        ("BenchmarkBoth-2 (per key)", 2e3),
    ];
    assert_eq!(world.times("units.bench"), expected.map(|(name, ns)| (name.to_owned(), ns)));
    let note = "note: units.bench: units that are not judged: B/op, p95-ms, token/sec";
    world.import(&["units.bench"]).stderr(contains(note));
    world.write("none.bench", "BenchmarkWait 100 9.1 p95-ms 5 rows/s\n");
    let refused = world.import(&["none.bench"]).code(4);
    refused.stderr(contains("holds no time a call, but p95-ms, rows/s, which are not judged"));
}

#[test]
fn a_result_of_go_belongs_to_the_name_before_it() {
    let world = World::new();
    let logged = "pkg: x.test/p\n=== RUN   BenchmarkLoad\nBenchmarkLoad\nBenchmarkLoad-2  \t\
        level: opening 7 files\nBenchmark half\nBenchmarkLoad: 12 kB\n  100\t  5100 ns/op\n\
        BenchmarkLoad-2 \t took 3 ms 100  5200 ns/op\nBenchmarkSave-2 100 70 ns/op\n\
        PASS\n  100 90 ns/op\nLoad 100 80 ns/op\n";
    world.write("go.txt", logged);
    let times = world.times("go.txt");
    let expected = [("x.test/p.BenchmarkLoad-2", 5100.0), ("x.test/p.BenchmarkSave-2", 70.0)];
    assert_eq!(times, expected.map(|(name, ns)| (name.to_owned(), ns)));
    let read = world.import(&["go.txt"]).code(0).stdout(contains("\n").count(3));
    read.stderr(contains("no `Benchmark…` stands before the results of lines 11, 12; left out"));

    world.write("nameless.txt", "goos: linux\n 5 100 ns/op\n");
    let refused = world.import(&["nameless.txt"]).code(4);
    refused.stderr(contains("stands before the results of line 2"));
}

#[test]
fn processors_in_the_names_are_told() {
    let world = World::new();
    let run = |processors: &str| -> String {
        let line = |at: usize| {
            let name = ["Walk", "Run"][at % 2];
            format!("Benchmark{name}{processors} 100 {}.5 ns/op\n", 70 + at)
        };
        (0..12).map(line).collect()
    };
    world.write("old.txt", &run("-4"));
    world.write("new.txt", &run("-12"));
    let apart = world.import(&["--against", "old.txt", "new.txt"]).code(2);
    apart.stderr(contains("one side ran with 4 processors (GOMAXPROCS) and the other with 12"));
    world.write("all.txt", &[run(""), run("-2"), run("-4")].concat());
    let within = world.import(&["--reference", "BenchmarkWalk", "all.txt"]);
    within
        .stdout(contains("BenchmarkWalk-2 against BenchmarkWalk: "))
        .stdout(contains("BenchmarkWalk-4 against BenchmarkWalk: "))
        .stdout(contains("withheld").not());
    world.write("one.txt", &"BenchmarkWalk-4 1 7 ns/op\n".repeat(6));
    world.write("two.txt", &"BenchmarkWalk-8 1 7 ns/op\n".repeat(6));
    let alone = world.import(&["--against", "one.txt", "two.txt"]).code(11);
    alone.stdout(contains("withheld (one side ran with 4 processors (GOMAXPROCS)"));
}

#[test]
fn names_do_nothing_to_the_screen() {
    let world = World::new();
    let name = "größe 日本 🙂\t\n::error::\u{1b}[2J\u{202e}";
    let file = json!({"results": [{"command": name, "times": [0.25, 0.25, 0.25, 0.5, 0.5, 0.5]}]});
    world.write("h.json", &file.to_string());
    assert_eq!(world.times("h.json"), [(name.to_owned(), 2.5e8)]);
    for args in [&["h.json"][..], &["--against", "h.json", "h.json"]] {
        let _attack = Attack::on("import", &format!("a hostile name, {args:?}"));
        let assert = world.import(args);
        let printed = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        assert!(printed.contains("größe 日本 🙂"), "{printed}");
        assert!(
            !printed.contains(['\u{1b}', '\u{202e}']) && !printed.contains("\n::"),
            "{printed}"
        );
    }
    // One line for it, and two for all.
    world.import(&["--against", "h.json", "h.json"]).stdout(contains("\n").count(3));
}

#[test]
fn files_of_two_tools_stay_apart() {
    let world = World::new();
    world.write("w.txt", &"BenchmarkW-2 10 5 ns/op\n".repeat(6));
    let file = json!({"results": [{"command": "BenchmarkW-2", "times": [1, 2, 1, 2, 1, 2]}]});
    world.write("w.json", &file.to_string());
    let records = world.import(&["w.txt", "w.json"]).code(0);
    records.stdout(contains("go_test").count(6)).stdout(contains("hyperfine").count(6));
    let judged = world.import(&["--against", "w.txt", "--against", "w.json", "w.json"]).code(11);
    judged
        .stdout(contains("BenchmarkW-2: cannot tell"))
        .stderr(contains("BenchmarkW-2 is in the files of --against alone"));
}

/// Its size alone is a reason.
#[test]
fn a_file_of_a_gigabyte_is_refused_in_one_sentence() {
    let world = World::new();
    let _attack = Attack::on("import", "a result file of 1 GiB");
    fs::File::create(world.path("huge.json")).unwrap().set_len(1 << 30).unwrap();
    let refused = world.import(&["huge.json", "--max-bytes", "1000000"]).code(4).stdout("");
    refused
        .stderr(contains("huge.json: holds more than 1000000 bytes").and(contains("\n").count(1)));
}
