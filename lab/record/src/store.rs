//! Reading and writing a results folder.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::{
    Bounded, Expectation, RecordError, Run, RunFile, SCHEMA, Samples, Session, Verification,
    Window, redact,
};

pub(crate) const RUN_FILE: &str = "run.json";
pub(crate) const SESSIONS: &str = "sessions.jsonl";
pub(crate) const RUNS: &str = "runs.jsonl";
const WINDOWS: &str = "windows.jsonl";
/// An exported report keeps its runs in this file, where they would be larger than `LARGEST_RUNS`.
const RUNS_PACK: &str = "runs.jsonl.zst";
/// In bytes: what a repository takes without harm, and a reader's tools still open.
const LARGEST_RUNS: usize = 2_000_000;
const SAMPLES: &str = "samples";
/// An exported report keeps all samples in one file: a line `{"name":…,"samples":…}` per run.
const SAMPLES_PACK: &str = "samples.jsonl.zst";
/// Of a name in it, at least: with as many no two of a million names are likely to begin alike.
const PACK_DIGITS: usize = 12;
const SHA256_DIGITS: usize = 64;
const ZSTD_LEVEL: i32 = 9;
/// Of an export, which is written once and read often.
const EXPORT_ZSTD_LEVEL: i32 = 19;
/// Bytes of text. Beyond, that level takes minutes, and what comes of it is too large to commit.
const LARGEST_PACKED_WELL: usize = 100_000_000;

/// sha256 of bytes, in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// sha256 of a file's bytes, which are read a piece at a time. Errors: of opening and reading it.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    let (mut file, mut hash) = (File::open(path)?, Sha256::new());
    let mut piece = vec![0; 1 << 18];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            count => hash.update(&piece[..count]),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Appends to a results folder, as the only one: the file of the runs is locked.
#[derive(Debug)]
pub struct Writer {
    dir: PathBuf,
    runs: File,
    sessions: File,
    windows: File,
}

impl Writer {
    /// Makes the folder and writes `run.json`.
    ///
    /// # Errors
    /// Where the folder exists already, or cannot be written.
    pub fn create(dir: &Path, run_file: &RunFile) -> Result<Self, RecordError> {
        if let Some(parent) = dir.parent() {
            fs::create_dir_all(parent).map_err(at(parent))?;
        }
        fs::create_dir(dir).map_err(at(dir))?;
        let samples = dir.join(SAMPLES);
        fs::create_dir(&samples).map_err(at(&samples))?;
        let path = dir.join(RUN_FILE);
        write_run_file(&path, run_file)?;
        Self::open(dir)
    }

    /// Goes on with a folder that a stopped sweep left, and reads what is in it. A last line
    /// without its newline was never a record: it is cut off.
    ///
    /// # Errors
    /// Where the folder is of a newer schema, in use, or cannot be written.
    pub fn resume(dir: &Path) -> Result<(Self, Results), RecordError> {
        let schema = Results::load(dir)?.run_file.schema;
        if schema > SCHEMA {
            return Err(RecordError::Newer { path: dir.to_owned(), found: schema });
        }
        let writer = Self::open(dir)?;
        for name in [RUNS, SESSIONS, WINDOWS] {
            cut_torn_line(&dir.join(name))?;
        }
        // Again: until the lock was held, another one may have appended.
        Ok((writer, Results::load(dir)?))
    }

    fn open(dir: &Path) -> Result<Self, RecordError> {
        let append = |name: &str| {
            let path = dir.join(name);
            OpenOptions::new().create(true).append(true).open(&path).map_err(at(&path))
        };
        let runs = append(RUNS)?;
        runs.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => RecordError::InUse { path: dir.to_owned() },
            TryLockError::Error(source) => RecordError::Io { path: dir.join(RUNS), source },
        })?;
        Ok(Self {
            dir: dir.to_owned(),
            runs,
            sessions: append(SESSIONS)?,
            windows: append(WINDOWS)?,
        })
    }

    /// Appends a session line and syncs it.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn session(&mut self, session: &Session) -> Result<(), RecordError> {
        append_line(&mut self.sessions, &self.dir.join(SESSIONS), session)
    }

    /// Appends a window's line and syncs it.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn window(&mut self, window: &Window) -> Result<(), RecordError> {
        append_line(&mut self.windows, &self.dir.join(WINDOWS), window)
    }

    /// Stores the samples first, then appends the run's line and syncs it: a line never names
    /// samples that are not there.
    ///
    /// # Errors
    /// Where a file cannot be written.
    pub fn run(&mut self, mut run: Run, samples: &Samples) -> Result<(), RecordError> {
        if !samples.columns.is_empty() {
            run.samples = Some(self.store_samples(samples)?);
        }
        append_line(&mut self.runs, &self.dir.join(RUNS), &run)
    }

    fn store_samples(&self, samples: &Samples) -> Result<String, RecordError> {
        let (name, bytes) = samples.encode();
        let path = self.dir.join(SAMPLES).join(format!("{name}.zst"));
        let packed = zstd::encode_all(bytes.as_slice(), ZSTD_LEVEL).map_err(at(&path))?;
        write_whole(&path, &packed)?;
        Ok(name)
    }
}

