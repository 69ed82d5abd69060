//! Variants that Cargo does not build: a script of their own builds them, or an interpreter reads
//! them. A machine may lack what either needs.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use lab_plan::Manifest;
use lab_process::{Limits, Run};

use crate::{tools::tool_version, words::harmless};

/// The script in a variant's folder that makes its program there.
const BUILD: &str = "build";
/// A first build may compile what it depends on.
const BUILDING: Limits = Limits { time: Duration::from_secs(600), output_bytes: 16 << 20 };

/// Whether a variant's folder brings a script along.
pub(crate) fn has_build(folder: &Path) -> bool {
    folder.join(BUILD).is_file()
}

/// Runs the script of a folder that has one, and returns its last word: the compiler that it used.
/// The error says why there is no program.
pub(crate) fn build(folder: &Path) -> Result<Option<String>, String> {
    if !has_build(folder) {
        return Ok(None);
    }
    let script = folder.join(BUILD).canonicalize();
    let run = Run::of(script.map_err(|error| format!("its `{BUILD}`: {error}"))?, [""; 0]);
    let run = Run { directory: Some(folder.to_owned()), ..run };
    let ended = run.ask(BUILDING).map_err(|why| format!("its `{BUILD}` {why}"))?;
    if ended.status.success() {
        return Ok(last_line(&ended.stdout));
    }
    Err(match last_line(&ended.stderr) {
        Some(line) => format!("it is not built: {line}"),
        None => format!("it is not built: its `{BUILD}` ended with {}", ended.status),
    })
}

fn last_line(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let line = said.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(harmless(line))
}

/// What reads the program, with the version that it says it has; none for a program that runs by
/// itself. The error says that it is not there.
pub(crate) fn interpreter(manifest: &Manifest) -> Result<Option<String>, String> {
    let Some(name) = &manifest.interpreter else { return Ok(None) };
    let version = tool_version(name).ok_or_else(|| format!("{name} is not installed"))?;
    Ok(Some(format!("{name}, {version}")))
}

/// The file that a program of this name is, as the system looks for it.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    lab_process::found(name)?.canonicalize().ok()
}
