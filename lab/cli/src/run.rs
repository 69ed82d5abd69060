//! `lab run`.

pub(crate) mod sessions;
pub(crate) mod shard;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
};

use clap::{Args, ValueEnum};
use lab_driver::{Sweep, SweepEnd, SweepOptions, check_servers};
use lab_family::Referee;
use lab_record::{Nuisance, RunFile};
use lab_site::records::{bound::Place, load};
use serde_json::json;

use crate::{
    Exit, Failure,
    idle::{IdleArgs, before_start},
    interruption,
    paths::Paths,
    plan::{Choices, Prepared, Question, given_model, prepare, sessions_of, summary},
    progress::Bar,
    report::write_report,
    run::{sessions::Numbers, shard::Shard},
};

#[derive(Args, Clone)]
pub(crate) struct RunArgs {
    /// Experiment file, for example experiments/tr115.toml; optional with --resume, several with
    /// --sessions
    #[arg(required_unless_present = "resume")]
    experiment: Vec<PathBuf>,
    #[command(flatten)]
    choices: Choices,
    /// Continue the stopped sweep in this folder
    #[arg(long, value_name = "DIR",
        conflicts_with_all = ["out", "profile", "quick", "paper", "session"])]
    resume: Option<PathBuf>,
    /// New folder for the records [default: results/<utc>-<id>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Divide the time among N sessions, each with orders, lengths, servers and copies of files of
    /// its own in a folder of --out, and print what holds over them; 7-12 runs six more; the same
    /// command goes on where it was stopped [default: analysis.sessions of the experiment]
    #[arg(long, value_name = "N", requires = "out", conflicts_with_all = ["resume", "session"],
        value_parser = Numbers::parse)]
    sessions: Option<Numbers>,
    /// Draw anew everything but this, to see how much of the spread between sessions it carries
    #[arg(long, value_enum, value_name = "WHAT", requires = "sessions")]
    hold: Option<Hold>,
    /// Of these sessions only every Mth, from the Ith on: for one of M machines that share --out or
    /// whose folders `lab shard merge` puts together
    #[arg(long, value_name = "I/M", requires = "sessions", value_parser = Shard::parse)]
    shard: Option<Shard>,
    #[command(flatten)]
    idle: IdleArgs,
    /// Skip the start-up times
    #[arg(long)]
    no_startup: bool,
    /// Record only; `lab report DIR` writes the report later
    #[arg(long)]
    no_report: bool,
    /// Print the result as one JSON line, without a progress bar
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Hold {
    /// Orders, lengths and schedules
    Order,
    /// The files of corpora
    Files,
}

impl From<Hold> for Nuisance {
    fn from(hold: Hold) -> Self {
        match hold {
            Hold::Order => Self::Order,
            Hold::Files => Self::Files,
        }
    }
}

pub(crate) fn run(args: &RunArgs, paths: &Paths) -> Result<Exit, Failure> {
    let out = || args.out.as_ref().map_or_else(|| paths.new_results(), |out| paths.to_make(out));
    match (sessions(args, paths)?, args.experiment.len()) {
        (Some(numbers), _) => sessions::all(args, paths, &numbers, &out()),
        (None, 0 | 1) => one(args, paths),
        (None, _) => Err(Failure::input(
            "several experiments take turns in sessions: add --sessions N --out DIR, or name one"
                .to_owned(),
        )),
    }
}

/// Those of the command line, or of the one experiment that is named.
fn sessions(args: &RunArgs, paths: &Paths) -> Result<Option<Numbers>, Failure> {
    match &args.experiment[..] {
        _ if args.sessions.is_some() => Ok(args.sessions.clone()),
        [experiment] if args.resume.is_none() && args.choices.session.is_none() => {
            let declared = sessions_of(experiment, &args.choices, paths)?;
            Ok(declared.map(|sessions| Numbers::first(sessions.least)))
        }
        _ => Ok(None),
    }
}

