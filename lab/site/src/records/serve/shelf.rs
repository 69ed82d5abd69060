//! The folders that are served, and the records in them. A request names a record by its folder's
//! number and its own name, and is given only what a listing of that folder has: no path is ever
//! made of what a request says.

use std::{
    cmp::Reverse,
    fs,
    path::{Path, PathBuf},
};

use lab_console::Failure;
use lab_record::{RecordError, RunFile, State};

use crate::encoded;

/// The folders, as they were named at the start.
#[derive(Debug)]
pub struct Shelf {
    folders: Vec<Folder>,
}

#[derive(Debug)]
struct Folder {
    dir: PathBuf,
    /// For people.
    shown: String,
    /// It is a record itself, and not a folder of records.
    is_record: bool,
}

/// One record: a sweep's, or the files of another report.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) dir: PathBuf,
    /// For people.
    pub(super) shown: String,
    /// The number of its folder and its name, as `of` and `with` of an address name it.
    pub(super) place: String,
    /// The address of its page.
    pub(super) address: String,
    /// What it is about, where it is a sweep's.
    pub(super) run_file: Option<RunFile>,
}

impl Shelf {
    /// These folders, each with its name for people.
    ///
    /// # Errors
    /// One is no folder.
    pub fn of(folders: Vec<(PathBuf, String)>) -> Result<Self, Failure> {
        let folder = |(dir, shown): (PathBuf, String)| match dir.is_dir() {
            true => Ok(Folder { is_record: is_record(&dir), shown, dir }),
            false => Err(Failure::input(format!("{shown} is no folder; name one"))),
        };
        Ok(Self { folders: folders.into_iter().map(folder).collect::<Result<_, _>>()? })
    }

    /// All records, the newest first; those that have no time of their own follow by name.
    pub(super) fn records(&self) -> Vec<Record> {
        let numbers = 0..self.folders.len();
        let mut records: Vec<Record> = numbers.flat_map(|number| self.inside(number)).collect();
        let key = |record: &Record| {
            let started = record.run_file.as_ref().map(|file| file.started_unix_s);
            (Reverse(started), record.place.clone())
        };
        records.sort_by_cached_key(key);
        records
    }

    /// The record of a folder's number and a name.
    pub(super) fn record(&self, number: &str, name: &str) -> Option<Record> {
        let number: usize = number.parse().ok()?;
        let (dir, _) = self.entries(number).into_iter().find(|(_, own)| own == name)?;
        Some(self.read(number, dir, name))
    }

    /// The record that a value of a query names: by folder and name, or by its name alone where
    /// that is enough to know it.
    pub(super) fn named(&self, value: &str) -> Option<Record> {
        if let Some((number, name)) = value.split_once('/') {
            return self.record(number, name);
        }
        let numbers = 0..self.folders.len();
        numbers.into_iter().find_map(|number| self.record(&number.to_string(), value))
    }

    fn inside(&self, number: usize) -> Vec<Record> {
        let entries = self.entries(number).into_iter();
        entries.map(|(dir, name)| self.read(number, dir, &name)).collect()
    }

    /// Folders and names of a folder's records. A link leads out of the folder, and is left out.
    fn entries(&self, number: usize) -> Vec<(PathBuf, String)> {
        let Some(folder) = self.folders.get(number) else { return Vec::new() };
        if folder.is_record {
            let name = folder.dir.file_name().unwrap_or_default().to_string_lossy();
            return vec![(folder.dir.clone(), name.into_owned())];
        }
        let entries = fs::read_dir(&folder.dir).into_iter().flatten().flatten();
        let folders = entries.filter(|one| one.file_type().is_ok_and(|kind| kind.is_dir()));
        let named =
            folders.filter_map(|one| Some((one.path(), one.file_name().into_string().ok()?)));
        named.filter(|(dir, _)| is_record(dir)).collect()
    }

    fn read(&self, number: usize, dir: PathBuf, name: &str) -> Record {
        let folder = &self.folders[number];
        let shown = match folder.is_record {
            true => folder.shown.clone(),
            false => format!("{}/{name}", folder.shown),
        };
        Record {
            // A damaged one is listed too, and its page says what is wrong.
            run_file: RunFile::read(&dir).ok(),
            shown,
            place: format!("{number}/{name}"),
            address: format!("/r/{number}/{}.html", encoded(name)),
            dir,
        }
    }
}

impl Record {
    /// Whether its sweep has all its runs.
    pub(super) fn state(&self) -> Result<State, RecordError> {
        if self.run_file.is_some() { State::of(&self.dir) } else { Ok(State::Finished) }
    }

    /// Whether it has a report for people.
    pub(super) fn has_report(&self) -> bool {
        lab_record::Folder::at(&self.dir).has("report.md")
    }
}

fn is_record(dir: &Path) -> bool {
    ["run.json", "report.md"].iter().any(|name| lab_record::Folder::at(dir).has(name))
}
