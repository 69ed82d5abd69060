//! Which outside tools are there.

use std::process::{Command, Stdio};

/// The first line of `TOOL --version`, `None` where it cannot be started.
pub fn tool_version(tool: &str) -> Option<String> {
    let output = Command::new(tool).arg("--version").stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned())
}
