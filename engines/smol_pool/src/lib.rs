//! The size of smol's blocking pool, which the crate `blocking` reads from the environment, once.

#![forbid(unsafe_code)]

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

/// Starts this program over with the workload's threads in the environment, unless they are there
/// or it leaves them to the pool: a running program cannot safely change its own. Does not return
/// if that works. It takes about a millisecond, which whoever sets the variable beforehand saves.
///
/// # Errors
/// When standard input cannot be read or the program not be started.
pub fn restart() -> io::Result<()> {
    if env::var_os(VARIABLE).is_some() {
        return Ok(());
    }
    if env::args_os().len() > 1 {
        return asked().map_or(Ok(()), |threads| {
            let mut again = Command::new(env::current_exe()?);
            Err(again.env(VARIABLE, threads.to_string()).args(env::args_os().skip(1)).exec())
        });
    }
    let mut input = stdin().lock();
    // Only looked at, so that the kit can read it.
    let begun = input.fill_buf()?;
    if begun.is_empty() || begun.contains(&b'\n') && threads(begun).is_none() {
        return Ok(());
    }
    let mut line = Vec::new();
    input.take(SPEC_BYTES).read_until(b'\n', &mut line)?;
    let (reader, mut writer) = io::pipe()?;
    writer.write_all(&line)?;
    drop(writer);
    let threads = threads(&line).unwrap_or(DEFAULT).to_string();
    Err(Command::new(env::current_exe()?).env(VARIABLE, threads).stdin(reader).exec())
}

/// The threads that a person names. None, too, where that is no number: the kit will say so.
fn asked() -> Option<u64> {
    let mut arguments = env::args_os().skip_while(|argument| argument != "--threads");
    arguments.nth(1)?.to_str()?.parse().ok()
}

/// The threads that a spec names. None, too, where it is no spec: the kit will say so.
fn threads(line: &[u8]) -> Option<u64> {
    let spec: serde_json::Value = serde_json::from_slice(line).ok()?;
    spec["workload"]["threads"].as_u64()
}

/// Refuses an environment that somebody else has set to something else.
///
/// # Errors
/// A sentence that names both numbers.
pub fn check(search: &Search) -> Result<(), RunError> {
    let wanted = search.workload().threads.map_or(DEFAULT, u64::from).to_string();
    let found = env::var(VARIABLE).unwrap_or(DEFAULT.to_string());
    if found == wanted {
        return Ok(());
    }
    let sentence = format!("{VARIABLE} is {found:?} and the workload needs {wanted}: unset it");
    Err(RunError::setup(sentence))
}
