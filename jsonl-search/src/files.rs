//! The corpus as files, and the two blocking ways to read them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use memmap2::Mmap;
use nix::fcntl::{OFlag, PosixFadviseAdvice, posix_fadvise};

use crate::Advise;
use crate::as_they_are::Held;

/// Bytes of parts of files that are long enough that opening a file is nothing beside one, and
/// short enough that a few hundred megabytes keep every core busy to the end.
pub const CHUNK_BYTES: u64 = 4 << 20;

/// A file of the corpus.
#[derive(Debug)]
pub struct SourceFile {
    /// In the order of the paths.
    pub index: u32,
    /// Where it is.
    pub path: Arc<Path>,
    /// Its size in bytes when the folder was walked; 0 where the file is not there.
    pub bytes: u64,
    kind: Kind,
    /// Given up with the last job that holds the file.
    map: OnceLock<Result<Mmap, String>>,
    held: OnceLock<Result<Box<Held>, String>>,
}

/// What the walk saw a name to stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file of so many bytes.
    File(u64),
    /// A file that nobody asked for its size, for there are many.
    Unsized,
    /// Nothing, or no file: it is looked at when it is opened.
    Unknown,
    /// A pipe or a device that a person named.
    Stream,
    /// Standard input.
    Input,
    /// What is not opened, and why.
    LeftOut(&'static str),
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
    /// Its place among all.
    pub(crate) fn key(&self) -> (u32, u64) {
        (self.chunk.file, self.chunk.start)
    }

    /// The jobs of these files, in their order, of so many bytes at least 1.
    pub fn cut(files: Vec<Arc<SourceFile>>, bytes: u64) -> Vec<Self> {
        let jobs = files.into_iter().flat_map(|file| {
            file.chunks(bytes).map(move |chunk| Self { file: Arc::clone(&file), chunk })
        });
        jobs.collect()
    }
}

impl SourceFile {
    pub(crate) fn new(index: usize, path: &Path, kind: Kind) -> Self {
        let bytes = if let Kind::File(bytes) = kind { bytes } else { 0 };
        let (map, held) = (OnceLock::new(), OnceLock::new());
        Self { index: index as u32, path: path.into(), bytes, kind, map, held }
    }

    /// The same file, which has turned out to have so many bytes.
    pub(crate) fn sized(&self, bytes: u64, held: Held) -> Self {
        let held = OnceLock::from(Ok(Box::new(held)));
        let (path, map) = (Arc::clone(&self.path), OnceLock::new());
        Self { index: self.index, path, bytes, kind: Kind::File(bytes), map, held }
    }

    /// Whether its size is not known yet.
    pub(crate) fn is_unsized(&self) -> bool {
        self.kind == Kind::Unsized
    }

    /// Whether it has no size and is read once, from its beginning to its end.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.kind, Kind::Stream | Kind::Input)
    }

    #[cfg(test)]
    pub(crate) fn is_left_out(&self) -> bool {
        matches!(self.kind, Kind::LeftOut(_))
    }

    /// Waits for whoever writes to it.
    ///
    /// # Errors
    /// Whatever the system says.
    pub(crate) fn open_stream(&self) -> io::Result<File> {
        match self.kind {
            Kind::Input => Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?)),
            _ => File::open(&self.path),
        }
    }

    /// Opens it and tells the kernel what to expect. Blocks.
    ///
    /// # Errors
    /// Whatever the system says, and that it is no regular file.
    pub fn open(&self, advise: Advise) -> io::Result<File> {
        let file = match self.kind {
            Kind::File(_) | Kind::Unsized => open_at_once(&self.path)?,
            Kind::LeftOut(why) => return Err(io::Error::other(why)),
            _ => open_regular(&self.path)?,
        };
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
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn evict(&self) -> io::Result<()> {
        let file = self.open(Advise::None)?;
        // Only clean pages can be dropped.
        file.sync_all()?;
        Ok(posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?)
    }

    /// Maps it into memory once, whoever asks first. A fault brings sixteen pages; the kernel's
    /// bringing all at once (`MADV_POPULATE_READ`) took longer: it looks at each page.
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

    /// Opens it once, whoever asks first, for all who search a part of it.
    pub(crate) fn held(&self, advise: Advise) -> Result<&Held, String> {
        let held = self.held.get_or_init(|| {
            Held::open(self, advise).map(Box::new).map_err(|error| error.to_string())
        });
        held.as_deref().map_err(Clone::clone)
    }
}

/// # Errors
/// Whatever the system says, and that it is no regular file.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let file = open_at_once(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file")),
    }
}

/// Without waiting for the writer of a pipe, but for whoever has a lease on the file.
fn open_at_once(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlag::O_NONBLOCK.bits());
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => File::open(path),
        opened => opened,
    }
}

/// # Safety of the map
/// The lab made these files and nobody changes them during a run; one that is cut nevertheless ends
/// the process with SIGBUS, which is a failed record. A person's are mapped otherwise (see
/// `cut_short`).
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

/// Reads at an offset until the buffer is full or the file ends: behind `bytes`, its size of a
/// moment ago, a read that comes back short has seen its end.
pub(crate) fn read_full(
    file: &File,
    buffer: &mut [u8],
    offset: u64,
    bytes: u64,
) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => {
                filled += count;
                if bytes > 0 && offset + filled as u64 >= bytes {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
