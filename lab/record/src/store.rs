//! Reading and writing a results folder.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fs::{self, File, TryLockError},
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
};

use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::{
    Expectation, Folder, RecordError, Run, RunFile, SCHEMA, Samples, Session, Verification, Window,
    redact,
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
    folder: Folder,
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
        write_run_file(&Folder::at(dir), run_file)?;
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
            cut_torn_line(&Folder::at(dir), name)?;
        }
        // Again: until the lock was held, another one may have appended.
        Ok((writer, Results::load(dir)?))
    }

    fn open(dir: &Path) -> Result<Self, RecordError> {
        let folder = Folder::at(dir);
        let append = |name: &str| folder.append(name).map_err(at(&folder.join(name)));
        let runs = append(RUNS)?;
        runs.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => RecordError::InUse { path: dir.to_owned() },
            TryLockError::Error(source) => RecordError::Io { path: dir.join(RUNS), source },
        })?;
        let (sessions, windows) = (append(SESSIONS)?, append(WINDOWS)?);
        Ok(Self { folder, runs, sessions, windows })
    }

    /// Appends a session line and syncs it.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn session(&mut self, session: &Session) -> Result<(), RecordError> {
        append_line(&mut self.sessions, &self.folder.join(SESSIONS), session)
    }

    /// Appends a window's line and syncs it.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn window(&mut self, window: &Window) -> Result<(), RecordError> {
        append_line(&mut self.windows, &self.folder.join(WINDOWS), window)
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
        append_line(&mut self.runs, &self.folder.join(RUNS), &run)
    }

    fn store_samples(&self, samples: &Samples) -> Result<String, RecordError> {
        let (name, bytes) = samples.encode();
        let file = format!("{SAMPLES}/{name}.zst");
        let packed = zstd::encode_all(bytes.as_slice(), ZSTD_LEVEL);
        write_whole(&self.folder, &file, &packed.map_err(at(&self.folder.join(&file)))?)?;
        Ok(name)
    }
}

fn write_run_file(folder: &Folder, run_file: &RunFile) -> Result<(), RecordError> {
    let text = serde_json::to_string_pretty(run_file).expect("run.json always serialises");
    write_whole(folder, RUN_FILE, format!("{text}\n").as_bytes())
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
    folder: Folder,
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
            return Err(RecordError::Newer { path: self.folder.path().to_owned(), found });
        }
        if self.run_file.expectations.iter().any(|one| !one.declared_after_run) {
            return Err(RecordError::Declared { path: self.folder.path().to_owned() });
        }
        expectations.iter_mut().for_each(|one| one.declared_after_run = true);
        self.run_file.expectations = expectations;
        write_run_file(&self.folder, &self.run_file)
    }

    /// Reads everything but unpacked samples.
    ///
    /// # Errors
    /// Names the file and the line that cannot be read. A torn last line is not an error.
    pub fn load(dir: &Path) -> Result<Self, RecordError> {
        let folder = Folder::at(dir);
        let run_file = RunFile::of(&folder)?;
        let pack = read_pack(&folder)?;
        let mut runs = read_runs(&folder)?;
        let windows: Vec<Window> = read_lines(&folder, WINDOWS)?;
        for run in &mut runs {
            windows.iter().for_each(|window| window.gate(run));
            // Schema 1 knew no state between; what a real server answers is known to nobody.
            if !run_file.servers.is_empty() && run.verification == Verification::Verified {
                run.verification = Verification::Checked;
            }
        }
        Ok(Self { run_file, sessions: read_lines(&folder, SESSIONS)?, runs, folder, pack })
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
            // Any number of runs may name the same samples.
            let held = self.folder.hold(samples.bytes());
            return held.map(|()| samples.clone()).map_err(at(&self.folder.join(SAMPLES_PACK)));
        }
        let file = format!("{SAMPLES}/{name}.zst");
        if !self.folder.has(&file) {
            let path = self.folder.join(runs_file(&self.folder));
            return Err(RecordError::NoSamples { path, order: run.order, name: name.clone() });
        }
        let (bytes, path) = (unpacked(&self.folder, &file)?, self.folder.join(&file));
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
        let (from, to) = (&self.folder, &Folder::at(to));
        let read = |name: &str| from.read(name).map_err(at(&from.join(name)));
        let written = read(RUN_FILE)?;
        let changed = redact::json(&written, redact::of_run_file);
        write_whole(to, RUN_FILE, changed.as_ref().unwrap_or(&written))?;
        let (sessions, in_sessions) = redact::lines(&read(SESSIONS)?, redact::of_session);
        write_whole(to, SESSIONS, &sessions)?;
        match from.has(WINDOWS) {
            true => write_whole(to, WINDOWS, &read(WINDOWS)?)?,
            // Records from before windows have none; an earlier copy may.
            false => to.remove(WINDOWS).map_err(at(&to.join(WINDOWS)))?,
        }
        let in_runs = export_runs(from, to)?;
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
        let level = if lines.len() > LARGEST_PACKED_WELL { ZSTD_LEVEL } else { EXPORT_ZSTD_LEVEL };
        let packed = zstd::encode_all(lines.as_slice(), level);
        write_whole(to, SAMPLES_PACK, &packed.map_err(at(&to.join(SAMPLES_PACK)))?)?;
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
fn runs_file(folder: &Folder) -> &'static str {
    if folder.has(RUNS_PACK) { RUNS_PACK } else { RUNS }
}

