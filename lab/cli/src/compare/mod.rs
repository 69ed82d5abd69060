//! `lab compare`: which of some commands is faster, anywhere and without a repository.

mod annotate;
mod args;
mod around;
mod commands;
mod export;
mod plot;
mod record;
mod revisions;
mod run;
mod spend;
mod text;

use std::{
    env, fs,
    path::PathBuf,
    process::{self, ExitCode},
    sync::{Arc, atomic::AtomicBool},
    time::{SystemTime, UNIX_EPOCH},
};

use clap::ValueEnum;
use lab_compare::{
    Comparison, Next, Question, RoundPlan, Schedule, Settings, SettingsError, State,
    replay::{Row, Size, prove, recordings},
};
use lab_stats::outcome::Outcome;

pub(crate) use self::args::CompareArgs;
use self::{
    args::{FailOn, Metric},
    commands::{Command, commands},
    record::{Header, Record, Round},
    run::{Runner, Stopped, Stopwatch},
    spend::Spending,
    text::{ProgressLine, summary},
};
use crate::Failure;

const SLOWER: u8 = 10;
const OPEN: u8 = 11;
const INTERRUPTED: u8 = 130;
/// Below this many microseconds a command is mostly its process's start and end.
const SHORT: f64 = 1_000.0;

/// Compares the commands and prints what may be said of them.
pub(crate) fn compare(args: &CompareArgs) -> Result<ExitCode, Failure> {
    if args.self_test {
        return Ok(self_test());
    }
    let folder = Folder::new()?;
    let interrupted = interruption()?;
    let commands = if args.rev.is_empty() {
        commands(args)?
    } else {
        let (commands, notes) = revisions::commands(args, &folder.0, &interrupted)?;
        notes.iter().for_each(|note| eprintln!("note: {note}"));
        commands
    };
    let mut settings = settings(args, commands.len())?;
    if let Some(path) = &args.around.plot {
        plot::check(path)?;
    }
    let spend = args.around.spend.as_ref();
    let spending = spend.map(|path| Spending::open(path, &commands)).transpose()?;
    if let Some(spending) = &spending {
        settings.alpha = spending.share().1;
    }
    let metrics = metrics(args.metric);
    let labels: Vec<&str> = metrics.iter().map(|metric| metric.label()).collect();
    let seed = args.seed.unwrap_or_else(any_seed);
    let header = Header::new(args, seed, &labels, &commands, &settings);
    let (record, seed, rounds) = Record::open(args, header)?;
    let mut comparison = Comparison::new(settings, &labels).map_err(refused)?;
    for round in &rounds {
        add(&mut comparison, round)?;
    }
    let runner = Runner::new(args, commands.clone(), metrics, &interrupted, folder.0.clone());
    let mut session = Session { comparison, record, rounds, seed, commands };
    let ended = session.run(&runner);
    let cleaned = match &args.cleanup {
        Some(text) => runner.helper("--cleanup", text, None),
        None => Ok(()),
    };
    let attempt = spending.as_ref().map(Spending::share);
    if let Some(spending) = spending {
        spending.end(session.verdicts())?;
    }
    match ended.and(cleaned) {
        Ok(()) => session.finish(&runner, attempt, None),
        Err(Stopped::Interrupted) => session.finish(&runner, attempt, Some(INTERRUPTED)),
        Err(Stopped::Failed(failure)) => Err(failure),
    }
}

/// A comparison and the rounds that it has had.
struct Session {
    comparison: Comparison,
    record: Record,
    rounds: Vec<Round>,
    seed: u64,
    commands: Vec<Command>,
}

impl Session {
    fn run(&mut self, runner: &Runner<'_>) -> Result<(), Stopped> {
        let args = runner.args;
        if let Some(text) = &args.setup {
            runner.helper("--setup", text, None)?;
        }
        for sentence in runner.check()? {
            eprintln!("note: {sentence}");
        }
        let mut plans = Schedule::new(self.seed, runner.commands.len()).skip(self.rounds.len());
        // What warms up is no part of the schedule.
        for _ in 0..args.warmup {
            let order = (0..runner.commands.len()).collect();
            runner.round(RoundPlan { order, layout: Default::default() })?;
        }
        let watch = Stopwatch::after(self.rounds.last().map_or(0.0, |round| round.elapsed_s));
        let mut line = ProgressLine::new(args.json);
        let budget = self.comparison.settings();
        if !args.json {
            let (seconds, least) = (budget.budget_s, budget.least_rounds);
            eprintln!("at most {seconds} s, or {least} rounds where these take longer");
        }
        while self.comparison.next_step() == Next::Round {
            let plan = plans.next().expect("a schedule has no end");
            let mut round = match runner.round(plan) {
                Ok(round) => round,
                Err(stopped) => {
                    line.end();
                    return Err(stopped);
                }
            };
            round.elapsed_s = watch.seconds();
            self.record.append(&round)?;
            add(&mut self.comparison, &round)?;
            self.rounds.push(round);
            if line.due() {
                let settings = self.comparison.settings();
                line.show(&self.comparison.state(), &self.commands, settings);
            }
        }
        line.end();
        Ok(())
    }

