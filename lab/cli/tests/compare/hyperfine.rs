//! Options that `lab compare` has as hyperfine has them, and those that it has not.

use std::fs;

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use serde_json::Value;
use tempfile::TempDir;

use crate::{compare, json, lab, text};

/// `key` of each command.
fn commands(result: &Value, key: &str) -> Vec<String> {
    let commands = result["commands"].as_array().unwrap();
    commands.iter().map(|command| command[key].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn names_belong_to_the_commands_of_their_text() {
    let named = |names: &[&str]| {
        let arguments = ["echo a {size}", "echo b {size}", "-L", "size", "10,20", "--runs", "1"];
        let names: Vec<&str> = names.iter().flat_map(|name| ["-n", name]).collect();
        let checked = ["--json", "--check", "status"];
        json(&compare(&[&arguments[..], &checked, &names].concat()).code(11))
    };
    let two = named(&["a", "b"]);
    let expected = ["a (size = 10)", "a (size = 20)", "b (size = 10)", "b (size = 20)"];
    assert_eq!(commands(&two, "name"), expected);
    assert_eq!(commands(&two, "text"), ["echo a 10", "echo a 20", "echo b 10", "echo b 20"]);
    let templates = named(&["{size} of a", "{size} of b"]);
    assert_eq!(commands(&templates, "name"), ["10 of a", "20 of a", "10 of b", "20 of b"]);
    assert_eq!(commands(&named(&["1", "2", "3", "4"]), "name"), ["1", "2", "3", "4"]);
    let one = ["{size} of a", "20 of a", "echo b 10", "echo b 20"];
    assert_eq!(commands(&named(&one[..1]), "name")[1..], one[1..]);
    let three = ["true {n}", "true {n}", "-L", "n", "1,2", "-n", "a", "-n", "b", "-n", "c"];
    let refused = compare(&three).code(2);
    refused.stderr(contains("3 names do not fit 2 commands, of which the parameters make 4; "));
}

#[test]
fn a_value_that_looks_like_a_place_is_put_in_as_it_is() {
    let dir = TempDir::new().unwrap();
    let values = ["-L", "a", "{b},{a}", "-L", "b", "1,2"];
    let around = [
        ["--prepare", "echo 'p {a} {b}' >> log"],
        ["--conclude", "echo 'c {a} {b}' >> log"],
        ["--setup", "echo 's {a} {b}' >> log"],
        ["--cleanup", "echo 'e {a} {b}' >> log"],
        ["-n", "{a} and {b}"],
    ];
    let arguments = ["echo {b} {a}", "--check", "status", "--runs", "1", "--json"];
    let result =
        json(&lab(&dir, &[&arguments[..], &values, &around.concat()].concat()).assert().code(11));
    assert_eq!(commands(&result, "text"), ["echo 1 {b}", "echo 2 {b}", "echo 1 {a}", "echo 2 {a}"]);
    assert_eq!(commands(&result, "name"), ["{b} and 1", "{b} and 2", "{a} and 1", "{a} and 2"]);
    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    for what in ["p", "c", "s", "e"] {
        for values in ["{b} 1", "{b} 2", "{a} 1", "{a} 2"] {
            assert!(log.contains(&format!("{what} {values}\n")), "{what} {values}: {log}");
        }
        assert!(!log.contains(&format!("{what} 1")), "{log}");
    }
}

#[test]
fn what_concludes_a_run_follows_each_untimed() {
    let dir = TempDir::new().unwrap();
    let arguments = ["echo a >> log", "echo b >> log", "--check", "status", "--runs", "4"];
    let each = ["--conclude", "sleep 0.1; echo A >> log", "-C", "sleep 0.1; echo B >> log"];
    let ended = lab(&dir, &[&arguments[..], &each, &["--json"]].concat()).assert().code(11);
    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    assert!(log.lines().count() >= 20, "{log}");
    for pair in log.lines().collect::<Vec<_>>().chunks(2) {
        assert_eq!(pair[0].to_uppercase(), pair[1], "{log}");
    }
    let result = json(&ended);
    assert_eq!(commands(&result, "conclude"), [each[1], each[3]]);
    let exported = ["--export-json", "a", "--runs", "4"];
    lab(&dir, &[&arguments[..4], &each, &exported].concat()).assert().code(11);
    let runs: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("a")).unwrap()).unwrap();
    assert!(runs["results"][0]["median"].as_f64().unwrap() < 0.1, "{runs}");
    let fails = lab(&dir, &["true", "true", "--conclude", "echo why >&2; exit 4"]).assert().code(1);
    fails.stderr(contains("--conclude `echo why >&2; exit 4` ended with status 4: why"));
    let three = lab(&dir, &["true", "true", "-C", "a", "-C", "b", "-C", "c"]).assert().code(2);
    three.stderr(contains("--conclude is given 3 times for 2 commands; give it once, or once "));
    // What it needs of a run is there still, and is ended afterwards.
    let server = "sleep 99 & echo $! > pid";
    let stopped = ["--conclude", "kill -0 $(cat pid)", "--check", "status", "--runs", "2"];
    let kept = format!("setsid {server}");
    lab(&dir, &[&["true", "true", "--prepare", &kept], &stopped[..]].concat()).assert().code(11);
}

