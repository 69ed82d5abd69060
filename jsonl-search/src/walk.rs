//! Which files a corpus has.

use std::ffi::OsStr;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::SourceFile;
use crate::files::Kind;

/// A path, and what it stands for.
type Entry = (PathBuf, Kind);

/// Device and number of a folder.
type Id = (u64, u64);

/// So many files of a folder are asked for their sizes, so that large ones are cut and few need few
/// threads. To ask all of many would be a quarter of what it takes to read them.
const FEW: usize = 64;

/// How folders are looked through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Walk {
    threads: usize,
    /// Whether what is no file is told apart, and compressed ones are found.
    for_a_person: bool,
    /// Whether links to folders are followed.
    pub(crate) follows: bool,
}

/// Everything named `*.jsonl` below the folders among `roots`, and the others themselves, whatever
/// they are named, in the order of the paths' bytes; also what turns out to be no file. A folder
/// that cannot be read takes nothing from the others: it stands there as a file that cannot be
/// opened. Links to folders are not followed.
///
/// # Errors
/// Where no root can be read: the first one, and why.
pub fn walk(roots: &[PathBuf], threads: usize) -> Result<Vec<SourceFile>, (&Path, io::Error)> {
    Walk { threads, for_a_person: false, follows: false }.files(roots)
}

impl Walk {
    /// Also `*.jsonl.gz` and `*.jsonl.zst`; `-` is standard input, and pipes and devices are
    /// searched where they are named.
    pub(crate) fn for_a_person(threads: usize) -> Self {
        Self { threads, for_a_person: true, follows: false }
    }

    /// As [`walk`].
    pub(crate) fn files(self, roots: &[PathBuf]) -> Result<Vec<SourceFile>, (&Path, io::Error)> {
        let mut entries = Vec::new();
        let mut failures = Vec::new();
        for root in roots {
            match self.find(root) {
                Ok(found) => entries.extend(found),
                Err(error) => {
                    entries.push((root.clone(), Kind::Unknown));
                    failures.push((root.as_path(), error));
                }
            }
        }
        if failures.len() == roots.len() && !failures.is_empty() {
            return Err(failures.remove(0));
        }
        // Each folder is in order; roots may not be, and a person may name a folder and a file in
        // it.
        let bytes = |entry: &Entry| entry.0.as_os_str().as_bytes().to_owned();
        if !entries.is_sorted_by(|a, b| a.0.as_os_str().as_bytes() < b.0.as_os_str().as_bytes()) {
            entries.sort_by_cached_key(bytes);
            entries.dedup_by(|a, b| a.0.as_os_str() == b.0.as_os_str());
        }
        let file = |(index, (path, kind)): (usize, &Entry)| SourceFile::new(index, path, *kind);
        Ok(entries.iter().enumerate().map(file).collect())
    }

    fn find(self, root: &Path) -> io::Result<Vec<Entry>> {
        if self.for_a_person && root.as_os_str() == "-" {
            return Ok(vec![(root.to_owned(), Kind::Input)]);
        }
        let metadata = fs::metadata(root)?;
        if metadata.is_file() {
            return Ok(vec![(root.to_owned(), Kind::File(metadata.len()))]);
        }
        if self.for_a_person && !metadata.is_dir() {
            let kind = match self.met(&metadata) {
                socket if metadata.file_type().is_socket() => socket,
                _ => Kind::Stream,
            };
            return Ok(vec![(root.to_owned(), kind)]);
        }
        self.look_into(root, &[], self.threads)
    }

    fn look_into(self, folder: &Path, above: &[Id], threads: usize) -> io::Result<Vec<Entry>> {
        let mut above = above.to_vec();
        if self.follows {
            let metadata = fs::metadata(folder)?;
            let id = (metadata.dev(), metadata.ino());
            if above.contains(&id) {
                let why = "is a loop: a link to a folder above it, and was left out";
                return Ok(vec![(folder.to_owned(), Kind::LeftOut(why))]);
            }
            above.push(id);
        }
        let names = self.names(folder)?;
        let folders: Vec<PathBuf> =
            names.iter().filter(|name| name.is_folder).map(|name| name.path(folder)).collect();
        let mut below = self.look_into_all(&folders, &above, threads).into_iter();
        let mut entries = Vec::with_capacity(names.len());
        for name in names {
            let of_folder = if name.is_folder { below.next() } else { None };
            match of_folder {
                Some(Ok(found)) => entries.extend(found),
                _ => entries.push((name.path(folder), name.kind)),
            }
        }
        Ok(entries)
    }

