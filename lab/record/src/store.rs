//! Reading and writing a results folder.

use std::{
    collections::BTreeMap,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use serde::Deserialize;

use crate::{
    Expectation, Folder, Manifest, RecordError, Run, RunFile, SCHEMA, Samples, Session,
    SessionEvent, Verification, Window,
    chain::{Heads, Recorded, Walk},
    laws,
    lines::{parse_lines, parse_rows, read_lines, read_rows},
    pack, redact, rows, sha256_hex,
    writer::write_run_file,
};

pub(crate) const RUN_FILE: &str = "run.json";
pub(crate) const SESSIONS: &str = "sessions.jsonl";
pub(crate) const RUNS: &str = "runs.jsonl";
pub(crate) const WINDOWS: &str = "windows.jsonl";
/// An exported report keeps its runs, where they are many, and then its windows in one file: see
/// `rows`. Their chains follow from them, so the rows in it have none.
pub(crate) const ROWS_PACK: &str = "rows.pack.zst";
/// So it did once: the lines as they were.
pub(crate) const RUNS_LINES: &str = "runs.jsonl.zst";
pub(crate) const WINDOWS_LINES: &str = "windows.jsonl.zst";
pub(crate) const SAMPLES: &str = "samples";
/// An exported report keeps all samples in one file: see `pack`.
pub(crate) const SAMPLES_PACK: &str = "samples.pack.zst";
/// So it did once: a line `{"name":…,"samples":…}` per run.
pub(crate) const SAMPLES_LINES: &str = "samples.jsonl.zst";

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
    pub(crate) folder: Folder,
    pack: BTreeMap<String, Samples>,
    /// Where the chains begin and where they are; none in a record from before chains.
    chained: Option<(String, Heads)>,
    manifest: Option<Manifest>,
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
        let begin = self.chained.as_ref().map(|(begin, _)| &**begin);
        write_run_file(&self.folder, &self.run_file, begin)
    }

    /// Reads everything but unpacked samples, and follows the chains.
    ///
    /// # Errors
    /// Names the file and the line that cannot be read, or that was changed after it was written. A
    /// torn last line is not an error.
    pub fn load(dir: &Path) -> Result<Self, RecordError> {
        let folder = Folder::at(dir);
        let (run_file, begin) = RunFile::read_chained(&folder)?;
        // Before the rows, and sessions before runs: a sweep that goes on appends meanwhile.
        let manifest = match &begin {
            Some(_) => Manifest::read(&folder)?,
            None => Manifest::refuse(&folder)?,
        };
        let walk = |name| begin.as_deref().map(|begin| Walk::of_file(begin, name));
        let mut walks = [RUNS, SESSIONS, WINDOWS].map(walk);
        let [of_runs, of_sessions, of_windows] = &mut walks;
        let sessions = read_rows(&folder, SESSIONS, of_sessions)?;
        let (mut runs, windows): (Vec<Run>, Vec<Window>) = match packed_rows(&folder)? {
            Some([runs, windows]) => {
                let path = folder.join(ROWS_PACK);
                (go_on(&runs, &path, of_runs)?, go_on(&windows, &path, of_windows)?)
            }
            None => (
                read_packable(&folder, (RUNS, RUNS_LINES), of_runs)?,
                read_packable(&folder, (WINDOWS, WINDOWS_LINES), of_windows)?,
            ),
        };
        laws::check(dir, &run_file, (&folder.join(runs_file(&folder)), &runs))?;
        let heads = match walks {
            [Some(runs), Some(ended), Some(windows)] => {
                let walks = Walks { runs, sessions: ended, windows };
                Some(walks.ended(&folder, &sessions, manifest.as_ref())?)
            }
            _ => {
                never_chained(&folder)?;
                None
            }
        };
        let pack = read_pack(&folder)?;
        let packs = [SAMPLES_PACK, SAMPLES_LINES].into_iter().filter(|name| folder.has(name));
        for name in packs.filter(|_| heads.is_some()) {
            bound(&folder, manifest.as_ref(), name)?;
        }
        for run in &mut runs {
            windows.iter().for_each(|window| window.gate(run));
            // Schema 1 knew no state between; what a real server answers is known to nobody.
            if !run_file.servers.is_empty() && run.verification == Verification::Verified {
                run.verification = Verification::Checked;
            }
        }
        let chained = begin.zip(heads);
        Ok(Self { run_file, sessions, runs, folder, pack, chained, manifest })
    }

    /// How far the files are; `None` of a record from before chains.
    pub fn heads(&self) -> Option<&Heads> {
        self.chained.as_ref().map(|(_, heads)| heads)
    }

    /// `manifest.json`, where the record has a chain and that file.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// The lines of all runs as they were recorded; without their chains where they are packed.
    ///
    /// # Errors
    /// Where they cannot be read any more.
    pub fn lines(&self) -> Result<Vec<u8>, RecordError> {
        rows_text(&self.folder).map(|[runs, _]| runs)
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
            return held
                .map(|()| samples.clone())
                .map_err(at(&self.folder.join(samples_file(&self.folder))));
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
}

