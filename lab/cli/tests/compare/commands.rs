//! `lab compare` by its exit codes and sentences, in a folder that is no repository.

use std::{fs, process::Stdio, thread, time::Duration};

use assert_cmd::assert::OutputAssertExt;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use serde_json::Value;
use tempfile::TempDir;

use crate::{compare, json, lab, text};

#[test]
fn twice_the_time_is_slower_and_half_is_faster() {
    let (short, long) = ("sleep 0.01", "sleep 0.03");
    let slower = compare(&[short, long, "--budget", "60"]).code(10);
    let slower = text(&slower);
    let last: Vec<&str> = slower.lines().rev().take(2).collect();
    assert!(
        last[1].contains(" rounds in ") && last[1].ends_with("wall time of a typical run (99 %):")
    );
    assert!(
        last[0].starts_with("sleep 0.03 is 2.") && last[0].contains(" × slower than sleep 0.01 (")
    );
    assert!(last[0].contains("); it waits: CPU time "), "{slower}");
    let faster = compare(&[long, short, "-n", "old", "-n", "new", "--budget", "60"]).code(0);
    faster.stdout(contains("\nnew is 2.").and(contains(" × faster than old (")));
}

#[test]
fn without_enough_rounds_nothing_is_told_and_the_code_says_so() {
    let few = compare(&["true", "true", "-M", "5", "-n", "a", "-n", "b"]).code(11);
    let few = few.stdout(
        contains("\nwall time ")
            .and(contains("\ncannot tell b from a: b takes "))
            .and(contains(" so far; an answer takes 10 rounds, and 5 ended; ")),
    );
    few.stderr(contains("at most 5 rounds"));
    let more = ["true", "true", "-N", "-M", "80", "--margin", "0.001", "--json"];
    let detectable = json(&compare(&more))["state"]["candidates"][0]["detectable"].clone();
    assert!(detectable.as_f64().unwrap() > 0.0, "{detectable}");
}

#[test]
fn the_result_is_json_with_its_seed_and_settings() {
    let arguments = ["sleep 0.001", "sleep 0.002", "sleep 0.003", "--json", "--seed", "7"];
    let result = json(&compare(&[&arguments[..], &["--runs", "30", "--margin", "2.5"]].concat()));
    assert_eq!((&result["schema"], &result["seed"]), (&"lab-compare-2".into(), &7.into()));
    assert_eq!(result["settings"]["margin"], 0.025);
    assert_eq!(result["state"]["candidates"].as_array().unwrap().len(), 2);
    let pairs = &result["state"]["candidates"][0]["metrics"][0]["estimate"]["pairs"];
    assert!(pairs.as_u64().unwrap() <= 30 && result["exit"].is_u64());
}

#[test]
fn parameters_make_commands_and_their_preparation_is_run_before_each() {
    let dir = TempDir::new().unwrap();
    let arguments = ["echo {n} {m} >> runs", "-L", "n", "1,2", "-P", "m", "0.5", "1", "-D", "0.5"];
    let more = ["--prepare", "echo p >> prepared", "--setup", "echo s >> once", "--runs", "3"];
    let last = ["--cleanup", "echo c >> once", "--json", "--check", "status"];
    let assert = lab(&dir, &[&arguments[..], &more, &last].concat()).assert().code(11);
    let commands = json(&assert)["commands"].clone();
    let texts: Vec<&str> =
        commands.as_array().unwrap().iter().map(|c| c["text"].as_str().unwrap()).collect();
    assert_eq!(texts[0], "echo 1 0.5 >> runs");
    assert_eq!(texts[3], "echo 2 1 >> runs");
    let lines = |name| fs::read_to_string(dir.path().join(name)).unwrap().lines().count();
    // Four commands, once for the check, three times for the rounds, and one to wash the first.
    assert_eq!((lines("runs"), lines("prepared"), lines("once")), (17, 17, 2));
}

