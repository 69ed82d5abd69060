//! Records that were changed by hand: in whatever file and however little, a plain `lab report`
//! tells it and writes nothing.

use std::{fs, process::Output};

use assert_cmd::assert::OutputAssertExt;
use predicates::str::contains;
use proof_kit::Attack;

use crate::world::World;

const PROFILE: &str = "[profile.short]\nblocks = 2\nverdicts = true\n";
pub const EXPECTATION: &str = r#"[[expect]]
id = "waits"
kind = "bar"
says = "It waits."
at_least = 0.5
value = { variant = "steady", metric = "wall_ns", cells = { arrangement = ["concurrent"] } }
over = { cells = { arrangement = ["solo"] } }
"#;
pub const RUN: [&str; 5] = ["run", "experiments/e.toml", "--out", "r", "--no-startup"];

/// A sweep of which one variant fails: `r`, and its export `x`, both with their reports.
pub fn recorded() -> World {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.variant("broken", "exit 3");
    world.experiment("paced", 1, &format!("{PROFILE}{EXPECTATION}"));
    world.lab(&RUN).args(["--profile", "short"]).assert().code(1);
    world.lab(&["export", "r", "x"]).assert().code(0);
    // With the tables that no page links to.
    world.lab(&["report", "x"]).assert().code(0);
    world
}

type Change = Box<dyn Fn(&str) -> String>;

/// The first such text becomes another one.
fn text(from: &str, to: &str) -> Change {
    let (from, to) = (from.to_owned(), to.to_owned());
    Box::new(move |whole| whole.replacen(&from, &to, 1))
}

/// The number behind the first such key is multiplied, and one is added.
fn times(key: &str, factor: f64) -> Change {
    let key = format!("\"{key}\":");
    Box::new(move |whole| {
        let (before, after) = whole.split_once(&key).unwrap_or_else(|| panic!("no {key}"));
        let digits = after.trim_start();
        let space = &after[..after.len() - digits.len()];
        let end = digits.find(|one: char| !one.is_ascii_digit()).unwrap();
        let number: f64 = digits[..end].parse().unwrap();
        let other = (number * factor).round() + 1.0;
        let other = if other == number { other + 1.0 } else { other };
        format!("{before}{key}{space}{other:.0}{}", &digits[end..])
    })
}

/// Only the first line in which this text stands is changed.
fn of(mark: &str, change: Change) -> Change {
    let mark = mark.to_owned();
    Box::new(move |whole| {
        let line = whole.lines().find(|line| line.contains(&mark)).unwrap();
        whole.replacen(line, &change(line), 1)
    })
}

/// The lines are others.
fn lines(change: fn(&mut Vec<String>)) -> Change {
    Box::new(move |whole| {
        let mut lines: Vec<String> = whole.lines().map(|line| format!("{line}\n")).collect();
        change(&mut lines);
        lines.concat()
    })
}

fn without_chains() -> Change {
    Box::new(|whole| {
        let plain = |line: &str| format!("{}}}\n", line.rsplit_once(",\"chain\"").unwrap().0);
        whole.lines().map(plain).collect()
    })
}

/// Bytes of a file that is no text.
fn bytes(world: &World, path: &str) -> Vec<u8> {
    fs::read(world.path(path)).unwrap()
}

fn reported(world: &World, folder: &str) -> Output {
    world.lab(&["report", folder, "--no-plots"]).output().unwrap()
}

/// That a change of a file is told with its name, and that the report stays as it was.
fn assert_told(world: &World, folder: &str, file: &str, name: &str, changed: &[u8]) {
    let _attack = Attack::on("records", &format!("{folder}/{file}: {name}"));
    let path = world.path(folder).join(file);
    let honest = fs::read(&path).unwrap();
    assert_ne!(honest, changed, "{file}: {name} changes nothing");
    fs::write(&path, changed).unwrap();
    let all = ["report.md", "manifest.json", "noise.tsv"].map(|one| format!("{folder}/{one}"));
    let before = all.each_ref().map(|one| bytes(world, one));
    let output = reported(world, folder);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{folder}/{file}: {name}: {said}");
    let last = said.lines().last().unwrap_or_default();
    let short = file.rsplit('/').next().unwrap();
    let is_told = last.starts_with("lab: ") && last.contains(short);
    assert!(is_told, "{folder}/{file}: {name}: {said}");
    assert_eq!(all.each_ref().map(|one| bytes(world, one)), before, "{name}: written over");
    fs::write(&path, honest).unwrap();
}

