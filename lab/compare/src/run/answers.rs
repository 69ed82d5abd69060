//! What the answers of the commands have in common, and what not: before the rounds, and of each
//! run of them.

use std::cell::Cell;

use lab_console::Failure;
use lab_process::{Ended, Finished, Output, Run};

use super::{
    commands::Command,
    options::{Check, Destination, Layouts, RunOptions},
    runner::{Runner, Stopped, excerpt_of},
};
use crate::Layout;

/// What a run may print where its output is kept in memory.
const MEMORY_BYTES: u64 = 64 << 20;
/// The same in words.
pub(super) const MEMORY: &str = "64 MiB";
/// Where the second of two checked runs lies otherwise in memory than the first, by a few bytes: an
/// answer that names its place is no answer to compare.
const OTHER_LAYOUT: Layout = Layout { environment_bytes: 48, path_bytes: 3, build: 0 };

impl RunOptions {
    /// Where the output of timed runs goes, for what runs them.
    pub(super) fn output_of_runs(&self) -> Output {
        match &self.output {
            Destination::Null => Output::Null,
            Destination::Memory => Output::Memory(MEMORY_BYTES),
            Destination::Pipe => Output::Hash,
            Destination::Inherit => Output::Inherit,
            Destination::File(path) if self.check == Check::SameOutput => {
                Output::Hashed(path.clone())
            }
            Destination::File(path) => Output::File(path.clone()),
        }
    }
}

/// What each command printed before the rounds, and its runs in them.
pub(super) struct Answers {
    /// By command and build; nothing of what prints something else each time.
    hashes: Vec<Vec<Option<String>>>,
    /// By command.
    runs: Vec<Cell<u64>>,
}

impl Runner<'_> {
    /// Runs every command once with its answer looked at, and again the first one and those that
    /// print something else; returns sentences about what differs.
    pub(crate) fn check(&self) -> Result<Vec<String>, Stopped> {
        let (mut hashes, mut ends) = (Vec::new(), Vec::new());
        for (place, command) in self.commands.iter().enumerate() {
            // Any round may run any build.
            let answers = (0..command.builds.len().max(1))
                .map(|build| self.answer(place, build as u16, Layout::default()))
                .collect::<Result<Vec<Finished>, _>>()?;
            ends.push(answers.iter().map(|answer| answer.ended).collect());
            hashes.push(answers.iter().map(hash).collect::<Vec<_>>());
        }
        let mut sentences = other_statuses(&self.commands, &ends);
        if matches!(self.options.check, Check::SameOutput | Check::Once) {
            sentences.extend(self.compared(hashes)?);
        }
        Ok(sentences)
    }

    /// Sentences about the bytes that the builds of each command printed. What a command prints
    /// each time is held against the rounds from here on.
    fn compared(&self, hashes: Vec<Vec<Option<String>>>) -> Result<Vec<String>, Stopped> {
        let again = |place: usize, build: usize| {
            let layout = if self.options.layouts == Layouts::Fixed {
                Layout::default()
            } else {
                OTHER_LAYOUT
            };
            self.answer(place, build as u16, layout).map(|answer| hash(&answer))
        };
        let mut stable = hashes.clone();
        if again(0, 0)? != hashes[0][0] {
            stable.iter_mut().flatten().for_each(|hash| *hash = None);
        } else if self.options.check == Check::SameOutput {
            for (place, builds) in hashes.iter().enumerate() {
                for (build, first) in builds.iter().enumerate() {
                    if *first != hashes[0][0] && again(place, build)? != *first {
                        stable[place][build] = None;
                    }
                }
            }
        }
        let mut sentences = differences(&self.commands, &hashes, &stable);
        if self.options.check == Check::SameOutput {
            let hidden = matches!(self.output, Output::Null | Output::Inherit);
            if hidden || hashes[0][0].is_none() {
                sentences.push(format!(
                    "--output {} shows nobody what timed runs print, so outputs were compared \
                     before these alone",
                    self.options.output
                ));
            } else {
                let runs = self.commands.iter().map(|_| Cell::new(0)).collect();
                // Each runner checks once.
                let _ = self.answers.set(Answers { hashes: stable, runs });
            }
        }
        Ok(sentences)
    }

    /// Runs a build of a command once, and what looks at its answer.
    fn answer(&self, place: usize, build: u16, layout: Layout) -> Result<Finished, Stopped> {
        let command = &self.commands[place];
        self.prepare(command)?;
        let output = match (&self.options.check, &self.output) {
            (Check::By(_), _) => Output::File(self.folder.join("answer")),
            // As in the rounds: some programs look where their output goes.
            (Check::SameOutput, looked @ (Output::Memory(_) | Output::Hashed(_))) => looked.clone(),
            _ => Output::Hash,
        };
        let run = Run {
            output,
            keeps_errors: true,
            environment_bytes: usize::from(layout.environment_bytes),
            working_folder: self.working_folder(layout)?,
            ..self.run_at(place, build)
        };
        let finished = self.execute(&run)?;
        let last = excerpt_of(&finished.errors);
        let finished = self.judge(command, finished).map_err(|stopped| match stopped {
            Stopped::Failed(mut failure) => {
                failure.sentence.push_str(&last);
                Stopped::Failed(failure)
            }
            interrupted => interrupted,
        })?;
        if let (Check::By(check), Output::File(answer)) = (&self.options.check, run.output) {
            let which = format!(" for what `{}` printed", command.shown());
            let run = Run { input: Some(answer), timeout: self.timeout(), ..Run::default() };
            self.beside("--check", check, run, &which)?;
        }
        Ok(finished)
    }

    /// Ends the comparison where a run printed something else than before the rounds.
    pub(super) fn is_as_checked(
        &self,
        place: usize,
        build: u16,
        finished: &Finished,
    ) -> Result<(), Stopped> {
        let Some(Answers { hashes, runs }) = self.answers.get() else { return Ok(()) };
        let run = runs[place].get() + 1;
        runs[place].set(run);
        let builds = &hashes[place];
        let expected = builds.get(usize::from(build)).or(builds.first()).and_then(Option::as_ref);
        let found = finished.output.as_ref().map(|(hash, _)| hash);
        if expected.is_none() || expected == found && !finished.outputs_differ {
            return Ok(());
        }
        let text = self.commands[place].shown();
        Err(Failure::failed(format!(
            "`{text}` printed something else in its run {run} of the rounds than when it was \
             checked before them; --output FILE keeps what a run prints, --check once looks at \
             none of the rounds"
        ))
        .into())
    }
}

