//! The text of a file once more, from any offset: also of a compressed one, and of a stream that
//! was copied.

use std::collections::BTreeMap;
use std::env::temp_dir;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use nix::fcntl::OFlag;
use nix::sys::memfd::{MFdFlags, memfd_create};

use crate::content::{At, Content, FIRST_BYTES};
use crate::files::{open_regular, read_full};

/// Texts of compressed files that are kept at once: each is an open file.
const KEPT: usize = 64;

/// The texts of what a person searches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    /// Whether streams are copied while they are read, for they are needed again.
    pub(crate) copies_streams: bool,
    streams: Arc<Mutex<BTreeMap<u32, Arc<File>>>>,
    unpacked: Arc<Mutex<BTreeMap<u32, Arc<File>>>>,
}

impl Texts {
    /// Where a stream's text is copied to, if it is to be.
    ///
    /// # Errors
    /// Where there is no place for it.
    pub(crate) fn copy_of_stream(&self, index: u32) -> io::Result<Option<Arc<File>>> {
        if !self.copies_streams {
            return Ok(None);
        }
        let file = Arc::new(nameless()?);
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.insert(index, Arc::clone(&file));
        Ok(Some(file))
    }

    /// The text of the file of this index and path; offsets are those of hits.
    ///
    /// # Errors
    /// Whatever the system says; and of a stream that was not copied.
    pub(crate) fn open(&self, index: u32, path: &Path) -> io::Result<At> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(copy) = streams.get(&index) {
            return Ok(At::new(Arc::clone(copy)));
        }
        drop(streams);
        let mut unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = unpacked.get(&index) {
            return Ok(At::new(Arc::clone(text)));
        }
        let file = Arc::new(open_regular(path)?);
        let mut first = [0; FIRST_BYTES];
        let count = read_full(&file, &mut first, 0, 0)?;
        let text = match Content::of(&first[..count]) {
            Content::Plain => return Ok(At::new(file)),
            content => Arc::new(unpack(content, &file)?),
        };
        if unpacked.len() >= KEPT {
            unpacked.clear();
        }
        unpacked.insert(index, Arc::clone(&text));
        Ok(At::new(text))
    }
}

fn unpack(content: Content, file: &Arc<File>) -> io::Result<File> {
    let mut copy = nameless()?;
    let mut text = content.text_of(file)?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        match io::Read::read(&mut text, &mut buffer) {
            // That it is damaged was said before, and what was found is before the damage.
            Ok(0) | Err(_) => return Ok(copy),
            Ok(count) => copy.write_all(&buffer[..count])?,
        }
    }
}

/// A file that nobody else sees and that ends with the process: on a disk, or else in memory.
fn nameless() -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600).custom_flags(OFlag::O_TMPFILE.bits());
    options.open(temp_dir()).or_else(|_| {
        let memory = memfd_create("text", MFdFlags::MFD_CLOEXEC)?;
        Ok(File::from(memory))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Read, Seek, SeekFrom};

    use super::*;

    #[test]
    fn offsets_are_those_of_the_text_whatever_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let text: Vec<u8> = (0..200_000_u32).flat_map(u32::to_be_bytes).collect();
        let path = |number: u32| dir.path().join(number.to_string());
        fs::write(path(0), &text).unwrap();
        fs::write(path(1), zstd::encode_all(&text[..], 1).unwrap()).unwrap();
        let texts = Texts { copies_streams: true, ..Texts::default() };
        let mut copy: &File = &texts.copy_of_stream(2).unwrap().unwrap();
        copy.write_all(&text).unwrap();
        for number in 0..3 {
            for offset in [700_000, 4, 799_996] {
                let mut again = texts.open(number, &path(number)).unwrap();
                again.seek(SeekFrom::Start(offset)).unwrap();
                let mut four = [0; 4];
                again.read_exact(&mut four).unwrap();
                assert_eq!(four, text[offset as usize..][..4], "{number}");
            }
        }
        assert!(texts.open(3, dir.path()).is_err());
    }
}
