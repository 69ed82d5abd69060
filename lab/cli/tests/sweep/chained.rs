//! Chained records: what honest people do with them passes, a kept head tells a remade one, and
//! whoever shows a report tells what was changed of it.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::fs::symlink,
    path::Path,
    process::{Child, Command, Stdio},
};

use assert_cmd::assert::OutputAssertExt;
use lab_family::Family;
use lab_plan::Experiment;
use lab_record::{Heads, Results, Writer};
use predicates::str::contains;
use proof_kit::Attack;

use crate::{
    edited::{EXPECTATION, RUN, recorded},
    unchained::unchain,
    world::World,
};

fn head(world: &World, folder: &str) -> String {
    Results::load(&world.path(folder)).unwrap().heads().map(Heads::whole).unwrap()
}

/// Stores the expectations of today's experiment, as `proof migrate` does.
fn declare_after_run(world: &World, experiment: &str) {
    let text = fs::read_to_string(world.path(experiment)).unwrap();
    let families: Vec<&dyn Family> = lab_families::ALL.iter().map(|one| *one as _).collect();
    let expect = Experiment::parse(experiment, &text, &families).unwrap().written.expect;
    Results::load(&world.path("r")).unwrap().declare_after_run(expect).unwrap();
}

fn edit(path: &Path, from: &str, to: &str) {
    let whole = fs::read_to_string(path).unwrap();
    let changed = whole.replacen(from, to, 1);
    assert_ne!(whole, changed, "no {from} in {}", path.display());
    fs::write(path, changed).unwrap();
}

#[test]
fn a_record_and_its_copies_have_one_head_wherever_they_lie() {
    let world = recorded();
    let kept = head(&world, "r");
    // On the page, in the terminal, and of a copy of a copy.
    assert!(world.report().contains(&format!("Record: head `{kept}`.")));
    world.lab(&["export", "x", "y"]).assert().code(0).stderr(contains(&*kept));
    fs::create_dir(world.path("elsewhere")).unwrap();
    fs::rename(world.path("y"), world.path("elsewhere/z")).unwrap();
    for folder in ["r", "x", "elsewhere/z"] {
        assert_eq!(head(&world, folder), kept);
        let same = world.lab(&["report", folder, "--head", &kept]).assert().code(0);
        same.stderr(contains(format!("head {kept}")));
        world.lab(&["report", folder, "--check", "--head", &kept.to_uppercase()]).assert().code(0);
        let other = "0".repeat(32);
        let refused = world.lab(&["report", folder, "--head", &other]).assert().code(4);
        refused.stderr(contains("--head is 000"));
    }
    let again = world.lab(&["run", "experiments/e.toml", "--out", "s", "--json", "--no-startup"]);
    let mut again = again;
    let said = again.assert().code(1).get_output().stdout.clone();
    let line: serde_json::Value = serde_json::from_slice(&said).unwrap();
    assert_eq!(line["head"], head(&world, "s"));
    assert_ne!(line["head"], kept);
}

#[test]
fn a_record_from_before_chains_is_told_and_has_no_head() {
    let world = World::new();
    let committed = std::env::current_dir().unwrap().join(env!("CARGO_MANIFEST_DIR"));
    let committed = committed.join("../../reports/tr113-ollama");
    let committed = committed.to_str().unwrap();
    let report = ["report", committed, "--out", "o", "--no-plots"];
    world.lab(&report).assert().code(0).stderr(contains("unchained"));
    assert!(!world.path("o/manifest.json").exists());
    let _attack = Attack::on("records", "a head is held against a record without one");
    let with_head = world.lab(&report).args(["--head", &"0".repeat(32)]).assert();
    with_head.code(4).stderr(contains("it is unchained"));
}

#[test]
fn a_remade_chain_has_another_head() {
    let world = recorded();
    let kept = head(&world, "r");
    let _attack = Attack::on("records", "a time is halved and the whole chain made anew");
    let honest = Results::load(&world.path("r")).unwrap();
    let mut writer = Writer::create(&world.path("forged"), &honest.run_file).unwrap();
    let (last, sessions) = honest.sessions.split_last().unwrap();
    sessions.iter().for_each(|session| writer.session(session).unwrap());
    for run in &honest.runs {
        let samples = honest.samples(run).unwrap();
        let mut run = run.clone();
        if run.variant == "steady_twin" {
            run.counters.entry("voluntary_switches".to_owned()).and_modify(|count| *count /= 2);
        }
        writer.run(run, &samples).unwrap();
    }
    writer.session(last).unwrap();
    // Nothing in the folder tells it; who kept the head knows.
    world.lab(&["report", "forged", "--no-plots"]).assert().code(0);
    let refused = world.lab(&["report", "forged", "--no-plots", "--head", &kept]).assert();
    refused.code(4).stderr(contains(format!("its head is {}", head(&world, "forged"))));
}

