//! What counts as one: a process, whose samples share its layout and its minute. And what makes a
//! verdict impossible: failed runs, two machines, benchmarks that vanished.

use std::fs;

use predicates::{prelude::PredicateBooleanExt, str::contains};
use serde_json::{Value, json};

use crate::variants::World;

/// A head of `go test -bench`.
fn head(cpu: &str) -> String {
    format!("goos: linux\ngoarch: arm64\npkg: x.test/p\ncpu: {cpu}\n")
}

/// A process of `go test -bench -count N`.
fn process(name: &str, ns: f64, count: usize) -> String {
    let line = |at: usize| {
        let ns = ns * (1.0 + 0.004 * (at as f64 * 2.3).sin());
        format!("Benchmark{name}-4 \t 300 \t {ns:.1} ns/op\n")
    };
    (0..count).map(line).collect::<String>() + "PASS\nok  \tx.test/p\t1.0s\n"
}

/// Layouts of six processes a side, whose means lie 1.5 % apart.
const LAYOUTS: [[f64; 6]; 2] =
    [[1.0, 1.02, 0.98, 1.01, 0.985, 1.005], [1.03, 1.0, 1.045, 1.01, 0.99, 1.015]];

#[test]
fn samples_of_one_process_count_once() {
    let world = World::new();
    let write = |side: usize, at: usize| {
        let text = head("M1") + &process("Walk", 7e5 * LAYOUTS[side][at], 12);
        world.write(&format!("{side}-{at}.txt"), &text)
    };
    let [old, new] = [0, 1].map(|side| (0..6).map(|at| write(side, at)).collect::<Vec<_>>());
    let against = old.iter().flat_map(|file| ["--against".to_owned(), file.clone()]);
    let args: Vec<String> = against.chain(new.clone()).collect();
    let judged = world.import(&args.iter().map(String::as_str).collect::<Vec<_>>()).code(11);
    judged
        .stdout(contains("BenchmarkWalk-4: cannot tell: +1.49 %"))
        .stdout(contains("6 and 6 processes"));

    // The same in one file a side, as `cat` joins them.
    let joined = |files: &[String]| -> String {
        files.iter().map(|file| fs::read_to_string(world.path(file)).unwrap()).collect()
    };
    world.write("old.txt", &joined(&old));
    world.write("new.txt", &joined(&new));
    let judged = world.import(&["--against", "old.txt", "new.txt"]).code(11);
    judged.stdout(contains("cannot tell: +1.49 %")).stdout(contains("6 and 6 processes"));

    // Of one process a side the samples are all there is, which is said.
    let one = world.import(&["--against", &old[0], &new[0]]).code(10);
    one.stdout(contains("slower")).stdout(contains(
        "12 and 12 samples of one process a side: its layout and minute are in the difference",
    ));
    // One process is not judged by those of another side.
    let one = world.import(&["--against", &old[0], &new[0], &new[1], &new[2]]).code(11);
    one.stdout(contains("1 and 3 processes, of which each counts once, are too few"));
    // A file named twice is one.
    let twice = world.import(&["--against", &old[0], &new[0], &format!("./{}", new[0])]).code(10);
    twice.stderr(contains("named twice, counted once"));
}

#[test]
fn records_keep_processes_machines_and_failures() {
    let world = World::new();
    world.write("old.txt", &(head("M1") + &process("Walk", 7e5, 9)));
    world.write("new.txt", &(head("M2") + &process("Walk", 8e5, 9)));
    world.write("bad.json", &hyperfine("w", &[0.1; 6], &json!([0, 0, 0, 0, 0, 7])));
    for file in ["old.txt", "new.txt", "bad.json"] {
        let records = world.import(&[file]).code(0).get_output().stdout.clone();
        fs::write(world.path(&format!("{file}.jsonl")), records).unwrap();
    }
    let two = world.import(&["--against", "old.txt.jsonl", "new.txt.jsonl"]).code(11);
    two.stdout(contains("withheld (not measured alike: cpu was M1, is M2): +14.29 %"));
    let failed = world.import(&["--against", "bad.json.jsonl", "bad.json"]).code(11);
    failed.stdout(contains("status 7 in 1 runs against"));
}

