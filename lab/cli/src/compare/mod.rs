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
mod session;
mod spend;
mod table;
mod text;
mod untimed;

use std::{
    env, fs,
    path::PathBuf,
    process::{self, ExitCode},
    time::{SystemTime, UNIX_EPOCH},
};

use self::{
    args::FailOn,
    commands::commands,
    measures::Measurable,
    record::{Header, Record},
    session::Session,
    spend::Spending,
    untimed::Counted,
};
pub(crate) use self::{
    args::{CompareArgs, Metric},
    commands::{Command, Parameters, in_shell},
    run::{Runner, Stopped, Stopwatch, excerpt},
    text::{ProgressLine, interval, seconds_text},
};
use crate::{
    Failure,
    interrupt::{INTERRUPTED, interruption},
};
use lab_compare::{
    Comparison, Question, Settings, SettingsError,
    replay::{Row, Size, prove, recordings},
};

pub(crate) const OPEN: u8 = 11;

/// Compares the commands and prints what may be said of them.
pub(crate) fn compare(args: &CompareArgs) -> Result<ExitCode, Failure> {
    if args.self_test {
        return Ok(self_test());
    }
    let folder = Folder::new()?;
    let interrupted = interruption()?;
    Counted::check(&args.measures)?;
    if let Some(path) = &args.around.plot {
        plot::check(path)?;
    }
    let mut measurable = Measurable::new(args.metric, &args.measures)?;
    let (commands, notes) = if args.rev.is_empty() {
        (commands(args)?, Vec::new())
    } else {
        // Before the builds, which may take long.
        settings(args, args.rev.len())?;
        revisions::commands(args, &folder.0, &interrupted)?
    };
    notes.iter().for_each(|note| eprintln!("note: {note}"));
    let mut settings = settings(args, commands.len())?;
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
        session::add(&mut comparison, round)?;
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
        notes,
        counted: Counted::default(),
    };
    let ended = session.run(&runner).and_then(|()| session.count(&runner));
    let cleaned = runner.clean_up();
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
