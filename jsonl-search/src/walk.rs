//! Which files a corpus has.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::SourceFile;

/// A path, and its size in bytes where it is a file.
type Entry = (PathBuf, Option<u64>);

/// Everything named `*.jsonl` below the folders among `roots`, and the others themselves, whatever
/// they are named, in the order of the paths' bytes; also what turns out to be no file. A folder
/// that cannot be read takes nothing from the others: it stands there as a file that cannot be
/// opened. Links to folders are not followed.
///
/// # Errors
/// Where no root can be read: the first one, and why.
pub fn walk(roots: &[PathBuf], threads: usize) -> Result<Vec<SourceFile>, (&Path, io::Error)> {
    let mut entries = Vec::new();
    let mut failures = Vec::new();
    for root in roots {
        match find(root, threads) {
            Ok(found) => entries.extend(found),
            Err(error) => {
                entries.push((root.clone(), None));
                failures.push((root.as_path(), error));
            }
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

fn find(root: &Path, threads: usize) -> io::Result<Vec<Entry>> {
    let metadata = fs::metadata(root)?;
    if metadata.is_file() {
        return Ok(vec![(root.to_owned(), Some(metadata.len()))]);
    }
    look_into(root, threads)
}

/// A name in a folder, with a slash behind a folder's: so its files sort as their paths do.
struct Name {
    bytes: Vec<u8>,
    is_folder: bool,
    /// `None` of what is no file.
    file_bytes: Option<u64>,
}

impl Name {
    fn path(&self, folder: &Path) -> PathBuf {
        let bytes = self.bytes.strip_suffix(b"/").unwrap_or(&self.bytes);
        folder.join(OsStr::from_bytes(bytes))
    }
}

fn look_into(folder: &Path, threads: usize) -> io::Result<Vec<Entry>> {
    let names = names(folder)?;
    let folders: Vec<PathBuf> =
        names.iter().filter(|name| name.is_folder).map(|name| name.path(folder)).collect();
    let mut below = look_into_all(&folders, threads).into_iter();
    let mut entries = Vec::with_capacity(names.len());
    for name in names {
        let of_folder = if name.is_folder { below.next() } else { None };
        match of_folder {
            Some(Ok(found)) => entries.extend(found),
            _ => entries.push((name.path(folder), name.file_bytes)),
        }
    }
    Ok(entries)
}

/// The same of several folders, in their order. Where there is more than one, each thread takes the
/// next: nothing is searched while one asks for the sizes of thousands of files.
fn look_into_all(folders: &[PathBuf], threads: usize) -> Vec<io::Result<Vec<Entry>>> {
    if threads == 1 || folders.len() < 2 {
        return folders.iter().map(|folder| look_into(folder, threads)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(folder) = folders.get(index) else { return found };
            found.push((index, look_into(folder, 1)));
        }
    };
    let mut found = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(folders.len())).map(|_| scope.spawn(work)).collect();
        let mut found = work();
        for other in others {
            found.extend(other.join().expect("who looks into a folder does not panic"));
        }
        found
    });
    found.sort_unstable_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, entries)| entries).collect()
}

/// What a folder has, in the order of the paths.
fn names(folder: &Path) -> io::Result<Vec<Name>> {
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
    Ok(names)
}