/// Times in seconds, and how the runs ended.
fn hyperfine(command: &str, times: &[f64], codes: &Value) -> String {
    let result = json!({"command": command, "times": times, "exit_codes": codes});
    json!({"results": [result]}).to_string()
}

#[test]
fn runs_that_failed_give_no_ratio() {
    let world = World::new();
    let times = [0.31, 0.32, 0.30, 0.315, 0.305, 0.31];
    let fast = times.map(|time| time / 40.0);
    world.write("good.json", &hyperfine("w", &times, &json!(vec![0; 6])));
    for (codes, word) in [
        (json!([134, 134, 134, 134, 134, 134]), "status 134 in 6 runs against status 0 in 6 runs"),
        (
            json!([0, 0, 0, null, 0, 0]),
            "a signal in 1 and status 0 in 5 runs against status 0 in 6",
        ),
    ] {
        world.write("bad.json", &hyperfine("w", &fast, &codes));
        let judged = world.import(&["--against", "good.json", "bad.json"]).code(11);
        judged.stdout(contains(word)).stdout(contains(" %").not().or(contains("×").not()));
        let judged = world.import(&["--against", "bad.json", "good.json", "--json"]).code(11);
        let result: Value = serde_json::from_slice(&judged.get_output().stdout).unwrap();
        assert_eq!(result["benchmarks"][0]["outcome"], "withheld");
        assert!(result["benchmarks"][0]["shift"].is_null());
    }
    // Go and Google Benchmark say it in their own ways.
    let failed = process("Walk", 7e5, 6) + "BenchmarkWalk-4 \t--- FAIL: BenchmarkWalk-4\n";
    world.write("old.txt", &process("Walk", 7e5, 6));
    world.write("new.txt", &failed);
    let judged = world.import(&["--against", "old.txt", "new.txt"]).code(11);
    judged.stdout(contains("withheld (runs failed: FAIL in 1 run against no failure told)"));
    let google = |failed: bool| {
        let entry = |at: usize| {
            json!({"name": "BM_w", "run_name": "BM_w", "real_time": 5.0 + at as f64 / 100.0,
                "time_unit": "ms", "error_occurred": failed && at == 3, "error_message": "no mem"})
        };
        json!({"context": {}, "benchmarks": (0..6).map(entry).collect::<Vec<_>>()}).to_string()
    };
    world.write("old.json", &google(false));
    world.write("new.json", &google(true));
    let judged = world.import(&["--against", "old.json", "new.json"]).code(11);
    judged.stdout(contains("the error `no mem` in 1 run"));
}

#[test]
fn two_machines_are_named_and_the_verdict_is_withheld() {
    let world = World::new();
    let google = |host: &str, cpus: u32, mhz: u32| {
        let ms = |at: usize| 5.0 + at as f64 / 100.0;
        let entry = |at| json!({"name": "BM_w", "real_time": ms(at), "time_unit": "ms"});
        let context = json!({"host_name": host, "num_cpus": cpus, "mhz_per_cpu": mhz});
        let entries: Vec<_> = (0..7).map(entry).collect();
        json!({"context": context, "benchmarks": entries}).to_string()
    };
    let pytest = |brand: &str, python: &str| {
        let stats = json!({"data": [0.1, 0.11, 0.12, 0.1, 0.11]});
        json!({"machine_info": {"python_version": python, "cpu": {"brand_raw": brand}},
            "benchmarks": [{"fullname": "t::w", "stats": stats}]})
        .to_string()
    };
    let jmh = |version: &str| {
        let metric = json!({"scoreUnit": "ns/op", "rawData": [[5, 6, 7, 5, 6, 7]]});
        json!([{"benchmark": "W.w", "mode": "avgt", "vmVersion": version, "primaryMetric": metric}])
            .to_string()
    };
    for (old, new, words) in [
        (google("a", 4, 3000), google("b", 4, 3001), "host_name was a, is b)"),
        (google("a", 4, 3000), google("a", 8, 2000), "MHz was 3000, is 2000; num_cpus was 4, is 8"),
        (pytest("Xeon", "3.12"), pytest("EPYC", "3.12"), "cpu brand_raw was Xeon, is EPYC"),
        (pytest("Xeon", "3.12"), pytest("Xeon", "3.13"), "python_version was 3.12, is 3.13"),
        (jmh("21.0.1"), jmh("17.0.2"), "vmVersion was 21.0.1, is 17.0.2"),
        (jmh("21.0.1"), pytest("x", "3.12"), "the tool was JMH, is pytest-benchmark"),
    ] {
        world.write("old.json", &old);
        world.write("new.json", &new);
        let judged = world.import(&["--against", "old.json", "new.json"]).code(11);
        judged.stdout(contains("withheld (not measured alike: ")).stdout(contains(words));
    }
    // What one side alone says tells nothing, and a frequency is never read twice alike.
    world.write("old.json", &google("a", 4, 3000));
    world.write("new.json", &google("a", 4, 3010));
    let judged = world.import(&["--against", "old.json", "new.json"]).code(0);
    judged.stdout(contains("BM_w: equivalent"));
}

