//! The file that --record writes and --resume reads: one line about the comparison, then one for
//! each round, which are chained.

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use lab_console::{Failure, streams};
use lab_record::{Bounded, Lock, sha256_hex, sha256_of_file, whole_lines};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    chain,
    commands::Command,
    held::programs,
    measures::Addresses,
    options::{Destination, Layouts, Options, RoundFile, RunOptions},
};
use crate::{Layout, Question, Settings, TimedRound};

/// The version of the file. Up to version 3 a round held the reference twice, which made what a run
/// leaves to the next look like a difference: nothing is added to such rounds.
const VERSION: u32 = 4;
/// The first version whose rounds hold every command once.
const SYMMETRIC: u32 = 4;

const BEGIN_AGAIN: &str = "begin again with --record";

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
    pub(crate) inner: u32,
    /// Files of before have one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(crate) sessions: u16,
    pub(crate) addresses: Option<Addresses>,
    /// What the runs are made of beside the command line; only where rounds are kept.
    pub(crate) files: Option<Files>,
}

/// What may change under the same command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Files {
    /// The SHA-256 of what each run reads; the name of what is no file, and nothing where nothing
    /// is read.
    input: Option<String>,
    /// `--output`.
    output: String,
    /// The SHA-256 of each command's program, its script and its interpreter; nothing of what is
    /// no file.
    programs: Vec<Option<String>>,
    /// The SHA-256 of each `--data`; nothing of a folder.
    data: Vec<Option<String>>,
}

impl Files {
    fn new(runs: &RunOptions, commands: &[Command]) -> Result<Self, Failure> {
        let input = runs.input.as_ref().map(|path| match sha256(path) {
            Ok(Some(hash)) => Ok(hash),
            Ok(None) => Ok(path.display().to_string()),
            Err(error) => Err(Failure::file(path, error)),
        });
        let program = |command: &Command| {
            let hashes = programs(command).into_iter().filter_map(|path| sha256(&path).ok()?);
            let hashes: Vec<String> = hashes.collect();
            (!hashes.is_empty()).then(|| hashes.join(" "))
        };
        Ok(Self {
            input: input.transpose()?,
            output: runs.outputs.iter().map(Destination::to_string).collect::<Vec<_>>().join(" "),
            programs: commands.iter().map(program).collect(),
            data: runs.data.iter().map(|path| sha256(path).ok()?).collect(),
        })
    }
}

impl Files {
    fn difference(&self, found: &Self) -> Option<&'static str> {
        let parts = [
            (self.input != found.input, "the bytes of --input"),
            (self.output != found.output, "--output"),
            (self.programs != found.programs, "the bytes of a program"),
            (self.data != found.data, "the bytes of --data"),
        ];
        parts.into_iter().find(|(differs, _)| *differs).map(|(_, part)| part)
    }
}

/// The file that is started under this name.
pub(crate) fn found(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(name.into());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Of a file's bytes; `None` of a pipe or a device, whose bytes are gone when they are read.
pub(super) fn sha256(path: &Path) -> io::Result<Option<String>> {
    if !fs::metadata(path)?.is_file() {
        return Ok(None);
    }
    sha256_of_file(path).map(Some)
}

fn one() -> u16 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_one(sessions: &u16) -> bool {
    *sessions == 1
}

impl Header {
    pub(crate) fn new(
        runs: &RunOptions,
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
            fixed_layout: runs.layouts == Layouts::Fixed,
            settings: settings.clone(),
            inner: runs.inner,
            sessions: runs.sessions,
            addresses: Some(addresses.clone()),
            files: None,
        }
    }

    /// What keeps the rounds of a file from being those of this comparison; `None` where nothing
    /// does. It may have had another budget or another rule to stop by, and the metrics beside the
    /// first that were known then.
    /// A seed counts where one is asked for.
    fn difference(&self, found: &Self, seed: Option<u64>) -> Option<&'static str> {
        // As a file has it: a number that was written and read need not be the one that it was.
        let text = serde_json::to_string(self).expect("a header serialises");
        let own: Self = serde_json::from_str(&text).expect("a header is read as it was written");
        let without_bounds = |settings: &Settings| Settings {
            budget_s: 0.0,
            least_rounds: 0,
            most_rounds: None,
            question: Question::Direction,
            precision: None,
            ..settings.clone()
        };
        let (own_settings, found_settings) =
            (without_bounds(&own.settings), without_bounds(&found.settings));
        let parts = [
            (own.commands != found.commands, "its commands"),
            (seed.is_some_and(|seed| seed != found.seed), "--seed"),
            (own.metrics.first() != found.metrics.first(), "--metric"),
            (own.inner != found.inner, "--inner"),
            (own.sessions != found.sessions, "--sessions"),
            (own.fixed_layout != found.fixed_layout, "--fixed-layout"),
            (own_settings.margin != found_settings.margin, "--margin"),
            (own_settings.alpha != found_settings.alpha, "--confidence or --spend"),
            (own_settings.tail != found_settings.tail, "--tail"),
            (own_settings != found_settings, "--control, --order or --duet"),
        ];
        parts.into_iter().find(|(differs, _)| *differs).map(|(_, part)| part)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_first(session: &usize) -> bool {
    *session == 0
}

/// A finished round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Round {
    /// Since the comparison began, over all its parts.
    pub(crate) elapsed_s: f64,
    /// What ran first and did not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) wash: Vec<usize>,
    /// The commands as they were run.
    pub(crate) order: Vec<usize>,
    /// In which session; files of before have one.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(crate) session: usize,
    pub(crate) layout: Layout,
    /// By command, then by metric; nothing of a command that the round did not hold. Of several
    /// runs in a row the medians of all but the first.
    pub(crate) runs: Vec<Vec<f64>>,
    /// By command; of several runs in a row the first that is not 0.
    pub(crate) statuses: Vec<i32>,
    /// Where commands run several times in a row: by command, by run, by metric.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) in_a_row: Vec<Vec<Vec<f64>>>,
}

