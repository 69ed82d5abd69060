//! The file that --record writes and --resume reads: one line about the comparison, then one for
//! each round.

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use lab_compare::{Layout, Settings};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{args::CompareArgs, commands::Command, measures::Addresses};
use crate::Failure;

/// The version of the file. Version 1 knew no path of the working folder, no inner runs and no
/// duets; it is read as a file without them.
const VERSION: u32 = 2;

/// What has to be the same for rounds to belong together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) version: u32,
    pub(crate) seed: u64,
    pub(crate) metrics: Vec<String>,
    pub(crate) commands: Vec<Command>,
    pub(crate) fixed_layout: bool,
    pub(crate) settings: Settings,
    /// Runs of a command within a timed run.
    #[serde(default = "one")]
    pub(crate) inner: u32,
    /// Not known of files of version 1.
    #[serde(default)]
    pub(crate) addresses: Option<Addresses>,
}

fn one() -> u32 {
    1
}

impl Header {
    pub(crate) fn new(
        args: &CompareArgs,
        seed: u64,
        metrics: &[&str],
        commands: &[Command],
        settings: &Settings,
        addresses: &Addresses,
    ) -> Self {
        Self {
            version: VERSION,
            seed,
            metrics: metrics.iter().map(|metric| (*metric).to_owned()).collect(),
            commands: commands.to_vec(),
            fixed_layout: args.measures.fixed_layout,
            settings: settings.clone(),
            inner: args.measures.inner,
            addresses: Some(addresses.clone()),
        }
    }

    /// Whether the other one's rounds are of the same comparison; it may have another budget, and
    /// the metrics beside the first that were known when it began.
    fn same_comparison(&self, other: &Self) -> bool {
        let settings = Settings {
            budget_s: other.settings.budget_s,
            least_rounds: other.settings.least_rounds,
            most_rounds: other.settings.most_rounds,
            ..self.settings.clone()
        };
        let same = Self {
            version: other.version,
            seed: other.seed,
            metrics: other.metrics.clone(),
            addresses: other.addresses.clone(),
            settings,
            ..self.clone()
        };
        same == *other && self.metrics.first() == other.metrics.first()
    }
}

/// A finished round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// Since the comparison began, over all its parts.
    pub(crate) elapsed_s: f64,
    /// The commands as they were run.
    pub(crate) order: Vec<usize>,
    pub(crate) layout: Layout,
    /// By command, then by metric.
    pub(crate) runs: Vec<Vec<f64>>,
    /// By command.
    pub(crate) statuses: Vec<i32>,
}

/// An open file, or none.
pub(crate) struct Record {
    file: Option<(PathBuf, File)>,
}

impl Record {
    /// The file to append to, the header that holds, with the seed and the metrics to go on with,
    /// and the rounds that are in it.
    pub(crate) fn open(
        args: &CompareArgs,
        header: Header,
    ) -> Result<(Self, Header, Vec<Round>), Failure> {
        if let Some(path) = &args.resume {
            let Read { header: found, rounds, whole } = read(path)?;
            if !header.same_comparison(&found) {
                return Err(failure(path, "holds another comparison; give the same commands"));
            }
            let file = OpenOptions::new().append(true).open(path);
            let file = file.and_then(|file| file.set_len(whole).map(|()| file));
            let file = file.map_err(|error| failure(path, error))?;
            return Ok((Self { file: Some((path.clone(), file)) }, found, rounds));
        }
        let mut record = Self { file: None };
        if let Some(path) = &args.record {
            let file = File::create_new(path).map_err(|error| failure(path, error))?;
            record.file = Some((path.clone(), file));
            record.line(&header)?;
        }
        Ok((record, header, Vec::new()))
    }

    /// About the file, or about the command line where there is none.
    pub(crate) fn failure(&self, why: String) -> Failure {
        let of_file = self.file.as_ref().map(|(path, _)| failure(path, &why));
        of_file.unwrap_or_else(|| Failure::input(why))
    }

    pub(crate) fn append(&mut self, round: &Round) -> Result<(), Failure> {
        self.line(round)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let mut line = serde_json::to_vec(value).map_err(|error| failure(path, error))?;
        line.push(b'\n');
        file.write_all(&line).map_err(|error| failure(path, error))
    }
}

/// A file's content.
struct Read {
    header: Header,
    rounds: Vec<Round>,
    /// The bytes of its whole lines. What was killed while it wrote leaves part of one behind.
    whole: u64,
}

fn read(path: &Path) -> Result<Read, Failure> {
    let text = fs::read_to_string(path).map_err(|error| failure(path, error))?;
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let mut lines = text[..whole].lines();
    let first = lines.next().ok_or_else(|| failure(path, "is empty"))?;
    let header: Header = parse(path, first)?;
    if !(1..=VERSION).contains(&header.version) {
        let sentence = format!(
            "has version {}, and this lab reads 1 to {VERSION}; use a newer one",
            header.version
        );
        return Err(failure(path, sentence));
    }
    let rounds = lines.map(|line| parse(path, line)).collect::<Result<_, _>>()?;
    Ok(Read { header, rounds, whole: whole as u64 })
}

fn parse<T: DeserializeOwned>(path: &Path, line: &str) -> Result<T, Failure> {
    serde_json::from_str(line).map_err(|error| failure(path, format!("has a broken line: {error}")))
}

fn failure(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure { code: 4, sentence: format!("{}: {error}", path.display()) }
}
