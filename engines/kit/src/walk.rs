//! Which files a corpus has.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::SourceFile;

/// A path, and its size in bytes where it is a file.
type Entry = (PathBuf, Option<u64>);

/// Everything named `*.jsonl` below the folders among `roots`, and the others themselves, whatever
/// they are named, in the order of the paths' bytes; also what turns out to be no file. A folder
/// that cannot be read takes nothing from the others: it stands there as a file that cannot be
/// opened. Links to folders are not followed. With an error, where no root can be read, comes the
/// first root.
pub(crate) fn walk(roots: &[PathBuf]) -> Result<Vec<SourceFile>, (&Path, io::Error)> {
    let mut entries = Vec::new();
    let mut failures = Vec::new();
    for root in roots {
        if let Err(error) = find(root, &mut entries) {
            entries.push((root.clone(), None));
            failures.push((root.as_path(), error));
        }
    }
    if failures.len() == roots.len() && !failures.is_empty() {
        return Err(failures.remove(0));
    }
    // Each folder is in order; roots may not be, and a person may name a folder and a file in it.
    let bytes = |entry: &Entry| entry.0.as_os_str().as_bytes().to_owned();
    if !entries.is_sorted_by(|a, b| a.0.as_os_str().as_bytes() < b.0.as_os_str().as_bytes()) {
        entries.sort_by_cached_key(bytes);
        entries.dedup_by(|a, b| a.0.as_os_str() == b.0.as_os_str());
    }
    let file = |(index, (path, bytes)): (usize, &Entry)| SourceFile::new(index, path, *bytes);
    Ok(entries.iter().enumerate().map(file).collect())
}

fn find(root: &Path, entries: &mut Vec<Entry>) -> io::Result<()> {
    let metadata = fs::metadata(root)?;
    if metadata.is_file() {
        entries.push((root.to_owned(), Some(metadata.len())));
        return Ok(());
    }
    look_into(root, entries)
}

/// A name in a folder, with a slash behind a folder's: so its files sort as their paths do.
struct Name {
    bytes: Vec<u8>,
    is_folder: bool,
    /// `None` of what is no file.
    file_bytes: Option<u64>,
}

fn look_into(folder: &Path, entries: &mut Vec<Entry>) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let mut bytes = entry.file_name().into_vec();
        if bytes.ends_with(b".jsonl") {
            // Of a link, the size of what it leads to; by the folder's handle of anything else.
            let metadata =
                if kind.is_symlink() { fs::metadata(entry.path()) } else { entry.metadata() };
            let metadata = metadata.ok().filter(fs::Metadata::is_file);
            let file_bytes = metadata.map(|metadata| metadata.len());
            names.push(Name { bytes, is_folder: false, file_bytes });
        } else if kind.is_dir() {
            bytes.push(b'/');
            names.push(Name { bytes, is_folder: true, file_bytes: None });
        }
    }
    names.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
    for Name { bytes, is_folder, file_bytes } in names {
        let name = bytes.strip_suffix(b"/").unwrap_or(&bytes);
        let path = folder.join(OsStr::from_bytes(name));
        if !is_folder || look_into(&path, entries).is_err() {
            entries.push((path, file_bytes));
        }
    }
    Ok(())
}