/// That a manifest names a file as it is.
fn bound(folder: &Folder, manifest: Option<&Manifest>, name: &str) -> Result<(), RecordError> {
    let what = "has no manifest.json beside it, by which it could be told from another one";
    let path = || folder.join(name);
    let manifest =
        manifest.ok_or_else(|| RecordError::Unlike { path: path(), what: what.to_owned() })?;
    manifest.check(folder, name)
}

/// The chains of a record that was read.
struct Walks {
    runs: Walk,
    sessions: Walk,
    windows: Walk,
}

impl Walks {
    /// Where they are, once they were where the ends of sessions and the manifest say.
    fn ended(
        self,
        folder: &Folder,
        sessions: &[Session],
        manifest: Option<&Manifest>,
    ) -> Result<Heads, RecordError> {
        let changed = |line, what: String| {
            Err(RecordError::Changed { path: folder.join(SESSIONS), line, what })
        };
        let ends: Vec<End> = read_lines(folder, SESSIONS)?;
        for ((session, end), line) in sessions.iter().zip(&ends).zip(1..) {
            let is_end = matches!(session.event, SessionEvent::Finished | SessionEvent::Stopped);
            let recorded = match &end.recorded {
                Some(recorded) => recorded,
                None if is_end => return changed(line, "it has no `recorded`".to_owned()),
                None => continue,
            };
            let both =
                [(RUNS, &self.runs, &recorded.runs), (WINDOWS, &self.windows, &recorded.windows)];
            for (file, walk, head) in both {
                if !walk.passed(head) {
                    let rows = head.rows;
                    return changed(
                        line,
                        format!("by then {file} had {rows} rows, others than now"),
                    );
                }
                if line == sessions.len() && walk.head() != head {
                    return changed(line, format!("{file} has rows from after this last session"));
                }
            }
        }
        let [runs, sessions, windows] =
            [&self.runs, &self.sessions, &self.windows].map(|walk| walk.head().clone());
        let files = [(RUNS, &self.runs), (SESSIONS, &self.sessions), (WINDOWS, &self.windows)];
        if let Some(Heads { runs, sessions, windows }) = manifest.map(Manifest::record) {
            for ((file, walk), head) in files.into_iter().zip([runs, sessions, windows]) {
                if !walk.passed(head) {
                    let rows = head.rows;
                    let what =
                        format!("had {rows} rows when manifest.json was written, others than now");
                    return Err(RecordError::Unlike { path: folder.join(file), what });
                }
            }
        }
        Ok(Heads { runs, sessions, windows })
    }
}

/// That no session of a record without a chain is one of a chained record.
fn never_chained(folder: &Folder) -> Result<(), RecordError> {
    let path = folder.join(SESSIONS);
    let ends: Vec<End> = read_lines(folder, SESSIONS)?;
    match ends.iter().position(|end| end.recorded.is_some()) {
        Some(place) => {
            let what = "it has a `recorded`, and run.json has no `chain`".to_owned();
            Err(RecordError::Changed { path, line: place + 1, what })
        }
        None => Ok(()),
    }
}

/// What is read of a session's line beside the session.
#[derive(Deserialize)]
struct End {
    recorded: Option<Recorded>,
}

/// A file of rows by its two names, plain and packed.
type Packable = (&'static str, &'static str);

/// Whichever of the two a folder has.
fn whichever(folder: &Folder, (plain, packed): Packable) -> &'static str {
    if folder.has(packed) { packed } else { plain }
}

fn runs_file(folder: &Folder) -> &'static str {
    if folder.has(ROWS_PACK) { ROWS_PACK } else { whichever(folder, (RUNS, RUNS_LINES)) }
}

