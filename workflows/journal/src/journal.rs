//! The file: appended and synced, a batch at a time.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use workflows_kit::{RunError, now_ns};

use crate::line::{self, Place, Record};
use crate::recovery::{Recovered, recover};

/// An append-only file of records. What belongs to a batch is up to whoever appends.
#[derive(Debug)]
pub(crate) struct Journal {
    tail: Mutex<Tail>,
    syncs: AtomicU64,
}

#[derive(Debug)]
struct Tail {
    file: File,
    length: u64,
    batch: u64,
}

impl Journal {
    /// Opens or creates the journal of a workload, and gives the records that are there.
    ///
    /// # Errors
    /// It belongs to another workload, is damaged, or cannot be read or written.
    pub(crate) fn open(path: &Path, workload: u64) -> Result<(Self, Vec<Record>), RunError> {
        let failed = |error: std::io::Error| {
            RunError::setup(format!("cannot open the journal {}: {error}", path.display()))
        };
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let Recovered { records, length, batch } = recover(&bytes).map_err(RunError::setup)?;
        if records.first().is_some_and(|first| *first != Record::Open { workload }) {
            return Err(RunError::setup(format!(
                "{} is the journal of another workload: give an empty folder",
                path.display()
            )));
        }
        file.set_len(length).and_then(|()| file.sync_all()).map_err(failed)?;
        // The file's name must be durable, too.
        let folder = path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all());
        folder.map_err(failed)?;
        let tail = Mutex::new(Tail { file, length, batch });
        let journal = Self { tail, syncs: AtomicU64::new(0) };
        if records.is_empty() {
            journal.append([Record::Open { workload }])?;
        }
        Ok((journal, records))
    }

    /// Returns when these records are synced, which they are together.
    ///
    /// # Errors
    /// They could not be written. Nothing may be appended then: of a failed sync nobody knows what
    /// reached the disk, so a second try would prove nothing.
    pub(crate) fn append(
        &self,
        records: impl IntoIterator<Item = Record, IntoIter: ExactSizeIterator>,
    ) -> Result<(), RunError> {
        let appended = self.tail.lock().expect("no thread panics while it writes").append(records);
        self.syncs.fetch_add(1, Relaxed);
        appended.map_err(|error| {
            RunError::Failed(format!(
                "cannot append to the journal: {error}; make room and start again with the same \
                 folder: whatever was recorded is kept"
            ))
        })
    }

    /// Syncs so far.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Relaxed)
    }
}

impl Tail {
    fn append(
        &mut self,
        records: impl IntoIterator<Item = Record, IntoIter: ExactSizeIterator>,
    ) -> std::io::Result<()> {
        let records = records.into_iter();
        let (batch, of) = (self.batch + 1, records.len() as u64);
        let mut lines = String::new();
        for (index, record) in (0..of).zip(records) {
            line::write(&mut lines, Place { batch, index, of }, &record);
        }
        let written = self.file.write_all(lines.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Nothing half written is left behind. If this fails as well, recovery drops the rest.
            let _ = self.file.set_len(self.length).and_then(|()| self.file.sync_data());
            return Err(error);
        }
        self.batch = batch;
        self.length += lines.len() as u64;
        Ok(())
    }
}

/// A file beside the journal, for what an append with a sync costs by itself.
#[derive(Debug)]
pub(crate) struct Bare {
    file: File,
    lines: String,
}

impl Bare {
    /// Appends so many lines as long as that of a step.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(crate) fn create(folder: &Path, lines: usize) -> Result<Self, RunError> {
        let path = folder.join("bare");
        let _ = fs::remove_file(&path);
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let lines = format!("{:140}\n", "").repeat(lines);
        Ok(Self { file: file.map_err(RunError::setup)?, lines })
    }

    /// Appends the lines, syncs them, and says how long that took.
    ///
    /// # Errors
    /// It could not be written.
    pub(crate) fn append_ns(&mut self) -> Result<u64, RunError> {
        let start_ns = now_ns();
        let written = self.file.write_all(self.lines.as_bytes());
        written.and_then(|()| self.file.sync_data()).map_err(|error| {
            RunError::failed(format!("cannot append to a file beside the journal: {error}"))
        })?;
        Ok((now_ns() - start_ns).unsigned_abs())
    }
}