    fn finish(
        &self,
        runner: &Runner<'_>,
        attempt: Option<(u64, f64)>,
        code: Option<u8>,
    ) -> Result<ExitCode, Failure> {
        let (args, metrics) = (runner.args, &runner.metrics);
        let settings = self.comparison.settings();
        let state = self.comparison.state();
        let code = code.unwrap_or_else(|| exit_code(&state, args.fail_on));
        if args.json {
            let mut result = export::result(&state, &self.commands, settings, self.seed, code);
            if let Some((attempt, _)) = attempt {
                result["attempt"] = attempt.into();
            }
            println!("{result}");
        } else {
            let shown = self.shown(metrics);
            let lines = summary(&state, &self.commands, metrics, &shown, settings);
            lines.iter().for_each(|line| println!("{line}"));
            if let Some((attempt, alpha)) = attempt {
                println!("attempt {attempt}: error level {}", spend::percent(alpha));
            }
        }
        let times = export::column(metrics, &self.rounds, 0, Metric::Wall);
        if lab_stats::describe::median(&times).is_some_and(|median| median < SHORT) {
            eprintln!(
                "note: {} takes less than 1 ms, most of it for starting a process; let it do its \
                 work several times",
                self.commands[0].name
            );
        }
        if let Some(path) = &args.export_json {
            let runs = export::hyperfine(&self.commands, metrics, &self.rounds);
            export::write(path, &format!("{runs:#}\n"))?;
        }
        if let Some(path) = &args.export_markdown {
            let page = export::markdown(&state, &self.commands, metrics, &self.rounds);
            export::write(path, &page)?;
        }
        self.tell_others(runner, &state)?;
        Ok(ExitCode::from(code))
    }
}

impl Session {
    /// The metrics beside the primary one that tell something: of memory only what exceeds the
    /// lab's own, in which every command starts.
    fn shown(&self, metrics: &[Metric]) -> Vec<Metric> {
        let rss = |command| export::column(metrics, &self.rounds, command, Metric::Rss);
        let least = (0..self.commands.len()).flat_map(rss).fold(f64::INFINITY, f64::min);
        let mut shown = vec![Metric::Wall, Metric::Cpu, Metric::Faults, Metric::Switches];
        shown.extend((least > lab_process::own_peak_rss_bytes() as f64).then_some(Metric::Rss));
        shown
    }
}

fn add(comparison: &mut Comparison, round: &Round) -> Result<(), Failure> {
    let added = comparison.add(&round.runs, round.elapsed_s);
    // Rounds come from here or from a file, which may have been edited.
    added.map(|_| ()).map_err(|error| Failure { code: 4, sentence: error.to_string() })
}

fn exit_code(state: &State, fail_on: Option<FailOn>) -> u8 {
    if fail_on == Some(FailOn::NotShownEquivalent) {
        let shown = |outcome| matches!(outcome, Outcome::Equivalent | Outcome::Faster);
        let all = state.candidates.iter().all(|candidate| shown(candidate.verdict.outcome));
        return if all { 0 } else { SLOWER };
    }
    let slower = || state.candidates.iter().map(|candidate| candidate.slower_beyond_margin);
    if slower().any(|slower| slower == Some(true)) {
        SLOWER
    } else if slower().all(|slower| slower == Some(false)) {
        0
    } else {
        OPEN
    }
}

fn settings(args: &CompareArgs, commands: usize) -> Result<Settings, Failure> {
    if args.budget.is_nan() || args.budget < 0.0 {
        return Err(Failure::input("--budget is no number of seconds"));
    }
    if args.timeout.is_some_and(|timeout| !(timeout > 0.0 && timeout < 1e9)) {
        return Err(Failure::input("--timeout is no number of seconds above 0"));
    }
    let question = match args.fail_on {
        Some(FailOn::Slower) => Question::Margin,
        _ => Question::Direction,
    };
    let settings = Settings {
        margin: args.margin / 100.0,
        budget_s: args.budget,
        most_rounds: args.runs,
        candidates: commands.saturating_sub(1),
        control: !args.no_control,
        question,
        ..Settings::default()
    };
    settings.check().map(|()| settings).map_err(refused)
}

fn refused(error: SettingsError) -> Failure {
    Failure::input(error.to_string())
}

/// All of them, the primary one first.
fn metrics(primary: Metric) -> Vec<Metric> {
    let others = Metric::value_variants().iter().copied().filter(|metric| *metric != primary);
    [primary].into_iter().chain(others).collect()
}

fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) ^ now.as_secs().rotate_left(32) ^ u64::from(process::id())
}

/// Set by the first Ctrl-C; the second ends the program.
fn interruption() -> Result<Arc<AtomicBool>, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let flag = || Arc::clone(&interrupted);
        signal_hook::flag::register_conditional_shutdown(signal, i32::from(INTERRUPTED), flag())
            .and_then(|_| signal_hook::flag::register(signal, flag()))
            .map_err(|error| Failure::lab(format!("cannot watch for Ctrl-C: {error}")))?;
    }
    Ok(interrupted)
}

/// A folder of this process, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Failure> {
        let path = env::temp_dir().join(format!("lab-compare-{}", process::id()));
        fs::create_dir_all(&path)
            .map_err(|error| Failure::lab(format!("cannot make {}: {error}", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn self_test() -> ExitCode {
    let mut all_met = true;
    println!("{}", Row::HEADER);
    for noise in recordings() {
        prove(&noise, Size::FULL, 1, &mut |row| {
            all_met &= row.met() != Some(false);
            println!("{}", row.tsv());
        });
    }
    ExitCode::from(u8::from(!all_met))
}