    /// The same of several folders, in their order. Where there is more than one, each thread takes
    /// the next: nothing is searched while one asks for the sizes of thousands of files.
    fn look_into_all(
        self,
        folders: &[PathBuf],
        above: &[Id],
        threads: usize,
    ) -> Vec<io::Result<Vec<Entry>>> {
        if threads == 1 || folders.len() < 2 {
            let look = |folder: &PathBuf| self.look_into(folder, above, threads);
            return folders.iter().map(look).collect();
        }
        let next = AtomicUsize::new(0);
        let work = || {
            let mut found = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(folder) = folders.get(index) else { return found };
                found.push((index, self.look_into(folder, above, 1)));
            }
        };
        let mut found = thread::scope(|scope| {
            let others: Vec<_> =
                (1..threads.min(folders.len())).map(|_| scope.spawn(work)).collect();
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
    fn names(self, folder: &Path) -> io::Result<Vec<Name>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let mut bytes = entry.file_name().into_vec();
            if self.is_searched(&bytes) {
                let is_one_of_many = self.for_a_person && kind.is_file() && names.len() >= FEW;
                // Of a link, what it leads to; by the folder's handle of anything else.
                let metadata = || match kind.is_symlink() {
                    true => fs::metadata(entry.path()),
                    false => entry.metadata(),
                };
                let kind = match is_one_of_many {
                    true => Kind::Unsized,
                    false => metadata().map_or(Kind::Unknown, |metadata| self.met(&metadata)),
                };
                names.push(Name { bytes, is_folder: false, kind });
            } else if kind.is_dir() || self.follows && is_link_to_folder(&entry) {
                bytes.push(b'/');
                names.push(Name { bytes, is_folder: true, kind: Kind::Unknown });
            }
        }
        names.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
        Ok(names)
    }

    fn is_searched(self, name: &[u8]) -> bool {
        let packed = [&b".jsonl.gz"[..], b".jsonl.zst"];
        name.ends_with(b".jsonl")
            || self.for_a_person && packed.iter().any(|end| name.ends_with(end))
    }

    /// What is met in a folder: nobody asked for what might never end.
    fn met(self, metadata: &Metadata) -> Kind {
        let kind = metadata.file_type();
        match () {
            () if kind.is_file() => Kind::File(metadata.len()),
            () if !self.for_a_person || kind.is_dir() => Kind::Unknown,
            () if kind.is_fifo() => Kind::LeftOut("is a FIFO and was left out"),
            () if kind.is_socket() => Kind::LeftOut("is a socket and was left out"),
            () => Kind::LeftOut("is a device and was left out"),
        }
    }
}

fn is_link_to_folder(entry: &DirEntry) -> bool {
    let leads_to = || fs::metadata(entry.path()).is_ok_and(|metadata| metadata.is_dir());
    entry.file_type().is_ok_and(|kind| kind.is_symlink()) && leads_to()
}

/// A name in a folder, with a slash behind a folder's: so its files sort as their paths do.
struct Name {
    bytes: Vec<u8>,
    is_folder: bool,
    kind: Kind,
}

impl Name {
    fn path(&self, folder: &Path) -> PathBuf {
        let bytes = self.bytes.strip_suffix(b"/").unwrap_or(&self.bytes);
        folder.join(OsStr::from_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_on_demand_and_loops_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir(root.join("c")).unwrap();
        for file in ["a/1.jsonl", "a/b/2.jsonl.gz", "c/3.jsonl", "c/4.txt.gz"] {
            fs::write(root.join(file), "").unwrap();
        }
        symlink("../..", root.join("a/b/up")).unwrap();
        symlink("c", root.join("d")).unwrap();
        symlink("self", root.join("self")).unwrap();
        let files = |walk: Walk| {
            let files = walk.files(&[root.to_owned()]).unwrap();
            let name = |file: &SourceFile| {
                let name = file.path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                if file.is_left_out() { name + " left out" } else { name }
            };
            files.iter().map(name).collect::<Vec<_>>()
        };
        for threads in [1, 3] {
            let walk = Walk::for_a_person(threads);
            assert_eq!(files(walk), ["a/1.jsonl", "a/b/2.jsonl.gz", "c/3.jsonl"]);
            let followed = files(Walk { follows: true, ..walk });
            let expected =
                ["a/1.jsonl", "a/b/2.jsonl.gz", "a/b/up left out", "c/3.jsonl", "d/3.jsonl"];
            assert_eq!(followed, expected);
            let strict = Walk { for_a_person: false, ..walk };
            assert_eq!(files(strict), ["a/1.jsonl", "c/3.jsonl"]);
        }
    }
}