#[test]
fn parameters_reach_what_surrounds_a_run_and_the_exports() {
    let dir = TempDir::new().unwrap();
    let arguments = ["cat state >> seen", "-L", "n", "1,2", "--prepare", "echo {n} > state"];
    let more = ["--setup", "echo s{n} >> once", "--cleanup", "echo c{n} >> once", "--runs", "2"];
    let last = ["--check", "status", "-n", "of {n}", "--export-json", "a.json", "--json"];
    let result = json(&lab(&dir, &[&arguments[..], &more, &last].concat()).assert().code(11));
    assert_eq!(result["commands"][0]["name"], "of 1");
    assert_eq!(result["commands"][1]["name"], "of 2");
    let read = |name| fs::read_to_string(dir.path().join(name)).unwrap();
    let runs: Value = serde_json::from_str(&read("a.json")).unwrap();
    assert_eq!(runs["results"][1]["parameters"], serde_json::json!({ "n": "2" }));
    assert_eq!(read("once"), "s1\ns2\nc1\nc2\n");
    // Each runs once for the check and in two rounds, and one to wash the first.
    let seen = read("seen");
    let count = |value: &str| seen.lines().filter(|line| *line == value).count();
    assert!(count("1") >= 3 && count("2") >= 3 && count("1") + count("2") == 7, "{seen}");
    let escaped = ["echo {n}", "-L", "n", r"1\,5,2", "--runs", "1", "--json"];
    let commands = json(&compare(&escaped).code(11))["commands"].clone();
    assert_eq!([&commands[0]["text"], &commands[1]["text"]], ["echo 1,5", "echo 2"]);
    let unseen = compare(&["true", "-L", "n", "1,2", "--prepare", "true {n}", "--runs", "1"]);
    unseen.code(11).stdout(contains("cannot tell true (n = 2) from true (n = 1): "));
}

#[test]
fn hyperfines_words_for_no_shell_and_no_input_are_known() {
    let dir = TempDir::new().unwrap();
    let with = |more: &[&str]| {
        let arguments = ["wc -c", "wc -c", "--runs", "1", "--input", "null", "--output", "out"];
        lab(&dir, &[&arguments[..], more].concat()).assert()
    };
    for more in [&["--shell", "none"][..], &["-S", "default"], &["--prepare", "true", "-N"]] {
        with(more).code(11);
        assert_eq!(fs::read_to_string(dir.path().join("out")).unwrap().trim(), "0");
    }
    let alone = compare(&["true", "no-such-program", "--shell", "none"]).code(2);
    alone.stderr(contains("cannot start `no-such-program`"));
}

#[test]
fn exports_have_hyperfines_schema_and_a_table() {
    let dir = TempDir::new().unwrap();
    let exports = ["--export-json", "a.json", "--export-markdown", "a.md", "--runs", "4"];
    lab(&dir, &[&["sh -c 'exit 3'", "true", "-i"], &exports[..]].concat()).assert().code(11);
    let runs: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("a.json")).unwrap()).unwrap();
    let first = &runs["results"][0];
    assert_eq!(first["command"], "sh -c 'exit 3'");
    assert_eq!(first["exit_codes"], serde_json::json!([3, 3, 3, 3]));
    assert_eq!(first["times"].as_array().unwrap().len(), 4);
    assert!(first["mean"].as_f64().unwrap() < 10.0 && first["user"].is_f64());
    let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
    let theirs = [
        "command",
        "exit_codes",
        "max",
        "mean",
        "median",
        "memory_usage_byte",
        "min",
        "stddev",
        "system",
        "times",
        "user",
    ];
    assert_eq!(keys, theirs);
    let page = fs::read_to_string(dir.path().join("a.md")).unwrap();
    assert!(page.starts_with("| Command |") && page.contains("| `true` |"), "{page}");
    let reason = "- `true` ends with status 0, `sh -c 'exit 3'` with status 3";
    assert!(page.contains(&format!("\n\n{reason}")), "{page}");
}

