//! The file: appended, synced, and shared by whoever waits at the same time.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard};

use workflows_kit::{RunError, now_ns};

use crate::line::{self, Place, Record};
use crate::recovery::{Recovered, recover};

/// An append-only file of records.
///
/// Group commit as databases have it (DeWitt et al. 1984, "Implementation techniques for main
/// memory database systems"): while one thread writes and syncs, what others append
/// collects, and the first of them writes it all with the next sync.
#[derive(Debug)]
pub(crate) struct Journal {
    waiting: Mutex<Waiting>,
    synced: Condvar,
    /// Locked by the one thread that writes.
    tail: Mutex<Tail>,
}

#[derive(Debug, Default)]
struct Waiting {
    records: Vec<Record>,
    /// Records that were ever appended, and how many of these are synced.
    appended: u64,
    synced: u64,
    writing: bool,
    syncs: u64,
    /// Why nothing can be written any more.
    failure: Option<String>,
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
        let journal = Self { waiting: Mutex::default(), synced: Condvar::new(), tail };
        if records.is_empty() {
            journal.append(Record::Open { workload })?;
        }
        Ok((journal, records))
    }

    /// Returns when the record is synced.
    ///
    /// # Errors
    /// It could not be written. From then on nothing is written: of a failed sync nobody knows what
    /// reached the disk, so a second try would prove nothing.
    pub(crate) fn append(&self, record: Record) -> Result<(), RunError> {
        let mut waiting = self.waiting();
        waiting.records.push(record);
        waiting.appended += 1;
        let ticket = waiting.appended;
        loop {
            if let Some(failure) = &waiting.failure {
                return Err(RunError::Failed(failure.clone()));
            }
            if waiting.synced >= ticket {
                return Ok(());
            }
            waiting = if waiting.writing {
                self.synced.wait(waiting).expect("no thread panics while it holds the journal")
            } else {
                self.write(waiting)
            };
        }
    }

    /// Syncs so far.
    pub(crate) fn syncs(&self) -> u64 {
        self.waiting().syncs
    }

    /// Writes and syncs all that waits, without the lock, so that others can add to the next batch.
    fn write<'a>(&'a self, mut waiting: MutexGuard<'a, Waiting>) -> MutexGuard<'a, Waiting> {
        waiting.writing = true;
        let records = std::mem::take(&mut waiting.records);
        let upto = waiting.appended;
        drop(waiting);
        let mut tail = self.tail.lock().expect("no thread panics while it writes");
        let result = tail.append(&records);
        drop(tail);
        let mut waiting = self.waiting();
        waiting.writing = false;
        match result {
            Ok(()) => {
                waiting.synced = upto;
                waiting.syncs += 1;
            }
            Err(error) => {
                waiting.failure = Some(format!(
                    "cannot append to the journal: {error}; make room and start again with the \
                     same folder: whatever was recorded is kept"
                ));
            }
        }
        self.synced.notify_all();
        waiting
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("no thread panics while it holds the journal")
    }
}

impl Tail {
    fn append(&mut self, records: &[Record]) -> std::io::Result<()> {
        let of = records.len() as u64;
        let place = |index| Place { batch: self.batch + 1, index, of };
        let lines: String =
            (0..of).zip(records).map(|(index, record)| line::write(place(index), record)).collect();
        let written = self.file.write_all(lines.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // Nothing half written is left behind. If this fails as well, recovery drops the rest.
            let _ = self.file.set_len(self.length).and_then(|()| self.file.sync_data());
            return Err(error);
        }
        self.batch += 1;
        self.length += lines.len() as u64;
        Ok(())
    }
}

/// A file beside the journal, for what an append with a sync costs by itself.
#[derive(Debug)]
pub(crate) struct Bare {
    file: File,
    line: String,
}

impl Bare {
    /// Appends lines as long as that of a step.
    ///
    /// # Errors
    /// The file cannot be created.
    pub(crate) fn create(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join("bare");
        let _ = fs::remove_file(&path);
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        Ok(Self { file: file.map_err(RunError::setup)?, line: format!("{:140}\n", "") })
    }

    /// Appends one line, syncs it, and says how long that took.
    ///
    /// # Errors
    /// It could not be written.
    pub(crate) fn append_ns(&mut self) -> Result<u64, RunError> {
        let start_ns = now_ns();
        let written = self.file.write_all(self.line.as_bytes());
        written.and_then(|()| self.file.sync_data()).map_err(|error| {
            RunError::failed(format!("cannot append to a file beside the journal: {error}"))
        })?;
        Ok((now_ns() - start_ns).unsigned_abs())
    }
}
