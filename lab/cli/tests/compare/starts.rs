//! Programs that are there and cannot be started, alone and amid others.

use std::{fs, os::unix::fs::PermissionsExt};

use assert_cmd::assert::OutputAssertExt;
use predicates::str::contains;
use proof_kit::Attack;
use tempfile::TempDir;

use crate::lab;

fn tool(text: &str, mode: u32) -> TempDir {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("tool");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    dir
}

#[test]
fn the_interpreter_that_is_missing_is_named_wherever_the_script_stands() {
    let windows = "the interpreter /bin/sh\\r of ./tool cannot be found (Windows line ends)";
    let env = "the interpreter no-such-python of ./tool cannot be found";
    for (script, said) in [
        ("#!/bin/sh\r\necho a\r\n", windows),
        ("#!/usr/bin/env no-such-python\n", env),
        ("#!/no/such/sh\n", "the interpreter /no/such/sh of ./tool cannot be found"),
    ] {
        for command in [
            "./tool",
            "./tool --option",
            "./tool | cat",
            "echo a | ./tool | cat",
            "A=1 ./tool 2>&1 | cat; true",
            "if true; then ./tool; fi",
            "./tool 2>/dev/null | wc -c",
            "./tool; true",
        ] {
            let _attack = Attack::on("answers", &format!("{script:?} as `{command}`"));
            let dir = tool(script, 0o755);
            for more in [&[][..], &["-i"], &["-S", "bash"]] {
                let arguments = [&["true", command, "--runs", "4"], more].concat();
                lab(&dir, &arguments).assert().code(2).stderr(contains(said));
            }
        }
    }
}

#[test]
fn what_is_no_program_or_not_there_is_named_amid_others() {
    let said = |dir: &TempDir, command: &str, sentence: &str| {
        let refused = lab(dir, &["true", command, "--runs", "4"]).assert().code(2);
        refused.stderr(contains(sentence.to_owned()));
    };
    let plain = tool("x", 0o644);
    let mode = "./tool is not executable; `chmod +x ./tool` makes it so";
    said(&plain, "./tool", mode);
    said(&plain, "./tool | cat", mode);
    said(&plain, "no-such-tool | cat", "`no-such-tool` of `no-such-tool | cat` was not found");
    said(&plain, "./none | cat", "`./none` of `./none | cat` was not found");
    said(&plain, "echo a; ./none; true", "`./none` of `echo a; ./none; true` was not found");
    // What the shell does itself, makes first, or has something else for, is none of these.
    for command in [
        "cd /no-such | cat",
        "printf '#!/bin/sh\\n' > made; chmod +x made; ./made | cat; rm made",
        "no-such-tool || true",
        "tool() { echo tool >&2; }; tool | cat",
    ] {
        lab(&plain, &["true", command, "--runs", "1"]).assert().code(11);
    }
}
