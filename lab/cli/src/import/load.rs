//! The files of a side, and what is to be said of them.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use lab_console::plain;
use lab_import::{Benchmark, Contents, ImportError, Slo, Source, read};
use lab_record::{Bounded, Folder};

use crate::{Exit, Failure, streams};

/// Folders between criterion's and a benchmark's: group, function, parameter and some to spare.
const DEEPEST: usize = 8;
/// So many files are named in one note.
const MOST_NAMED: usize = 3;

/// Sentences, each with the files that it is about.
#[derive(Default)]
pub(super) struct Notes(Vec<(String, Vec<String>)>);

impl Notes {
    pub(super) fn add(&mut self, file: &str, sentence: String) {
        match self.0.iter_mut().find(|(known, _)| *known == sentence) {
            Some((_, files)) => files.push(file.to_owned()),
            None => self.0.push((sentence, vec![file.to_owned()])),
        }
    }

    /// To the standard error.
    pub(super) fn tell(&self) {
        for (sentence, files) in &self.0 {
            let named = files.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
            let more = match files.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            streams::tell(plain::line(&format!("note: {named}{more}: {sentence}")));
        }
    }
}

/// All files, each once, with the goodput of each where there is an objective. One that holds no
/// time is left out, unless nothing else is there.
pub(super) fn load(
    paths: &[PathBuf],
    slo: Option<&Slo>,
    notes: &mut Notes,
) -> Result<Vec<Benchmark>, Failure> {
    let mut benchmarks = Vec::new();
    let mut met = BTreeSet::new();
    let mut left_out = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        if !met.insert(fs::canonicalize(path).unwrap_or_else(|_| path.clone())) {
            notes.add(&name, "named twice, counted once".to_owned());
            continue;
        }
        for (path, bytes) in files(path)? {
            let name = path.display().to_string();
            match of_file(&path, bytes)? {
                Ok(contents) => {
                    let goodput = slo.map(|slo| contents.goodput(slo)).transpose();
                    let goodput = goodput.map_err(|error| Failure::input(error.to_string()))?;
                    contents.notes.into_iter().for_each(|note| notes.add(&name, note));
                    benchmarks.extend(contents.benchmarks.into_iter().chain(goodput));
                }
                Err(error @ ImportError::Change { .. }) => left_out.push((name, error)),
                Err(error @ ImportError::Unknown { .. }) if is_beside(&path) => {
                    left_out.push((name, error));
                }
                Err(error) => return Err(failure(&error)),
            }
        }
    }
    for (name, error) in left_out {
        if benchmarks.is_empty() {
            return Err(failure(&error));
        }
        let what = match error {
            ImportError::Change { .. } => "a relative change of criterion, no time; left out",
            _ => "no time of criterion's; left out",
        };
        notes.add(&name, what.to_owned());
    }
    Ok(benchmarks)
}

/// Whether criterion keeps it beside its times, where `find -name '*.json'` meets it.
fn is_beside(path: &Path) -> bool {
    let names = ["benchmark.json", "tukey.json"];
    path.file_name().is_some_and(|name| names.iter().any(|known| *known == name))
}

type Bytes = io::Result<Vec<u8>>;

/// The files that a path names, with what is in them.
fn files(path: &Path) -> Result<Vec<(PathBuf, Bytes)>, Failure> {
    if !path.is_dir() {
        let bytes = fs::File::open(path).and_then(|file| Bounded::new(file).all());
        return Ok(vec![(path.to_owned(), bytes)]);
    }
    let folder = Folder::at(path);
    let bytes = |name: String| {
        let bytes = folder.open(&name).and_then(Bounded::all);
        (folder.join(&name), bytes)
    };
    Ok(samples(&folder)?.into_iter().map(bytes).collect())
}

fn of_file(path: &Path, bytes: Bytes) -> Result<Result<Contents, ImportError>, Failure> {
    let bytes = bytes.map_err(|error| Failure::reading(path, error))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::files(format!("{} is no text in UTF-8", path.display())))?;
    let beside = Folder::at(path.parent().unwrap_or(Path::new(""))).text("benchmark.json").ok();
    let name = path.display().to_string();
    Ok(read(&Source { file: &name, text: &text, beside: beside.as_deref() }))
}

fn failure(error: &ImportError) -> Failure {
    let exit = match error {
        ImportError::Unknown { .. } | ImportError::Change { .. } => Exit::Input,
        _ => Exit::File,
    };
    Failure { exit, sentence: error.to_string() }
}

/// The samples of criterion's last run, by their names in its folder.
fn samples(folder: &Folder) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    samples_below(folder, "", DEEPEST, &mut found)?;
    if found.is_empty() {
        let expected = "holds no `new/sample.json` of criterion; name a file, or target/criterion";
        return Err(Failure::input(format!("{} {expected}", folder.path().display())));
    }
    Ok(found)
}

/// A link is left out: it leads out of the folder.
fn samples_below(
    folder: &Folder,
    below: &str,
    depth: usize,
    found: &mut Vec<String>,
) -> Result<(), Failure> {
    let sample = format!("{below}new/sample.json");
    if folder.has(&sample) {
        found.push(sample);
        return Ok(());
    }
    let names =
        folder.names(below).map_err(|error| Failure::reading(&folder.join(below), error))?;
    for name in names {
        let inner = format!("{below}{name}/");
        let is_folder = fs::symlink_metadata(folder.join(&inner[..inner.len() - 1]));
        if is_folder.is_ok_and(|kind| kind.is_dir()) && depth > 0 {
            samples_below(folder, &inner, depth - 1, found)?;
        }
    }
    Ok(())
}