#[test]
fn a_recorded_comparison_is_gone_on_with() {
    let dir = TempDir::new().unwrap();
    let run =
        |more: &[&str]| lab(&dir, &[&["true", "sleep 0.001", "--json"], more].concat()).assert();
    let first = json(&run(&["--record", "r.jsonl", "--runs", "6"]));
    let more = json(&run(&["--resume", "r.jsonl", "--runs", "7"]));
    assert_eq!(first["seed"], more["seed"]);
    assert_eq!(more["state"]["rounds"], 7);
    let elapsed = |result: &Value| result["state"]["elapsed_s"].as_f64().unwrap();
    assert!(elapsed(&more) > elapsed(&first));
    let text = fs::read_to_string(dir.path().join("r.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 1 + 7);
    run(&["--record", "r.jsonl"])
        .code(4)
        .stderr(contains("r.jsonl: is there already; --resume goes on "));
    // What is killed while it writes leaves part of a line.
    let _attack = Attack::on("records", "a recording that ends amid a line");
    fs::write(dir.path().join("r.jsonl"), text + "{\"elapsed_s\":1,\"ord").unwrap();
    let again = json(&run(&["--resume", "r.jsonl", "--runs", "8"]));
    assert_eq!(again["state"]["rounds"], 8);
    let text = fs::read_to_string(dir.path().join("r.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 1 + 8);
    let seed = first["seed"].to_string();
    run(&["--resume", "r.jsonl", "--runs", "8", "--seed", &seed]);
    let other = run(&["--resume", "r.jsonl", "--seed", "1"]).code(4);
    other.stderr(contains("r.jsonl: holds another comparison, by --seed; give the same"));
    let other = lab(&dir, &["true", "false", "--resume", "r.jsonl"]).assert().code(4);
    other.stderr(contains("r.jsonl: holds another comparison"));
    fs::write(dir.path().join("broken"), "{}\n").unwrap();
    run(&["--resume", "broken"]).code(4).stderr(contains("broken: has a broken line"));
}

#[test]
fn an_interrupted_comparison_prints_what_was_measured() {
    let _attack = Attack::on("kills", "a comparison interrupted amid its rounds");
    let dir = TempDir::new().unwrap();
    let arguments = ["sleep 0.2", "sleep 0.2", "--json", "--record", "r"];
    let cleanup = ["--cleanup", "touch cleaned"];
    let mut child = lab(&dir, &[&arguments[..], &cleanup].concat());
    let child = child.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let recorded = dir.path().join("r");
    while fs::read_to_string(&recorded).unwrap_or_default().lines().count() < 4 {
        thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(result["state"]["rounds"].as_u64().unwrap() >= 3);
    assert!(dir.path().join("cleaned").exists());
}

#[test]
fn answers_are_compared_and_checked() {
    let _attack = Attack::on("answers", "commands that print different things");
    let runs = ["--runs", "2"];
    let with = |arguments: &[&str]| compare(&[arguments, &runs].concat());
    with(&["echo a", "echo b"])
        .code(11)
        .stderr(contains("echo b prints something else than echo a"));
    let noted = json(&with(&["echo a", "echo b", "--json"]).code(11));
    // Where a process is quick a note on short runs follows.
    assert_eq!(noted["notes"][0], "echo b prints something else than echo a");
    let changing = "cat /proc/sys/kernel/random/uuid";
    with(&[changing, "true"]).code(11).stderr(contains("prints something else each time"));
    with(&["sh -c 'exit 3'", "true", "-i"])
        .code(11)
        .stderr(contains("note: true ends with status 0, and sh -c 'exit 3' with 3"));
    with(&["echo a", "echo b", "--check", "grep -q [ab]"]).code(11);
    let refused = with(&["echo a", "echo b", "--check", "grep -q a"]).code(1);
    refused.stderr(contains("--check `grep -q a` ended with status 1 for what `echo b` printed\n"));
}

#[test]
fn a_status_that_varies_is_a_note() {
    let _attack = Attack::on("answers", "a status that is another one in one run");
    let dir = TempDir::new().unwrap();
    // The check is the first run, and six rounds follow.
    let varies = "echo >> n; test $(wc -l < n) != 4";
    let arguments = ["true", varies, "-i", "--check", "status", "--runs", "6", "-n", "a", "-n"];
    let noted = lab(&dir, &[&arguments[..], &["b", "--json"]].concat()).assert().code(11);
    let note = "b did not end with status 0 in 1 of 6 rounds";
    let notes = json(&noted)["notes"].clone();
    assert!(notes.as_array().unwrap().contains(&note.into()), "{notes}");
    noted.stderr(contains(format!("note: {note}\n")));
}

#[test]
fn what_goes_wrong_is_one_sentence_and_a_code() {
    let sentence = |code, arguments: &[&str], text: &str| {
        let assert = compare(arguments).code(code).stderr(contains(text.to_owned()));
        let errors = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        // What it may take is said before anything is run, and that both are one program.
        let before = ["at most 60 s, ", "note: true and true are the same program "];
        let before = [&before[..], &["  | "]].concat();
        let said =
            errors.lines().filter(|line| before.iter().all(|start| !line.starts_with(start)));
        assert_eq!(said.count(), 1, "{errors}");
    };
    sentence(2, &["true"], "there is no second command");
    sentence(2, &["true", "no-such-program"], "`no-such-program` was not found");
    sentence(2, &["true", "/no/such", "-N"], "cannot start `/no/such`");
    sentence(2, &["true", "echo 'a"], "`echo 'a` has a quote that is not closed");
    sentence(2, &["true", "true", "--margin", "0"], "the margin is 0");
    sentence(
        2,
        &["true", "true", "-n", "a", "-n", "b", "-n", "c"],
        "3 names do not fit 2 commands",
    );
    sentence(2, &["true", "true", "-L", "x", "1,2"], "no command has {x}");
    sentence(1, &["true", "sh -c 'echo bad >&2; exit 4'"], "ended with status 4; --ignore-failure");
    sentence(1, &["true", "sh -c 'echo bad >&2; exit 4'"], ": bad");
    sentence(1, &["true", "sleep 100", "--timeout", "2"], "`sleep 100` was ended after 2 s");
    let fails = |option| ["true", "true", option, "echo first >&2; echo why >&2; exit 5"];
    for option in ["--setup", "--prepare", "--check"] {
        let of = if option == "--check" { " for what `true` printed" } else { "" };
        let text = format!(
            "{option} `{}` ended with status 5{of}:\n  | first\n  | why\n",
            fails(option)[3]
        );
        let _attack = Attack::on("answers", &format!("{option} fails"));
        sentence(1, &fails(option), &text);
    }
    sentence(1, &["true", "true", "--setup", "exit 5"], "rounds where these take longer");
    for option in ["--prepare", "--check"] {
        let hangs = ["true", "true", option, "sleep 100", "--timeout", "2"];
        sentence(1, &hangs, &format!("{option} `sleep 100` was ended after 2 s, the --timeout"));
    }
    sentence(2, &["true", "true", "--runs", "0"], "--runs is 0; give at least one round");
    sentence(4, &["true", "true", "--input", "/no/such"], "cannot open /no/such");
}

#[test]
fn a_level_a_tail_or_a_precision_that_is_none_is_refused_in_one_sentence() {
    let refused = |more: &[&str], text: &str| {
        let assert = compare(&[&["true", "true"], more].concat()).code(2);
        let errors = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(errors.contains(text) && errors.lines().count() == 1, "{errors}");
    };
    for level in ["100", "1", "NaN"] {
        let sentence =
            format!("--confidence is {level}; give per cent from 50 to below 100, as 99");
        refused(&["--confidence", level], &sentence);
    }
    for points in ["0", "100", "NaN"] {
        let sentence = format!("--tail is {points}; give points above 0 and below 100, as 5");
        refused(&["--tail", points], &sentence);
    }
    for precision in ["0", "NaN", "inf"] {
        let sentence = format!("--precision is {precision}; give per cent above 0, as 0.5");
        refused(&["--precision", precision], &sentence);
    }
    let both = ["--stop", "direction", "--precision", "1"];
    refused(&both, "--precision is about the size; leave --stop direction out");
    for more in [["--confidence", "95", "--spend", "s"], ["--fail-on", "tail", "--stop", "size"]] {
        let refused = compare(&[&["true", "true"], &more[..]].concat()).code(2);
        refused.stderr(contains("cannot be used with"));
    }
}

#[test]
fn the_size_is_asked_to_a_precision_and_the_line_says_its_level_and_what_is_open() {
    let asked = |more: &[&str]| {
        let pair = ["sleep 0.004", "sleep 0.02", "-n", "a", "-n", "b", "--runs", "40"];
        text(&compare(&[&pair, more].concat()))
    };
    let open = asked(&["--precision", "0.0001", "--confidence", "95"]);
    assert!(open.contains("\n40 rounds in ") && open.contains(" typical run (95 %):\n"), "{open}");
    assert!(open.contains("\nb is ") && open.contains(" × slower than a ("), "{open}");
    assert!(open.contains("; known to ±") && open.contains(" %, and ±0.0001 % is asked"), "{open}");
    assert!(open.contains("  typical difference (95 %)\n"), "{open}");
    // Any of them is as good as an answer to the first question.
    let direction = asked(&["--stop", "direction"]);
    assert!(direction.contains(" × slower than a (") && !direction.contains("is asked"));
    let result = json(&compare(&["sleep 0.01", "sleep 0.04", "--stop", "direction", "--json"]));
    assert_eq!(result["settings"]["question"], "direction");
    assert!(result["mean_ratios"][0].as_f64().unwrap() > 1.2, "{}", result["mean_ratios"]);
    assert_eq!(result["state"]["candidates"][0]["answered"], true);
}

/// The candidate sleeps three times as long in every second run.
#[test]
fn a_gate_of_its_own_fails_for_more_slow_runs() {
    let dir = TempDir::new().unwrap();
    let odd = "echo >> n; if [ $(($(wc -l < n) % 2)) = 0 ]; then sleep 0.03; else sleep 0.01; fi";
    let even = "echo >> m; if [ $(($(wc -l < m) % 2)) = 9 ]; then sleep 0.03; else sleep 0.01; fi";
    let gate = ["--fail-on", "tail", "--check", "status", "-n", "even", "-n", "odd"];
    let more = lab(&dir, &[&[even, odd], &gate[..]].concat()).assert().code(10);
    more.stdout(contains("more by 5 points at least (+"));
    let fewer = lab(&dir, &[&[odd, even], &gate[..]].concat()).assert().code(0);
    fewer.stdout(contains("runs above 1.25 medians: "));
    compare(&["true", "true", "--runs", "20", "--fail-on", "tail"]).code(11);
}

#[test]
fn a_gigabyte_of_output_is_no_harm() {
    let _attack = Attack::on("memory", "a gigabyte of output");
    let large = "head -c 1000000000 /dev/zero";
    let arguments = [large, large, "--runs", "1", "--output", "null", "--check", "status"];
    compare(&arguments).code(11);
}

#[test]
fn input_is_read_by_each_run_and_output_goes_where_it_is_sent() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("in"), "from the file").unwrap();
    let arguments = ["cat", "tail -n 1", "--input", "in", "--output", "out", "--runs", "1"];
    lab(&dir, &arguments).assert().code(11);
    assert_eq!(fs::read_to_string(dir.path().join("out")).unwrap(), "from the file");
}
