//! The Python process that has the workflow and does its steps, whatever its database is.

use std::env;
use std::ffi::{OsStr, OsString};
use std::process::Command;

use workflows_kit::{RunError, Shape};
use workflows_peer::{OPERATIONS, System};

pub(crate) const DBOS: System = System { name: "DBOS", installer: "tools/peer dbos up" };
const SCRIPT: &str = include_str!("host.py");
/// Names a Python that has DBOS.
const PYTHON: &str = "LAB_DBOS_PYTHON";

/// Where that Python is.
///
/// # Errors
/// [`RunError::Unsupported`] where the environment does not say.
pub(crate) fn python() -> Result<OsString, RunError> {
    env::var_os(PYTHON).ok_or_else(|| {
        RunError::unsupported(format!(
            "there is no Python with DBOS: tools/peer dbos up makes one, and prints what to put \
             into {PYTHON}"
        ))
    })
}

/// The process, on the database of this URL.
pub(crate) fn host(python: &OsStr, database: &str, shape: &Shape, workers: u32) -> Command {
    let shape = serde_json::to_string(shape).expect("a shape has only string keys");
    let mut command = Command::new(python);
    let script = format!("{OPERATIONS}{SCRIPT}");
    command.args(["-c", &script, database, &shape, &workers.to_string()]);
    // What would make DBOS call somebody outside, or stand for its configuration.
    let names = env::vars_os().map(|(name, _)| name);
    for name in names.filter(|name| name.to_string_lossy().starts_with("DBOS_")) {
        command.env_remove(name);
    }
    command
}