#[test]
fn runs_find_their_number_and_the_environment_is_as_large_for_all() {
    let dir = TempDir::new().unwrap();
    let log = "echo $HYPERFINE_ITERATION $(env | wc -c) >> ";
    let (a, b) = (format!("{log} a"), format!("{log} b"));
    let around = ["--prepare", "echo $HYPERFINE_ITERATION >> p", "--warmup", "2", "--runs", "12"];
    let fixed = ["--fixed-layout", "--check", "status", "-n", "old", "-n", "new"];
    let told = lab(&dir, &[&[a.as_str(), &b], &around[..], &fixed].concat()).output().unwrap();
    assert!(matches!(told.status.code(), Some(0 | 10 | 11)), "{told:?}");
    let read = |name| fs::read_to_string(dir.path().join(name)).unwrap();
    let numbers = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    let last = numbers(&read("b")).pop().unwrap();
    assert!(last.parse::<usize>().unwrap() >= 9, "{last}");
    let all = numbers(&read("a")).concat() + &numbers(&read("p")).concat();
    assert!(all.contains("warmup-0warmup-1"), "{all}");
    let counted: Vec<String> = (0..10).map(|number| number.to_string()).collect();
    let ran = numbers(&read("b"));
    assert_eq!(ran[ran.len() - 10..].len(), counted.len());
    assert!(ran.ends_with(
        &(0..=last.parse().unwrap()).map(|at: usize| at.to_string()).collect::<Vec<_>>()
    ));
    let text = read("a") + &read("b");
    let sizes: Vec<&str> = text.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
    // What prints it prints something else each time.
    let prints = json(&compare(&["echo $HYPERFINE_ITERATION", "true", "--runs", "4", "--json"]));
    let note = "echo $HYPERFINE_ITERATION prints something else each time, so outputs were not ";
    assert!(prints["notes"][0].as_str().unwrap().starts_with(note), "{}", prints["notes"]);
}

#[test]
fn statuses_that_are_listed_are_accepted_and_no_others() {
    let with = |command: &str, option: &str| {
        compare(&[command, command, option, "--runs", "2", "--check", "status"])
    };
    for option in ["--ignore-failure=1,7", "-i=7", "-i", "--ignore-failure=all-non-zero"] {
        with("exit 7", option).code(11);
    }
    let refused = with("exit 2", "-i=1,7").code(1);
    refused.stderr(contains("`exit 2` ended with status 2; --ignore-failure does not list that"));
    let none = with("true", "-i=1,x").code(2);
    none.stderr(contains("give statuses from 0 to 255 with commas between them, as in 1,2"));
    // As with hyperfine the value stands behind `=` alone.
    compare(&["-i", "exit 7", "exit 7", "--runs", "1"]).code(11);
    compare(&["exit 7", "-iN", "exit 7", "--runs", "1"]).code(2);
}

#[test]
fn the_reference_stands_before_all_commands() {
    let dir = TempDir::new().unwrap();
    let with = |more: &[&str]| {
        let arguments = ["sleep 0.002", "--runs", "1", "--json", "--reference", "sleep 0.001"];
        json(&lab(&dir, &[&arguments[..], more].concat()).assert().code(11))
    };
    assert_eq!(commands(&with(&[]), "name"), ["sleep 0.001", "sleep 0.002"]);
    assert_eq!(commands(&with(&["-n", "new"]), "name"), ["sleep 0.001", "new"]);
    let named = ["--reference-name", "old", "-n", "new"];
    assert_eq!(commands(&with(&named), "name"), ["old", "new"]);
    let alone = compare(&["true", "true", "--reference-name", "old"]).code(2);
    alone.stderr(contains("--reference <CMD>"));
}

#[test]
fn each_command_has_its_own_output() {
    let dir = TempDir::new().unwrap();
    let two = ["echo 1", "echo 1 | cat", "--runs", "2", "--output", "a", "--output"];
    lab(&dir, &[&two[..], &["b"]].concat()).assert().code(11);
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!([read("a"), read("b")], ["1\n", "1\n"]);
    let hidden = lab(&dir, &[&two[..], &["null", "-n", "x", "-n", "y"]].concat()).assert().code(11);
    hidden.stderr(contains("--output null shows nobody what timed runs of y print, so outputs "));
    let three = lab(&dir, &[&two[..], &["b", "--output", "c"]].concat()).assert().code(2);
    three.stderr(contains("--output is given 3 times for 2 commands"));
    // The one that is seen is looked at.
    let wrong = "echo >> n; test $(wc -l < n) -lt 5 && echo 1 || echo 2";
    let seen = ["echo 1", wrong, "--output", "null", "--output", "kept", "--budget", "60"];
    let ended = lab(&dir, &seen).assert().code(1);
    ended.stderr(contains("printed something else in its run "));
}

#[test]
fn options_that_are_not_here_are_answered_with_what_is() {
    for (given, sentence) in [
        (&["--min-runs", "5"][..], "--precision P asks for more of them"),
        (&["-m5"], "--precision P asks for more of them"),
        (&["--min-benchmarking-time=3"], "--budget SECONDS for at most so long"),
        (&["--style", "full"], "text has no colours, and --json is for programs"),
        (&["--sort", "mean-time"], "several commands are ranked"),
        (&["-u", "second"], "--export-json has seconds"),
        (&["--time-unit=millisecond"], "--export-json has seconds"),
        (&["--show-output"], "use --output inherit"),
        (&["--export-csv", "x"], "use --export-json FILE, which has every run"),
        (&["--export-asciidoc", "x"], "use --export-markdown FILE"),
        (&["--export-orgmode", "x"], "use --export-markdown FILE"),
        (&["--debug-mode"], "all commands are run"),
    ] {
        let refused = compare(&[given, &["true", "true"]].concat()).code(2);
        let errors = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(errors.contains(sentence) && errors.lines().count() == 1, "{errors}");
        assert_eq!(text(&refused), "");
    }
    compare(&["--help"]).code(0).stdout(contains("--min-runs").not());
}