/// The file with all samples, where a folder has one.
fn samples_file(folder: &Folder) -> &'static str {
    whichever(folder, (SAMPLES_LINES, SAMPLES_PACK))
}

/// The lines of runs and of windows as they were written, none of a file that is not there; without
/// their chains where they are packed.
pub(crate) fn rows_text(folder: &Folder) -> Result<[Vec<u8>; 2], RecordError> {
    if let Some(texts) = packed_rows(folder)? {
        return Ok(texts.map(String::into_bytes));
    }
    let text = |names: Packable| match whichever(folder, names) {
        name if !folder.has(name) => Ok(Vec::new()),
        name if name == names.1 => unpacked(folder, name),
        name => folder.read(name).map_err(at(&folder.join(name))),
    };
    Ok([text((RUNS, RUNS_LINES))?, text((WINDOWS, WINDOWS_LINES))?])
}

/// The lines of runs and of windows of a folder that has both packed.
fn packed_rows(folder: &Folder) -> Result<Option<[String; 2]>, RecordError> {
    if !folder.has(ROWS_PACK) {
        return Ok(None);
    }
    let mut reader = unpacking(folder, ROWS_PACK)?;
    let mut next = || rows::read(&mut reader, |bytes| folder.hold(bytes));
    let both = next().and_then(|runs| Ok([runs, next()?]));
    both.map(Some).map_err(at(&folder.join(ROWS_PACK)))
}

/// Rows without their chains, which goes on over them.
fn go_on<R: redact::Row>(
    text: &str,
    path: &Path,
    walk: &mut Option<Walk>,
) -> Result<Vec<R>, RecordError> {
    parse_lines(text.as_bytes(), path, |line, row: &R| {
        if let Some(walk) = walk {
            walk.go_on(line.trim_end_matches('\n').as_bytes(), row.texts());
        }
        Ok(())
    })
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

fn read_packable<R: redact::Row>(
    folder: &Folder,
    names: Packable,
    walk: &mut Option<Walk>,
) -> Result<Vec<R>, RecordError> {
    match whichever(folder, names) {
        name if name == names.1 => parse_rows(unpacking(folder, name)?, &folder.join(name), walk),
        name => read_rows(folder, name, walk),
    }
}

#[derive(Deserialize)]
struct PackLine {
    name: String,
    samples: Samples,
}

fn read_pack(folder: &Folder) -> Result<BTreeMap<String, Samples>, RecordError> {
    if folder.has(SAMPLES_PACK) {
        let held = pack::read(unpacking(folder, SAMPLES_PACK)?, |bytes| folder.hold(bytes));
        return held.map_err(at(&folder.join(SAMPLES_PACK)));
    }
    if !folder.has(SAMPLES_LINES) {
        return Ok(BTreeMap::new());
    }
    let (lines, path) = (unpacking(folder, SAMPLES_LINES)?, folder.join(SAMPLES_LINES));
    let lines: Vec<PackLine> = parse_lines(lines, &path, |_, _| Ok(()))?;
    Ok(lines.into_iter().map(|line| (line.name, line.samples)).collect())
}

pub(crate) fn write_whole(folder: &Folder, name: &str, bytes: &[u8]) -> Result<(), RecordError> {
    folder.write_synced(name, bytes).map_err(at(&folder.join(name)))
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

pub(crate) fn at(path: &Path) -> impl Fn(io::Error) -> RecordError {
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
    fn samples_that_an_older_lab_packed_are_read() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::at(place.path());
        let line = "{\"name\":\"01\",\"samples\":{\"a_ns\":{\"raw\":[3,-1]}}}\n";
        let packed = zstd::encode_all(line.as_bytes(), 3).unwrap();
        folder.write(SAMPLES_LINES, &packed).unwrap();
        assert_eq!(read_pack(&folder).unwrap()["01"].raw("a_ns"), Some(&[3, -1][..]));
    }

    #[test]
    fn a_folder_is_told_in_words() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::at(place.path());
        folder.remove("absent").unwrap();
        std::fs::create_dir(folder.join("below")).unwrap();
        assert!(folder.remove("below").is_err(), "a folder is no earlier export");
        // A folder whose run.json cannot be read is one all the same.
        let said = |kind| no_results(folder.path(), io::Error::from(kind)).to_string();
        assert!(said(io::ErrorKind::NotFound).contains("it holds no run.json"));
        assert!(said(io::ErrorKind::PermissionDenied).contains("run.json: permission denied"));
    }
}
