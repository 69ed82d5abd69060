//! Which outside tools are there.

use std::process::{Command, Stdio};

use lab_probe::{CARD_QUERY, CardSample, card_samples};

/// The first line of `TOOL --version`, `None` where it cannot be started.
pub fn tool_version(tool: &str) -> Option<String> {
    let output = Command::new(tool).arg("--version").stdin(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned())
}

/// What the machine's NVIDIA cards do now, or why that is not known.
pub(crate) fn cards() -> Result<Vec<CardSample>, String> {
    let output = Command::new("nvidia-smi")
        .args(CARD_QUERY)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("nvidia-smi cannot be started: {error}"))?;
    let answer = String::from_utf8_lossy(&output.stdout);
    let said = || format!("nvidia-smi says: {}", answer.lines().next().unwrap_or("nothing"));
    if !output.status.success() {
        return Err(said());
    }
    card_samples(&answer).ok_or_else(said)
}