fn hash(answer: &Finished) -> Option<String> {
    answer.output.as_ref().map(|(hash, _)| hash.clone())
}

/// Where any status is accepted: the commands one of whose builds ends with another one than the
/// reference's first.
fn other_statuses(commands: &[Command], ends: &[Vec<Ended>]) -> Vec<String> {
    let status = |ended: &Ended| match ended {
        Ended::Exited(status) => Some(*status),
        _ => None,
    };
    let Some(first) = ends.first().and_then(|ends| status(ends.first()?)) else {
        return Vec::new();
    };
    let others = commands.iter().zip(ends).filter_map(|(command, ends)| {
        let other = ends.iter().filter_map(status).find(|status| *status != first)?;
        let (name, reference) = (&command.name, &commands[0].name);
        Some(format!("{name} ends with status {other}, and {reference} with {first}"))
    });
    others.collect()
}

/// By the hashes of each command's builds, and those of them that are the same each time.
fn differences(
    commands: &[Command],
    hashes: &[Vec<Option<String>>],
    stable: &[Vec<Option<String>>],
) -> Vec<String> {
    let (first, reference) = (&hashes[0][0], &commands[0].name);
    if stable[0][0] != *first {
        return vec![format!(
            "{reference} prints something else each time, so outputs were not compared"
        )];
    }
    let said = |(command, (builds, stable)): (&Command, (&Vec<_>, &Vec<_>))| {
        let name = &command.name;
        if builds.iter().any(|hash| *hash != builds[0]) {
            return Some(format!("the builds of {name} print different things"));
        }
        if builds != stable {
            return Some(format!("{name} prints something else each time, {reference} does not"));
        }
        (builds[0] != *first).then(|| format!("{name} prints something else than {reference}"))
    };
    commands.iter().zip(hashes.iter().zip(stable)).filter_map(said).collect()
}
