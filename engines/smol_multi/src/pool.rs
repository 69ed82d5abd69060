//! The size of smol's blocking pool, which the crate `blocking` reads from the environment, once.

use std::io::{self, BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::{env, io::stdin};

use engines_kit::{RunError, Search};

/// Where `blocking` looks for the most threads.
const VARIABLE: &str = "BLOCKING_MAX_THREADS";

/// Its default.
const DEFAULT: u64 = 500;

/// A spec is shorter, and a pipe holds more.
const SPEC_BYTES: u64 = 32 << 10;

/// Starts this program over with the workload's threads in the environment, unless they are there:
/// a running program cannot safely change its own. Does not return if that works.
///
/// # Errors
/// When standard input cannot be read or the program not be started.
pub(crate) fn restart() -> io::Result<()> {
    if env::args_os().len() > 1 || env::var_os(VARIABLE).is_some() {
        return Ok(());
    }
    let mut line = String::new();
    stdin().lock().take(SPEC_BYTES).read_line(&mut line)?;
    // A line that is no spec is refused after the restart, by the kit.
    let spec: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
    let threads = spec["workload"]["threads"].as_u64().unwrap_or(DEFAULT);
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(line.as_bytes())?;
    drop(writer);
    let program = env::current_exe()?;
    Err(Command::new(program).env(VARIABLE, threads.to_string()).stdin(reader).exec())
}

/// Refuses an environment that somebody else has set to something else.
pub(crate) fn check(search: &Search) -> Result<(), RunError> {
    let wanted = search.workload().threads.map_or(DEFAULT, u64::from);
    let found = env::var(VARIABLE).unwrap_or_default();
    if found == wanted.to_string() {
        return Ok(());
    }
    let sentence = format!("{VARIABLE} is {found:?} and the workload needs {wanted}: unset it");
    Err(RunError::setup(sentence))
}