fn one(args: &RunArgs, paths: &Paths) -> Result<Exit, Failure> {
    let question = question(args, paths)?;
    let prepared = prepare(&question, paths, paths.arguments(std::env::args().skip(1)))?;
    if let Some(model) = given_model(&prepared.experiment) {
        let versions = check_servers(&question.choices.servers, &model)?;
        eprintln!("servers answer: Ollama {}", versions.join(", "));
    }
    let results = match &args.resume {
        Some(dir) => paths.results(dir),
        None => match &args.out {
            Some(out) => paths.to_make(out),
            None => paths.new_results(),
        },
    };
    let options = SweepOptions {
        results: results.clone(),
        resume: args.resume.is_some(),
        lab: paths.lab.clone(),
        workspace: paths.all_results(),
        description: prepared.description.clone(),
        startup: !args.no_startup,
    };
    eprintln!("{}\nrecords: {}", summary(&prepared, !args.no_startup), paths.shown(&results));
    before_start(&args.idle);
    let end = sweep(&prepared, &options, args.json)?;
    let report = if end.finished && !args.no_report { Some(report(&results)?) } else { None };
    say(args, paths, &results, &end, report.as_deref());
    Ok(match (end.finished, end.failed) {
        (false, _) => Exit::Interrupted,
        (true, 0) => Exit::Success,
        (true, _) => Exit::Failed,
    })
}

/// The question of the command line, or of the folder to go on with.
fn question(args: &RunArgs, paths: &Paths) -> Result<Question, Failure> {
    let mut question = Question {
        experiment: args.experiment.first().cloned().unwrap_or_default(),
        choices: args.choices.clone(),
    };
    if let Some(dir) = &args.resume {
        let stored = load::results(&paths.results(dir))?.run_file;
        question.choices.profile = stored.profile;
        question.choices.shared = stored.session;
        question.choices.model = args.choices.model.clone().or(stored.model);
        if args.experiment.is_empty() {
            question.experiment = PathBuf::from(stored.experiment_file);
        }
        if args.choices.servers.is_empty() {
            question.choices.servers = stored.servers;
        }
    }
    Ok(question)
}

fn sweep(prepared: &Prepared, options: &SweepOptions, json: bool) -> Result<SweepEnd, Failure> {
    let interrupt = interruption()?;
    let mut bar = Bar::new(json);
    let mut sweep = Sweep::prepare(
        &prepared.experiment,
        &prepared.plan,
        &prepared.catalog,
        options,
        &interrupt,
    )?;
    let family = prepared.experiment.family.name();
    let family = lab_families::ALL.iter().copied().find(|one| one.name() == family);
    let family = family.expect("the experiment's family is one of them");
    let referee = |run_file: &RunFile| -> Box<dyn Referee> {
        Box::new(lab_report::Rounds::before(run_file, family))
    };
    let end = sweep.run(options, &referee, &mut bar)?;
    bar.finish();
    if interrupt.load(Ordering::Relaxed) {
        eprintln!("stopped; all finished runs are recorded");
    }
    Ok(end)
}

fn report(results: &Path) -> Result<PathBuf, Failure> {
    let record = load::results(results)?;
    let place = Place { out: results, record: results, heads: record.heads(), replaces: false };
    write_report(place, &record, true)?;
    Ok(results.join("report.md"))
}

/// The first screen as far as a terminal shows it: without its picture and its links.
fn answer(page: &str) -> &str {
    page.find("\n![").or_else(|| page.find("\nDetails: ")).map_or(page, |end| &page[..end])
}

fn say(args: &RunArgs, paths: &Paths, results: &Path, end: &SweepEnd, report: Option<&Path>) {
    let shown = paths.shown(results);
    if args.json {
        let line = json!({
            "results": shown, "finished": end.finished, "recorded": end.recorded,
            "failed": end.failed, "head": end.head, "report": report.map(|path| paths.shown(path)),
        });
        println!("{line}");
        return;
    }
    eprintln!("{} rows recorded, {} failed: {shown}", end.recorded, end.failed);
    if let Some(head) = &end.head {
        eprintln!(
            "head {head}: kept elsewhere, it tells these rows from others (lab report --head)"
        );
    }
    if !end.finished {
        eprintln!("continue with: {} --resume {shown}", paths.call("run"));
    }
    if let Some(report) = report {
        eprint!("\n{}", answer(&fs::read_to_string(report).unwrap_or_default()));
        println!("{}", paths.shown(report));
    }
}
