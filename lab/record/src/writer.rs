//! Writing a results folder.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    Folder, RecordError, Results, Run, RunFile, SCHEMA, Samples, Session, SessionEvent, Window,
    append::{Lock, whole_lines},
    chain::{self, Head, Heads, Recorded},
    redact::Row,
    store::{RUN_FILE, RUNS, SAMPLES, SESSIONS, WINDOWS, at, write_whole},
};

const ZSTD_LEVEL: i32 = 9;
/// What a lab that is killed leaves of its files beside the samples; `run.json.new` is an older
/// lab's.
const UNFINISHED: [&str; 3] = ["run.json.tmp", "run.json.new", "manifest.json.tmp"];

/// Appends to a results folder, as the only one: the file of the runs is locked.
#[derive(Debug)]
pub struct Writer {
    folder: Folder,
    runs: Log,
    sessions: Log,
    windows: Log,
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
        let plain = serde_json::to_vec(run_file).expect("run.json always serialises");
        let begin = chain::of_run_file(&plain).expect("run.json is an object");
        write_run_file(&Folder::at(dir), run_file, Some(&begin))?;
        let begins = |name| Some(Head::of_file(&begin, name));
        let mut writer = Self::open(dir)?;
        writer.follow(begins(RUNS), begins(SESSIONS), begins(WINDOWS));
        Ok(writer)
    }

    /// Goes on with a folder that a stopped sweep left, and reads what is in it. A last line
    /// without its newline was never a record: it is cut off. So are files that were being written.
    ///
    /// # Errors
    /// Where the folder was changed, is of a newer schema, in use, or cannot be written.
    pub fn resume(dir: &Path) -> Result<(Self, Results), RecordError> {
        let schema = Results::load(dir)?.run_file.schema;
        if schema > SCHEMA {
            return Err(RecordError::Newer { path: dir.to_owned(), found: schema });
        }
        let mut writer = Self::open(dir)?;
        for name in [RUNS, SESSIONS, WINDOWS] {
            cut_torn_line(&writer.folder, name)?;
        }
        for name in unfinished(&writer.folder)? {
            writer.folder.remove(&name).map_err(at(&writer.folder.join(&name)))?;
        }
        // Again: until the lock was held, another one may have appended.
        let results = Results::load(dir)?;
        if let Some(Heads { runs, sessions, windows }) = results.heads().cloned() {
            writer.follow(Some(runs), Some(sessions), Some(windows));
        }
        Ok((writer, results))
    }

    fn open(dir: &Path) -> Result<Self, RecordError> {
        let folder = Folder::at(dir);
        let runs = Log::open(&folder, RUNS)?;
        match Lock::take(&runs.file).map_err(at(&dir.join(RUNS)))? {
            Lock::Held => {}
            Lock::InUse => return Err(RecordError::InUse { path: dir.to_owned() }),
            Lock::Unknown(source) => {
                return Err(RecordError::Io { path: dir.join(RUNS), source });
            }
        }
        let (sessions, windows) = (Log::open(&folder, SESSIONS)?, Log::open(&folder, WINDOWS)?);
        Ok(Self { folder, runs, sessions, windows })
    }

    fn follow(&mut self, runs: Option<Head>, sessions: Option<Head>, windows: Option<Head>) {
        self.runs.head = runs;
        self.sessions.head = sessions;
        self.windows.head = windows;
    }

    /// How far the record is; `None` of one from before chains.
    pub fn heads(&self) -> Option<Heads> {
        Some(Heads {
            runs: self.runs.head.clone()?,
            sessions: self.sessions.head.clone()?,
            windows: self.windows.head.clone()?,
        })
    }

    /// Appends a session line and syncs it. The last one of a session says how far the other files
    /// are, so that lines that are cut off are told.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn session(&mut self, session: &Session) -> Result<(), RecordError> {
        let mut row = json(session);
        let is_end = matches!(session.event, SessionEvent::Finished | SessionEvent::Stopped);
        if let Some(Heads { runs, windows, .. }) = self.heads().filter(|_| is_end) {
            row.pop();
            row.extend_from_slice(b",\"recorded\":");
            row.extend(json(&Recorded { runs, windows }));
            row.push(b'}');
        }
        self.sessions.append(&row, session.texts())
    }

    /// Appends a window's line and syncs it.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn window(&mut self, window: &Window) -> Result<(), RecordError> {
        self.windows.append(&json(window), window.texts())
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
        self.runs.append(&json(&run), run.texts())
    }

    fn store_samples(&self, samples: &Samples) -> Result<String, RecordError> {
        let (name, bytes) = samples.encode();
        let file = format!("{SAMPLES}/{name}.zst");
        let packed = zstd::encode_all(bytes.as_slice(), ZSTD_LEVEL);
        write_whole(&self.folder, &file, &packed.map_err(at(&self.folder.join(&file)))?)?;
        Ok(name)
    }
}