fn write_run_file(path: &Path, run_file: &RunFile) -> Result<(), RecordError> {
    let text = serde_json::to_string_pretty(run_file).expect("run.json always serialises");
    write_whole(path, format!("{text}\n").as_bytes())
}

/// A results folder, read.
#[derive(Debug, Clone)]
pub struct Results {
    /// `run.json`.
    pub run_file: RunFile,
    /// `sessions.jsonl`.
    pub sessions: Vec<Session>,
    /// `runs.jsonl`, in the order of writing. Runs that were too short to be gated alone have the
    /// verdict of their window.
    pub runs: Vec<Run>,
    dir: PathBuf,
    pack: BTreeMap<String, Samples>,
}

impl Results {
    /// Writes expectations into `run.json` of a finished sweep, each marked as declared after the
    /// run: the only change that a record ever sees. Expectations that were declared before the
    /// runs stay as they are.
    ///
    /// # Errors
    /// Where the record has expectations of its own, is of a newer schema, or cannot be written.
    pub fn declare_after_run(
        &mut self,
        mut expectations: Vec<Expectation>,
    ) -> Result<(), RecordError> {
        let found = self.run_file.schema;
        if found > SCHEMA {
            return Err(RecordError::Newer { path: self.dir.clone(), found });
        }
        if self.run_file.expectations.iter().any(|one| !one.declared_after_run) {
            return Err(RecordError::Declared { path: self.dir.clone() });
        }
        expectations.iter_mut().for_each(|one| one.declared_after_run = true);
        self.run_file.expectations = expectations;
        let new = self.dir.join("run.json.new");
        write_run_file(&new, &self.run_file)?;
        fs::rename(&new, self.dir.join(RUN_FILE)).map_err(at(&new))
    }

    /// Reads everything but unpacked samples.
    ///
    /// # Errors
    /// Names the file and the line that cannot be read. A torn last line is not an error.
    pub fn load(dir: &Path) -> Result<Self, RecordError> {
        let run_file = RunFile::read(dir)?;
        let pack_path = dir.join(SAMPLES_PACK);
        let pack = if pack_path.exists() { read_pack(&pack_path)? } else { BTreeMap::new() };
        let mut runs = read_runs(dir)?;
        let windows: Vec<Window> = read_lines(&dir.join(WINDOWS))?;
        for run in &mut runs {
            windows.iter().for_each(|window| window.gate(run));
            // Schema 1 knew no state between; what a real server answers is known to nobody.
            if !run_file.servers.is_empty() && run.verification == Verification::Verified {
                run.verification = Verification::Checked;
            }
        }
        Ok(Self {
            run_file,
            sessions: read_lines(&dir.join(SESSIONS))?,
            runs,
            dir: dir.to_owned(),
            pack,
        })
    }

    /// The samples of a run; empty where it left none.
    ///
    /// # Errors
    /// Where the samples are missing or damaged, or do not hash to their name.
    pub fn samples(&self, run: &Run) -> Result<Samples, RecordError> {
        let Some(name) = &run.samples else { return Ok(Samples::default()) };
        // No name in a pack begins with another, so this is the only one that can begin this name.
        let packed = self.pack.range::<String, _>(..=name).next_back();
        if let Some((_, samples)) = packed.filter(|(packed, _)| name.starts_with(*packed)) {
            return Ok(samples.clone());
        }
        let path = self.dir.join(SAMPLES).join(format!("{name}.zst"));
        if !path.exists() {
            let (path, name) = (runs_file(&self.dir), name.clone());
            return Err(RecordError::NoSamples { path, order: run.order, name });
        }
        let bytes = unpacked(&path)?;
        if sha256_hex(&bytes) != *name {
            return Err(RecordError::Hash { path });
        }
        serde_json::from_slice(&bytes).map_err(damaged(&path, 1))
    }