#[test]
fn a_resume_follows_in_the_chain_and_removes_what_was_never_whole() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 8, "");
    world.interrupt_after(&RUN, "r", 4);
    world.lab(&["report", "r", "--no-plots"]).assert().code(0);
    // As a kill or a full disk leaves them.
    let unfinished = [
        "r/samples/00.tmp",
        "r/samples/00.new",
        "r/run.json.tmp",
        "r/run.json.new",
        "r/manifest.json.tmp",
    ];
    unfinished.iter().for_each(|path| fs::write(world.path(path), "half").unwrap());
    fs::write(world.path("r/notes.tmp"), "of a person").unwrap();
    for name in ["runs.jsonl", "windows.jsonl"] {
        let path = world.path("r").join(name);
        let torn = fs::read_to_string(&path).unwrap_or_default() + "{\"schema\":2,\"or";
        fs::write(path, torn).unwrap();
    }
    world.lab(&["report", "r", "--no-plots"]).assert().code(0);
    world.lab(&["run", "--resume", "r", "--no-startup"]).assert().code(0);
    unfinished.iter().for_each(|path| assert!(!world.path(path).exists(), "{path}"));
    assert!(world.path("r/notes.tmp").exists());
    let results = Results::load(&world.path("r")).unwrap();
    assert_eq!(results.heads().unwrap().runs.rows, 2 + 8 * 4);
    assert_eq!(results.heads().unwrap().sessions.rows, 4);
    world.lab(&["report", "r", "--check"]).assert().code(0);
}

#[test]
fn a_resume_refuses_what_was_changed_meanwhile() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 8, "");
    world.interrupt_after(&RUN, "r", 4);
    for (file, from, to) in [
        ("runs.jsonl", "\"wall_ns\":", "\"wall_ns\":1"),
        ("sessions.jsonl", "not pinned", "pinned"),
        ("run.json", "\"alpha\": 0.05", "\"alpha\": 0.5"),
    ] {
        let _attack = Attack::on("records", &format!("a stopped sweep's {file}: {from}"));
        let path = world.path("r").join(file);
        let honest = fs::read_to_string(&path).unwrap();
        edit(&path, from, to);
        let refused = world.lab(&["run", "--resume", "r", "--no-startup"]).assert();
        refused.code(4).stderr(contains(file));
        fs::write(&path, honest).unwrap();
    }
    world.lab(&["run", "--resume", "r", "--no-startup"]).assert().code(0);
}

#[test]
fn expectations_that_come_afterwards_change_no_head() {
    let world = World::new();
    world.variant("steady", "exec \"$FLOOR\"");
    world.experiment("paced", 1, "");
    world.lab(&RUN).assert().code(0);
    let kept = head(&world, "r");
    for bound in ["0.5", "0.25"] {
        let later = EXPECTATION.replace("0.5", bound);
        world.experiment("paced", 1, &later);
        declare_after_run(&world, "experiments/e.toml");
        let stored = Results::load(&world.path("r")).unwrap().run_file.expectations;
        assert!(stored.len() == 1 && stored[0].declared_after_run);
        world.lab(&["report", "r", "--no-plots", "--head", &kept]).assert().code(0);
    }
    let _attack = Attack::on("records", "an expectation from afterwards poses as one from before");
    edit(&world.path("r/run.json"), "\"declared_after_run\": true", "\"note\": \"x\"");
    let told = world.lab(&["report", "r", "--no-plots"]).assert().code(4);
    told.stderr(contains("run.json"));
}

