//! Runs after the timed ones, under a tool that counts.

mod count;
mod syscalls;

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use lab_console::Failure;
use lab_process::{Ended, Run};
use serde::Serialize;

use self::{count::Instructions, syscalls::Syscalls};
use super::{
    commands::Command,
    failing::{excerpt, told_of_run},
    options::Counts,
    runner::{Runner, Stopped},
};

/// A tool slows a command down by so much at most: the factor of --timeout.
const SLOWDOWN: u32 = 100;

/// What the tools counted, by command; the control's are left out.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Counted {
    pub(crate) instructions: Option<Vec<Instructions>>,
    pub(crate) syscalls: Option<Vec<Syscalls>>,
}

impl Counted {
    /// Refuses what cannot be counted here, before anything is run.
    pub(crate) fn check(asked: Counts) -> Result<(), Failure> {
        if asked.instructions && !is_installed("valgrind") {
            let sentence = "--count needs valgrind, which is not installed; install it";
            return Err(Failure::input(sentence));
        }
        if asked.system_calls && !syscalls::are_countable() {
            let sentence = "--syscalls needs strace or perf, and none is installed; install one";
            return Err(Failure::input(sentence));
        }
        Ok(())
    }

    pub(crate) fn new(
        runner: &Runner<'_>,
        commands: &[Command],
        asked: Counts,
    ) -> Result<Self, Stopped> {
        let instructions =
            asked.instructions.then(|| count::count(runner, commands)).transpose()?;
        let syscalls = asked.system_calls.then(|| syscalls::count(runner, commands)).transpose()?;
        Ok(Self { instructions, syscalls })
    }

    pub(crate) fn lines(&self, commands: &[Command]) -> Vec<String> {
        let names: Vec<&str> = commands.iter().map(|command| command.name.as_str()).collect();
        let instructions = self.instructions.as_ref().map(|counts| count::lines(counts, &names));
        let syscalls = self.syscalls.as_ref().map(|counts| syscalls::lines(counts, &names));
        instructions.into_iter().chain(syscalls).flatten().collect()
    }
}

fn is_installed(tool: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}

/// Runs a command behind a tool's words, with a new folder into which the tool writes.
fn under(
    runner: &Runner<'_>,
    command: &Command,
    tool: impl Fn(&Path) -> Vec<OsString>,
) -> Result<PathBuf, Stopped> {
    let folder = runner.folder.join("counted");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder)
        .map_err(|error| Failure::lab(format!("cannot make {}: {error}", folder.display())))?;
    let run = runner.run_of(command, 0);
    let words = tool(&folder);
    let name = words[0].to_string_lossy().into_owned();
    let errors = folder.join("errors");
    let run = Run {
        argv: words.into_iter().chain(run.argv).collect(),
        errors: Some(errors.clone()),
        timeout: run.timeout.map(|timeout: Duration| timeout * SLOWDOWN),
        ..run
    };
    let finished = runner.surrounded(command, &run)?.map_err(|error| runner.broken(error))?;
    match finished.ended {
        Ended::Exited(status) if runner.options.failure.accepts(status) => Ok(folder),
        Ended::Interrupted => Err(Stopped::Interrupted),
        ended => {
            let told = told_of_run(ended, run.timeout, &runner.options.failure, "");
            let last = excerpt(&errors);
            let text = command.shown();
            Err(Failure::failed(format!("`{text}` under {name} {told}{last}")).into())
        }
    }
}
