//! `lab compare`, in a folder that is no repository.

mod answers;
mod around;
mod budget;
mod chains;
mod commands;
mod ends;
mod held;
mod hyperfine;
mod killed;
mod limits;
mod measures;
mod names;
mod order;
mod servers;
mod sessions;
mod starts;
mod statuses;

use std::process::Command;

use assert_cmd::assert::{Assert, OutputAssertExt};
use serde_json::Value;
use tempfile::TempDir;

/// `lab compare` in `dir`.
fn lab(dir: &TempDir, arguments: &[&str]) -> Command {
    // Relative to the workspace's root where Bazel runs this.
    let program = std::path::absolute(env!("CARGO_BIN_EXE_lab")).unwrap();
    let mut lab = Command::new(program);
    lab.current_dir(dir).arg("compare").args(arguments);
    // The tests may run in a job themselves.
    for name in ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"] {
        lab.env_remove(name);
    }
    lab
}

fn compare(arguments: &[&str]) -> Assert {
    lab(&TempDir::new().unwrap(), arguments).assert()
}

fn json(assert: &Assert) -> Value {
    serde_json::from_slice(&assert.get_output().stdout).unwrap()
}

fn text(assert: &Assert) -> String {
    String::from_utf8_lossy(&assert.get_output().stdout).into_owned()
}
