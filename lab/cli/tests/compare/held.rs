//! Programs and data that do not stay what they are.

use std::fs;

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use proof_kit::Attack;
use tempfile::TempDir;

use crate::{lab, order::script, text};

/// Scripts whose first command does something in its ninth run.
fn world(does: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    let body = format!("echo >> runs; test $(wc -l < runs) = 9 && {{ {does}; }}; true");
    script(&dir, "old.sh", &body);
    script(&dir, "new.sh", "sleep 0.003");
    script(&dir, "other", "true");
    // Reads what it is given.
    let mut reader = fs::read_to_string(dir.path().join("other")).unwrap();
    reader = reader.replace("true", "exec sh \"$@\"");
    fs::write(dir.path().join("other-reader"), &reader).unwrap();
    for name in ["reader", "other-reader"] {
        script(&dir, name, "exec sh \"$@\"");
    }
    let here = dir.path().display().to_string();
    script(&dir, "by-reader.sh", "sleep 0.003");
    let by_reader = format!("#!{here}/reader\nsleep 0.003\n");
    fs::write(dir.path().join("by-reader.sh"), by_reader).unwrap();
    script(&dir, "by-env.sh", "sleep 0.003");
    fs::write(dir.path().join("by-env.sh"), "#!/usr/bin/env reader\nsleep 0.003\n").unwrap();
    fs::write(dir.path().join("data"), "a\n").unwrap();
    std::os::unix::fs::symlink("new.sh", dir.path().join("link")).unwrap();
    dir
}

/// Ways to change FILE while a comparison runs.
const WAYS: [(&str, &str); 6] = [
    ("another file has its name", "cp -p other new.tmp; mv new.tmp FILE"),
    ("it is written in place", "echo : >> FILE"),
    (
        "it is written in place with its old time",
        "touch -r FILE t; echo : >> FILE; touch -r t FILE",
    ),
    ("it is away and back", "mv FILE t; cp -p other FILE; sleep 0.02; mv t FILE"),
    ("it is written and written back", "cp -p FILE t; cat other > FILE; cat t > FILE"),
    ("a link has its name", "mv FILE t; ln -s t FILE"),
];

#[test]
fn no_change_of_a_program_goes_unseen() {
    let targets = [
        ("new.sh", "./new.sh", "sh"),
        ("new.sh", "sh new.sh", "sh"),
        ("new.sh", "./link", "sh"),
        ("by-reader.sh", "./by-reader.sh", "sh"),
        ("reader", "./by-reader.sh", "sh"),
        ("reader", "./by-env.sh", "sh"),
        ("reader", "./new.sh; true", "./reader"),
    ];
    for (file, command, shell) in targets {
        for (what, way) in WAYS {
            let way = way.replace("other", if file == "reader" { "other-reader" } else { "other" });
            let dir = world(&way.replace("FILE", file));
            let _attack = Attack::on("programs", &format!("{file} of `{command}`: {what}"));
            let path = std::env::var("PATH").unwrap();
            let mut arguments = vec!["./old.sh", command, "--budget", "60"];
            if shell != "sh" {
                arguments.extend(["--shell", shell]);
            }
            let mut lab = lab(&dir, &arguments);
            lab.env("PATH", format!("{}:{path}", dir.path().display()));
            let ended = lab.assert().code(1);
            let said = ended.stderr(
                contains(format!("{file} was changed after "))
                    .or(contains("link was changed after ")),
            );
            assert_eq!(text(&said), "", "no verdict is printed");
        }
    }
}

#[test]
fn another_program_of_the_name_that_comes_first_on_the_path_is_seen() {
    for (what, command, shell) in [
        ("a program", "tool", "sh"),
        ("what env finds for a script", "./by-env.sh", "sh"),
        ("a shell", "./new.sh; true", "tool"),
    ] {
        let dir = world("cp late/tool early/tool");
        let _attack = Attack::on("programs", &format!("{what} is put before the one of its name"));
        fs::create_dir(dir.path().join("early")).unwrap();
        script(&dir, "late/tool", "exec sh \"$@\"");
        if command == "tool" {
            script(&dir, "late/tool", "sleep 0.003");
        }
        fs::write(dir.path().join("by-env.sh"), "#!/usr/bin/env tool\nsleep 0.003\n").unwrap();
        let mut arguments = vec!["./old.sh", command, "--budget", "60"];
        arguments.extend((shell != "sh").then_some(["--shell", shell]).into_iter().flatten());
        let [early, late] = ["early", "late"].map(|name| dir.path().join(name));
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{}:{path}", early.display(), late.display());
        let ended = lab(&dir, &arguments).env("PATH", path).assert().code(1);
        let ended = ended.stderr(
            contains("early/tool stands in the place of ").and(contains("name programs by")),
        );
        assert_eq!(text(&ended), "");
    }
}

