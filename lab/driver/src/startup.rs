//! Start-up time of every variant: whole processes by hyperfine, in interleaved rounds.

use std::{fs, path::Path};

use crate::{
    child::{Limits, ask},
    hyperfine,
};

/// One timed `--describe` of a program; hyperfine's JSON is kept only as long as it takes to read.
pub(crate) fn time_once(program: &Path, scratch: &Path) -> Result<u64, String> {
    let export = scratch.join("hyperfine.json");
    let command_line = format!("{} --describe", hyperfine::quoted(program));
    let output = ask(hyperfine::once(&export, &command_line), Limits::QUESTION)
        .map_err(|unfinished| format!("hyperfine {unfinished}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("hyperfine: {}", said.lines().next().unwrap_or("failed")));
    }
    let text = fs::read_to_string(&export).map_err(|error| format!("hyperfine's JSON: {error}"))?;
    Ok(hyperfine::read(&text)?.wall_ns)
}