#[test]
fn a_check_and_a_page_for_a_browser_tell_what_was_changed() {
    let world = recorded();
    world.lab(&["report", "r", "--format", "html"]).assert().code(0);
    world.lab(&["report", "r", "--check"]).assert().code(0);
    for (arguments, file) in [
        (["report", "r", "--check"], "loss.svg"),
        (["report", "r", "--check"], "noise.tsv"),
        (["report", "r", "--no-plots"], "index.html"),
        (["report", "r", "--format=html"], "loss.svg"),
        (["report", "r", "--format=tsv"], "report.md"),
        (["export", "r", "x"], "runs.jsonl"),
    ] {
        let path = world.path("r").join(file);
        let Ok(honest) = fs::read_to_string(&path) else { continue };
        let _attack = Attack::on("pages", &format!("{file} is changed, lab {arguments:?}"));
        fs::write(&path, honest.replacen(['1', '2'], "7", 1)).unwrap();
        let end = world.lab(&arguments).assert().stderr(contains(file));
        let code = end.get_output().status.code();
        assert!(matches!(code, Some(1 | 4)), "{file}: {code:?}");
        fs::write(&path, honest).unwrap();
    }
    // What lies in another folder is bound to the record too.
    world.lab(&["report", "r", "--out", "o", "--no-plots"]).assert().code(0);
    let _attack = Attack::on("pages", "a table in a folder of its own is changed");
    edit(&world.path("o/noise.tsv"), "\t", "\t1");
    let told = world.lab(&["report", "r", "--out", "o", "--no-plots"]).assert().code(4);
    told.stderr(contains("noise.tsv: was changed after it was written"));
    // A folder of another record's report is written over.
    world.lab(&["run", "experiments/e.toml", "--out", "s"]).assert().code(1);
    world.lab(&["report", "s", "--out", "o", "--no-plots"]).assert().code(0);
}

#[test]
fn a_chain_that_is_taken_away_leaves_its_traces() {
    let world = recorded();
    let [sessions, manifest] = ["sessions.jsonl", "manifest.json"].map(|name| {
        let path = world.path("r").join(name);
        (fs::read_to_string(&path).unwrap(), path)
    });
    unchain(&world.path("r"));
    let report = || world.lab(&["report", "r", "--no-plots"]).assert();
    report().code(0).stderr(contains("unchained"));
    let _attack = Attack::on("records", "no chain, and a manifest that names one");
    fs::write(&manifest.1, &manifest.0).unwrap();
    report().code(4).stderr(contains("manifest.json: is of a record with a chain"));
    fs::remove_file(&manifest.1).unwrap();
    let _attack = Attack::on("records", "no chain, and a session that knows one");
    let plain = sessions.0.lines().map(|line| line.rsplit_once(",\"chain\"").unwrap().0);
    fs::write(&sessions.1, plain.map(|row| format!("{row}}}\n")).collect::<String>()).unwrap();
    report().code(4).stderr(contains("sessions.jsonl, line 2: it has a `recorded`"));
}

#[test]
fn nothing_is_written_or_removed_through_a_link_of_a_record() {
    let world = recorded();
    let outside = world.path("outside");
    fs::create_dir(&outside).unwrap();
    for name in ["mine", "verdicts.md", "half.tmp"] {
        fs::write(outside.join(name), "mine\n").unwrap();
    }
    let untouched = || {
        let names = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().path());
        let texts: Vec<String> = names.map(|path| fs::read_to_string(path).unwrap()).collect();
        assert_eq!(texts, ["mine\n"; 3]);
    };
    let report = || world.lab(&["report", "r", "--no-plots"]).assert();
    let _attack = Attack::on("links", "a link where manifest.json is written");
    symlink(outside.join("mine"), world.path("r/manifest.json.tmp")).unwrap();
    report().code(0);
    untouched();
    let _attack = Attack::on("links", "a link in the place of the chapters' folder");
    fs::remove_dir_all(world.path("r/details")).unwrap();
    symlink(&outside, world.path("r/details")).unwrap();
    report().code(4);
    untouched();
    let out = ["report", "r", "--no-plots", "--out", "o"];
    fs::create_dir(world.path("o")).unwrap();
    symlink(&outside, world.path("o/details")).unwrap();
    world.lab(&out).assert().code(4).stderr(contains("is a symbolic link"));
    untouched();
    fs::remove_file(world.path("r/details")).unwrap();
    let _attack = Attack::on("links", "a link in the place of the samples, in a resume");
    fs::rename(world.path("r/samples"), world.path("kept")).unwrap();
    symlink(&outside, world.path("r/samples")).unwrap();
    world.lab(&["run", "--resume", "r", "--no-startup"]).assert().code(4);
    untouched();
}