#[test]
fn a_program_that_has_its_bytes_again_is_told_so() {
    let dir = world(&WAYS[3].1.replace("FILE", "new.sh"));
    let ended = lab(&dir, &["./old.sh", "./new.sh", "--budget", "60"]).assert().code(1);
    ended.stderr(
        contains("new.sh was changed after ").and(contains(" rounds, and has its bytes again")),
    );
}

#[test]
fn data_that_has_other_bytes_at_the_end_has_no_verdict() {
    for (what, way) in [
        ("a line more", "echo b >> data"),
        ("another letter", "printf b > data"),
        ("nothing", ": > data"),
        ("another letter under the old time", "touch -r data t; echo b > data; touch -r t data"),
    ] {
        let dir = world(way);
        let _attack = Attack::on("programs", &format!("--data gets {what} amid the rounds"));
        let arguments = ["./old.sh data", "true data", "--data", "data", "--runs", "20"];
        let ended = lab(&dir, &arguments).assert().code(1);
        let said = ended.stderr(contains("data has other bytes after the rounds than before them"));
        assert_eq!(text(&said), "");
    }
    let dir = world("cp data t; mv t data");
    let _attack = Attack::on("programs", "--data is another file with the same bytes");
    let arguments = ["./old.sh data", "true data", "--data", "data", "--runs", "20"];
    lab(&dir, &arguments).assert().code(1).stderr(contains("data was changed after "));
}

#[test]
fn what_prepare_and_setup_replace_is_said_and_nothing_else_is_allowed() {
    let dir = world("true");
    let prepare = "cp other new.tmp && mv new.tmp new.sh && echo a > data";
    let arguments = ["./old.sh data", "./new.sh", "--data", "data", "--runs", "9"];
    let told = lab(&dir, &[&arguments[..], &["--prepare", prepare]].concat()).assert().code(11);
    let told = told.stderr(contains("note: --prepare replaced ./new.sh before each run\n"));
    told.stderr(contains("note: --prepare replaced data before each run\n"));
    let varies = "echo \": $(cat runs | wc -l)\" >> new.sh";
    let told = lab(&dir, &[&arguments[..], &["--prepare", varies]].concat()).assert().code(11);
    told.stderr(contains(
        "replaced ./new.sh before each run, and its bytes are not always the same",
    ));
    let setup = ["--setup", "cp other new.tmp && mv new.tmp new.sh"];
    let told = lab(&dir, &[&arguments[..], &setup].concat()).assert().code(11);
    told.stderr(contains("note: --setup replaced ./new.sh, which is compared\n"));
    // A --prepare is no leave for the commands.
    let dir = world(&WAYS[0].1.replace("FILE", "new.sh"));
    let _attack = Attack::on("programs", "a command replaces another's program behind --prepare");
    let arguments = ["./old.sh", "./new.sh", "--budget", "60", "--prepare", "true"];
    lab(&dir, &arguments).assert().code(1).stderr(contains("new.sh was changed after "));
}

#[test]
fn a_program_that_setup_makes_otherwise_is_not_gone_on_with() {
    let dir = world("true");
    let with = |made: &str, file: [&str; 2]| {
        let setup = format!("cp {made} new.tmp && mv new.tmp new.sh");
        let arguments = ["./old.sh", "./new.sh", "--runs", "2", "--setup", &setup];
        lab(&dir, &[&arguments[..], &file].concat()).assert()
    };
    with("other", ["--record", "r"]).code(11);
    with("other", ["--resume", "r"]).code(11);
    let _attack = Attack::on("programs", "--setup makes another program for --resume");
    with("old.sh", ["--resume", "r"]).code(4).stderr(contains("by the bytes of a program"));
}
