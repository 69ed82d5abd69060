//! Which outside tools are there.

use lab_process::{Limits, Run};

use crate::words::harmless;

/// The first line of `TOOL --version`, `None` where it cannot be started or does not answer.
pub fn tool_version(tool: &str) -> Option<String> {
    let answer = Run::of(tool, ["--version"]).ask(Limits::QUESTION).ok()?;
    Some(harmless(String::from_utf8_lossy(&answer.stdout).lines().next()?))
}
