//! `lab compare`: which of some commands is faster, anywhere and without a repository.

mod annotate;
mod args;
mod around;
mod builds;
mod commands;
mod duet;
mod export;
mod measures;
mod plot;
mod record;
mod revisions;
mod run;
mod spend;
mod table;
mod text;
mod untimed;

use std::{
    collections::BTreeMap,
    env, fs,
    path::PathBuf,
    process::{self, ExitCode},
    sync::{Arc, atomic::AtomicBool},
    time::{SystemTime, UNIX_EPOCH},
};

use lab_compare::{
    Comparison, Next, Question, RoundPlan, Schedule, Settings, SettingsError, State,
    replay::{Row, Size, prove, recordings},
};
use lab_stats::outcome::Outcome;

use self::{
    args::FailOn,
    commands::commands,
    export::Measured,
    measures::{Addresses, LayoutReport, Measurable},
    record::{Header, Record, Round},
    spend::Spending,
    text::summary,
    untimed::Counted,
};
pub(crate) use self::{
    args::{CompareArgs, Metric},
    commands::{Command, in_shell},
    run::{Runner, Stopped, Stopwatch, excerpt},
    text::{ProgressLine, interval, seconds_text},
};
use crate::Failure;

const SLOWER: u8 = 10;
pub(crate) const OPEN: u8 = 11;
pub(crate) const INTERRUPTED: u8 = 130;
/// Below this many microseconds a command is mostly its process's start and end.
const SHORT: f64 = 1_000.0;
/// The microseconds that several runs of such a command should take together.
const BATCH: f64 = 5_000.0;

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
    Counted::check(&args.measures)?;
    if let Some(path) = &args.around.plot {
        plot::check(path)?;
    }
    let mut measurable = Measurable::new(args.metric, &args.measures)?;
    let addresses = measures::addresses(&args.measures)?;
    let spend = args.around.spend.as_ref();
    let spending = spend.map(|path| Spending::open(path, &commands)).transpose()?;
    if let Some(spending) = &spending {
        settings.alpha = spending.share().1;
    }
    let seed = args.seed.unwrap_or_else(any_seed);
    let header = Header::new(args, seed, &measurable.labels(), &commands, &settings, &addresses);
    let (record, header, rounds) = Record::open(args, header)?;
    measurable.keep(&header.metrics).map_err(|why| record.failure(why))?;
    let mut comparison = Comparison::new(settings, &measurable.labels()).map_err(refused)?;
    for round in &rounds {
        add(&mut comparison, round)?;
    }
    let Measurable { metrics, absent } = measurable;
    let runner = Runner::new(args, commands.clone(), metrics, &interrupted, folder.0.clone())?;
    let mut session = Session {
        comparison,
        record,
        rounds,
        seed: header.seed,
        commands,
        addresses,
        absent,
        counted: Counted::default(),
    };
    let ended = session.run(&runner).and_then(|()| session.count(&runner));
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
    addresses: Addresses,
    absent: BTreeMap<&'static str, String>,
    counted: Counted,
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
        let schedule = match args.measures.duet {
            true => Schedule::duets(self.seed, runner.commands.len() / 2),
            false => Schedule::new(self.seed, runner.commands.len()),
        };
        let mut plans = schedule.with_builds(args.builds.count()).skip(self.rounds.len());
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

    /// Runs the commands under the tools that count.
    fn count(&mut self, runner: &Runner<'_>) -> Result<(), Stopped> {
        self.counted = Counted::new(runner, &self.commands)?;
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
        let layout = self.layout(args);
        let tables: Vec<Vec<table::Row>> = (state.candidates.iter().enumerate())
            .map(|(number, candidate)| table::rows(candidate, number, metrics, &self.rounds))
            .collect();
        if args.json {
            let (absent, counted) = (&self.absent, &self.counted);
            let measured =
                Measured { inner: args.measures.inner, layout: &layout, absent, counted };
            let mut result =
                export::result(&state, &self.commands, settings, self.seed, code, &measured);
            builds::add_to(&mut result, &self.commands, &self.rounds, settings);
            if let Some((attempt, _)) = attempt {
                result["attempt"] = attempt.into();
            }
            println!("{result}");
        } else {
            let lines = summary(&state, &self.commands, metrics[0], settings);
            let of_builds = builds::lines(&self.commands, &self.rounds, settings);
            lines.iter().chain(&of_builds).for_each(|line| println!("{line}"));
            self.details(&tables, &layout).iter().for_each(|line| println!("{line}"));
            if let Some((attempt, alpha)) = attempt {
                println!("attempt {attempt}: error level {}", spend::percent(alpha));
            }
        }
        let times = export::column(metrics, &self.rounds, 0, Metric::Wall);
        let median = lab_stats::describe::median(&times).filter(|median| *median < SHORT);
        if let Some(median) = median.filter(|_| args.measures.inner == 1) {
            eprintln!(
                "note: {} takes less than 1 ms, most of it for starting a process; --inner {} \
                 runs it that many times within each timed run",
                self.commands[0].name,
                (BATCH / median).ceil()
            );
        }
        if let Some(path) = &args.export_json {
            let runs = export::hyperfine(&self.commands, metrics, &self.rounds);
            export::write(path, &format!("{runs:#}\n"))?;
        }
        if let Some(path) = &args.export_markdown {
            let page = export::markdown(&state, &self.commands, metrics, &self.rounds, &tables);
            export::write(path, &page)?;
        }
        self.tell_others(runner, &state, &tables)?;
        Ok(ExitCode::from(code))
    }
}

impl Session {
    fn layout(&self, args: &CompareArgs) -> LayoutReport {
        let fixed = args.measures.fixed_layout;
        let share = |candidate| {
            let share = || measures::layout_share(&self.rounds, candidate);
            (!fixed).then(share).flatten()
        };
        let shares = (1..self.commands.len()).map(share).collect();
        LayoutReport { fixed, addresses: self.addresses.clone(), shares }
    }

    /// What a person reads below the answer.
    fn details(&self, tables: &[Vec<table::Row>], layout: &LayoutReport) -> Vec<String> {
        let names: Vec<&str> = self.commands.iter().map(|command| command.name.as_str()).collect();
        let mut lines = Vec::new();
        for (rows, name) in tables.iter().zip(&names[1..]).filter(|(rows, _)| !rows.is_empty()) {
            lines.push(String::new());
            lines.extend(table::lines(rows, [names[0], name]));
        }
        lines.extend(layout.lines(&names[1..]));
        lines.extend(self.counted.lines(&self.commands));
        lines
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

/// Refuses times that are none.
pub(crate) fn check_times(args: &CompareArgs) -> Result<(), Failure> {
    if args.budget.is_nan() || args.budget < 0.0 {
        return Err(Failure::input("--budget is no number of seconds"));
    }
    if args.timeout.is_some_and(|timeout| !(timeout > 0.0 && timeout < 1e9)) {
        return Err(Failure::input("--timeout is no number of seconds above 0"));
    }
    Ok(())
}

fn settings(args: &CompareArgs, commands: usize) -> Result<Settings, Failure> {
    check_times(args)?;
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
        duet: args.measures.duet,
        question,
        ..Settings::default()
    };
    settings.check().map(|()| settings).map_err(refused)
}

fn refused(error: SettingsError) -> Failure {
    Failure::input(error.to_string())
}

pub(crate) fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) ^ now.as_secs().rotate_left(32) ^ u64::from(process::id())
}

/// Set by the first Ctrl-C; the second ends the program.
pub(crate) fn interruption() -> Result<Arc<AtomicBool>, Failure> {
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
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Result<Self, Failure> {
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
