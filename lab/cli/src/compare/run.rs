//! Running the commands: the answers first, then round after round.

use std::{
    env,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use lab_compare::{Layout, RoundPlan};
use lab_process::{Ended, Finished, Orphans, Output, Run, RunError};

use super::{
    args::{CompareArgs, Metric},
    commands::{Command, for_each, in_shell},
    duet,
    record::Round,
};
use crate::{Failure, interrupt::INTERRUPTED};

/// The end of a failed command's complaints that is shown.
const EXCERPT_CHARS: usize = 200;
/// What is read of them, which may be a gigabyte.
const EXCERPT_BYTES: u64 = 64 << 10;
/// The exit code of a comparison one of whose commands failed.
const COMMAND_FAILED: u8 = 1;
/// A shell's status where there is no such program.
const NOT_FOUND: i32 = 127;

/// Runs commands as the arguments say. The last of them is the reference again, where there is a
/// control; in a duet it is that twice.
pub(crate) struct Runner<'a> {
    pub(crate) args: &'a CompareArgs,
    pub(crate) commands: Vec<Command>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) interrupted: &'a AtomicBool,
    orphans: &'a Orphans,
    output: Output,
    /// For what a command prints while its answer is checked, what gnuplot reads, and names of the
    /// working folder.
    pub(crate) folder: PathBuf,
    /// The processors of a duet.
    halves: Option<[Vec<usize>; 2]>,
}

/// What runs are made in.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    /// The user wants to stop.
    pub(crate) interrupted: &'a AtomicBool,
    /// What the commands leave behind.
    pub(crate) orphans: &'a Orphans,
}

/// A step that did not end in a result.
pub(crate) enum Stopped {
    /// The user wants to stop.
    Interrupted,
    /// Something failed.
    Failed(Failure),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        match failure.code {
            INTERRUPTED => Self::Interrupted,
            _ => Self::Failed(failure),
        }
    }
}

impl<'a> Runner<'a> {
    pub(crate) fn new(
        args: &'a CompareArgs,
        mut commands: Vec<Command>,
        metrics: Vec<Metric>,
        Surroundings { interrupted, orphans }: Surroundings<'a>,
        folder: PathBuf,
    ) -> Result<Self, Failure> {
        let halves = args.measures.duet.then(duet::halves).transpose()?;
        if !args.no_control {
            let again = if halves.is_some() { 2 } else { 1 };
            commands.extend(vec![commands[0].clone(); again]);
        }
        let output = match args.output.as_str() {
            "null" => Output::Null,
            "pipe" => Output::Hash,
            "inherit" => Output::Inherit,
            path => Output::File(path.into()),
        };
        Ok(Self { args, commands, metrics, interrupted, orphans, output, folder, halves })
    }

    /// Runs every command once with its answer looked at; returns sentences about what differs.
    pub(crate) fn check(&self) -> Result<Vec<String>, Stopped> {
        let (mut hashes, mut ends) = (Vec::new(), Vec::new());
        for command in &self.commands {
            let errors = self.folder.join("errors");
            let answer = self.folder.join("answer");
            self.prepare(command)?;
            let to = match self.args.check.as_str() {
                "same-output" | "status" => Output::Hash,
                _ => Output::File(answer.clone()),
            };
            let errors_to = Some(errors.clone());
            let run = Run { output: to, errors: errors_to, ..self.run_of(command, 0) };
            let finished = self.finish(command, &run).map_err(|stopped| match stopped {
                Stopped::Failed(mut failure) => {
                    failure.sentence.push_str(&excerpt(&errors));
                    Stopped::Failed(failure)
                }
                interrupted => interrupted,
            })?;
            if let Output::File(answer) = run.output {
                self.helper("--check", &self.args.check, Some(answer))?;
            }
            ends.push(finished.ended);
            hashes.push(finished.output.map(|(hash, _)| hash));
        }
        let mut sentences = other_statuses(&self.commands, &ends);
        if self.args.check == "same-output" {
            let controls = match (self.args.no_control, &self.halves) {
                (true, _) => 0,
                (false, None) => 1,
                (false, Some(_)) => 2,
            };
            sentences.extend(differences(&self.commands, &hashes, controls));
        }
        Ok(sentences)
    }

