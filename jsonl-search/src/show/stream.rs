//! Messages in the files' order, written while the search goes on: nothing is kept until its end.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use super::page::Hits;
use crate::Worker;
use crate::parse::Records;
use crate::queue::{Key, Queue, Taken};

/// What jobs have to say, in their order.
pub(super) struct Stream<'a, W> {
    hits: Hits<'a>,
    written: Mutex<Written<W>>,
}

struct Written<W> {
    out: W,
    /// Of jobs that are done before one that comes before them.
    waiting: BTreeMap<Key, Vec<u8>>,
    is_empty: bool,
    result: io::Result<()>,
}

impl<'a, W: Write> Stream<'a, W> {
    pub(super) fn new(hits: Hits<'a>, out: W) -> Self {
        let (waiting, result) = (BTreeMap::new(), Ok(()));
        let written = Mutex::new(Written { out, waiting, is_empty: true, result });
        Self { hits, written }
    }

    /// What everything was written to.
    ///
    /// # Errors
    /// Why not everything was.
    pub(super) fn finish(self) -> io::Result<W> {
        let written = self.written.into_inner().unwrap_or_else(PoisonError::into_inner);
        written.result.map(|()| written.out)
    }

    /// What a worker has found since the last time.
    fn take(&self, worker: &mut Worker<Records>) -> io::Result<Vec<u8>> {
        let (mut bytes, mut again) = (Vec::new(), self.hits.again());
        let mut result = Ok(());
        worker.give_up(|kept, arena| {
            if result.is_ok() {
                result = self.hits.begin(&mut bytes, false).and_then(|()| {
                    self.hits.write(&mut bytes, kept, None, |slice| arena.get(slice), &mut again)
                });
            }
        });
        result.map(|()| bytes)
    }

    /// A job is done: writes what there is of it and of those that had to wait for it.
    pub(super) fn go_on(&self, taken: Taken<'_>, queue: &Queue, worker: &mut Worker<Records>) {
        let (key, bytes) = (taken.job.key(), self.take(worker));
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        // Under this lock, so that what is done has also said what it has to say.
        drop(taken);
        match bytes {
            Ok(bytes) => drop(written.waiting.insert(key, bytes)),
            Err(error) => written.result = Err(error),
        }
        let begun = queue.first();
        while let Some(first) = written.waiting.first_entry()
            && begun.is_none_or(|begun| *first.key() < begun)
        {
            let bytes = first.remove();
            written.write(&bytes, self.hits.is_array());
        }
        if written.result.is_err() {
            queue.end();
        }
    }
}

impl<W: Write> Written<W> {
    /// Writes on, unless that failed before. Of an array's first element the comma is left out.
    fn write(&mut self, bytes: &[u8], is_array: bool) {
        if self.result.is_err() || bytes.is_empty() {
            return;
        }
        let comma = usize::from(std::mem::replace(&mut self.is_empty, false) && is_array);
        self.result = self.out.write_all(&bytes[comma..]);
    }
}