    /// Writes a copy that is fit to commit: one samples file, with what `slim` keeps of each run's
    /// samples. Each run keeps the name of its original samples, and the file its beginning. Runs
    /// of more than 2 MB are packed. Hosts, paths and variables go from the command line, the
    /// sessions and the reasons of failed runs; returned is from how many lines, `run.json` being
    /// one.
    ///
    /// # Errors
    /// Where samples cannot be read or the copy cannot be written.
    pub fn export(
        &self,
        to: &Path,
        slim: impl Fn(&RunFile, &Run, Samples) -> Samples,
    ) -> Result<usize, RecordError> {
        fs::create_dir_all(to).map_err(at(to))?;
        let read = |name: &str| fs::read(self.dir.join(name)).map_err(at(&self.dir.join(name)));
        let written = read(RUN_FILE)?;
        let changed = redact::json(&written, redact::of_run_file);
        write_whole(&to.join(RUN_FILE), changed.as_ref().unwrap_or(&written))?;
        let (sessions, in_sessions) = redact::lines(&read(SESSIONS)?, redact::of_session);
        write_whole(&to.join(SESSIONS), &sessions)?;
        match self.dir.join(WINDOWS).exists() {
            true => write_whole(&to.join(WINDOWS), &read(WINDOWS)?)?,
            // Records from before windows have none; an earlier copy may.
            false => remove_if_there(&to.join(WINDOWS))?,
        }
        let in_runs = export_runs(&self.dir, to)?;
        let digits = self.digits_that_tell_samples_apart();
        let mut lines = Vec::new();
        let mut written = HashSet::new();
        for run in &self.runs {
            let name = run.samples.as_ref().and_then(|name| name.get(..digits));
            let Some(name) = name.filter(|name| written.insert(name.to_owned())) else {
                continue;
            };
            let samples = slim(&self.run_file, run, self.samples(run)?);
            let line = PackLine { name: name.to_owned(), samples };
            serde_json::to_writer(&mut lines, &line).expect("samples always serialise");
            lines.push(b'\n');
        }
        let path = to.join(SAMPLES_PACK);
        let level = if lines.len() > LARGEST_PACKED_WELL { ZSTD_LEVEL } else { EXPORT_ZSTD_LEVEL };
        let packed = zstd::encode_all(lines.as_slice(), level).map_err(at(&path))?;
        write_whole(&path, &packed)?;
        Ok(usize::from(changed.is_some()) + in_sessions + in_runs)
    }

    /// Of the names of all samples. Hashes do not compress: of thousands of short runs they would
    /// be half of the file.
    fn digits_that_tell_samples_apart(&self) -> usize {
        let names: BTreeSet<&String> =
            self.runs.iter().filter_map(|run| run.samples.as_ref()).collect();
        let apart = |digits: &usize| {
            let beginnings = names.iter().filter_map(|name| name.get(..*digits));
            beginnings.collect::<HashSet<_>>().len() == names.len()
        };
        (PACK_DIGITS..SHA256_DIGITS).find(apart).unwrap_or(SHA256_DIGITS)
    }
}

/// Whichever of the two files a folder has its runs in.
fn runs_file(dir: &Path) -> PathBuf {
    let packed = dir.join(RUNS_PACK);
    if packed.exists() { packed } else { dir.join(RUNS) }
}

/// The lines as they were written.
fn runs_text(dir: &Path) -> Result<Vec<u8>, RecordError> {
    let path = runs_file(dir);
    if path.ends_with(RUNS_PACK) {
        return unpacked(&path);
    }
    File::open(&path).and_then(|file| Bounded::new(file).all()).map_err(at(&path))
}

fn unpacked(path: &Path) -> Result<Vec<u8>, RecordError> {
    let decoder = File::open(path).and_then(zstd::Decoder::new);
    decoder.and_then(|decoder| Bounded::new(decoder).all()).map_err(at(path))
}

/// The copy has one of the two files, also where an earlier copy had the other.
fn export_runs(from: &Path, to: &Path) -> Result<usize, RecordError> {
    let (text, redacted) = redact::lines(&runs_text(from)?, redact::of_run);
    let (plain, packed) = (to.join(RUNS), to.join(RUNS_PACK));
    let (other, written) = if text.len() > LARGEST_RUNS {
        let bytes = zstd::encode_all(text.as_slice(), EXPORT_ZSTD_LEVEL).map_err(at(&packed))?;
        (&plain, write_whole(&packed, &bytes))
    } else {
        (&packed, write_whole(&plain, &text))
    };
    written?;
    remove_if_there(other)?;
    Ok(redacted)
}

