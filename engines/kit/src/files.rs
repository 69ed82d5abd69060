//! The corpus as files, and the two blocking ways to read them.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use lab_protocol::engines::{Advise, Granularity};
use memmap2::Mmap;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

/// Parts of files that are long enough that opening a file is nothing beside one, and short enough
/// that a few hundred megabytes keep every core busy to the end.
pub const CHUNKS: Granularity = Granularity::Bytes(4 << 20);

/// A file of the corpus.
#[derive(Debug)]
pub struct SourceFile {
    /// In the order of the paths.
    pub index: u32,
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes when the folder was walked; 0 where the file is not there.
    pub bytes: u64,
    map: OnceLock<Result<Mmap, String>>,
}

/// A part of a file: the lines that begin behind `start` and not behind `end`, and with the first
/// part the line at 0. So a reader begins with a part and needs no byte before it, and only the
/// last line leads it past the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The file's index.
    pub file: u32,
    /// Offset in bytes.
    pub start: u64,
    /// Offset in bytes; `u64::MAX` for the last chunk of a file.
    pub end: u64,
}

/// A piece of work: the lines of a part of a file, or of all of it.
#[derive(Debug, Clone)]
pub struct Job {
    /// The file; its map is given up with the last job that holds it.
    pub file: Arc<SourceFile>,
    /// Which lines.
    pub chunk: Chunk,
}

impl Job {
    /// The jobs of these files, in their order.
    pub(crate) fn cut(files: Vec<SourceFile>, size: Granularity) -> Vec<Self> {
        let bytes = match size {
            Granularity::Own | Granularity::File => u64::MAX,
            Granularity::Bytes(bytes) => u64::from(bytes.max(1)),
        };
        let jobs = files.into_iter().flat_map(|file| {
            let file = Arc::new(file);
            file.chunks(bytes).map(move |chunk| Self { file: Arc::clone(&file), chunk })
        });
        jobs.collect()
    }
}

impl SourceFile {
    /// Opens it and tells the kernel what to expect. Blocks.
    ///
    /// # Errors
    /// Whatever the system says, and that it is no regular file.
    pub fn open(&self, advise: Advise) -> io::Result<File> {
        // Looked at before it is opened: to open a pipe waits for its writer.
        let metadata = fs::metadata(&self.path)?;
        if metadata.is_dir() {
            // Says why nobody could look into it; that a folder is named `*.jsonl` is said below.
            fs::read_dir(&self.path)?;
        }
        if !metadata.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let file = File::open(&self.path)?;
        let advice = match advise {
            Advise::None => return Ok(file),
            Advise::Sequential => PosixFadviseAdvice::POSIX_FADV_SEQUENTIAL,
            Advise::WillNeed => PosixFadviseAdvice::POSIX_FADV_WILLNEED,
        };
        posix_fadvise(&file, 0, 0, advice)?;
        Ok(file)
    }

    /// Cuts it into chunks of so many bytes, at least one.
    pub fn chunks(&self, bytes: u64) -> impl Iterator<Item = Chunk> + use<> {
        let (file, count) = (self.index, self.bytes.div_ceil(bytes).max(1));
        (0..count).map(move |number| {
            let end = if number + 1 == count { u64::MAX } else { (number + 1) * bytes };
            Chunk { file, start: number * bytes, end }
        })
    }

    /// Drops its pages from the page cache.
    pub(crate) fn evict(&self) -> io::Result<()> {
        let file = self.open(Advise::None)?;
        // Only clean pages can be dropped.
        file.sync_all()?;
        Ok(posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?)
    }

    /// Maps it into memory once, whoever asks first.
    ///
    /// # Errors
    /// Why it cannot be mapped.
    pub fn map(&self, advise: Advise) -> Result<&[u8], String> {
        let map = self.map.get_or_init(|| {
            let file = self.open(advise).map_err(|error| error.to_string())?;
            map(&file).map_err(|error| error.to_string())
        });
        map.as_deref().map_err(Clone::clone)
    }
}

/// # Safety of the map
/// The lab made these files and nobody changes them during a run; one that is cut nevertheless ends
/// the process with SIGBUS, which is a failed record.
#[expect(unsafe_code, reason = "a map is undefined where others write to the file")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: nobody writes to the corpus while it is searched.
    unsafe { Mmap::map(file) }
}

/// A read buffer of so many bytes in `memory`, at the beginning of a page. Where malloc puts a
/// large block, 16 bytes behind that, some processors (AMD Zen, with `rep movsb`) copy from the
/// page cache at a fraction of their speed.
pub fn aligned(memory: &mut Vec<u8>, bytes: usize) -> &mut [u8] {
    const PAGE_BYTES: usize = 4096;
    memory.resize(bytes + PAGE_BYTES, 0);
    let start = memory.as_ptr().align_offset(PAGE_BYTES);
    &mut memory[start..start + bytes]
}

/// Reads at an offset until the buffer is full or the file ends.
pub(crate) fn read_full(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Everything named `*.jsonl` below the folders among `roots`, and the others themselves, whatever
/// they are named, in the order of the paths' bytes; also what turns out to be no file. Links to
/// folders are not followed. With an error comes the root that it is about.
pub(crate) fn walk(roots: &[PathBuf]) -> Result<Vec<SourceFile>, (&Path, io::Error)> {
    let mut paths = Vec::new();
    for root in roots {
        find(root, &mut paths).map_err(|error| (root.as_path(), error))?;
    }
    paths.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    // A person may name a folder and a file in it.
    paths.dedup();
    let file = |(index, path): (usize, PathBuf)| {
        let bytes = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        SourceFile { index: index as u32, path, bytes, map: OnceLock::new() }
    };
    Ok(paths.into_iter().enumerate().map(file).collect())
}

fn find(root: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    if fs::metadata(root)?.is_file() {
        paths.push(root.to_owned());
        return Ok(());
    }
    let mut folders = Vec::new();
    look_into(root, &mut folders, paths)?;
    while let Some(folder) = folders.pop() {
        // One among many that cannot be read takes nothing from the others: it becomes a file that
        // cannot be opened, and so is named and counted as those are.
        if look_into(&folder, &mut folders, paths).is_err() {
            paths.push(folder);
        }
    }
    Ok(())
}

fn look_into(
    folder: &Path,
    folders: &mut Vec<PathBuf>,
    paths: &mut Vec<PathBuf>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if path.as_os_str().as_bytes().ends_with(b".jsonl") {
            paths.push(path);
        } else if entry.file_type()?.is_dir() {
            folders.push(path);
        }
    }
    Ok(())
}
