//! `lab compare`: which of some commands is faster, anywhere and without a repository.

mod annotate;
mod answers;
mod args;
mod around;
mod builds;
mod chain;
mod commands;
mod control;
mod duet;
mod export;
mod files;
mod held;
mod left;
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
    env,
    fs::DirBuilder,
    io::ErrorKind,
    os::unix::fs::DirBuilderExt,
    path::{self, PathBuf},
    process,
    time::{SystemTime, UNIX_EPOCH},
};

pub(crate) use self::{
    answers::{Check, To},
    args::{CompareArgs, Metric},
    commands::{Command, Parameters, in_shell},
    run::{Runner, Stopped, Stopwatch, Surroundings, excerpt},
    text::{ProgressLine, interval, seconds_text},
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
use crate::{Exit, Failure, interruption, streams};
use lab_compare::{
    Comparison, Question, Settings, SettingsError,
    replay::{Row, Size, prove, recordings},
};
use lab_process::{GuardApart, Orphans};

/// Names that are tried for the folder of this process.
const NAMES: u32 = 100;

/// Compares the commands and prints what may be said of them.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    if args.self_test {
        return self_test();
    }
    compared(args).inspect_err(|failure| {
        // What the user stopped has not failed.
        if failure.exit != Exit::Interrupted && annotate::is_wanted(&args.around) {
            streams::tell_ci(annotate::failure(&failure.sentence));
        }
    })
}

fn compared(args: &CompareArgs) -> Result<Exit, Failure> {
    files::check(args)?;
    let folder = Folder::new()?;
    let orphans = Orphans::inherit();
    let interrupted = interruption()?;
    Counted::check(&args.measures)?;
    if let Some(path) = &args.around.plot {
        plot::check(path)?;
    }
    let mut measurable = Measurable::new(args.metric, &args.measures)?;
    let (commands, mut notes) = if args.rev.is_empty() {
        (commands(args)?, Vec::new())
    } else {
        // Before the builds, which may take long.
        settings(args, args.rev.len())?;
        revisions::commands(args, &folder.0, &interrupted)?
    };
    orphans.end();
    notes.iter().for_each(|note| streams::tell(format_args!("note: {note}")));
    control::check_data(args, &commands)?;
    let mut settings = settings(args, commands.len())?;
    settings.apart = control::apart(&commands);
    if settings.apart {
        let note = "some commands share files that others do not, so each is compared with the \
                    first in rounds of its own";
        streams::tell(format_args!("note: {note}"));
        notes.push(note.to_owned());
    }
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
    let surroundings = Surroundings { interrupted: &interrupted, orphans: &orphans };
    let copy = args.control.then(|| control::copy(args, &commands[0], &folder.0)).transpose()?;
    let all = commands.iter().cloned().chain(copy).collect();
    let runner = Runner::new(args, all, metrics, surroundings, folder.0.clone())?;
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
    let ran = released(session.run(&runner), &runner, &mut session);
    let counted = if ran.is_ok() { session.count(&runner) } else { Ok(()) };
    let after = counted.and(runner.clean_up());
    orphans.end_all();
    let attempt = spending.as_ref().map(Spending::share);
    let spent = spending.map_or(Ok(()), |spending| spending.end(session.verdicts()));
    // What fails after the last round takes nothing away from what the rounds have shown.
    let exit = match (ran, &after) {
        (Err(Stopped::Failed(failure)), _) => return Err(failure),
        (Err(Stopped::Interrupted), _) | (_, Err(Stopped::Interrupted)) => Some(Exit::Interrupted),
        (_, Err(Stopped::Failed(failure))) => Some(failure.exit),
        _ => None,
    };
    let ended = session.finish(&runner, attempt, exit)?;
    spent?;
    match after {
        Err(Stopped::Failed(Failure { sentence, .. })) => {
            Err(Failure { exit: exit.unwrap_or(Exit::Success), sentence })
        }
        _ => Ok(ended),
    }
}

/// How the rounds ended, and whether it was on the files with which they began.
fn released(
    ran: Result<(), Stopped>,
    runner: &Runner<'_>,
    session: &mut Session,
) -> Result<(), Stopped> {
    if !matches!(ran, Err(Stopped::Failed(_))) {
        for sentence in runner.release()? {
            session.note(sentence);
        }
    }
    ran
}

/// Refuses times that are none, and a comparison without a round.
pub(crate) fn check_times(args: &CompareArgs) -> Result<(), Failure> {
    if !(0.0..1e9).contains(&args.budget) {
        return Err(Failure::input("--budget is no number of seconds"));
    }
    if args.timeout.is_some_and(|timeout| !(timeout > 0.0 && timeout < 1e9)) {
        return Err(Failure::input("--timeout is no number of seconds above 0"));
    }
    if args.runs == Some(0) {
        return Err(Failure::input("--runs is 0; give at least one round, or leave it out"));
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
        control: args.control,
        duet: args.measures.duet,
        in_a_row: args.order.in_a_row(),
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

/// A folder of this process, gone with it, however it ends, and what it started with it. To be made
/// before [`Orphans`]: the guard is none.
pub(crate) struct Folder(pub(crate) PathBuf, Option<GuardApart>);

impl Folder {
    pub(crate) fn new() -> Result<Self, Failure> {
        let mut folder = Self(Self::make()?, None);
        let guard = GuardApart::start(&folder.0).map_err(|error| {
            Failure::lab(format!("cannot start the guard of this comparison: {error}"))
        })?;
        folder.1 = Some(guard);
        Ok(folder)
    }

    fn make() -> Result<PathBuf, Failure> {
        // Git and $PWD are told of it, and look from elsewhere.
        let place = path::absolute(env::temp_dir());
        let place = place
            .map_err(|error| Failure::lab(format!("cannot find the temporary folder: {error}")))?;
        let mut number = 0;
        loop {
            let path = place.join(format!("lab-compare-{}-{number}", process::id()));
            // A new one that is nobody else's: everybody may write beside it.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(path),
                // A killed lab of the same number, as in a container, left it behind.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < NAMES => {
                    number += 1;
                }
                Err(error) => {
                    return Err(Failure::lab(format!("cannot make {}: {error}", path.display())));
                }
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn self_test() -> Result<Exit, Failure> {
    let mut all_met = true;
    let print = |line: &str| streams::print(format!("{line}\n").as_bytes());
    let mut printed = print(Row::HEADER);
    for noise in recordings() {
        prove(&noise, Size::FULL, 1, &mut |row| {
            all_met &= row.met() != Some(false);
            printed = std::mem::replace(&mut printed, Ok(())).and_then(|()| print(&row.tsv()));
        });
    }
    printed.map(|()| Exit::failed_if(!all_met))
}
