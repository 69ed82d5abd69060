//! What the answers of the commands have in common, and what not: before the rounds, and of each
//! run of them.

use std::cell::Cell;

use lab_console::Failure;
use lab_process::{Ended, Finished, Output, Run, RunError};

use super::{
    commands::Command,
    failing::{last_lines, told},
    iteration::Iteration,
    options::{Check, Destination, RunOptions},
    runner::{Runner, Stopped},
};
use crate::{FARTHEST, Layout};

/// What a run may print where its output is kept in memory.
const MEMORY_BYTES: u64 = 64 << 20;
/// The same in words.
pub(super) const MEMORY: &str = "64 MiB";
/// Bytes of complaints that take no time worth speaking of: those of a command with more are not
/// kept while it is timed.
const FEW_ERRORS: usize = 512;
/// The file of the answer that --check reads.
const ANSWER: &str = "answer";
/// Where the second of two checked runs lies otherwise in memory than the first, by a few bytes: an
/// answer that names its place is no answer to compare.
const OTHER_LAYOUT: Layout = Layout { environment_bytes: 48, path_bytes: 3, build: 0 };

impl RunOptions {
    /// Where the output of timed runs goes, for what runs them.
    pub(super) fn output_to(&self, destination: &Destination) -> Output {
        match destination {
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
        let (mut hashes, mut ends, mut sentences) = (Vec::new(), Vec::new(), Vec::new());
        for (place, command) in self.commands.iter().enumerate() {
            // Any round may run any build.
            let answers = (0..command.builds.len().max(1))
                .map(|build| {
                    let answer = self.first_answer(place, build as u16, &mut sentences)?;
                    if answer.errors.len() > FEW_ERRORS {
                        self.complain.borrow_mut().insert(place);
                    }
                    Ok(answer)
                })
                .collect::<Result<Vec<Finished>, Stopped>>()?;
            ends.push(answers.iter().map(|answer| answer.ended).collect());
            hashes.push(answers.iter().map(hash).collect::<Vec<_>>());
        }
        sentences.extend(other_statuses(&self.commands, &ends));
        if matches!(self.options.check, Check::SameOutput | Check::Once) {
            sentences.extend(self.compared(hashes)?);
        }
        Ok(sentences)
    }

    /// Sentences about the bytes that the builds of each command printed. What a command prints
    /// each time is held against the rounds from here on.
    fn compared(&self, hashes: Vec<Vec<Option<String>>>) -> Result<Vec<String>, Stopped> {
        let again = |place: usize, build: usize| {
            self.iteration.set(Iteration::Run(1));
            let layout = if self.lengthens.get() { OTHER_LAYOUT } else { Layout::default() };
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
            sentences.extend(self.unseen(&mut stable));
            if stable.iter().flatten().any(Option::is_some) {
                let runs = self.commands.iter().map(|_| Cell::new(0)).collect();
                // Each runner checks once.
                let _ = self.answers.set(Answers { hashes: stable, runs });
            }
        }
        Ok(sentences)
    }

    /// Expects nothing of commands whose output nobody sees in the rounds, and says so.
    fn unseen(&self, stable: &mut [Vec<Option<String>>]) -> Option<String> {
        let is_hidden =
            |command: &Command| matches!(command.output, Destination::Null | Destination::Inherit);
        let hidden: Vec<usize> =
            (0..self.commands.len()).filter(|place| is_hidden(&self.commands[*place])).collect();
        hidden.iter().for_each(|place| stable[*place].fill(None));
        let first = &self.commands[*hidden.first()?];
        // Of some alone these are named.
        let of = match hidden.len() == self.commands.len() {
            true => String::new(),
            false => format!(" of {}", first.name),
        };
        Some(format!(
            "--output {} shows nobody what timed runs{of} print, so outputs were compared before \
             these alone",
            first.output
        ))
    }

    /// Runs a build of a command for the first time: with all that a round may put into $PWD and
    /// the environment, so that what this breaks is seen here and not amid the rounds by a draw. It
    /// is left out of them where the command then ends otherwise.
    fn first_answer(
        &self,
        place: usize,
        build: u16,
        sentences: &mut Vec<String>,
    ) -> Result<Finished, Stopped> {
        if !self.lengthens.get() {
            return self.answer(place, build, Layout::default());
        }
        let far = self.try_answer(place, build, FARTHEST)?;
        let ended = far.as_ref().ok().map(|finished| finished.ended);
        if matches!(ended, Some(Ended::Exited(0) | Ended::Interrupted | Ended::TimedOut)) {
            return self.judged(place, far);
        }
        let near = self.try_answer(place, build, Layout::default())?;
        if near.as_ref().ok().map(|finished| finished.ended) == ended {
            return self.judged(place, near);
        }
        let why = match &far {
            Ok(finished) => {
                let words = last_lines(&finished.errors).pop();
                let words = words.map_or(String::new(), |words| format!(" ({words})"));
                told(finished.ended, self.timeout()) + &words
            }
            Err(RunError::Start { source, .. }) => format!("cannot be started ({source})"),
            Err(error) => error.to_string(),
        };
        let near = self.judged(place, near)?;
        self.lengthens.set(false);
        sentences.push(format!(
            "`{}` {why} where the lab lengthens $PWD and the environment, which moves memory, so \
             both stay as they are in all rounds, as with --fixed-layout",
            self.commands[place].shown()
        ));
        Ok(near)
    }

    /// Runs a build of a command once, and what looks at its answer.
    fn answer(&self, place: usize, build: u16, layout: Layout) -> Result<Finished, Stopped> {
        self.judged(place, self.try_answer(place, build, layout)?)
    }

    fn judged(
        &self,
        place: usize,
        finished: Result<Finished, RunError>,
    ) -> Result<Finished, Stopped> {
        let command = &self.commands[place];
        let finished = finished.map_err(|error| self.broken(error))?;
        let finished = self.judge(command, finished, "")?;
        self.all_ran(command, &finished)?;
        if let Check::By(check) = &self.options.check {
            let which = format!(" for what `{}` printed", command.shown());
            let input = Some(self.folder.join(ANSWER));
            let run = Run { input, timeout: self.timeout(), ..Run::default() };
            self.beside("--check", check, run, &which)?;
        }
        Ok(finished)
    }

    /// Runs a build of a command once, however that ends.
    fn try_answer(
        &self,
        place: usize,
        build: u16,
        layout: Layout,
    ) -> Result<Result<Finished, RunError>, Stopped> {
        let run = self.run_at(place, build);
        let output = match (&self.options.check, &run.output) {
            (Check::By(_), _) => Output::File(self.folder.join(ANSWER)),
            // As in the rounds: some programs look where their output goes.
            (Check::SameOutput, looked @ (Output::Memory(_) | Output::Hashed(_))) => looked.clone(),
            _ => Output::Hash,
        };
        let working_folder = self.working_folder(layout)?;
        let run = Run { output, keeps_errors: true, working_folder, ..run };
        self.surrounded(&self.commands[place], &self.with_environment(run, layout))
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
