//! A stranger's record and report that bring links, pipes and sockets, through every command that
//! reads or writes them; and a tree of links that Bazel made, which is none of these.

mod plain;

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    process::{Command, Output},
};

use nix::{sys::stat::Mode, unistd::mkfifo};
use plain::unpack;
use proof_kit::Attack;
use tempfile::TempDir;

/// What is outside of the record, and must neither be shown nor changed.
const SECRET: &str = "nobody-may-read-this";

/// A small one, with pictures.
const REPORT: &str = "offload-wake";

const KINDS: [&str; 5] = [
    "a link to a file outside",
    "a link that leads nowhere",
    "a link to a device without an end",
    "a pipe",
    "a socket",
];

fn root() -> PathBuf {
    std::path::absolute(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// Copies of a committed report, in a folder of their own, beside a file that is none of theirs.
struct World {
    home: TempDir,
}

impl World {
    fn new() -> Self {
        let home = TempDir::new().unwrap();
        let outside = home.path().join("outside");
        fs::write(outside, format!("# {SECRET}\n\n**{SECRET}**\n")).unwrap();
        fs::create_dir(home.path().join("reports")).unwrap();
        Self { home }
    }

    fn reports(&self) -> PathBuf {
        self.home.path().join("reports")
    }

    fn outside(&self) -> PathBuf {
        self.home.path().join("outside")
    }

    /// One more copy of the report.
    fn copy(&self, name: &str) -> PathBuf {
        let folder = self.reports().join(name);
        copy(&root().join("reports").join(REPORT), &folder);
        folder
    }

    /// Puts something else in the place of a file.
    fn replace(&self, file: &Path, kind: &str) {
        let _ = fs::remove_file(file);
        match kind {
            "a link to a file outside" => symlink(self.outside(), file).unwrap(),
            "a link that leads nowhere" => symlink(self.home.path().join("no"), file).unwrap(),
            "a link to a device without an end" => symlink("/dev/zero", file).unwrap(),
            "a pipe" => mkfifo(file, Mode::S_IRWXU).unwrap(),
            "a socket" => drop(UnixListener::bind(file).unwrap()),
            _ => panic!("{kind}"),
        }
    }

    /// The command in this world, outside of Bazel's runfiles.
    fn lab(&self, args: &[&str]) -> Output {
        let mut lab = Command::new(std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap());
        for variable in ["RUNFILES_DIR", "TEST_SRCDIR", "BUILD_WORKSPACE_DIRECTORY"] {
            lab.env_remove(variable);
        }
        lab.current_dir(self.home.path()).args(args).output().unwrap()
    }

    fn is_as_it_was(&self) {
        let text = fs::read_to_string(self.outside()).unwrap();
        assert_eq!(text, format!("# {SECRET}\n\n**{SECRET}**\n"));
        assert!(!self.home.path().join("no").exists());
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(path, target).unwrap();
        }
    }
    unpack(to);
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// A sentence that names the file, exit code 4, and nothing of what is outside.
#[track_caller]
fn refused(output: &Output, name: &str) {
    let said = said(output);
    assert_eq!(output.status.code(), Some(4), "{name}: {said}");
    assert!(said.contains(name) && !said.contains(SECRET), "{name}: {said}");
    let why = ["is a symbolic link, and none is followed", "is no regular file"];
    assert!(why.iter().any(|why| said.contains(why)), "{name}: {said}");
}

#[test]
fn no_command_reads_a_record_through_links() {
    for name in ["run.json", "runs.jsonl", "sessions.jsonl", "windows.jsonl", "samples.pack.zst"] {
        for kind in KINDS {
            let world = World::new();
            world.replace(&world.copy("r").join(name), kind);
            for command in [
                &["report", "reports/r", "--out", "out"][..],
                &["report", "reports/r", "--check"],
                &["report", "reports/r", "--format", "json"],
                &["export", "reports/r", "out"],
                &["export", "reports/r", "--csv"],
                &["watch", "reports/r"],
            ] {
                let _attack = Attack::on("links", &format!("lab {command:?}, {name}: {kind}"));
                refused(&world.lab(command), name);
                assert!(!world.home.path().join("out").exists(), "{command:?}");
            }
        }
    }
}

#[test]
fn a_page_shows_nothing_that_a_report_only_leads_to() {
    let pages = ["report.md", "stalls.svg", "stalls.tsv", "details/noise.md"];
    for name in pages {
        for kind in KINDS {
            let _attack = Attack::on("links", &format!("lab site, {name}: {kind}"));
            let world = World::new();
            world.copy("good");
            let file = world.copy("bad").join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            world.replace(&file, kind);
            let root = root();
            let root = root.to_str().unwrap();
            let args = ["--root", root, "site", "pages", "--reports", "reports"];
            refused(&world.lab(&args), name);
            // The others have their pages.
            let pages = world.home.path().join("pages");
            assert!(pages.join("good.html").is_file() && !pages.join("bad.html").exists());
            let index = fs::read_to_string(pages.join("index.html")).unwrap();
            assert!(index.contains("good.html") && !index.contains(SECRET), "{index}");
        }
    }
}

#[test]
fn a_folder_that_is_a_link_is_no_part_of_a_report() {
    let world = World::new();
    let elsewhere = world.home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::copy(world.outside(), elsewhere.join("noise.md")).unwrap();
    let report = world.copy("r");
    fs::remove_dir_all(report.join("details")).unwrap();
    symlink(&elsewhere, report.join("details")).unwrap();
    for command in [
        &["report", "reports/r"][..],
        &["report", "reports/r", "--check"],
        &["report", "reports/r", "--format", "html"],
        &["--root", ".", "site", "pages", "--reports", "reports"],
    ] {
        let _attack = Attack::on("links", &format!("lab {command:?}: details is a link"));
        refused(&world.lab(command), "details");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1, "{command:?}");
    }
    let _attack = Attack::on("links", "lab site: a report that is a link");
    symlink(world.home.path(), world.reports().join("out")).unwrap();
    fs::copy(world.outside(), world.home.path().join("report.md")).unwrap();
    fs::remove_file(report.join("details")).unwrap();
    let args = ["--root", ".", "site", "pages", "--reports", "reports"];
    assert!(world.lab(&args).status.success());
    assert!(!world.home.path().join("pages/out.html").exists());
}

#[test]
fn nothing_is_written_through_a_link_of_the_target() {
    let names = ["report.md", "index.html", "run.json", "runs.jsonl", "stalls.tsv", "stalls.svg"];
    for name in names {
        for kind in KINDS {
            let _attack = Attack::on("links", &format!("written over {name}: {kind}"));
            let world = World::new();
            let from = world.copy("from");
            let to = world.reports().join("to");
            fs::create_dir(&to).unwrap();
            world.replace(&to.join(name), kind);
            // A page of the same name, in a folder of pages.
            let pages = world.home.path().join("pages");
            fs::create_dir(&pages).unwrap();
            world.replace(&pages.join("from.html"), kind);
            let from = from.to_str().unwrap();
            let exported = world.lab(&["export", from, "reports/to"]);
            assert!(exported.status.success(), "{}", said(&exported));
            let written = world.lab(&["report", from, "--out", "reports/to", "--format", "html"]);
            assert!(written.status.success(), "{}", said(&written));
            fs::remove_dir_all(&to).unwrap();
            let made = world.lab(&["--root", ".", "site", "pages", "--reports", "reports"]);
            assert!(made.status.success(), "{}", said(&made));
            assert!(fs::symlink_metadata(pages.join("from.html")).unwrap().is_file());
            world.is_as_it_was();
        }
    }
}

#[test]
fn an_index_that_is_a_link_is_no_page_of_ours() {
    let world = World::new();
    world.copy("r");
    let pages = world.home.path().join("pages");
    fs::create_dir(&pages).unwrap();
    for kind in KINDS {
        let _attack = Attack::on("links", &format!("lab site over an index.html: {kind}"));
        world.replace(&pages.join("index.html"), kind);
        let output = world.lab(&["--root", ".", "site", "pages", "--reports", "reports"]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains("is no page of `lab site`"), "{}", said(&output));
        world.is_as_it_was();
    }
}

#[test]
fn a_folder_of_criterion_is_read_without_its_links() {
    let folder = |world: &World| {
        let new = world.home.path().join("criterion/sum/new");
        fs::create_dir_all(&new).unwrap();
        fs::write(new.join("sample.json"), r#"{"iters":[1,1],"times":[2,3]}"#).unwrap();
        new
    };
    for kind in KINDS {
        let _attack = Attack::on("links", &format!("lab import, sample.json: {kind}"));
        let world = World::new();
        world.replace(&folder(&world).join("sample.json"), kind);
        refused(&world.lab(&["import", "criterion"]), "sample.json");
        let attack = Attack::on("links", &format!("lab import, benchmark.json: {kind}"));
        let world = World::new();
        fs::write(world.outside(), format!("{{\"full_id\":\"{SECRET}\"}}")).unwrap();
        world.replace(&folder(&world).join("benchmark.json"), kind);
        let output = world.lab(&["import", "criterion"]);
        assert!(output.status.success() && !said(&output).contains(SECRET), "{}", said(&output));
        drop(attack);
    }
    let _attack = Attack::on("links", "lab import: a folder of benchmarks is a link");
    let world = World::new();
    let new = folder(&world);
    fs::create_dir(world.home.path().join("mine")).unwrap();
    symlink(new.parent().unwrap(), world.home.path().join("mine/sum")).unwrap();
    let output = world.lab(&["import", "mine"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
}

/// A tree as Bazel lays one out: folders, and a link for each file.
fn runfiles(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            runfiles(&path, &target);
        } else {
            symlink(path, target).unwrap();
        }
    }
}

#[test]
fn the_links_of_bazels_runfiles_are_followed_and_no_others() {
    let world = World::new();
    let tree = world.home.path().join("lab.runfiles");
    let report = tree.join("_main/reports").join(REPORT);
    runfiles(&root().join("reports").join(REPORT), &report);
    let lab = |runfiles: Option<&Path>, args: &[&str]| {
        let mut lab = Command::new(std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap());
        for variable in ["RUNFILES_DIR", "TEST_SRCDIR", "BUILD_WORKSPACE_DIRECTORY"] {
            lab.env_remove(variable);
        }
        if let Some(runfiles) = runfiles {
            lab.env("RUNFILES_DIR", runfiles);
        }
        lab.current_dir(tree.join("_main")).args(args).output().unwrap()
    };
    let check = ["report", &format!("reports/{REPORT}"), "--check"];
    let pages = world.home.path().join("pages");
    let site = ["--root", ".", "site", pages.to_str().unwrap(), "--reports", "reports"];
    for args in [&check[..], &site] {
        let output = lab(Some(&tree), args);
        assert!(output.status.success(), "{}", said(&output));
    }
    // A folder that is only called so is no tree of Bazel's.
    let attack = Attack::on("links", "a record in a folder called lab.runfiles");
    refused(&lab(None, &check), "run.json");
    drop(attack);
    let attack = Attack::on("links", "a record beside Bazel's runfiles");
    refused(&lab(Some(&root().join("lab")), &check), "run.json");
    drop(attack);
    let attack = Attack::on("links", "a link in Bazel's runfiles that leads elsewhere");
    world.replace(&report.join("rows.pack.zst"), "a link to a file outside");
    refused(&lab(Some(&tree), &check), "rows.pack.zst");
    drop(attack);
    let _attack = Attack::on("links", "a link in Bazel's runfiles to a file of the same name");
    let elsewhere = world.home.path().join("rows.pack.zst");
    fs::copy(root().join("reports").join(REPORT).join("rows.pack.zst"), &elsewhere).unwrap();
    fs::remove_file(report.join("rows.pack.zst")).unwrap();
    symlink(elsewhere, report.join("rows.pack.zst")).unwrap();
    refused(&lab(Some(&tree), &check), "rows.pack.zst");
}
