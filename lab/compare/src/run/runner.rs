//! Running the commands: the answers first, then round after round.

use std::{
    cell::{Cell, OnceCell, RefCell},
    env,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use lab_console::{Exit, Failure, plain};
use lab_process::{Ended, Finished, Orphans, Output, Run, RunError};
use lab_stats::describe::median;

use super::{
    answers::{Answers, MEMORY},
    commands::{Command, for_each, in_shell},
    duet,
    held::Held,
    metric::Metric,
    options::{Layouts, OnFailure, RunOptions},
    record::Round,
};
use crate::{Layout, RoundPlan};

/// The end of a failed command's complaints that is shown.
const EXCERPT_CHARS: usize = 200;
/// What is read of them, which may be a gigabyte.
const EXCERPT_BYTES: u64 = 64 << 10;
/// A shell's status where there is no such program.
const NOT_FOUND: i32 = 127;

/// Runs commands as the options say. The last of them is the reference's copy, where there is a
/// control.
pub(crate) struct Runner<'a> {
    pub(crate) options: &'a RunOptions,
    pub(crate) commands: Vec<Command>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) interrupted: &'a AtomicBool,
    orphans: &'a Orphans,
    pub(super) output: Output,
    /// For what a command prints while its answer is checked, what gnuplot reads, and names of the
    /// working folder.
    pub(crate) folder: PathBuf,
    /// The processors of a duet.
    halves: Option<[Vec<usize>; 2]>,
    /// What the commands printed before the rounds, where each run's output is looked at.
    pub(super) answers: OnceCell<Answers>,
    /// The files that have to stay what they are.
    pub(super) held: RefCell<Option<Held>>,
    /// The commands over a session's copies of their files; none where there is one session.
    pub(super) copies: RefCell<Vec<Command>>,
    /// How many have ended.
    pub(super) rounds: Cell<usize>,
    /// The seconds that washing the last one took.
    pub(super) washed_s: Cell<f64>,
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
        match failure.exit {
            Exit::Interrupted => Self::Interrupted,
            _ => Self::Failed(failure),
        }
    }
}

impl<'a> Runner<'a> {
    pub(crate) fn new(
        options: &'a RunOptions,
        commands: Vec<Command>,
        metrics: Vec<Metric>,
        Surroundings { interrupted, orphans }: Surroundings<'a>,
        folder: PathBuf,
    ) -> Result<Self, Failure> {
        let halves = options.duet.then(duet::halves).transpose()?;
        Ok(Self {
            options,
            commands,
            metrics,
            interrupted,
            orphans,
            output: options.output_of_runs(),
            folder,
            halves,
            answers: OnceCell::new(),
            held: RefCell::new(None),
            copies: RefCell::default(),
            rounds: Cell::new(0),
            washed_s: Cell::new(0.0),
        })
    }

    /// Runs one round, whose commands are made of the same files at its end.
    pub(crate) fn round(&self, plan: RoundPlan) -> Result<Round, Stopped> {
        let round = self.run_round(plan)?;
        self.is_still_the_same()?;
        self.rounds.set(self.rounds.get() + 1);
        Ok(round)
    }

    /// Runs one round in its order, after what washes out the round before.
    fn run_round(&self, plan: RoundPlan) -> Result<Round, Stopped> {
        let fixed = self.options.layouts == Layouts::Fixed;
        let build = plan.layout.build;
        let layout = if fixed { Layout { build, ..Layout::default() } } else { plan.layout };
        let working_folder = self.working_folder(layout)?;
        let run_of = |place: usize| Run {
            environment_bytes: usize::from(layout.environment_bytes),
            working_folder: working_folder.clone(),
            ..self.run_at(place, build)
        };
        let in_a_row = self.options.order.in_a_row();
        // The first run of a block counts for nothing in any case.
        let wash = if in_a_row.is_some() { Vec::new() } else { plan.wash };
        let start = Instant::now();
        if !wash.is_empty() {
            self.together(&wash, build, &run_of)?;
        }
        self.washed_s.set(start.elapsed().as_secs_f64());
        let mut round = Round {
            elapsed_s: 0.0,
            wash,
            order: plan.order,
            session: 0,
            layout,
            runs: vec![Vec::new(); self.commands.len()],
            statuses: vec![0; self.commands.len()],
            in_a_row: Vec::new(),
        };
        let order = round.order.clone();
        if let Some(times) = in_a_row {
            round.in_a_row = vec![Vec::new(); self.commands.len()];
            for place in order {
                self.block(&mut round, place, times, &run_of)?;
            }
            return Ok(round);
        }
        for together in order.chunks(if self.halves.is_some() { 2 } else { 1 }) {
            let finished = self.together(together, build, &run_of)?;
            for (place, finished) in together.iter().zip(finished) {
                round.runs[*place] = self.values(&finished)?;
                round.statuses[*place] = status(&finished);
            }
        }
        Ok(round)
    }

