//! What a comparison takes, what it says of its noise, and commands that are no two programs, or
//! forty, or none any more.

use std::{fs, process::Command};

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{compare, json, lab, order::script, text};

const PAUSE: &str = "sleep 0.2";

fn rounds(dir: &TempDir) -> Vec<Value> {
    let text = fs::read_to_string(dir.path().join("r")).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_budget_without_room_for_an_answer_ends_after_one_round_that_is_kept() {
    let dir = TempDir::new().unwrap();
    let arguments = [PAUSE, PAUSE, "--budget", "1", "--record", "r", "--json"];
    let ended = lab(&dir, &arguments).assert().code(11);
    let result = json(&ended);
    assert_eq!(
        (&result["state"]["rounds"], &result["state"]["next"]),
        (&1.into(), &"out_of_budget".into())
    );
    let note = result["notes"][1].as_str().unwrap();
    assert!(note.contains("for which --budget 1 has no room, so it ends here; give --budget "));
    ended.stderr(contains(format!("note: {note}\n")));
    assert_eq!(rounds(&dir).len(), 1);
    // The number that is given has room.
    let enough = note.rsplit(' ').next().unwrap();
    let more = ["--resume", "r", "--budget", enough, "--runs", "2"];
    let resumed = lab(&dir, &[&arguments[..2], &more].concat()).assert().code(11);
    resumed.stderr(contains("has no room").not()).stdout(contains("\n2 rounds in "));
}

#[test]
fn the_time_of_recorded_rounds_counts_against_a_budget() {
    let dir = TempDir::new().unwrap();
    let with = |more: &[&str]| lab(&dir, &[&[PAUSE, PAUSE], more].concat()).assert().code(11);
    let first = with(&["--record", "r", "--runs", "2"]);
    first.stderr(contains(", and no answer comes before ").and(contains("; 2 rounds take ")));
    let elapsed = rounds(&dir)[1]["elapsed_s"].as_f64().unwrap();
    // Room for a round, and for no answer; then for none.
    let short = with(&["--resume", "r", "--budget", &(1.6 * elapsed).to_string()]);
    short.stderr(contains(" has no room, so it ends here; ")).stdout(contains("\n2 rounds in "));
    let spent = with(&["--resume", "r", "--budget", &(0.9 * elapsed).to_string()]);
    spent.stdout(contains("\n2 rounds in "));
    assert_eq!(rounds(&dir).len(), 2);
}

#[test]
fn without_a_budget_it_takes_what_an_answer_needs() {
    // As long as nobody has to wait for it.
    let arguments = ["true", "true", "-N", "--runs", "1"];
    compare(&arguments).code(11).stderr(contains("a round takes").not());
    let result = json(&compare(&[&arguments[..], &["--json"]].concat()).code(11));
    assert!(result["settings"]["least_rounds"].as_u64().unwrap() > 1, "{result}");
    let given = json(&compare(&[&arguments[..], &["--json", "--budget", "60"]].concat()).code(11));
    assert_eq!(given["settings"]["least_rounds"], 0);
    for none in ["0", "-1", "nan", "inf"] {
        let refused = compare(&["true", "true", &format!("--budget={none}")]).code(2);
        refused.stderr(contains("--budget is no number of seconds above 0"));
    }
}

#[test]
fn the_noise_is_shown_in_one_line_with_what_it_means() {
    let dir = TempDir::new().unwrap();
    let arguments = ["sleep 0.001", "sleep 0.003", "-N", "--runs", "60"];
    let more = ["--record", "r", "--export-markdown", "a.md"];
    let shown = text(&lab(&dir, &[&arguments[..], &more].concat()).assert());
    let lines: Vec<&str> = shown.lines().filter(|line| line.starts_with("runs vary by ")).collect();
    let [line] = lines[..] else { panic!("{shown}") };
    assert!(line.contains(" %, pairs by ") && line.contains(" %: ±"), "{line}");
    let page = fs::read_to_string(dir.path().join("a.md")).unwrap();
    assert!(page.contains(&format!("\n- {line}\n")), "{page}");
    let resumed = lab(&dir, &[&arguments[..], &["--resume", "r", "--json"]].concat()).assert();
    let noise = json(&resumed)["noise"].clone();
    assert_eq!(noise["runs_percent"].as_array().unwrap().len(), 2);
    let number = |key: &str| noise["candidates"][0][key].as_f64().unwrap();
    assert!(number("pairs_percent") > 0.0 && number("half_width_percent") > 0.0, "{noise}");
    let few = json(&compare(&["true", "true", "--runs", "1", "--json"]).code(11));
    assert_eq!(few["noise"]["runs_percent"], json!([null, null]));
}

const ONE: &str = "are the same program with the same arguments: what differs is the machine";
const ABOUT: &str = "; one program, so this is about the machine";

#[test]
fn one_program_with_the_same_arguments_is_told_before_it_runs() {
    let dir = TempDir::new().unwrap();
    script(&dir, "old.sh", "true");
    script(&dir, "new.sh", "true");
    script(&dir, "other.sh", "true; true");
    let names = ["-n", "old", "-n", "new", "--runs", "3"];
    let with = |commands: &[&str], more: &[&str]| {
        lab(&dir, &[commands, &names, more].concat()).assert().code(11)
    };
    for (commands, by_path) in [
        (["./old.sh a", "./new.sh a"], ", and what it finds by its path"),
        (["./old.sh a | cat", "./new.sh a | cat"], ", and what it finds by its path"),
        (["./old.sh a", "./old.sh a"], ""),
        (["cd . && ./old.sh", "cd . && ./old.sh"], ""),
    ] {
        let _attack = Attack::on("programs", &format!("one program twice: {commands:?}"));
        let told = with(&commands, &[]);
        let told = told.stderr(contains(format!("note: old and new {ONE}{by_path}\n")));
        assert!(text(&told).trim_end().ends_with(ABOUT), "{}", text(&told));
    }
    let result = json(&with(&["./old.sh", "./new.sh", "./other.sh"], &["--json"]));
    assert_eq!(result["same_program"], json!([true, false]));
    assert!(result["notes"][0].as_str().unwrap().starts_with(&format!("old and new {ONE}")));
    for commands in [
        ["./old.sh a", "./new.sh b"],
        ["./old.sh", "./other.sh"],
        ["./old.sh '*' | cat", "./new.sh * | cat"],
    ] {
        with(&commands, &[]).stderr(contains(ONE).not()).stdout(contains(ABOUT).not());
    }
    let differs = ["--prepare", "true", "--prepare", "true again"];
    with(&["./old.sh", "./new.sh"], &differs).stderr(contains(ONE).not());
    // What --setup makes is what is looked at.
    let made = with(&["./old.sh", "./other.sh"], &["--setup", "cp old.sh t; mv t other.sh"]);
    made.stderr(contains(format!("note: old and new {ONE}")));
    with(&["./old.sh", "./new.sh"], &["--export-markdown", "a.md"]);
    let page = fs::read_to_string(dir.path().join("a.md")).unwrap();
    assert!(page.contains(&format!("\n- `new`: {}\n", &ABOUT[2..])), "{page}");
}

#[test]
fn a_command_that_removes_its_program_is_told_so_and_what_was_measured_is_kept() {
    let removed = |when: &str| {
        contains(format!("gone.sh was removed {when}, by a command or beside the comparison"))
    };
    for (commands, what) in [
        (["./gone.sh", "./stays.sh"], "the first command"),
        (["./stays.sh", "./gone.sh"], "the second command"),
        (["./stays.sh", "./gone.sh; true"], "a command of a shell"),
    ] {
        let _attack = Attack::on("programs", &format!("{what} removes its own program"));
        let dir = TempDir::new().unwrap();
        script(&dir, "gone.sh", "rm -f \"$0\"");
        script(&dir, "stays.sh", "true");
        let ended = lab(&dir, &commands).assert().code(1);
        let ended = ended.stderr(removed("before the end of the first round"));
        assert_eq!(text(&ended), "", "no verdict is printed");
    }
    let dir = TempDir::new().unwrap();
    let body = "echo >> runs; test $(wc -l < runs) = 9 && rm -f \"$0\"; true";
    for more in [&[][..], &["--order", "blocks:2"], &["--inner", "2"]] {
        let _attack = Attack::on("programs", &format!("it is removed amid the rounds: {more:?}"));
        let _ = fs::remove_file(dir.path().join("runs"));
        let _ = fs::remove_file(dir.path().join("r"));
        script(&dir, "gone.sh", body);
        script(&dir, "stays.sh", "true");
        let with = |last: &[&str]| {
            lab(&dir, &[&["./stays.sh", "./gone.sh"], more, last].concat()).assert()
        };
        let kept = || rounds(&dir).len();
        let ended = with(&["--record", "r"]).code(1);
        let ended = ended.stderr(removed(&format!("after {} rounds", kept())));
        assert_eq!(text(&ended), "");
        let before = kept();
        assert!((1..9).contains(&before), "{before}");
        with(&["--resume", "r", "--runs", "9"]).code(4).stderr(contains("bytes of a program"));
        // With its program at its place again the comparison goes on with what it had.
        script(&dir, "gone.sh", body);
        with(&["--resume", "r", "--runs", "9"]).code(11).stdout(contains("9 rounds in "));
        assert!(before < 9 && kept() == 9);
    }
}

#[test]
fn forty_commands_are_compared_and_share_the_level() {
    let _attack = Attack::on("programs", "forty commands at once");
    let numbers: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let listed = numbers.join(",");
    let arguments = ["true {n}", "-N", "-L", "n", &listed, "--runs", "3"];
    let told = compare(&arguments).code(11);
    let told = told.stderr(contains("; 39 candidates share the error level, 0.026 % each\n"));
    // A row for each, the reference's among them, and little more than that.
    let shown = text(&told);
    let rows: Vec<&str> = shown.lines().skip_while(|line| !line.starts_with("fastest")).collect();
    let few = |line: &&&str| line.contains(" so far") && line.contains("; an answer takes ");
    assert_eq!((rows.len(), rows[1..].iter().filter(few).count()), (41, 39), "{shown}");
    assert!(shown.lines().count() < 41 + 8, "{shown}");
    let vary = text(&told).lines().filter(|line| line.starts_with("runs vary by ")).count();
    assert_eq!(vary, 1);
    // The same forty times is one sentence.
    let mut same = Command::new(std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap());
    same.arg("compare").args(["true"; 40]).args(["-N", "--runs", "1"]).env_remove("GITHUB_ACTIONS");
    same.assert()
        .code(11)
        .stderr(contains(format!("note: true, true, true and 37 others {ONE}\n")));
}
