//! What a file's first bytes say of it, and the text of one that is compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

/// So many first bytes are enough to tell.
pub(crate) const FIRST_BYTES: usize = 1 << 10;

/// Bytes of a compressed file that are read at once.
const PACKED_BYTES: usize = 256 << 10;

/// What a file holds, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Lines.
    Plain,
    /// Members of gzip.
    Gzip,
    /// Frames of Zstandard.
    Zstd,
    /// Text in another encoding, as `iconv` names it.
    Utf16(&'static str),
}

impl Content {
    /// Of what begins with these bytes.
    pub(crate) fn of(first: &[u8]) -> Self {
        match first {
            [0x1f, 0x8b, 0x08, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Self::Utf16("UTF-16"),
            _ if is_wide(first, 1) => Self::Utf16("UTF-16LE"),
            _ if is_wide(first, 0) => Self::Utf16("UTF-16BE"),
            _ => Self::Plain,
        }
    }

    /// What it decompresses to.
    ///
    /// # Errors
    /// Why there is no such text.
    pub(crate) fn text<'a>(self, input: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
        match self {
            Self::Plain => Ok(Box::new(input)),
            Self::Gzip => Ok(Box::new(MultiGzDecoder::new(input))),
            Self::Zstd => Ok(Box::new(ZstdDecoder::with_buffer(input)?)),
            Self::Utf16(encoding) => Err(io::Error::other(format!(
                "is UTF-16; `iconv -f {encoding} -t UTF-8` makes it readable"
            ))),
        }
    }

    /// The same of a file, up to where it is damaged.
    ///
    /// # Errors
    /// Why there is no such text.
    pub(crate) fn text_of(self, file: &Arc<File>) -> io::Result<impl Read + use<>> {
        let file = Arc::clone(file);
        let open = move || {
            let input = BufReader::with_capacity(PACKED_BYTES, At::new(Arc::clone(&file)));
            self.text(input)
        };
        Ok(Careful { decoder: open()?, open, given: 0, in_steps: false })
    }
}

/// Whether the first letters are ASCII in 16 bits with the zero first (0) or second (1). JSON
/// begins with such letters, whatever the language of its strings.
fn is_wide(first: &[u8], zero: usize) -> bool {
    let letters = first.len().min(8) / 2;
    let is_ascii = |pair: &[u8]| pair[zero] == 0 && pair[1 - zero].is_ascii() && pair[1 - zero] > 0;
    letters > 1 && first[..2 * letters].chunks(2).all(is_ascii)
}

/// A decoder gives nothing of the step in which it fails, though that may be much. So it is made
/// once more and goes there in the smallest steps.
struct Careful<F, R> {
    open: F,
    decoder: R,
    given: u64,
    in_steps: bool,
}

impl<R: Read, F: Fn() -> io::Result<R>> Read for Careful<F, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = if self.in_steps { buffer.len().min(1) } else { buffer.len() };
        match self.decoder.read(&mut buffer[..most]) {
            Err(error) if !self.in_steps && error.kind() != io::ErrorKind::Interrupted => {
                self.in_steps = true;
                self.decoder = (self.open)()?;
                io::copy(&mut self.decoder.by_ref().take(self.given), &mut io::sink())?;
                self.read(buffer)
            }
            read => {
                self.given += *read.as_ref().unwrap_or(&0) as u64;
                read
            }
        }
    }
}

/// A file from an offset of its reader's own, for several read it.
#[derive(Debug)]
pub(crate) struct At {
    file: Arc<File>,
    offset: u64,
}

impl At {
    /// From the beginning.
    pub(crate) fn new(file: Arc<File>) -> Self {
        Self { file, offset: 0 }
    }
}

impl Read for At {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}

impl Seek for At {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let offset = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.offset.checked_add_signed(by),
            SeekFrom::End(by) => self.file.metadata()?.len().checked_add_signed(by),
        };
        self.offset = offset.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn sixteen_bits_are_told_from_runs_of_zeros() {
        for text in ["{\"text\":\"\u{9580}\u{9580}\"}\n", "{}", "[1]", "\r\n{\"a\":1}"] {
            let (le, be) = (utf16(text, u16::to_le_bytes), utf16(text, u16::to_be_bytes));
            assert_eq!(Content::of(&le), Content::Utf16("UTF-16LE"), "{text}");
            assert_eq!(Content::of(&be), Content::Utf16("UTF-16BE"), "{text}");
        }
        for plain in
            [&b""[..], b"\0", b"{}", b"{\"a\":0}", b"\0\0\0\0\0\0\0\0{}", b"{\0\0\0}", b"\0{"]
        {
            assert_eq!(Content::of(plain), Content::Plain, "{plain:?}");
        }
    }
}