    /// Runs a command several times in a row; all but the first run are after itself, and their
    /// medians are the round's values.
    fn block(
        &self,
        round: &mut Round,
        place: usize,
        times: u32,
        run_of: &impl Fn(usize) -> Run,
    ) -> Result<(), Stopped> {
        let mut runs = Vec::new();
        for _ in 0..times {
            for finished in self.together(&[place], round.layout.build, run_of)? {
                runs.push(self.values(&finished)?);
                if round.statuses[place] == 0 {
                    round.statuses[place] = status(&finished);
                }
            }
        }
        let typical = |metric: usize| {
            let values: Vec<f64> = runs[1..].iter().map(|run| run[metric]).collect();
            median(&values).unwrap_or(f64::NAN)
        };
        round.runs[place] = (0..self.metrics.len()).map(typical).collect();
        round.in_a_row[place] = runs;
        Ok(())
    }

    /// Prepares and runs commands, one or both of a duet.
    fn together(
        &self,
        places: &[usize],
        build: u16,
        run_of: &impl Fn(usize) -> Run,
    ) -> Result<Vec<Finished>, Stopped> {
        for place in places {
            self.prepare(&self.commands[*place])?;
        }
        self.finish_together(places, build, run_of)
    }

    /// A command, or both of a duet at once, the first on the first half of the processors.
    fn finish_together(
        &self,
        places: &[usize],
        build: u16,
        run_of: &impl Fn(usize) -> Run,
    ) -> Result<Vec<Finished>, Stopped> {
        let finished = match (places, &self.halves) {
            ([first, second], Some([a, b])) => {
                let [first, second] = [(first, a), (second, b)]
                    .map(|(place, cpus)| Run { cpus: cpus.clone(), ..run_of(*place) });
                Run::execute_both([&first, &second], self.interrupted).map(Vec::from)
            }
            _ => places
                .iter()
                .map(|place| {
                    let ignored = self.options.failure == OnFailure::Ignore;
                    run_of(*place).execute_times(self.options.inner, ignored, self.interrupted)
                })
                .collect(),
        };
        self.orphans.end();
        let finished = finished.map_err(|error| self.broken(error))?;
        let judged = places.iter().zip(finished);
        let judged = judged.map(|(place, finished)| {
            let finished = self.judge(&self.commands[*place], finished)?;
            self.is_as_checked(*place, build, &finished).map(|()| finished)
        });
        judged.collect()
    }

    /// Another name of the working folder, as long as the layout says: a link to the root, so that
    /// what is relative to it stays what it is, its parents too.
    pub(super) fn working_folder(&self, layout: Layout) -> Result<Option<PathBuf>, Stopped> {
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
        let mut texts = self.options.setup.iter().flat_map(|text| for_each(text, &self.commands));
        let ended = texts.try_for_each(|text| self.helper("--setup", &text));
        self.orphans.keep();
        ended
    }

    /// Runs --cleanup, after an interruption too; another one ends it.
    pub(crate) fn clean_up(&self) -> Result<(), Stopped> {
        self.interrupted.store(false, Ordering::Relaxed);
        let texts = self.options.cleanup.iter().flat_map(|text| for_each(text, &self.commands));
        // What one leaves is no reason to leave the rest.
        let ended: Vec<_> = texts.map(|text| self.helper("--cleanup", &text)).collect();
        ended.into_iter().collect()
    }

    /// Runs --setup or --cleanup, which are no part of a run and may take as long as they do.
    pub(crate) fn helper(&self, option: &str, text: &str) -> Result<(), Stopped> {
        self.beside(option, text, Run::default(), "")
    }

    /// Runs a command of the user's that is not compared; `of` says in its failure what it was for.
    pub(super) fn beside(
        &self,
        option: &str,
        text: &str,
        run: Run,
        of: &str,
    ) -> Result<(), Stopped> {
        let argv = in_shell(text, self.options.shell.name());
        // A file for each option: a server of --setup may still write to its own.
        let errors = self.folder.join(format!("errors{option}"));
        let run = Run { argv, errors: Some(errors.clone()), ..run };
        match run.execute(self.interrupted).map_err(broken)?.ended {
            Ended::Exited(0) => Ok(()),
            Ended::Interrupted => Err(Stopped::Interrupted),
            ended => {
                let (told, last) = (told(ended, self.timeout()), excerpt(&errors));
                let text = plain::line(text);
                Err(Failure::failed(format!("{option} `{text}` {told}{of}{last}")).into())
            }
        }
    }

