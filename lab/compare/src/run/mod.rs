//! The engine of `lab compare` and `lab bisect`: it starts the commands, keeps their rounds, and
//! prints what the rest of this crate judges.
//!
//! [`Options`] say what to do, in types that know no command line. [`compare`] and [`bisect()`] do
//! it, from the first file that is looked at to the last line that is printed.

mod annotate;
mod answers;
mod between_builds;
mod bisect;
mod budget;
mod builds;
mod carry_over;
mod chain;
mod commands;
mod control;
mod copies;
mod duet;
mod ending;
mod export;
mod failing;
mod files;
mod folder;
mod held;
mod iteration;
mod last_lines;
mod mean;
mod measures;
mod metric;
mod names;
mod noise;
mod options;
mod parameters;
mod plot;
mod progress;
mod ratio;
mod ready;
mod record;
mod revisions;
mod runner;
mod same_bytes;
mod session;
mod sittings;
mod so_far;
mod spend;
mod stages;
mod table;
mod text;
mod untimed;
mod values;
mod waits;

use std::{
    process,
    time::{SystemTime, UNIX_EPOCH},
};

use lab_console::{Exit, Failure, interruption, streams};
use lab_process::Orphans;

pub use self::{
    annotate::tell_failure,
    bisect::{BisectOptions, bisect},
    metric::Metric,
    options::{
        Check, Counts, Destination, FailOn, Format, Layouts, Limits, OnFailure, Options, Order,
        ResultOptions, Revisions, RoundFile, RunOptions, Shell, Stop,
    },
    parameters::{values_of_list, values_of_range},
    plot::Plot,
    ratio::Ratio,
};
use self::{
    commands::commands,
    folder::Folder,
    measures::Measurable,
    record::{Header, Record},
    runner::{Runner, Stopped, Surroundings},
    same_bytes::SameBytes,
    session::Session,
    sittings::Sittings,
    spend::Spending,
    untimed::Counted,
};
use crate::{Comparison, Question, Settings, SettingsError};

/// Compares the commands, prints what may be said of them, and tells how that ends the program.
///
/// # Errors
/// What ended the comparison before it had an answer, or failed after its last round.
pub fn compare(options: &Options) -> Result<Exit, Failure> {
    files::check(options)?;
    sittings::check(options)?;
    let folder = Folder::new()?;
    let orphans = Orphans::inherit();
    let interrupted = interruption()?;
    Counted::check(options.counts)?;
    let mut measurable = Measurable::new(options.metric, options.runs.duet)?;
    let (commands, mut notes) = match &options.revisions {
        None => (commands(options)?, Vec::new()),
        Some(revisions) => {
            // Before the builds, which may take long.
            settings(options, revisions.names.len())?;
            revisions::commands(options, revisions, &folder.0, &interrupted)?
        }
    };
    orphans.end();
    notes.iter().for_each(|note| streams::tell(format_args!("note: {note}")));
    control::check_data(&options.runs.data, &commands)?;
    let mut settings = settings(options, commands.len())?;
    settings.apart = control::apart(&commands);
    if settings.apart {
        let note = "some commands share files that others do not, so each is compared with the \
                    first in rounds of its own";
        streams::tell(format_args!("note: {note}"));
        notes.push(note.to_owned());
    }
    let addresses = measures::addresses(options.runs.layouts)?;
    let spending = options.attempts.as_ref();
    let spending = spending.map(|path| Spending::open(path, &commands)).transpose()?;
    if let Some(spending) = &spending {
        settings.alpha = spending.share().1;
    }
    if options.limits.budget_s.is_none() {
        settings.least_rounds = settings.rounds_for_an_answer();
    }
    let seed = options.seed.unwrap_or_else(any_seed);
    let (runs, labels) = (&options.runs, measurable.labels());
    let header = Header::new(runs, seed, &labels, &commands, &settings, &addresses);
    let (record, header, rounds) = Record::open(options, header)?;
    measurable.keep(&header.metrics).map_err(|why| record.failure(why))?;
    let mut comparison = Comparison::new(settings, &measurable.labels()).map_err(refused)?;
    for round in &rounds {
        session::add(&mut comparison, round)?;
    }
    let Measurable { metrics, absent } = measurable;
    let surroundings = Surroundings { interrupted: &interrupted, orphans: &orphans };
    let copy =
        options.control.then(|| control::copy(&runs.data, &commands[0], &folder.0)).transpose()?;
    let all = commands.iter().cloned().chain(copy).collect();
    let runner = Runner::new(runs, all, metrics, surroundings, folder.0.clone())?;
    let now = rounds.last().map_or(0, |round| round.session);
    let mut session = Session {
        options,
        comparison,
        record,
        rounds,
        seed: header.seed,
        commands,
        addresses,
        absent,
        notes,
        same: SameBytes::default(),
        counted: Counted::default(),
        sittings: Sittings::at(now),
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
    session: &mut Session<'_>,
) -> Result<(), Stopped> {
    if !matches!(ran, Err(Stopped::Failed(_))) {
        for sentence in runner.release()? {
            session.note(sentence);
        }
    }
    ran
}

fn settings(options: &Options, commands: usize) -> Result<Settings, Failure> {
    let limits = &options.limits;
    let (question, precision) = match (limits.fail_on, limits.stop) {
        (Some(FailOn::Slower), _) => (Question::Margin, None),
        (Some(FailOn::Tail), _) => (Question::Tail, None),
        (Some(FailOn::NotShownEquivalent), _) | (None, Stop::Direction) => {
            (Question::Direction, None)
        }
        (None, Stop::Size(precision)) => (Question::Size, precision),
    };
    let usual = Settings::default();
    let settings = Settings {
        alpha: limits.alpha,
        margin: limits.margin,
        precision,
        tail: limits.tail,
        budget_s: limits.budget_s.unwrap_or(usual.budget_s),
        least_rounds: 0,
        most_rounds: limits.most_rounds,
        candidates: commands.saturating_sub(1),
        control: options.control,
        duet: options.runs.duet,
        in_a_row: options.runs.order.in_a_row(),
        question,
        ..usual
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
