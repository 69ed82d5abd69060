//! What shells complete and what the manual says: every command that `lab --help` lists, and none
//! that is hidden.

use std::{fs, process::Command};

use assert_cmd::assert::OutputAssertExt;
use predicates::str::contains;

fn lab(arguments: &[&str]) -> assert_cmd::assert::Assert {
    Command::new(env!("CARGO_BIN_EXE_lab")).args(arguments).assert()
}

fn printed(arguments: &[&str]) -> String {
    String::from_utf8(lab(arguments).code(0).get_output().stdout.clone()).unwrap()
}

/// The commands of the help.
fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names: Vec<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
    assert!(names.len() > 15 && names.contains(&"compare".to_owned()), "{names:?}");
    names
}

#[test]
fn bash_completes_commands_and_options() {
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("lab.bash");
    fs::write(&script, printed(&["completions", "bash"])).unwrap();
    let offered = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
        let ask = format!(
            "source '{}'; COMP_WORDS=({line}); COMP_CWORD={}; _lab lab '{last}' '{before}'; \
             printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display(),
            words.len() - 1
        );
        let bash = Command::new("bash").args(["--norc", "-c", &ask]).assert().code(0);
        String::from_utf8(bash.get_output().stdout.clone()).unwrap()
    };
    let of_compare = offered("lab comp");
    assert_eq!(of_compare.lines().collect::<Vec<_>>(), ["compare", "completions"]);
    assert!(offered("lab run --res").lines().eq(["--resume"]));
    assert!(offered("lab gua").trim().is_empty());
}

#[test]
fn every_shell_has_a_script_with_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell]);
        for name in commands() {
            assert!(script.contains(&name), "{shell}: {name}");
        }
        assert!(!script.contains("guard"), "{shell}");
    }
    lab(&["completions", "tcsh"]).code(2).stderr(contains("possible values"));
}

#[test]
fn every_command_has_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("man");
    printed(&["man", "--out", out.to_str().unwrap()]);
    let whole = fs::read_to_string(out.join("lab.1")).unwrap();
    assert_eq!(whole, printed(&["man"]));
    for name in commands().iter().filter(|name| *name != "help") {
        let page = fs::read_to_string(out.join(format!("lab-{name}.1"))).unwrap();
        assert!(page.contains(".TH lab-") && page.contains(r"\-\-root"), "{page}");
        assert_eq!(page, printed(&["man", name]), "{name}");
    }
    assert!(!whole.contains("guard") && !out.join("lab-guard.1").exists());
    assert!(!out.join("lab-help.1").exists() && out.join("lab-new-variant.1").exists());
    assert!(whole.contains("Exit codes"), "{whole}");
}

#[test]
fn a_page_of_no_command_is_refused() {
    let refused = lab(&["man", "compair"]).code(2);
    refused.stderr(contains("lab has no command `compair`; there are: doctor, "));
    lab(&["man", "guard"]).code(2);
}