/// A file of rows that is appended to.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    file: File,
    /// Where its chain is; none of a record from before chains.
    head: Option<Head>,
}

impl Log {
    fn open(folder: &Folder, name: &str) -> Result<Self, RecordError> {
        let path = folder.join(name);
        let file = folder.append(name).map_err(at(&path))?;
        Ok(Self { path, file, head: None })
    }

    /// What cannot be written whole is cut off again, so that the head stays that of the file.
    fn append(&mut self, row: &[u8], texts: Vec<String>) -> Result<(), RecordError> {
        let (line, next) = match &self.head {
            Some(head) => {
                let (line, next) = head.line(row, texts);
                (line, Some(next))
            }
            None => ([row, b"\n"].concat(), None),
        };
        let before = self.file.metadata().map_err(at(&self.path))?.len();
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // Where this fails too, the line is torn, and a resume cuts it.
            let _ = self.file.set_len(before);
        }
        written.map_err(at(&self.path))?;
        self.head = next;
        Ok(())
    }
}

fn json(row: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(row).expect("a row always serialises")
}

/// `begin` is where the chains of the record begin.
pub(crate) fn write_run_file(
    folder: &Folder,
    run_file: &RunFile,
    begin: Option<&str>,
) -> Result<(), RecordError> {
    #[derive(Serialize)]
    struct Written<'r> {
        #[serde(flatten)]
        run_file: &'r RunFile,
        #[serde(skip_serializing_if = "Option::is_none")]
        chain: Option<&'r str>,
    }
    let written = Written { run_file, chain: begin };
    let text = serde_json::to_string_pretty(&written).expect("run.json always serialises");
    write_whole(folder, RUN_FILE, format!("{text}\n").as_bytes())
}

fn cut_torn_line(folder: &Folder, name: &str) -> Result<(), RecordError> {
    if !folder.has(name) {
        return Ok(());
    }
    let bytes = folder.read(name).map_err(at(&folder.join(name)))?;
    let whole = whole_lines(&bytes);
    if whole < bytes.len() {
        folder.cut(name, whole as u64).map_err(at(&folder.join(name)))?;
    }
    Ok(())
}

/// The files that were being written when a lab was killed or the disk was full: those of the
/// record, and all of its samples.
fn unfinished(folder: &Folder) -> Result<Vec<String>, RecordError> {
    let is_unfinished = |name: &String| {
        matches!(Path::new(name).extension().and_then(OsStr::to_str), Some("tmp" | "new"))
    };
    let samples = folder.names(SAMPLES).map_err(at(&folder.join(SAMPLES)))?;
    let samples = samples.into_iter().filter(is_unfinished);
    let own = UNFINISHED.iter().filter(|name| folder.has(name)).map(|name| (*name).to_owned());
    Ok(samples.map(|name| format!("{SAMPLES}/{name}")).chain(own).collect())
}
