//! Start-up time of every variant: whole processes by hyperfine, in interleaved rounds.

use std::{fs, path::Path, process::Stdio};

use crate::hyperfine;

/// One timed `--describe` of a program; hyperfine's JSON is kept only as long as it takes to read.
pub(crate) fn time_once(program: &Path, scratch: &Path) -> Result<u64, String> {
    let export = scratch.join("hyperfine.json");
    let command_line = format!("{} --describe", hyperfine::quoted(program));
    let output = hyperfine::once(&export, &command_line)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("hyperfine cannot be started: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("hyperfine: {}", said.lines().next().unwrap_or("failed")));
    }
    let text = fs::read_to_string(&export).map_err(|error| format!("hyperfine's JSON: {error}"))?;
    Ok(hyperfine::read(&text)?.wall_ns)
}