/// Each change of one file, in the record and in its export.
fn assert_all_told(world: &World, file: &str, changes: Vec<(&str, Change)>) {
    for folder in ["r", "x"] {
        assert_eq!(reported(world, folder).status.code(), Some(0), "{folder} as it was");
        let honest = String::from_utf8(bytes(world, &format!("{folder}/{file}"))).unwrap();
        for (name, change) in &changes {
            assert_told(world, folder, file, name, change(&honest).as_bytes());
        }
        assert_eq!(reported(world, folder).status.code(), Some(0), "{folder} as it was");
    }
}

#[test]
fn a_number_of_a_run_that_was_changed_is_told() {
    let twin = "\"variant\":\"steady_twin\",\"cell\":{\"arrangement\":\"concurrent\"";
    let own = "\"block\":2,\"warmup\":false,\"family\":\"runtimes\",\"variant\":\"steady\",";
    let changes: Vec<(&str, Change)> = vec![
        ("halve a twin's time", of(twin, times("wall_ns", 0.5))),
        ("add a nanosecond to a twin's time", of(twin, times("wall_ns", 1.0))),
        ("halve a time", of(own, times("wall_ns", 0.5))),
        ("halve the CPU time", of(own, times("cpu_total_ns", 0.5))),
        ("halve the kernel's CPU time", of(own, times("cpu_ns", 0.5))),
        ("halve a process's life", of(own, times("process_ns", 0.5))),
        ("start later", of(own, times("start_ns", 1.5))),
        ("move a run to another block", of(own, times("block", 1.0))),
        ("number a run anew", of(own, times("order", 20.0))),
        ("call it a repeat", of(own, times("attempt", 1.0))),
        ("no switches", of(own, times("involuntary_switches", 0.0))),
        ("half of the memory", of(own, times("rss_high_water_bytes", 0.5))),
        ("no noise of others", of(own, times("outside_cpu_ns", 0.0))),
        ("steal", of(own, times("steal_ns", 7.0))),
        ("a larger machine", of(own, times("capacity_ns", 2.0))),
        ("coarser counters", of(own, times("resolution_ns", 2.0))),
        ("an older schema", of(own, text("\"schema\":2", "\"schema\":1"))),
        ("a number twice", of(own, text("\"counters\":{", "\"counters\":{\"wall_ns\":7,"))),
        ("a space", of(own, text(",\"status\"", ", \"status\""))),
    ];
    assert_all_told(&recorded(), "runs.jsonl", changes);
}

#[test]
fn a_word_of_a_run_that_was_changed_is_told() {
    let own = "\"block\":2,\"warmup\":false,\"family\":\"runtimes\",\"variant\":\"steady\",";
    let broken = "\"variant\":\"broken\"";
    let zeros = format!("\"{}\"", "0".repeat(64));
    let sha = "\"binary_sha256\":";
    let changes: Vec<(&str, Change)> = vec![
        ("a failed run is none", of(broken, text("\"failed\"", "\"ok\""))),
        ("another reason", of(broken, text("exit status: 3", "exit status: 4"))),
        ("a run has failed", of(own, text("\"status\":\"ok\"", "\"status\":\"failed\""))),
        ("a check was not made", of(own, text("\"verified\"", "\"unchecked\""))),
        ("a run is a warm-up", of(own, text("\"warmup\":false", "\"warmup\":true"))),
        ("a warm-up is a run", text("\"warmup\":true", "\"warmup\":false")),
        ("a run is the twin's", of(own, text("\"steady\"", "\"steady_twin\""))),
        ("a run is of nobody", of(own, text("\"steady\"", "\"nobody\""))),
        ("another family", of(own, text("\"runtimes\"", "\"engines\""))),
        ("another cell", of(own, text("\"c\"", "\"d\""))),
        (
            "no hash of a program",
            of(
                own,
                Box::new(move |line: &str| {
                    let at = line.find(sha).unwrap() + sha.len();
                    format!("{}{zeros}{}", &line[..at], &line[at + 66..])
                }),
            ),
        ),
        ("a cause of noise", of(own, text(",\"gpu\":null", ",\"gated\":[\"steal\"],\"gpu\":null"))),
        ("another card", of(own, text("not asked", "not there"))),
        ("another sample", of(own, text("\"samples\":\"", "\"samples\":\"0"))),
        ("no sample", of(own, text("\"samples\":", "\"sample\":"))),
        ("a further key", of(own, text("{\"schema\"", "{\"x\":1,\"schema\""))),
        ("another chain", of(own, text("\"chain\":\"", "\"chain\":\"0"))),
        ("no chain", of(own, without_chains())),
    ];
    assert_all_told(&recorded(), "runs.jsonl", changes);
}

