//! Start-up time of every variant: whole processes by hyperfine, in interleaved rounds.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde::Deserialize;

#[derive(Deserialize)]
struct Export {
    results: Vec<Timed>,
}

#[derive(Deserialize)]
struct Timed {
    times: Vec<f64>,
}

/// One timed `--describe` of a program; hyperfine's JSON is kept only as long as it takes to read.
pub(crate) fn time_once(program: &Path, scratch: &Path) -> Result<u64, String> {
    let export = scratch.join("hyperfine.json");
    let command = format!("'{}' --describe", program.display());
    let output = Command::new("hyperfine")
        .args(["-N", "-r", "1", "-w", "0", "--style", "none", "--export-json"])
        .arg(&export)
        .arg(command)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("hyperfine cannot be started: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("hyperfine: {}", said.lines().next().unwrap_or("failed")));
    }
    let text = fs::read_to_string(&export).map_err(|error| format!("hyperfine's JSON: {error}"))?;
    let export: Export =
        serde_json::from_str(&text).map_err(|error| format!("hyperfine's JSON: {error}"))?;
    let time_s = export.results.first().and_then(|result| result.times.first());
    let time_s = time_s.ok_or("hyperfine's JSON holds no time")?;
    Ok((time_s * 1e9).round() as u64)
}