    /// Runs one round in its order.
    pub(crate) fn round(&self, plan: RoundPlan) -> Result<Round, Stopped> {
        let fixed = self.args.measures.fixed_layout;
        let build = plan.layout.build;
        let layout = if fixed { Layout { build, ..Layout::default() } } else { plan.layout };
        let working_folder = self.working_folder(layout)?;
        let mut runs = vec![Vec::new(); self.commands.len()];
        let mut statuses = vec![0; self.commands.len()];
        let run_of = |place: usize| Run {
            environment_bytes: usize::from(layout.environment_bytes),
            working_folder: working_folder.clone(),
            ..self.run_of(&self.commands[place], build)
        };
        for together in plan.order.chunks(if self.halves.is_some() { 2 } else { 1 }) {
            for place in together {
                self.prepare(&self.commands[*place])?;
            }
            let finished = self.finish_together(together, run_of)?;
            for (place, finished) in together.iter().zip(finished) {
                runs[*place] = self.values(&finished)?;
                statuses[*place] = match finished.ended {
                    Ended::Exited(status) => status,
                    _ => -1,
                };
            }
        }
        Ok(Round { elapsed_s: 0.0, order: plan.order, layout, runs, statuses })
    }

    /// A command, or both of a duet at once, the first on the first half of the processors.
    fn finish_together(
        &self,
        places: &[usize],
        run_of: impl Fn(usize) -> Run,
    ) -> Result<Vec<Finished>, Stopped> {
        let args = self.args;
        let finished = match (places, &self.halves) {
            ([first, second], Some([a, b])) => {
                let [first, second] = [(first, a), (second, b)]
                    .map(|(place, cpus)| Run { cpus: cpus.clone(), ..run_of(*place) });
                Run::execute_both([&first, &second], self.interrupted).map(Vec::from)
            }
            _ => places
                .iter()
                .map(|place| {
                    let (inner, ignored) = (args.measures.inner, args.ignore_failure);
                    run_of(*place).execute_times(inner, ignored, self.interrupted)
                })
                .collect(),
        };
        self.orphans.end();
        let finished = finished.map_err(broken)?;
        let judged = places.iter().zip(finished);
        judged.map(|(place, finished)| self.judge(&self.commands[*place], finished)).collect()
    }

    /// Another name of the working folder, as long as the layout says: a link to the root, so that
    /// what is relative to it stays what it is, its parents too.
    fn working_folder(&self, layout: Layout) -> Result<Option<PathBuf>, Stopped> {
        if layout.path_bytes == 0 {
            return Ok(None);
        }
        let link = self.folder.join("x".repeat(usize::from(layout.path_bytes)));
        let there = |error: &std::io::Error| error.kind() == std::io::ErrorKind::AlreadyExists;
        let linked =
            symlink("/", &link).or_else(|error| if there(&error) { Ok(()) } else { Err(error) });
        let here = linked.and_then(|()| env::current_dir()).map_err(|error| {
            Failure::lab(format!("cannot name the working folder otherwise: {error}"))
        })?;
        Ok(Some(link.join(here.strip_prefix("/").unwrap_or(&here))))
    }

    /// Runs --setup. What it leaves running, such as a server, stays until after --cleanup.
    pub(crate) fn set_up(&self) -> Result<(), Stopped> {
        let mut texts = self.args.setup.iter().flat_map(|text| for_each(text, &self.commands));
        let ended = texts.try_for_each(|text| self.helper("--setup", &text, None));
        self.orphans.keep();
        ended
    }

