//! `lab shard`: sessions on several machines, by an engine that has them, and put together.

mod slurm;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use lab_driver::copy_folder;
use lab_record::SessionOf;
use lab_site::records::load;

use crate::{
    Exit, Failure,
    paths::Paths,
    run::{
        sessions::{is_finished, tell},
        shard::ATTEMPTS,
    },
};

/// Folders of sessions lie at most so deep in what is given: EXPERIMENT/attempts/ATTEMPT.
const DEEP: usize = 3;

#[derive(Args)]
pub(crate) struct ShardArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Copy the complete sessions of some folders into one, and say what holds over them; ends with
    /// 1 where a session is missing
    Merge(MergeArgs),
    /// Have an engine take the sessions of an experiment and merge them
    #[command(subcommand)]
    Submit(Engine),
    /// Wait for what was submitted, and print what it found
    Fetch(slurm::FetchArgs),
}

#[derive(Subcommand)]
enum Engine {
    /// An array job, and one after it that merges; the scripts stay in DIR/slurm
    Slurm(slurm::SubmitArgs),
}

#[derive(Args)]
struct MergeArgs {
    /// Folders that `lab run --sessions N --shard I/M --out DIR` wrote
    #[arg(required = true)]
    dirs: Vec<PathBuf>,
    /// New folder for all of them
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print a line of JSON for each experiment
    #[arg(long)]
    json: bool,
}

/// A record that was found.
struct Found {
    folder: PathBuf,
    /// One value for all its rows.
    head: Option<String>,
}

/// The complete sessions of an experiment, by number, with what else was found.
#[derive(Default)]
struct Sessions {
    /// Of each number those that are complete, published ones first.
    complete: BTreeMap<u32, Vec<Found>>,
    sharing: u32,
}

pub(crate) fn shard(args: &ShardArgs, paths: &Paths) -> Result<Exit, Failure> {
    match &args.action {
        Action::Merge(args) => merge(args, paths),
        Action::Submit(Engine::Slurm(args)) => slurm::submit(args, paths),
        Action::Fetch(args) => slurm::fetch(args, paths),
    }
}

fn merge(args: &MergeArgs, paths: &Paths) -> Result<Exit, Failure> {
    let out = paths.to_make(&args.out);
    if fs::read_dir(&out).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::input(format!(
            "{} holds something: give a new folder",
            out.display()
        )));
    }
    let mut folders = Vec::new();
    for dir in &args.dirs {
        let dir = paths.results(dir);
        let before = folders.len();
        below(&dir, DEEP, &mut folders).map_err(|error| Failure::reading(&dir, error))?;
        if folders.len() == before {
            return Err(Failure::input(format!("{} holds no session", dir.display())));
        }
    }
    let experiments = sorted(&folders)?;
    let mut is_missing = false;
    for (name, sessions) in &experiments {
        is_missing |= sessions.say_missing(name);
        let folder = if experiments.len() == 1 { out.clone() } else { out.join(name) };
        let mut kept = Vec::new();
        for (number, found) in &sessions.complete {
            let to = folder.join(number.to_string());
            copy_folder(&found[0].folder, &to).map_err(|error| Failure::file(&to, error))?;
            kept.push(to);
        }
        tell(&kept, &folder, paths, args.json)?;
    }
    Ok(Exit::failed_if(is_missing))
}

/// All folders with a record, published ones before attempts.
fn below(dir: &Path, deep: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if dir.join("run.json").is_file() {
        found.push(dir.to_owned());
        return Ok(());
    }
    if deep == 0 {
        return Ok(());
    }
    let entries = fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path()));
    let mut entries = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    entries.retain(|path| path.is_dir());
    entries.sort_by_key(|path| (path.ends_with(ATTEMPTS), path.clone()));
    entries.iter().try_for_each(|path| below(path, deep - 1, found))
}

/// Complete sessions by experiment and number; what is not complete is named and left.
fn sorted(folders: &[PathBuf]) -> Result<BTreeMap<String, Sessions>, Failure> {
    let mut experiments: BTreeMap<String, Sessions> = BTreeMap::new();
    for folder in folders {
        let results = match load::results(folder) {
            Ok(results) if is_finished(&results) => results,
            Ok(_) => {
                eprintln!("note: {} is not complete, and left out", folder.display());
                continue;
            }
            Err(failure) => {
                eprintln!("note: left out: {}", failure.sentence);
                continue;
            }
        };
        let file = &results.run_file;
        let Some(SessionOf { number, sharing, .. }) = file.session else {
            return Err(Failure::input(format!(
                "{} is no session: take it with `lab run --sessions N --shard I/M`",
                folder.display()
            )));
        };
        let head = results.heads().map(lab_record::Heads::whole);
        let sessions = experiments.entry(file.experiment.clone()).or_default();
        sessions.sharing = sessions.sharing.max(sharing);
        let same = sessions.complete.entry(number).or_default();
        if let Some(other) = same.iter().find(|other| head.is_some() && other.head == head) {
            return Err(Failure::input(format!(
                "{} and {} are one record: give each once",
                other.folder.display(),
                folder.display()
            )));
        }
        if let Some(first) = same.first() {
            let (first, folder) = (first.folder.display(), folder.display());
            eprintln!("note: {first} is session {number}; {folder} is superseded, and left out");
        }
        same.push(Found { folder: folder.clone(), head });
    }
    Ok(experiments)
}

impl Sessions {
    /// Names the sessions between the first and the last that are not there; whether some are not.
    fn say_missing(&self, experiment: &str) -> bool {
        let numbers = self.complete.keys().copied();
        let sharing = self.sharing.max(1);
        let first = numbers.clone().min().map_or(1, |number| number - (number - 1) % sharing);
        let last = numbers.max().unwrap_or(sharing).max(first + sharing - 1);
        let missing = (first..=last).filter(|number| !self.complete.contains_key(number));
        let missing: Vec<String> = missing.map(|number| number.to_string()).collect();
        if !missing.is_empty() {
            eprintln!("note: of {experiment} these sessions are missing: {}", missing.join(", "));
        }
        !missing.is_empty()
    }
}