#[test]
fn a_row_that_was_moved_dropped_or_added_is_told() {
    let changes: Vec<(&str, Change)> = vec![
        ("swap two rows", lines(|rows| rows.swap(3, 5))),
        (
            "swap the last rows",
            lines(|rows| {
                let end = rows.len();
                rows.swap(end - 2, end - 1);
            }),
        ),
        ("drop the first row", lines(|rows| drop(rows.remove(0)))),
        ("drop a row", lines(|rows| drop(rows.remove(4)))),
        ("drop the last row", lines(|rows| drop(rows.pop()))),
        ("drop half of the rows", lines(|rows| rows.truncate(rows.len() / 2))),
        ("drop all rows", lines(Vec::clear)),
        ("the last row twice", lines(|rows| rows.extend(rows.last().cloned()))),
        ("a row twice", lines(|rows| rows.insert(4, rows[4].clone()))),
        ("an empty line", lines(|rows| rows.insert(4, "\n".to_owned()))),
        ("backwards", lines(|rows| rows.reverse())),
        ("the first row at the end", lines(|rows| rows.rotate_left(1))),
        ("a row in the place of another", lines(|rows| rows[3] = rows[4].clone())),
        ("no chains", without_chains()),
        (
            "a further row without a chain",
            lines(|rows| {
                let row = rows[4].split(",\"chain\"").next().unwrap().replace(":4,", ":99,");
                rows.push(format!("{row}}}\n"));
            }),
        ),
    ];
    assert_all_told(&recorded(), "runs.jsonl", changes);
}

#[test]
fn a_session_or_a_window_that_was_changed_is_told() {
    let world = recorded();
    let sessions: Vec<(&str, Change)> = vec![
        ("pinned", text("not pinned", "pinned")),
        ("another load", times("load_1min_at_start", 0.0)),
        ("another lab", text("\"lab_sha256\":\"", "\"lab_sha256\":\"0")),
        ("it was stopped", text("\"finished\"", "\"stopped\"")),
        ("it was resumed", text("\"start\"", "\"resume\"")),
        ("later", times("unix_s", 2.0)),
        ("a faster machine", times("syscall_ns", 0.5)),
        ("drop the start", lines(|rows| drop(rows.remove(0)))),
        ("drop the end", lines(|rows| drop(rows.pop()))),
        ("drop all", lines(Vec::clear)),
        ("the end twice", lines(|rows| rows.extend(rows.last().cloned()))),
        ("swap", lines(|rows| rows.swap(0, 1))),
        ("fewer rows", of("recorded", times("rows", 0.5))),
        ("no number of rows", text(",\"recorded\"", ",\"forgotten\"")),
        ("no chains", without_chains()),
    ];
    assert_all_told(&world, "sessions.jsonl", sessions);
    let windows: Vec<(&str, Change)> = vec![
        ("no noise of others", times("outside_cpu_ns", 0.0)),
        ("half of the machine", times("capacity_ns", 0.5)),
        ("a cause", text(",\"chain\"", ",\"gated\":[\"steal\"],\"chain\"")),
        ("of fewer runs", times("last_order", 0.5)),
        ("of later runs", times("first_order", 3.0)),
        ("drop all", lines(Vec::clear)),
        ("twice", lines(|rows| rows.extend(rows.last().cloned()))),
        ("no chains", without_chains()),
    ];
    assert_all_told(&world, "windows.jsonl", windows);
}