/// The lines as they were written.
fn runs_text(folder: &Folder) -> Result<Vec<u8>, RecordError> {
    match runs_file(folder) {
        RUNS_PACK => unpacked(folder, RUNS_PACK),
        name => folder.read(name).map_err(at(&folder.join(name))),
    }
}

/// What a packed file unpacks to, a piece at a time. Its window is at most what this library
/// takes without being asked, 128 MiB.
fn unpacking(folder: &Folder, name: &str) -> Result<impl BufRead + use<>, RecordError> {
    let decoder = folder.file(name).and_then(zstd::Decoder::new);
    let bounded = decoder.map(|decoder| BufReader::new(folder.bounded(decoder)));
    bounded.map_err(at(&folder.join(name)))
}

fn unpacked(folder: &Folder, name: &str) -> Result<Vec<u8>, RecordError> {
    let mut bytes = Vec::new();
    unpacking(folder, name)?.read_to_end(&mut bytes).map_err(at(&folder.join(name)))?;
    Ok(bytes)
}

/// The copy has one of the two files, also where an earlier copy had the other.
fn export_runs(from: &Folder, to: &Folder) -> Result<usize, RecordError> {
    let (text, redacted) = redact::lines(&runs_text(from)?, redact::of_run);
    let other = if text.len() > LARGEST_RUNS {
        let packed = zstd::encode_all(text.as_slice(), EXPORT_ZSTD_LEVEL);
        write_whole(to, RUNS_PACK, &packed.map_err(at(&to.join(RUNS_PACK)))?)?;
        RUNS
    } else {
        write_whole(to, RUNS, &text)?;
        RUNS_PACK
    };
    to.remove(other).map_err(at(&to.join(other)))?;
    Ok(redacted)
}

fn read_runs(folder: &Folder) -> Result<Vec<Run>, RecordError> {
    match runs_file(folder) {
        RUNS_PACK => parse_lines(unpacking(folder, RUNS_PACK)?, &folder.join(RUNS_PACK)),
        name => read_lines(folder, name),
    }
}

#[derive(Serialize, serde::Deserialize)]
struct PackLine {
    name: String,
    samples: Samples,
}

fn read_pack(folder: &Folder) -> Result<BTreeMap<String, Samples>, RecordError> {
    if !folder.has(SAMPLES_PACK) {
        return Ok(BTreeMap::new());
    }
    let lines = unpacking(folder, SAMPLES_PACK)?;
    let lines: Vec<PackLine> = parse_lines(lines, &folder.join(SAMPLES_PACK))?;
    Ok(lines.into_iter().map(|line| (line.name, line.samples)).collect())
}

/// The lines of a file that may be missing.
pub(crate) fn read_lines<T: DeserializeOwned>(
    folder: &Folder,
    name: &str,
) -> Result<Vec<T>, RecordError> {
    let path = folder.join(name);
    match folder.open(name) {
        Ok(file) => parse_lines(BufReader::new(file), &path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(at(&path)(error)),
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

fn cut_torn_line(folder: &Folder, name: &str) -> Result<(), RecordError> {
    if !folder.has(name) {
        return Ok(());
    }
    let bytes = folder.read(name).map_err(at(&folder.join(name)))?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    if whole < bytes.len() {
        folder.cut(name, whole as u64).map_err(at(&folder.join(name)))?;
    }
    Ok(())
}

fn append_line(file: &mut File, path: &Path, row: &impl Serialize) -> Result<(), RecordError> {
    let mut line = serde_json::to_vec(row).expect("a row always serialises");
    line.push(b'\n');
    file.write_all(&line).and_then(|()| file.sync_data()).map_err(at(path))
}

fn write_whole(folder: &Folder, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
    folder.write(name, bytes).map_err(at(&folder.join(name)))
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
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::at(place.path());
        std::os::unix::fs::symlink("loops", folder.join("loops")).unwrap();
        assert_eq!(read_lines::<u8>(&folder, "absent").unwrap(), [0; 0]);
        assert!(matches!(read_lines::<u8>(&folder, "loops"), Err(RecordError::Io { .. })));
        folder.remove("absent").unwrap();
        fs::create_dir(folder.join("below")).unwrap();
        assert!(folder.remove("below").is_err(), "a folder is no earlier export");
        // A folder whose run.json cannot be read is one all the same.
        let said = |kind| no_results(place.path(), io::Error::from(kind)).to_string();
        assert!(said(io::ErrorKind::NotFound).contains("it holds no run.json"));
        assert!(said(io::ErrorKind::PermissionDenied).contains("run.json: permission denied"));
    }
}
