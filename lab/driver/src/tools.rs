//! Which outside tools are there.

use std::process::Command;

use crate::{
    child::{Limits, ask},
    words::harmless,
};

/// The first line of `TOOL --version`, `None` where it cannot be started or does not answer.
pub fn tool_version(tool: &str) -> Option<String> {
    let mut command = Command::new(tool);
    command.arg("--version");
    let answer = ask(command, Limits::QUESTION).ok()?;
    Some(harmless(String::from_utf8_lossy(&answer.stdout).lines().next()?))
}