#[test]
fn a_question_that_was_changed_is_told() {
    let zeros = "0".repeat(64);
    let hashed = format!("\"experiment_sha256\": \"{zeros}\", \"was\": \"");
    let changes: Vec<(&str, Change)> = vec![
        ("alpha", text("\"alpha\": 0.05", "\"alpha\": 0.5")),
        ("a margin", text("\"margin\": 0.01", "\"margin\": 0.1")),
        ("the reference", text("\"reference\": \"steady\"", "\"reference\": \"steady_twin\"")),
        ("pairing", text("\"paired\"", "\"unpaired\"")),
        ("the metric", text("\"metric\": \"wall_ns\"", "\"metric\": \"cpu_total_ns\"")),
        ("a bound", text("\"at_least\": 0.5", "\"at_least\": 0.1")),
        ("what is expected", text("It waits.", "It hurries.")),
        ("a kind", text("\"kind\": \"bar\"", "\"kind\": \"check\"")),
        (
            "declared afterwards",
            text("\"id\": \"waits\"", "\"declared_after_run\": true, \"id\": \"waits\""),
        ),
        ("the experiment's text", text("margin = 0.01", "margin = 0.02")),
        ("the text's question", text("survive this", "like this")),
        ("a table", text("median = 20.0", "median = 10.0")),
        ("the experiment's hash", text("\"experiment_sha256\": \"", &hashed)),
        ("the profile", text("\"profile\": \"short\"", "\"profile\": null")),
        ("the name", text("\"experiment\": \"e\"", "\"experiment\": \"f\"")),
        ("the command line", text("\"--no-startup\"", "\"--quick\"")),
        ("the seed", times("seed", 1.0)),
        ("blocks", times("blocks", 1.0)),
        ("runs planned", times("runs_planned", 1.0)),
        ("real servers", text("\"servers\": []", "\"servers\": [\"http://localhost:1\"]")),
        ("a model", text("\"model\": null", "\"model\": \"m\"")),
    ];
    assert_all_told(&recorded(), "run.json", changes);
}

#[test]
fn a_program_or_a_machine_that_was_changed_is_told() {
    let changes: Vec<(&str, Change)> = vec![
        ("the machine", text("\"cpu_model\": \"", "\"cpu_model\": \"Faster ")),
        ("CPUs", times("cpus", 2.0)),
        ("memory", times("memory_bytes", 2.0)),
        ("the kernel", text("\"kernel\": \"", "\"kernel\": \"9")),
        ("the architecture", text("\"arch\": \"", "\"arch\": \"not_")),
        ("when", times("started_unix_s", 1.0)),
        ("the commit", text("\"git\": null", "\"git\": {\"commit\": \"0\", \"dirty\": false}")),
        ("the lab", text("\"lab_sha256\": \"", "\"lab_sha256\": \"0")),
        ("a version", text("\"version\": \"1.2.4\"", "\"version\": \"1.2.5\"")),
        ("no twin", text("\"twin_of\": \"steady\"", "\"twin_of\": null")),
        ("a variant's name", text("\"variant\": \"broken\"", "\"variant\": \"fine\"")),
        ("a program's hash", text("\"binary_sha256\": \"", "\"binary_sha256\": \"0")),
        ("a program's size", times("binary_bytes", 2.0)),
        ("features", text("\"features\": []", "\"features\": [\"fast\"]")),
        ("tags", text("\"tags\": [", "\"tags\": [\"fast\",")),
        ("the schema", text("\"schema\": 2", "\"schema\": 1")),
        ("a further key", text("{", "{\"x\": 1,")),
        ("a key twice", text("{", "{\"seed\": 1,")),
        ("another chain", text("\"chain\": \"", "\"chain\": \"0")),
        ("no chain", text("\"chain\"", "\"was\"")),
    ];
    assert_all_told(&recorded(), "run.json", changes);
}