impl Round {
    /// As a comparison takes it.
    pub(crate) fn timed(&self) -> TimedRound<'_> {
        (&self.order, &self.runs, self.elapsed_s)
    }
}

/// An open file, or none, which nobody else goes on with meanwhile.
pub(crate) struct Record {
    file: Option<(PathBuf, File)>,
    /// Whether the file was made here and holds no round. It goes then: nothing was measured, and
    /// its name would be in the way of the next try.
    is_new: bool,
    /// Of the rounds that are in the file, or will be.
    header: Header,
    /// Of the last line.
    chain: String,
}

impl Record {
    /// The file to append to, the header that holds, with the seed and the metrics to go on with,
    /// and the rounds that are in it.
    pub(crate) fn open(
        options: &Options,
        header: Header,
    ) -> Result<(Self, Header, Vec<Round>), Failure> {
        if let RoundFile::Resumed(path) = &options.rounds {
            let file = OpenOptions::new().read(true).append(true).open(path);
            let mut file = file.map_err(|error| Failure::file(path, error))?;
            if !file.metadata().is_ok_and(|known| known.is_file()) {
                return Err(Failure::file(path, "is no regular file; name what --record wrote"));
            }
            lock(path, &file)?;
            // Who had it until now may have removed it: nobody would find the rounds.
            if !is_at(path, &file) {
                let sentence = "was removed while it was in use; begin again with --record";
                return Err(Failure::file(path, sentence));
            }
            let Read { header: found, rounds, chain, unchained, whole } = read(path, &mut file)?;
            if let Some(part) = header.difference(&found, options.seed) {
                return Err(another(path, part));
            }
            file.set_len(whole).map_err(|error| Failure::file(path, error))?;
            if unchained > 0 {
                let path = path.display();
                streams::tell(format_args!(
                    "note: {path}: {unchained} of its lines are from before lines were chained, so \
                     whether they are as they were written is not known"
                ));
            }
            let file = Some((path.clone(), file));
            return Ok((Self { file, is_new: false, header: found.clone(), chain }, found, rounds));
        }
        let chain = String::new();
        let mut record = Self { file: None, is_new: false, header: header.clone(), chain };
        if let RoundFile::New(path) = &options.rounds {
            let file = File::create_new(path).map_err(|error| not_new(path, &error))?;
            lock(path, &file)?;
            (record.file, record.is_new) = (Some((path.clone(), file)), true);
        }
        Ok((record, header, Vec::new()))
    }

    /// Before the first run, and after --setup, which may make the files: writes the first line, or
    /// holds the files against those of the rounds in the file.
    pub(crate) fn begin(&mut self, runs: &RunOptions, commands: &[Command]) -> Result<(), Failure> {
        let Some((path, _)) = &self.file else { return Ok(()) };
        let files = Files::new(runs, commands)?;
        if !self.is_new {
            let found = self.header.files.as_ref();
            return match found.and_then(|found| files.difference(found)) {
                Some(part) => Err(another(path, part)),
                None => Ok(()),
            };
        }
        self.header.files = Some(files);
        let header = self.header.clone();
        self.line(&header)
    }

    /// About the file, or about the command line where there is none.
    pub(crate) fn failure(&self, why: String) -> Failure {
        let of_file = self.file.as_ref().map(|(path, _)| Failure::file(path, &why));
        of_file.unwrap_or_else(|| Failure::input(why))
    }