    /// Runs --cleanup, after an interruption too; another one ends it.
    pub(crate) fn clean_up(&self) -> Result<(), Stopped> {
        self.interrupted.store(false, Ordering::Relaxed);
        let texts = self.args.cleanup.iter().flat_map(|text| for_each(text, &self.commands));
        // What one leaves is no reason to leave the rest.
        let ended: Vec<_> = texts.map(|text| self.helper("--cleanup", &text, None)).collect();
        ended.into_iter().collect()
    }

    /// Runs a command of the user's that is no part of the comparison.
    pub(crate) fn helper(
        &self,
        option: &str,
        text: &str,
        input: Option<PathBuf>,
    ) -> Result<(), Stopped> {
        let argv = in_shell(text, self.args.named_shell());
        let run = Run { argv, input, ..Run::default() };
        match run.execute(self.interrupted).map_err(broken)?.ended {
            Ended::Exited(0) => Ok(()),
            Ended::Interrupted => Err(Stopped::Interrupted),
            ended => {
                Err(failed(COMMAND_FAILED, format!("{option} `{text}` {}", told(ended, None))))
            }
        }
    }

    pub(crate) fn prepare(&self, command: &Command) -> Result<(), Stopped> {
        command.prepare.as_ref().map_or(Ok(()), |text| self.helper("--prepare", text, None))
    }

    pub(crate) fn run_of(&self, command: &Command, build: u16) -> Run {
        Run {
            argv: command.argv_of(build),
            input: self.args.input(),
            output: self.output.clone(),
            timeout: self.args.timeout.map(Duration::from_secs_f64),
            ..Run::default()
        }
    }

    fn finish(&self, command: &Command, run: &Run) -> Result<Finished, Stopped> {
        self.judge(command, self.execute(run)?)
    }

    /// Runs it, and ends what it leaves behind and what --prepare did before it.
    pub(crate) fn execute(&self, run: &Run) -> Result<Finished, Stopped> {
        let finished = run.execute(self.interrupted).map_err(broken);
        self.orphans.end();
        finished
    }

    fn judge(&self, command: &Command, finished: Finished) -> Result<Finished, Stopped> {
        match finished.ended {
            Ended::Exited(0) => Ok(finished),
            Ended::Exited(_) if self.args.ignore_failure => Ok(finished),
            Ended::Interrupted => Err(Stopped::Interrupted),
            ended => {
                let told = told(ended, self.args.timeout);
                let code = if ended == Ended::Exited(NOT_FOUND) { 2 } else { COMMAND_FAILED };
                Err(failed(code, format!("`{}` {told}", command.text)))
            }
        }
    }

    /// Of one inner run: microseconds, bytes and counts.
    fn values(&self, finished: &Finished) -> Result<Vec<f64>, Failure> {
        let inner = f64::from(self.args.measures.inner);
        let value = |metric: &Metric| {
            let missing = || Failure::lab(format!("the kernel no longer tells {}", metric.label()));
            let value = value(*metric, finished).ok_or_else(missing)?;
            Ok(if *metric == Metric::Rss { value } else { value / inner })
        };
        self.metrics.iter().map(value).collect()
    }
}

pub(crate) fn told(ended: Ended, timeout: Option<f64>) -> String {
    match ended {
        Ended::Exited(NOT_FOUND) => "was not found".to_owned(),
        Ended::Exited(status) => {
            format!("ended with status {status}; --ignore-failure accepts that")
        }
        Ended::Signalled(signal) => format!("was ended by signal {signal}"),
        Ended::TimedOut => {
            format!("was ended after {} s, the --timeout", timeout.unwrap_or_default())
        }
        Ended::Interrupted => "was interrupted".to_owned(),
    }
}

pub(crate) fn failed(code: u8, sentence: String) -> Stopped {
    Stopped::Failed(Failure { code, sentence })
}

pub(crate) fn broken(error: RunError) -> Stopped {
    let code = match error {
        RunError::Start { .. } => 2,
        RunError::Open { .. } => 4,
        RunError::Follow(_) => 5,
    };
    Stopped::Failed(Failure { code, sentence: error.to_string() })
}

