//! What a terminal, a shell and a program that reads the answer are given.

use std::fs::{self, File};
use std::path::Path;

use folders::{asked, folder, line, root, texts};
use program::{ask, program};
use serde_json::Value;
use tempfile::TempDir;

mod folders;
mod program;

/// What is written in an environment of its own.
fn in_environment(dir: &TempDir, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = program();
    for name in ["NO_COLOR", "CLICOLOR_FORCE", "TERM"] {
        command.env_remove(name);
    }
    command.args(arguments).arg(root(dir)).envs(variables.iter().copied());
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn colours_mark_what_was_looked_for() {
    let dir = texts(&["one Hit, two\nhits and\tno \u{1b}[5m trap"]);
    let shown = in_environment(&dir, &["/hits?/i trap", "--color", "always"], &[]);
    let expected = format!(
        "\x1b[2m2026-01-02T03:04:00Z\x1b[0m \x1b[36muser\x1b[0m \x1b[2ms-user\x1b[0m \
         \x1b[35m{}/a.jsonl\x1b[0m:\x1b[32m0\x1b[0m\n  one \x1b[1;31mHit\x1b[0m, two\n  \
         \x1b[1;31mhits\x1b[0m and\tno \\u{{1b}}[5m \x1b[1;31mtrap\x1b[0m\n",
        root(&dir)
    );
    assert_eq!(shown, expected);
    let has = |arguments: &[&str], variables: &[(&str, &str)]| {
        in_environment(&dir, &[&["hit"], arguments].concat(), variables).contains("\x1b[35m")
    };
    let force = ("CLICOLOR_FORCE", "1");
    for (arguments, variables, expected) in [
        (&[][..], &[][..], false),
        (&[], &[force], true),
        (&[], &[("CLICOLOR_FORCE", "0")], false),
        (&[], &[force, ("NO_COLOR", "1")], false),
        (&[], &[force, ("NO_COLOR", "")], true),
        (&["--color", "always"], &[("NO_COLOR", "1"), ("TERM", "dumb")], true),
        (&["--color=never"], &[force], false),
        (&["--colour=always"], &[], true),
        (&["--color=always", "--json"], &[], false),
        (&["--color=always", "-c"], &[], true),
    ] {
        assert_eq!(has(arguments, variables), expected, "{arguments:?} {variables:?}");
    }
    // Nothing to look for, nothing to mark; a match over lines' ends is marked in each.
    assert!(!in_environment(&dir, &["", "--color=always"], &[]).contains("\x1b[1;31m"));
    let over = in_environment(&dir, &["/two\\s+hits/", "--color=always"], &[]);
    assert!(over.contains(", \x1b[1;31mtwo\x1b[0m\n  \x1b[1;31mhits\x1b[0m and"), "{over:?}");
}

#[test]
fn a_path_links_to_its_file() {
    let dir = folder(&[("a b%.jsonl", line("user", 0, "hit"))]);
    let shown = in_environment(&dir, &["hit", "--hyperlink", "always"], &[]);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let (host, root) = (host.trim(), root(&dir));
    let link = format!(
        "\x1b]8;;file://{host}{root}/a%20b%25.jsonl\x1b\\{root}/a b%.jsonl\x1b]8;;\x1b\\:0\n"
    );
    assert!(shown.contains(&link), "{shown:?}");
    // Standard input is no file.
    let arguments = ["hit", "-", "--hyperlink", "always"];
    let mut command = program();
    command.args(arguments).stdin(File::open(dir.path().join("a b%.jsonl")).unwrap());
    let shown = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(shown.contains(" -:0\n  hit\n"), "{shown:?}");
    // No terminal, no link.
    assert!(!in_environment(&dir, &["hit", "--color", "always"], &[]).contains("\x1b]8"));
    assert!(!asked(&dir, &["hit", "--hyperlink=always", "--json"]).stdout.contains('\x1b'));
}

#[test]
fn shells_and_manuals_are_told_every_option() {
    let help = ask(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (Some(0), ""));
    let is_option = |word: &&str| word.starts_with("--") && word.len() > 2;
    let letters =
        |word: &str| word.trim_end_matches(|letter: char| !letter.is_alphanumeric()).to_owned();
    let defined = help.stdout.lines().filter(|line| line.trim_start().starts_with('-'));
    let options: Vec<String> =
        defined.filter_map(|line| line.split_whitespace().find(is_option)).map(letters).collect();
    assert!(options.len() > 25 && options.contains(&"--word-regexp".to_owned()), "{options:?}");
    let man = ask(&["--man"]).stdout;
    for option in &options {
        assert!(man.contains(&option.replace('-', "\\-")), "{option}");
    }
    assert!(man.starts_with(".ie") && man.contains("Exit codes"), "{man}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ask(&["--completions", shell]).stdout;
        for option in &options {
            assert!(script.contains(option.trim_start_matches('-')), "{shell}: {option}");
        }
    }
    let unknown = ask(&["--completions", "tcsh"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("possible values: bash"), "{}", unknown.stderr);
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let spoken = page.split(|c: char| c.is_whitespace() || c == '`');
    for option in spoken.filter(is_option).filter(|word| *word != "--path") {
        assert!(help.stdout.contains(&letters(option)), "{option}");
    }
    let short = ask(&["-h"]).stdout;
    assert!(short.len() < help.stdout.len() && short.contains("Exit codes:"));
    assert!(ask(&["--version"]).stdout.starts_with("jsonl-search 0."));
}

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/search.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn the_object_is_as_its_schema_says() {
    let broken = r#"{"role":"user","content":"hit \ud83d"}"#;
    let torn = "a hit that is no message\n";
    let text = line("user", 0, "x") + &line("user", 1, "hit") + broken + "\n" + torn;
    let dir = folder(&[("a.jsonl", text)]);
    std::os::unix::fs::symlink("nowhere", dir.path().join("b.jsonl")).unwrap();
    let schema = schema();
    for arguments in [
        &["hit"][..],
        &["absent"],
        &["hit", "-C1", "-n"],
        &["hit", "-c"],
        &["hit", "-l"],
        &["", "--limit", "0"],
    ] {
        let json = asked(&dir, &[arguments, &["--json"]].concat()).stdout;
        assert!(json.starts_with("{\"schema\":\"jsonl-search-1\",\""), "{json}");
        let value: Value = serde_json::from_str(&json).unwrap();
        let wrong: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:?}: {json}");
    }
    let value = |json: &str| serde_json::from_str::<Value>(json).unwrap();
    let whole = value(&asked(&dir, &["hit", "--json"]).stdout);
    assert_eq!([&whole["lines_repaired"], &whole["lines_unreadable"]], [1, 1]);
    assert_eq!(
        [&whole["messages"][0]["repaired"], &whole["messages"][1]["repaired"]],
        [false, true]
    );
    for key in whole.as_object().unwrap().keys() {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(key);
        assert!(!schema.is_valid(&less), "{key}");
        let mut more = whole.clone();
        more[format!("{key}_")] = 1.into();
        assert!(!schema.is_valid(&more), "{key}_");
    }
}