    pub(crate) fn append(&mut self, round: &Round) -> Result<(), Failure> {
        self.is_new = false;
        self.line(round)
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let content = serde_json::to_string(value).map_err(|error| Failure::file(path, error))?;
        self.chain = chain::link(&self.chain, &content);
        let line = chain::with_key(&content, &self.chain) + "\n";
        file.write_all(line.as_bytes()).map_err(|error| Failure::file(path, error))
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let Some((path, _)) = self.file.as_ref().filter(|_| self.is_new) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Held until the file is closed. Where the file system has no locks it is up to the user.
fn lock(path: &Path, file: &File) -> Result<(), Failure> {
    match Lock::take_patiently(file).map_err(|error| Failure::file(path, error))? {
        Lock::Held => {}
        Lock::InUse => {
            return Err(Failure::file(path, "is in use by another comparison; wait for its end"));
        }
        Lock::Unknown(error) => {
            let path = path.display();
            streams::tell(format_args!(
                "note: {path} cannot be locked ({error}); let no other comparison use it meanwhile"
            ));
        }
    }
    Ok(())
}

/// Whether the open file is the one that has this name.
fn is_at(path: &Path, file: &File) -> bool {
    file.metadata().is_ok_and(|here| fs::metadata(path).is_ok_and(|now| now.ino() == here.ino()))
}

/// The part of a header that all versions have.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// A file's content.
struct Read {
    header: Header,
    rounds: Vec<Round>,
    /// What the next line's chain begins with.
    chain: String,
    /// Lines from before they were chained.
    unchained: usize,
    /// The bytes of its whole lines. What was killed while it wrote leaves part of one behind.
    whole: u64,
}

fn read(path: &Path, file: &mut File) -> Result<Read, Failure> {
    let mut text = String::new();
    Bounded::new(file).read_to_string(&mut text).map_err(|error| Failure::file(path, error))?;
    let whole = whole_lines(text.as_bytes());
    let mut lines = text[..whole].lines();
    let first = lines.next().ok_or_else(|| Failure::file(path, "is empty"))?;
    // Before the rest, which other versions have otherwise.
    let Version { version } = parse(path, first)?;
    if version < SYMMETRIC {
        let sentence = format!(
            "has version {version}, whose rounds held the first command twice, so that what a run \
             leaves to the next looked like a difference; nothing is added to them: begin again \
             with --record"
        );
        return Err(Failure::file(path, sentence));
    }
    if version > VERSION {
        let sentence =
            format!("has version {version}, and this lab reads {VERSION}; use a newer one");
        return Err(Failure::file(path, sentence));
    }
    let (chain, unchained) = chained(&text[..whole]).map_err(|why| Failure::file(path, why))?;
    let header: Header = parse(path, first)?;
    let rounds = lines.map(|line| parse(path, line)).collect::<Result<Vec<Round>, _>>()?;
    // That there is a run for each command is looked at where the rounds are added.
    if rounds.iter().any(|round| round.statuses.len() != round.runs.len()) {
        return Err(Failure::file(path, "has a round without a status for each run"));
    }
    let is_none = |round: &Round| round.session >= usize::from(header.sessions);
    if !rounds.is_sorted_by_key(|round| round.session) || rounds.iter().any(is_none) {
        return Err(Failure::file(path, "has a round of no session, or of one before"));
    }
    Ok(Read { header, rounds, chain, unchained, whole: whole as u64 })
}

/// The chain of the last line, and the number of lines before the first that has one: its own
/// begins with the hash of all these.
fn chained(text: &str) -> Result<(String, usize), String> {
    let (mut last, mut unchained, mut bytes) = (None, 0, 0);
    for (place, line) in text.lines().enumerate() {
        let number = place + 1;
        match (chain::split(line), &last) {
            (None, None) => unchained += 1,
            (None, Some(_)) => return Err(format!("line {number} has no chain; {BEGIN_AGAIN}")),
            (Some((content, found)), before) => {
                let of_all = || before_first(&text[..bytes]);
                let before = before.clone().unwrap_or_else(of_all);
                if chain::link(&before, &content) != found {
                    return Err(format!(
                        "line {number} is not what was written there, or lines before it are \
                         missing; {BEGIN_AGAIN}"
                    ));
                }
                last = Some(found.to_owned());
            }
        }
        bytes += line.len() + 1;
    }
    Ok((last.unwrap_or_else(|| before_first(text)), unchained))
}

/// What the first chain begins with.
fn before_first(text: &str) -> String {
    if text.is_empty() { String::new() } else { sha256_hex(text.as_bytes()) }
}

fn parse<T: DeserializeOwned>(path: &Path, line: &str) -> Result<T, Failure> {
    serde_json::from_str(line)
        .map_err(|error| Failure::file(path, format!("has a broken line: {error}")))
}

/// Why no recording begins there.
fn not_new(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::file(
            path,
            "is there already; --resume goes on with the rounds in it, and --record needs a new \
             name",
        ),
        _ => Failure::file(path, error),
    }
}

fn another(path: &Path, part: &str) -> Failure {
    Failure::file(path, format!("holds another comparison, by {part}; give the same"))
}
