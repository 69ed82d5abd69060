//! Whose folder it is: one that may be written, or one that already has what is asked for.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::args::Plan;
use crate::check;
use crate::manifest::{MANIFEST, Manifest};
use crate::{CorpusError, folder};

/// It lies in the folder until the manifest does, and is locked while it is written to.
const UNFINISHED: &str = "corpus.unfinished";

/// What the generator makes besides the manifest.
const OURS: [&str; 4] = ["projects", "hostile", UNFINISHED, "corpus.json.tmp"];

/// What was found.
pub(crate) enum Place {
    /// Nothing, or what an interrupted run left, which is gone now.
    Free(Hold),
    /// What is asked for, whole as far as sizes tell.
    Fits(Manifest),
}

/// The right to write into a folder.
pub(crate) struct Hold {
    mark: PathBuf,
    /// The lock ends with it.
    _lock: File,
}

impl Hold {
    /// Takes the mark away, once the manifest lies there.
    pub(crate) fn finish(self) -> Result<(), CorpusError> {
        fs::remove_file(&self.mark).map_err(|error| folder(&self.mark, &error))
    }
}

/// Looks at the folder, and makes it where it is missing.
pub(crate) fn look(dir: &Path, plan: &Plan) -> Result<Place, CorpusError> {
    fs::create_dir_all(dir).map_err(|error| folder(dir, &error))?;
    let names = names(dir)?;
    if names.iter().any(|name| name == MANIFEST) {
        return finished(dir, plan).map(Place::Fits);
    }
    let begun = names.iter().any(|name| name == UNFINISHED);
    let foreign = names.iter().find(|name| !begun || !OURS.contains(&name.as_str()));
    if let Some(foreign) = foreign {
        return Err(CorpusError::Arguments(format!(
            "{} is no corpus folder: it has {foreign}; give an empty or new folder",
            dir.display(),
        )));
    }
    let claim = claim(dir)?;
    for name in OURS.iter().filter(|name| **name != UNFINISHED) {
        remove(&dir.join(name))?;
    }
    Ok(Place::Free(claim))
}

fn finished(dir: &Path, plan: &Plan) -> Result<Manifest, CorpusError> {
    let manifest = Manifest::load(dir)?;
    if !manifest.is_of(plan) {
        let sentence = "has a corpus of other arguments or of another version of the generator; \
                        name another folder, or delete it";
        return Err(CorpusError::Arguments(format!("{} {sentence}", dir.display())));
    }
    match check::places(dir, &manifest)?.first() {
        None => Ok(manifest),
        Some(difference) => Err(CorpusError::Folder(format!(
            "{} differs from its manifest ({difference}); delete it and run again",
            dir.display(),
        ))),
    }
}

fn claim(dir: &Path) -> Result<Hold, CorpusError> {
    let mark = dir.join(UNFINISHED);
    let lock = File::create(&mark).map_err(|error| folder(&mark, &error))?;
    match lock.try_lock() {
        Ok(()) => Ok(Hold { mark, _lock: lock }),
        Err(TryLockError::WouldBlock) => {
            let sentence = "another process is generating this corpus; wait for it to finish";
            Err(CorpusError::Folder(format!("{}: {sentence}", dir.display())))
        }
        Err(TryLockError::Error(error)) => Err(folder(&mark, &error)),
    }
}

fn names(dir: &Path) -> Result<Vec<String>, CorpusError> {
    let entries = fs::read_dir(dir).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|error| folder(dir, &error))?;
    let mut names: Vec<_> =
        entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn remove(path: &Path) -> Result<(), CorpusError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(folder(path, &error)),
        _ => Ok(()),
    }
}