#[test]
fn a_benchmark_that_vanished_is_no_success() {
    let world = World::new();
    let of = |names: &[(&str, f64)]| -> String {
        names.iter().map(|(name, ns)| process(name, *ns, 9)).collect()
    };
    world.write("old.txt", &of(&[("Walk", 7e5), ("Jump", 4e5), ("Run", 2e5)]));
    for (new, code) in [
        (of(&[("Walk", 6e5), ("Jump", 3e5), ("Run", 1e5)]), 0),
        (of(&[("Walk", 6e5), ("Jump", 3e5), ("Run", 1e5), ("Fly", 1e5)]), 0),
        (of(&[("Walk", 6e5), ("Jump", 3e5)]), 11),
        (of(&[("Walk", 8e5), ("Jump", 3e5)]), 10),
    ] {
        world.write("new.txt", &new);
        let judged = world.import(&["--against", "old.txt", "new.txt", "--json"]).code(code);
        let result: Value = serde_json::from_slice(&judged.get_output().stdout).unwrap();
        let vanished = if code == 0 { json!([]) } else { json!(["BenchmarkRun-4"]) };
        assert_eq!(result["vanished"], vanished);
        let is_told = String::from_utf8_lossy(&judged.get_output().stderr)
            .contains("note: BenchmarkRun-4 is in the files of --against alone");
        assert_eq!(is_told, code != 0);
    }
}

#[test]
fn a_difference_within_the_margin_is_equivalent_whatever_the_tail() {
    let world = World::new();
    world.write("old.txt", &process("Walk", 7e5, 9));
    world.write("new.txt", &process("Walk", 7.01e5, 9));
    let judged = world.import(&["--against", "old.txt", "new.txt"]).code(0);
    judged.stdout(contains("equivalent (not interleaved: drift is not excluded): +0.14 %")).stdout(
        contains(
            "a verdict is wrong with 1 % if nothing drifted between the files; we have seen 66 %",
        ),
    );
    // No spread at all, as of a clock that counts in hours.
    let flat = |ns: u32| format!("BenchmarkWalk-4 1 {ns} ns/op\n").repeat(6);
    world.write("old.txt", &flat(500));
    world.write("new.txt", &flat(500));
    let judged = world.import(&["--against", "old.txt", "new.txt"]).code(11);
    judged.stdout(contains("no spread: neither side varies, so there is no interval"));
}

#[test]
fn few_runs_of_many_benchmarks_can_show_a_difference() {
    let world = World::new();
    let names = ["A", "B", "C", "D", "E", "F", "G", "H"];
    let of = |slow: &str| -> String {
        let one = |name: &&str| process(name, if *name == slow { 9e5 } else { 8e5 }, 6);
        names.iter().map(one).collect()
    };
    world.write("old.txt", &of(""));
    world.write("new.txt", &of("C"));
    let judged = world.import(&["--against", "old.txt", "new.txt"]).code(10);
    judged
        .stdout(contains("BenchmarkC-4: slower (not interleaved: drift is not excluded): +12.50 %"))
        .stdout(contains("too few to regroup at 0.12 %: Welch's t-test alone"))
        .stdout(contains("slower").count(1));
}