fn remove_if_there(path: &Path) -> Result<(), RecordError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}

fn read_runs(dir: &Path) -> Result<Vec<Run>, RecordError> {
    let path = runs_file(dir);
    if path.ends_with(RUNS_PACK) {
        return parse_lines(runs_text(dir)?.as_slice(), &path);
    }
    read_lines(&path)
}

#[derive(Serialize, serde::Deserialize)]
struct PackLine {
    name: String,
    samples: Samples,
}

fn read_pack(path: &Path) -> Result<BTreeMap<String, Samples>, RecordError> {
    let bytes = unpacked(path)?;
    let lines: Vec<PackLine> = parse_lines(&bytes[..], path)?;
    Ok(lines.into_iter().map(|line| (line.name, line.samples)).collect())
}

pub(crate) fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RecordError> {
    match File::open(path) {
        Ok(file) => parse_lines(BufReader::new(Bounded::new(file)), path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(at(path)(error)),
    }
}

fn parse_lines<T: DeserializeOwned>(
    mut reader: impl BufRead,
    path: &Path,
) -> Result<Vec<T>, RecordError> {
    let mut rows = Vec::new();
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let length = reader.read_line(&mut line).map_err(at(path))?;
        if length == 0 || !line.ends_with('\n') {
            break; // The end, or a line that was never finished.
        }
        rows.push(serde_json::from_str(&line).map_err(damaged(path, number))?);
    }
    Ok(rows)
}

fn cut_torn_line(path: &Path) -> Result<(), RecordError> {
    if !path.exists() {
        return Ok(());
    }
    let bytes = fs::read(path).map_err(at(path))?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    if whole < bytes.len() {
        let file = OpenOptions::new().write(true).open(path).map_err(at(path))?;
        file.set_len(whole as u64).and_then(|()| file.sync_all()).map_err(at(path))?;
    }
    Ok(())
}

fn append_line(file: &mut File, path: &Path, row: &impl Serialize) -> Result<(), RecordError> {
    let mut line = serde_json::to_vec(row).expect("a row always serialises");
    line.push(b'\n');
    file.write_all(&line).and_then(|()| file.sync_data()).map_err(at(path))
}

/// Writes under a temporary name and renames, so that nobody ever sees half a file. The folder is
/// synced too: a line that names samples must not outlive their name in a power cut.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let temporary = path.with_extension("tmp");
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    };
    write().map_err(at(path))
}

/// What a folder without a readable `run.json` is, in words.
pub(crate) fn no_results(dir: &Path, source: io::Error) -> RecordError {
    let why = match (dir.is_dir(), dir.exists()) {
        (true, _) if source.kind() == io::ErrorKind::NotFound => "it holds no run.json",
        (true, _) => return at(&dir.join(RUN_FILE))(source),
        (false, true) => "it is a file",
        (false, false) => "it does not exist",
    };
    RecordError::NoResults { path: dir.to_owned(), why }
}

fn at(path: &Path) -> impl Fn(io::Error) -> RecordError {
    let path = path.to_owned();
    move |source| RecordError::Io { path: path.clone(), source }
}

pub(crate) fn damaged(path: &Path, line: usize) -> impl Fn(serde_json::Error) -> RecordError {
    let path = path.to_owned();
    move |error| RecordError::Damaged { path: path.clone(), line, message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_is_not_there_may_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        let (absent, loops) = (folder.path().join("absent"), folder.path().join("loops"));
        std::os::unix::fs::symlink(&loops, &loops).unwrap();
        assert_eq!(read_lines::<u8>(&absent).unwrap(), [0; 0]);
        assert!(matches!(read_lines::<u8>(&loops), Err(RecordError::Io { .. })));
        remove_if_there(&absent).unwrap();
        assert!(remove_if_there(folder.path()).is_err(), "a folder is no earlier export");
        // A folder whose run.json cannot be read is one all the same.
        let said = |kind| no_results(folder.path(), io::Error::from(kind)).to_string();
        assert!(said(io::ErrorKind::NotFound).contains("it holds no run.json"));
        assert!(said(io::ErrorKind::PermissionDenied).contains("run.json: permission denied"));
    }
}
