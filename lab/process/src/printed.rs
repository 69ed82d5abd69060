//! What a command prints, and what it reads: files in memory, and the ends of pipes.

use std::{
    fs::{self, File},
    io::{self, PipeReader, Read, Seek, Write},
    os::unix::fs::FileExt,
    path::PathBuf,
};

use nix::{
    fcntl::{FcntlArg, OFlag, fcntl},
    sys::memfd::{MFdFlags, memfd_create},
};
use sha2::{Digest, Sha256};

/// What is read at once: what a pipe holds.
pub(crate) const PIECE_BYTES: usize = 64 << 10;

/// A file of no name that takes memory and no disk, and holds these bytes. A command that reads
/// nothing holds nobody who writes to it, as a full pipe would.
pub(crate) fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let mut file: File = memfd_create("lab", MFdFlags::MFD_CLOEXEC)?.into();
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// A file that the command writes, and that is hashed when the command has ended.
pub(crate) struct Kept {
    file: File,
    /// What it may hold.
    bytes_max: Option<u64>,
}

impl Kept {
    pub(crate) fn in_memory(bytes_max: u64) -> io::Result<Self> {
        Ok(Self { file: in_memory(&[])?, bytes_max: Some(bytes_max) })
    }

    pub(crate) fn of(file: File) -> Self {
        Self { file, bytes_max: None }
    }

    /// The same file for the command.
    pub(crate) fn for_command(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    pub(crate) fn is_bounded(&self) -> bool {
        self.bytes_max.is_some()
    }

    /// Whether it holds more than it may.
    pub(crate) fn is_full(&self) -> io::Result<bool> {
        let Some(most) = self.bytes_max else { return Ok(false) };
        Ok(self.file.metadata()?.len() > most)
    }

    /// The hash of its bytes, and their number; `None` of what is no file, such as a device, whose
    /// bytes are gone.
    pub(crate) fn hash(&self) -> io::Result<Option<(String, u64)>> {
        let there = self.file.metadata()?;
        if !there.is_file() {
            return Ok(None);
        }
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        let mut piece = [0; PIECE_BYTES];
        // Not what another process, to which the command gave it, writes meanwhile.
        while bytes < there.len() {
            // At places: the command's place in the file is this one's.
            let count = self.file.read_at(&mut piece, bytes)?;
            if count == 0 {
                break;
            }
            hash.update(&piece[..count]);
            bytes += count as u64;
        }
        Ok(Some((hex(hash), bytes)))
    }
}

/// A file in memory that takes a command's complaints.
pub(crate) struct Remembered {
    file: File,
    bytes_max: u64,
    /// The end of what was forgotten.
    before: Vec<u8>,
}

impl Remembered {
    pub(crate) fn new(bytes_max: u64) -> io::Result<Self> {
        let file = in_memory(&[])?;
        // What is written after it was emptied begins at its start.
        fcntl(&file, FcntlArg::F_SETFL(OFlag::O_APPEND))?;
        Ok(Self { file, bytes_max, before: Vec::new() })
    }

    /// The same file for the command.
    pub(crate) fn for_command(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Forgets all but the last where it holds more than it may.
    pub(crate) fn look(&mut self) -> io::Result<()> {
        if self.file.metadata()?.len() > self.bytes_max {
            self.before = self.end()?;
            self.file.set_len(0)?;
        }
        Ok(())
    }

    /// The last of it.
    pub(crate) fn last(mut self) -> io::Result<Vec<u8>> {
        self.before.extend(self.end()?);
        Ok(self.before)
    }

    fn end(&self) -> io::Result<Vec<u8>> {
        let bytes = self.file.metadata()?.len();
        let from = bytes.saturating_sub(PIECE_BYTES as u64);
        let mut end = vec![0; (bytes - from) as usize];
        let count = self.file.read_at(&mut end, from)?;
        end.truncate(count);
        Ok(end)
    }
}

/// As it is written.
fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file that the command writes by its name, and what it may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The file.
    pub path: PathBuf,
    /// Bytes that it may hold.
    pub bytes_max: u64,
}

impl Bound {
    pub(crate) fn is_full(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|file| file.len() > self.bytes_max)
    }
}

/// A pipe into which the command writes.
pub(crate) struct Piped {
    pub(crate) pipe: PipeReader,
    /// Whether the pipe's other end may still be open.
    pub(crate) open: bool,
    into: Into,
}

/// What becomes of what comes through a pipe.
pub(crate) enum Into {
    /// It is hashed and counted.
    Hash(Sha256, u64),
    /// All of it is kept, up to this many bytes and what was read with the last of them.
    Whole(Vec<u8>, u64),
    /// The last of it is kept.
    Last(Vec<u8>),
}

impl Piped {
    pub(crate) fn new(pipe: PipeReader, into: Into) -> Self {
        Self { pipe, open: true, into }
    }

    /// Reads what the pipe holds, and returns how much that was.
    pub(crate) fn read(&mut self) -> io::Result<usize> {
        let mut piece = [0; PIECE_BYTES];
        let count = self.pipe.read(&mut piece)?;
        let piece = &piece[..count];
        self.open = count > 0;
        match &mut self.into {
            Into::Hash(hash, bytes) => {
                hash.update(piece);
                *bytes += count as u64;
            }
            Into::Whole(bytes, _) => bytes.extend_from_slice(piece),
            Into::Last(bytes) => {
                bytes.extend_from_slice(piece);
                let over = bytes.len().saturating_sub(PIECE_BYTES);
                bytes.drain(..over);
            }
        }
        Ok(count)
    }

    /// Whether more came than may.
    pub(crate) fn is_full(&self) -> bool {
        matches!(&self.into, Into::Whole(bytes, most) if bytes.len() as u64 > *most)
    }

    /// Whether all of it is asked for, so that its end means something.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.into, Into::Whole(..))
    }

    /// The hash of all that came, and its length.
    pub(crate) fn hash(&self) -> Option<(String, u64)> {
        match &self.into {
            Into::Hash(hash, bytes) => Some((hex(hash.clone()), *bytes)),
            _ => None,
        }
    }

    /// What was kept.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        match self.into {
            Into::Hash(..) => Vec::new(),
            Into::Whole(bytes, _) | Into::Last(bytes) => bytes,
        }
    }
}
