//! Reading no more than a record may hold: a packed file of 200 KB can unpack to gigabytes, and a
//! device has no end.

use std::io::{self, Read};

/// Bytes of one file, unpacked: some forty times the largest committed one.
pub const MOST_BYTES: u64 = 512 << 20;

/// A reader that fails beyond so many bytes.
pub struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Bounded<R> {
    /// At most [`MOST_BYTES`].
    pub fn new(inner: R) -> Self {
        Self { inner, left: MOST_BYTES }
    }

    /// Everything.
    ///
    /// # Errors
    /// Where reading fails, or there is more.
    pub fn all(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::other(format!(
                "holds more than {} MiB, which no record of this lab does; it is not read",
                MOST_BYTES >> 20
            ))
        })?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused_and_the_rest_is_read() {
        let error = Bounded::new(io::repeat(0)).all().unwrap_err();
        assert!(error.to_string().starts_with("holds more than 512 MiB"), "{error}");
        assert_eq!(Bounded::new(&b"abc"[..]).all().unwrap(), b"abc");
        let exact = Bounded { inner: &b"abc"[..], left: 3 };
        assert_eq!(exact.all().unwrap(), b"abc");
        assert!(Bounded { inner: &b"abcd"[..], left: 3 }.all().is_err());
    }
}