    pub(crate) fn prepare(&self, command: &Command) -> Result<(), Stopped> {
        let Some(text) = &command.prepare else { return Ok(()) };
        let run = Run { timeout: self.timeout(), ..Run::default() };
        self.holding(|| self.beside("--prepare", text, run, ""))
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        self.options.timeout
    }

    /// A run of the command at this place, over the session's files.
    pub(super) fn run_at(&self, place: usize, build: u16) -> Run {
        let copies = self.copies.borrow();
        self.run_of(copies.get(place).unwrap_or(&self.commands[place]), build)
    }

    pub(crate) fn run_of(&self, command: &Command, build: u16) -> Run {
        Run {
            argv: command.argv_of(build),
            input: self.options.input.clone(),
            output: self.output.clone(),
            timeout: self.timeout(),
            ..Run::default()
        }
    }

    /// Runs it, and ends what it leaves behind and what --prepare did before it.
    pub(crate) fn execute(&self, run: &Run) -> Result<Finished, Stopped> {
        let finished = run.execute(self.interrupted).map_err(|error| self.broken(error));
        self.orphans.end();
        finished
    }

    /// What was there and is gone is why a program cannot be started.
    fn broken(&self, error: RunError) -> Stopped {
        self.is_there().map_or_else(Stopped::Failed, |()| broken(error))
    }

    pub(super) fn judge(&self, command: &Command, finished: Finished) -> Result<Finished, Stopped> {
        match finished.ended {
            Ended::Exited(0) => Ok(finished),
            Ended::Exited(_) if self.options.failure == OnFailure::Ignore => Ok(finished),
            Ended::Interrupted => Err(Stopped::Interrupted),
            ended => {
                self.is_there()?;
                let told = told_of_run(ended, self.timeout());
                let sentence = format!("`{}` {told}", command.shown());
                Err(match ended {
                    Ended::Exited(NOT_FOUND) => Failure::input(sentence),
                    _ => Failure::failed(sentence),
                }
                .into())
            }
        }
    }

    /// Of one inner run: microseconds, bytes and counts.
    fn values(&self, finished: &Finished) -> Result<Vec<f64>, Failure> {
        let inner = f64::from(self.options.inner);
        let value = |metric: &Metric| {
            let missing = || Failure::lab(format!("the kernel no longer tells {}", metric.label()));
            let value = value(*metric, finished).ok_or_else(missing)?;
            Ok(if *metric == Metric::Rss { value } else { value / inner })
        };
        self.metrics.iter().map(value).collect()
    }
}

/// How a run failed, and what would accept it.
pub(crate) fn told_of_run(ended: Ended, timeout: Option<Duration>) -> String {
    let told = told(ended, timeout);
    match ended {
        Ended::Exited(NOT_FOUND) => told,
        Ended::Exited(_) => told + "; --ignore-failure accepts that",
        _ => told,
    }
}

fn told(ended: Ended, timeout: Option<Duration>) -> String {
    match ended {
        Ended::Exited(NOT_FOUND) => "was not found".to_owned(),
        Ended::Exited(status) => format!("ended with status {status}"),
        Ended::Signalled(signal) => format!("was ended by signal {signal}"),
        Ended::TimedOut => {
            let seconds = timeout.unwrap_or_default().as_secs_f64();
            format!("was ended after {seconds} s, the --timeout")
        }
        Ended::Interrupted => "was interrupted".to_owned(),
        Ended::PrintedTooMuch | Ended::ComplainedTooMuch | Ended::Hid => format!(
            "printed more than {MEMORY}, which is what is kept of an output in memory; give \
             --output pipe, or --check once"
        ),
    }
}

pub(crate) fn broken(error: RunError) -> Stopped {
    let exit = match error {
        RunError::Start { .. } => Exit::Input,
        RunError::Open { .. } => Exit::File,
        RunError::Follow(_) => Exit::Internal,
    };
    Stopped::Failed(Failure { exit, sentence: error.to_string() })
}

/// The last words of a failed command.
pub(crate) fn excerpt(errors: &Path) -> String {
    excerpt_of(&end_of(errors).unwrap_or_default())
}

pub(super) fn excerpt_of(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let last = text.trim().lines().last().unwrap_or_default();
    // What colours a terminal has no place in a sentence.
    let words = last.chars().filter(|letter| !letter.is_control());
    let words: String = words.take(EXCERPT_CHARS).collect();
    if words.is_empty() { words } else { format!(": {}", plain::line(&words)) }
}

fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(EXCERPT_BYTES)))?;
    let mut text = Vec::new();
    file.take(EXCERPT_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

/// The exit status; -1 where a signal ended it.
fn status(finished: &Finished) -> i32 {
    match finished.ended {
        Ended::Exited(status) => status,
        _ => -1,
    }
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