#[test]
fn a_page_or_a_table_that_was_changed_is_told_and_not_written_over() {
    let world = recorded();
    // Without gnuplot there is no picture.
    let picture = world.path("x/loss.svg").is_file().then_some("loss.svg");
    let files = ["report.md", "noise.tsv", "rows.tsv", "details/how-it-was-measured.md"];
    for file in files.into_iter().chain(picture) {
        let of_file: Vec<(&str, Change)> = vec![
            ("another number", Box::new(|text: &str| text.replacen(['1', '2'], "7", 1))),
            ("a further line", Box::new(|text: &str| format!("{text}more\n"))),
            ("empty", Box::new(|_| String::new())),
        ];
        assert_all_told(&world, file, of_file);
    }
    let of_manifest: Vec<(&str, Change)> = vec![
        ("another head", text("\"head\": \"", "\"head\": \"0")),
        ("another row", text("\"chain\": \"", "\"chain\": \"0")),
        ("fewer rows", times("rows", 0.5)),
        ("a file elsewhere", text("\"report.md\"", "\"../report.md\"")),
        ("a file of the machine", text("\"report.md\"", "\"/etc/hostname\"")),
        ("a file twice", text("\"files\": {", "\"files\": {\"report.md\": \"\",")),
        ("no JSON", text("{", "")),
    ];
    assert_all_told(&world, "manifest.json", of_manifest);
    // As a kill amid the first report leaves it.
    fs::remove_file(world.path("r/manifest.json")).unwrap();
    fs::remove_file(world.path("r/rows.tsv")).unwrap();
    world.lab(&["report", "r"]).assert().code(0);
    world.lab(&["report", "r", "--check"]).assert().code(0);
    // What a person has removed, to have it written anew, is.
    fs::remove_file(world.path("r/noise.tsv")).unwrap();
    world.lab(&["report", "r", "--no-plots"]).assert().code(0);
    assert!(world.path("r/noise.tsv").is_file());
}

#[test]
fn samples_that_were_changed_are_told() {
    let world = recorded();
    let entries = fs::read_dir(world.path("r/samples")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let [one, other] = [0, 1].map(|at| format!("samples/{}", names[at]));
    let honest = bytes(&world, &format!("r/{one}"));
    assert_told(&world, "r", &one, "of another run", &bytes(&world, &format!("r/{other}")));
    assert_told(&world, "r", &one, "empty", b"");
    assert_told(&world, "r", &one, "cut", &honest[..honest.len() / 2]);
    let _attack = Attack::on("records", "r/samples: a file is removed");
    fs::remove_file(world.path("r").join(&one)).unwrap();
    world.lab(&["report", "r", "--no-plots"]).assert().code(4).stderr(contains("runs.jsonl"));
    fs::write(world.path("r").join(&one), honest).unwrap();

    // Another sweep's: a pack in which all is well.
    world.lab(&["run", "experiments/e.toml", "--out", "s", "--profile", "short"]).assert().code(1);
    world.lab(&["export", "s", "y"]).assert().code(0);
    let pack = "samples.pack.zst";
    let honest = bytes(&world, &format!("x/{pack}"));
    assert_told(&world, "x", pack, "of another sweep", &bytes(&world, &format!("y/{pack}")));
    assert_told(&world, "x", pack, "cut", &honest[..honest.len() / 2]);
    for at in [8, honest.len() / 3, honest.len() / 2, honest.len() - 1] {
        let mut flipped = honest.clone();
        flipped[at] ^= 1;
        assert_told(&world, "x", pack, &format!("a bit is flipped at {at}"), &flipped);
    }
    let _attack = Attack::on("records", "x/manifest.json is removed");
    fs::remove_file(world.path("x/manifest.json")).unwrap();
    world.lab(&["report", "x", "--no-plots"]).assert().code(4).stderr(contains(pack));
}
