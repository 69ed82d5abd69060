//! The files of a report, bound to the record that they follow from: `manifest.json` beside them
//! has their hashes. A file that was changed is told by who shows it and by who would write it
//! again, and is never written over in silence.

use std::{collections::BTreeSet, fs, path::Path};

use lab_console::Failure;
use lab_record::{Folder, Heads, Manifest, RecordError, Results, RunFile, sha256_hex};

use crate::Source;

/// A file of a report: its name in the folder, and what is in it.
pub type Written = (String, Vec<u8>);

/// Where files are written to.
#[derive(Clone, Copy)]
pub struct Place<'p> {
    /// The folder.
    pub out: &'p Path,
    /// The record's folder, which may be the same.
    pub record: &'p Path,
    /// How far the record is; none of a record from before chains, whose files are not bound.
    pub heads: Option<&'p Heads>,
    /// Whatever lies there is of an earlier copy, and is replaced.
    pub replaces: bool,
}

/// Writes files, and binds those of a chained record.
///
/// # Errors
/// One cannot be written, or what lies there was changed.
pub fn write(place: Place, files: &[Written]) -> Result<(), Failure> {
    let folder = Folder::at(place.out);
    let manifest = match place.heads {
        Some(heads) => Some(manifest(place, heads, files)?),
        None => None,
    };
    for (name, bytes) in files {
        // In the place of a link that a record brought, not through it.
        folder.write(name, bytes).map_err(|error| Failure::file(&folder.join(name), error))?;
    }
    // Last: what a kill leaves unbound is then what would be written again.
    manifest.map_or(Ok(()), |manifest| Ok(manifest.write(&folder)?))
}

/// The manifest with these files in it, once no file there was found changed.
fn manifest(place: Place, heads: &Heads, files: &[Written]) -> Result<Manifest, Failure> {
    let Place { out, record, replaces, .. } = place;
    let whole = |path: &Path| fs::canonicalize(path).ok();
    let is_own = whole(out) == whole(record);
    let is_of_it = |old: &Manifest| is_own || old.record() == heads;
    let folder = Folder::at(out);
    let old = Manifest::read(&folder)?.filter(is_of_it);
    let mut manifest = Manifest::of(heads);
    let written: BTreeSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    if let Some(old) = &old {
        let others = old.names().filter(|name| !written.contains(name));
        for name in others.filter(|name| folder.has(name)) {
            old.check(&folder, name).map_err(told)?;
            manifest.put(name, old.sha256(name).unwrap_or_default().to_owned());
        }
    }
    for (name, bytes) in files {
        let (path, new) = (folder.join(name), sha256_hex(bytes));
        if folder.has(name) && !replaces && (is_own || old.is_some()) {
            let there = folder.read(name).map_err(|error| Failure::reading(&path, error))?;
            let there = sha256_hex(&there);
            let known = old.as_ref().and_then(|old| old.sha256(name));
            if there != new && known != Some(&there) {
                let what = match known {
                    Some(_) => "was changed after it was written",
                    None => "is none that `lab report` wrote",
                };
                return Err(told(RecordError::Unlike { path, what: what.to_owned() }));
            }
        }
        manifest.put(name, new);
    }
    Ok(manifest)
}

/// With what to do.
fn told(error: RecordError) -> Failure {
    Failure::files(format!("{error}; nothing was written: remove it, and it is written anew"))
}

/// That the texts of a page are those that were written beside its record.
///
/// # Errors
/// They are not.
pub fn check_shown(dir: &Path, results: &Results, source: &Source) -> Result<(), Failure> {
    if results.heads().is_none() {
        return Ok(());
    }
    let first = ("report.md".to_owned(), &source.first);
    let chapters = source.chapters.iter().map(|(name, text)| (format!("details/{name}.md"), text));
    let others = source.pictures.iter().chain(&source.tables);
    let others = others.map(|(name, text)| (name.clone(), text));
    let mut shown = BTreeSet::new();
    for (name, text) in [first].into_iter().chain(chapters).chain(others) {
        check_text(dir, results.manifest(), &name, text)?;
        shown.insert(name);
    }
    let is_shown = |name: &&str| [".md", ".svg", ".tsv"].iter().any(|end| name.ends_with(end));
    let names = results.manifest().into_iter().flat_map(Manifest::names).filter(is_shown);
    match names.into_iter().find(|name| !shown.contains(*name)) {
        Some(missing) => Err(unlike(dir, missing, "is in manifest.json and not in the folder")),
        None => Ok(()),
    }
}

/// That a text of a report's folder, where this is the folder of a chained record, is as it was.
///
/// # Errors
/// It is not.
pub fn check_alone(dir: &Path, name: &str, text: &str) -> Result<(), Failure> {
    let folder = Folder::at(dir);
    if !folder.has("run.json") || !RunFile::is_chained(dir)? {
        return Ok(());
    }
    check_text(dir, Manifest::read(&folder)?.as_ref(), name, text)
}

fn check_text(
    dir: &Path,
    manifest: Option<&Manifest>,
    name: &str,
    text: &str,
) -> Result<(), Failure> {
    let Some(manifest) = manifest else {
        return Err(unlike(dir, name, "has no manifest.json beside it; run `lab report` anew"));
    };
    match manifest.sha256(name) {
        Some(sha256) if sha256 == sha256_hex(text.as_bytes()) => Ok(()),
        Some(_) => Err(unlike(dir, name, "was changed after it was written")),
        None => Err(unlike(dir, name, "is none that `lab report` wrote")),
    }
}

fn unlike(dir: &Path, name: &str, what: &str) -> Failure {
    RecordError::Unlike { path: dir.join(name), what: what.to_owned() }.into()
}
