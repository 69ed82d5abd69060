//! What the rows of a record do not hold: packed samples, and the pages, tables and pictures of its
//! report. `manifest.json` has the sha256 of each, and says how far the record was by then.

use std::{
    collections::BTreeMap,
    io,
    path::{Component, Path},
};

use serde::{Deserialize, Serialize};

use crate::{
    Bounded, Folder, RecordError,
    chain::Heads,
    distinct,
    hash::sha256_of,
    store::{at, damaged, write_whole},
};

/// The file's name.
const MANIFEST: &str = "manifest.json";
/// A report has some hundred files.
const BYTES_MAX: u64 = 16 << 20;

/// `manifest.json` of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`Heads::whole`].
    head: String,
    /// How far the record was.
    record: Heads,
    /// sha256 by the file's name in the folder.
    files: BTreeMap<String, String>,
}

impl Manifest {
    /// Of no files yet.
    pub fn of(record: &Heads) -> Self {
        Self { head: record.whole(), record: record.clone(), files: BTreeMap::new() }
    }

    /// Reads that of a folder; `None` where there is none.
    ///
    /// # Errors
    /// Where it cannot be read, or names a file that lies elsewhere.
    pub fn read(folder: &Folder) -> Result<Option<Self>, RecordError> {
        let path = folder.join(MANIFEST);
        let file = match folder.file(MANIFEST) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(at(&path))?,
        };
        let text = Bounded::of(file, BYTES_MAX).all().map_err(at(&path))?;
        let read: Self = distinct::read(&text).map_err(damaged(&path, 1))?;
        let is_inside = |name: &String| {
            let mut parts = Path::new(name).components();
            parts.all(|part| matches!(part, Component::Normal(_)))
        };
        if let Some(name) = read.files.keys().find(|name| !is_inside(name)) {
            return Err(told(&path, &format!("`files` names {name}, which is not in the folder")));
        }
        if read.head != read.record.whole() {
            return Err(told(&path, "`head` is not that of `record`"));
        }
        Ok(Some(read))
    }

    /// That of a record without a chain, which has none.
    ///
    /// # Errors
    /// Where there is one all the same.
    pub(crate) fn refuse(folder: &Folder) -> Result<Option<Self>, RecordError> {
        let path = folder.join(MANIFEST);
        match folder.has(MANIFEST) {
            true => Err(told(&path, "is of a record with a chain, and run.json has no `chain`")),
            false => Ok(None),
        }
    }

    /// Writes it into a folder.
    ///
    /// # Errors
    /// Where that fails.
    pub fn write(&self, folder: &Folder) -> Result<(), RecordError> {
        let text = serde_json::to_string_pretty(self).expect("a manifest always serialises");
        write_whole(folder, MANIFEST, format!("{text}\n").as_bytes())
    }

    /// Removes that of a folder, where there is one.
    ///
    /// # Errors
    /// Where that fails.
    pub(crate) fn remove(folder: &Folder) -> Result<(), RecordError> {
        folder.remove(MANIFEST).map_err(at(&folder.join(MANIFEST)))
    }

    /// How far the record was.
    pub fn record(&self) -> &Heads {
        &self.record
    }

    /// The names of the files.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// The hash of a file; `None` of one that it does not name.
    pub fn sha256(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    /// Names a file, or gives it another hash.
    pub fn put(&mut self, name: &str, sha256: String) {
        self.files.insert(name.to_owned(), sha256);
    }

    /// That a file of the folder is as it was written.
    ///
    /// # Errors
    /// Names the file, where it is missing, changed, or not in the manifest.
    pub fn check(&self, folder: &Folder, name: &str) -> Result<(), RecordError> {
        let path = folder.join(name);
        let Some(sha256) = self.sha256(name) else {
            return Err(told(&path, "is not in manifest.json: it came from elsewhere"));
        };
        if !folder.has(name) {
            return Err(told(&path, "is in manifest.json and not in the folder"));
        }
        let found = folder.file(name).and_then(sha256_of).map_err(at(&path))?;
        match found == sha256 {
            true => Ok(()),
            false => Err(told(&path, "was changed: manifest.json has another sha256 of it")),
        }
    }
}

fn told(path: &Path, what: &str) -> RecordError {
    RecordError::Unlike { path: path.to_owned(), what: what.to_owned() }
}