/// The last words of a failed command.
pub(crate) fn excerpt(errors: &Path) -> String {
    let text = end_of(errors).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last = text.trim().lines().last().unwrap_or_default();
    // What colours a terminal has no place in a sentence.
    let words = last.chars().filter(|letter| !letter.is_control());
    let words: String = words.take(EXCERPT_CHARS).collect();
    if words.is_empty() { words } else { format!(": {words}") }
}

fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(EXCERPT_BYTES)))?;
    let mut text = Vec::new();
    file.take(EXCERPT_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

/// Where any status is accepted: the commands that end with another one than the reference.
fn other_statuses(commands: &[Command], ends: &[Ended]) -> Vec<String> {
    let status = |ended: &Ended| match ended {
        Ended::Exited(status) => Some(*status),
        _ => None,
    };
    let Some(first) = ends.first().and_then(status) else { return Vec::new() };
    let others = commands.iter().zip(ends).filter_map(|(command, ended)| {
        let other = status(ended).filter(|status| *status != first)?;
        let (name, reference) = (&command.name, &commands[0].name);
        Some(format!("{name} ends with status {other}, and {reference} with {first}"))
    });
    others.collect()
}

/// The last commands are so many controls, which are the reference again.
fn differences(commands: &[Command], hashes: &[Option<String>], controls: usize) -> Vec<String> {
    let candidates = commands.len() - controls;
    if hashes[candidates..].iter().any(|hash| *hash != hashes[0]) {
        let name = &commands[0].name;
        return vec![format!(
            "{name} prints something else each time, so outputs were not compared"
        )];
    }
    (1..candidates)
        .filter(|place| hashes[*place] != hashes[0])
        .map(|place| {
            let (name, reference) = (&commands[place].name, &commands[0].name);
            format!("{name} prints something else than {reference}")
        })
        .collect()
}

/// Microseconds, bytes and counts; `None` of what the kernel did not tell.
fn value(metric: Metric, finished: &Finished) -> Option<f64> {
    let (usage, transfers, counters) = (&finished.usage, finished.transfers, finished.counters);
    let count = |count: u64| count as f64;
    Some(match metric {
        Metric::Wall => microseconds(finished.wall),
        Metric::Cpu => microseconds(usage.user + usage.system),
        Metric::User => microseconds(usage.user),
        Metric::System => microseconds(usage.system),
        Metric::Rss => count(usage.peak_rss_bytes),
        Metric::Faults => count(usage.minor_faults + usage.major_faults),
        Metric::Switches => count(usage.voluntary_switches + usage.involuntary_switches),
        Metric::Blocks => count(usage.blocks_in + usage.blocks_out),
        Metric::Read => count(transfers?.read),
        Metric::Written => count(transfers?.written),
        Metric::Instructions => count(counters?.instructions),
        Metric::Cycles => count(counters?.cycles),
    })
}

fn microseconds(time: Duration) -> f64 {
    1e6 * time.as_secs_f64()
}

/// Seconds of this part and of the parts before it.
pub(crate) struct Stopwatch {
    start: Instant,
    before: f64,
}

impl Stopwatch {
    pub(crate) fn after(before: f64) -> Self {
        Self { start: Instant::now(), before }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_last_words_of_a_gigabyte_are_found_without_reading_it() {
        let mut errors = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(excerpt(errors.path()), "");
        // It takes no room on the disk, and more than there is in memory.
        errors.as_file().set_len(64 << 30).unwrap();
        errors.seek(SeekFrom::End(0)).unwrap();
        errors.write_all("\nfirst\n\x1b[31mbad\x1b[0m\n".as_bytes()).unwrap();
        assert_eq!(excerpt(errors.path()), ": [31mbad[0m");
        assert_eq!(excerpt(Path::new("/no/such/file")), "");
    }
}
