//! Running the commands: the answers first, then round after round.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::BTreeSet,
    env,
    os::unix::fs::symlink,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use lab_console::{Exit, Failure, plain};
use lab_process::{Ended, Finished, Orphans, Run, RunError};
use lab_stats::describe::median;

use super::{
    answers::Answers,
    commands::{Command, for_each, in_shell},
    duet,
    failing::{broken, excerpt, told},
    held::Held,
    iteration::Iteration,
    metric::Metric,
    options::{Layouts, RunOptions},
    record::Round,
};
use crate::{Layout, RoundPlan};

/// What is kept of a run's complaints, of which a failure shows the last.
const ERRORS_BYTES: u64 = 1 << 20;

/// Runs commands as the options say. The last of them is the reference's copy, where there is a
/// control.
pub(crate) struct Runner<'a> {
    pub(crate) options: &'a RunOptions,
    pub(crate) commands: Vec<Command>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) interrupted: &'a AtomicBool,
    pub(super) orphans: &'a Orphans,
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
    /// The number of the runs to come.
    pub(super) iteration: Cell<Iteration>,
    /// The places of commands whose complaints are too many to be kept in the rounds.
    pub(super) complain: RefCell<BTreeSet<usize>>,
    /// Whether rounds lengthen $PWD and the environment.
    pub(super) lengthens: Cell<bool>,
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
            folder,
            halves,
            answers: OnceCell::new(),
            held: RefCell::new(None),
            copies: RefCell::default(),
            rounds: Cell::new(0),
            iteration: Cell::default(),
            complain: RefCell::default(),
            lengthens: Cell::new(options.layouts == Layouts::Varied),
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
        let build = plan.layout.build;
        let is_drawn = self.lengthens.get();
        let layout = if is_drawn { plan.layout } else { Layout { build, ..Layout::default() } };
        let working_folder = self.working_folder(layout)?;
        let run_of = |place: usize| {
            let is_quiet = !self.complain.borrow().contains(&place);
            let run = Run {
                working_folder: working_folder.clone(),
                remembers_errors: is_quiet.then_some(ERRORS_BYTES),
                ..self.run_at(place, build)
            };
            self.with_environment(run, layout)
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
        let (mut runs, first) = (Vec::new(), self.iteration.get());
        for at in 0..times {
            self.iteration.set(first.in_a_row(times, at));
            for finished in self.together(&[place], round.layout.build, run_of)? {
                runs.push(self.values(&finished)?);
                if round.statuses[place] == 0 {
                    round.statuses[place] = status(&finished);
                }
            }
        }
        self.iteration.set(first);
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
                    let accepted = |status| self.options.failure.accepts(status);
                    run_of(*place).execute_times(self.options.inner, accepted, self.interrupted)
                })
                .collect(),
        };
        let concluded = self.concluded(places);
        let finished = finished.map_err(|error| self.broken(error))?;
        let judged = places.iter().zip(finished);
        let judged = judged.map(|(place, finished)| {
            let finished =
                self.judge(&self.commands[*place], finished, &self.iteration.get().told())?;
            self.is_as_checked(*place, build, &finished).map(|()| finished)
        });
        let judged: Vec<Finished> = judged.collect::<Result<_, _>>()?;
        concluded.map(|()| judged)
    }

    /// Runs what follows runs, and ends what they left behind, which it may need.
    fn concluded(&self, places: &[usize]) -> Result<(), Stopped> {
        let ended = places.iter().try_for_each(|place| self.conclude(&self.commands[*place]));
        self.orphans.end();
        ended
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
    pub(crate) fn set_up(&self) -> Result<Vec<String>, Stopped> {
        let sentences = self.ready_before()?;
        let mut texts = self.options.setup.iter().flat_map(|text| for_each(text, &self.commands));
        let ended = texts.try_for_each(|text| self.set_up_by(&text));
        let ended = ended.and_then(|()| self.ready_once());
        self.orphans.keep();
        ended.map(|()| sentences)
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
        let variables = vec![Orphans::kept_mark()];
        self.beside(option, text, Run { leaves: true, variables, ..Run::default() }, "")
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
        let errors = self.errors_of(option);
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

    /// Prepares a run. What that leaves running, such as a server, is ended after the run.
    pub(crate) fn prepare(&self, command: &Command) -> Result<(), Stopped> {
        let run = Run { leaves: true, ..Run::default() };
        self.around("--prepare", command.prepare.as_ref(), run)?;
        if command.prepare.is_some() { self.ready_each(command) } else { Ok(()) }
    }

    pub(super) fn conclude(&self, command: &Command) -> Result<(), Stopped> {
        self.around("--conclude", command.conclude.as_ref(), Run::default())
    }

    /// Runs what surrounds a run.
    fn around(&self, option: &str, text: Option<&String>, run: Run) -> Result<(), Stopped> {
        let Some(text) = text else { return Ok(()) };
        let variables = vec![self.iteration.get().variable()];
        let run = Run { timeout: self.timeout(), variables, ..run };
        self.holding(|| self.beside(option, text, run, ""))
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
            output: self.options.output_to(&command.output),
            timeout: self.timeout(),
            ..Run::default()
        }
    }

    /// With the number of the run, and as large as the layout asks whatever number that is.
    pub(super) fn with_environment(&self, run: Run, layout: Layout) -> Run {
        let iteration = self.iteration.get();
        let environment_bytes = usize::from(layout.environment_bytes) + iteration.room();
        Run { environment_bytes, variables: vec![iteration.variable()], ..run }
    }

    /// Runs it as a run of this command is run, between what prepares and what concludes it, and
    /// ends what they leave behind.
    pub(super) fn surrounded(
        &self,
        command: &Command,
        run: &Run,
    ) -> Result<Result<Finished, RunError>, Stopped> {
        self.prepare(command)?;
        let finished = run.execute(self.interrupted);
        let concluded = self.conclude(command);
        self.orphans.end();
        // A run that failed is the first thing to say.
        let failed = finished.as_ref().map_or(true, |run| run.ended != Ended::Exited(0));
        if failed { Ok(finished) } else { concluded.map(|()| finished) }
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