/// A changed file of a report, by what is in the place of a text.
const SHOWN: [(&str, &str, &str); 5] = [
    ("report.md", "survive", "outlive"),
    ("details/how-it-was-measured.md", "runs planned", "runs done"),
    ("noise.tsv", "\t", "\t1"),
    ("loss.svg", "</svg>", "<desc>x</desc></svg>"),
    ("loss.narrow.svg", "</svg>", "<desc>x</desc></svg>"),
];

#[test]
fn a_site_shows_nothing_that_was_changed() {
    let world = recorded();
    fs::create_dir(world.path("all")).unwrap();
    fs::rename(world.path("x"), world.path("all/x")).unwrap();
    let site = || world.lab(&["site", "pages", "--reports", "all"]).assert();
    site().code(0);
    for (file, from, to) in SHOWN.into_iter().chain([("run.json", "0.05", "0.5")]) {
        let path = world.path("all/x").join(file);
        let Ok(honest) = fs::read_to_string(&path) else { continue };
        let _attack = Attack::on("pages", &format!("lab site of a changed {file}"));
        edit(&path, from, to);
        site().code(4).stderr(contains(file));
        fs::write(&path, honest).unwrap();
    }
    let _attack = Attack::on("pages", "lab site of a table that is of no report");
    fs::write(world.path("all/x/more.tsv"), "a\n1\n").unwrap();
    site().code(4).stderr(contains("more.tsv: is none that `lab report` wrote"));
    fs::remove_file(world.path("all/x/more.tsv")).unwrap();
    let _attack = Attack::on("pages", "lab site without a table");
    fs::remove_file(world.path("all/x/noise.tsv")).unwrap();
    site().code(4).stderr(contains("noise.tsv: is in manifest.json and not in the folder"));
}

/// `lab serve`, which ends with the test.
struct Server(Child, String);

impl Server {
    fn of(world: &World, folder: &str) -> Self {
        let mut lab: Command = world.lab(&["serve", folder, "--listen", "127.0.0.1:0"]);
        let mut child = lab.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap().trim_end_matches('/');
        Self(child, address.to_owned())
    }

    fn ask(&self, target: &str) -> String {
        let mut socket = TcpStream::connect(&self.1).unwrap();
        write!(socket, "GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.1).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_shows_nothing_that_was_changed() {
    let world = recorded();
    let server = Server::of(&world, "r");
    let page = "/r/0/r.html";
    assert!(server.ask(page).starts_with("HTTP/1.1 200"));
    let of_rows = [
        ("runs.jsonl", "\"wall_ns\":", "\"wall_ns\":1"),
        ("run.json", "\"alpha\": 0.05", "\"alpha\": 0.5"),
    ];
    for (file, from, to) in SHOWN.into_iter().chain(of_rows) {
        let path = world.path("r").join(file);
        let Ok(honest) = fs::read_to_string(&path) else { continue };
        let _attack = Attack::on("serve", &format!("lab serve of a changed {file}"));
        edit(&path, from, to);
        let answer = server.ask(page);
        assert!(answer.starts_with("HTTP/1.1 500") && answer.contains(file), "{file}: {answer}");
        fs::write(&path, honest).unwrap();
    }
    let _attack = Attack::on("serve", "the list of records with a changed answer");
    edit(&world.path("r/report.md"), "survive", "outlive");
    let list = server.ask("/");
    assert!(list.contains("report.md: was changed after it was written"), "{list}");
    assert!(!list.contains("outlive"), "{list}");
    let _attack = Attack::on("serve", "a changed answer without the hashes that tell it");
    fs::remove_file(world.path("r/manifest.json")).unwrap();
    assert!(!server.ask("/").contains("outlive"));
    assert!(server.ask(page).starts_with("HTTP/1.1 500"));
}

/// What else reads a record, and its arguments.
const READERS: [&[&str]; 7] = [
    &["report", "r", "--check"],
    &["report", "r", "--format", "json"],
    &["report", "r", "--against", "x"],
    &["report", "x", "--against", "r"],
    &["export", "r", "again"],
    &["export", "r", "--csv"],
    &["watch", "r"],
];

#[test]
fn every_reader_tells_a_changed_row() {
    let world = recorded();
    edit(&world.path("r/runs.jsonl"), "\"wall_ns\":", "\"wall_ns\":1");
    for reader in READERS {
        let _attack = Attack::on("records", &format!("a changed row, lab {}", reader.join(" ")));
        world.lab(reader).assert().code(4).stderr(contains("runs.jsonl, line "));
    }
    assert!(!world.path("again").exists(), "something was written");
}
