//! Reading no more than a record may hold: a packed file of 200 KB can unpack to gigabytes, and a
//! device has no end.

use std::{
    io::{self, Read},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// Bytes of one file, unpacked, where the user names no other limit: some forty times the largest
/// committed one.
pub const MOST_BYTES: u64 = 512 << 20;

/// All files of a record together, in limits of one.
const FILES_OF_RECORD: u64 = 4;

/// The limit of this process that its command line named; 0 where it named none.
static LIMIT_BYTES: AtomicU64 = AtomicU64::new(0);

/// Moves the limit for everything that is read from now on.
pub fn limit_bytes(bytes: u64) {
    LIMIT_BYTES.store(bytes, Ordering::Relaxed);
}

fn limit_or(usual: u64) -> u64 {
    match LIMIT_BYTES.load(Ordering::Relaxed) {
        0 => usual,
        named => named,
    }
}

/// Bytes that may still be read; clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    left: Arc<AtomicU64>,
}

impl Budget {
    /// For all files of one record.
    pub(crate) fn of_record() -> Self {
        Self { left: Arc::new(AtomicU64::new(Self::whole())) }
    }

    fn whole() -> u64 {
        limit_or(MOST_BYTES).saturating_mul(FILES_OF_RECORD)
    }

    /// Takes bytes out of it.
    pub(crate) fn take(&self, bytes: u64) -> io::Result<()> {
        let less = |left: u64| left.checked_sub(bytes);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::other(format!(
                "with the files of its record that were read before, it holds more than {}; \
                 it is not read ({ALLOWS})",
                shown(Self::whole())
            ))),
        }
    }
}

const ALLOWS: &str = "--max-bytes allows more";

/// A limit for people.
fn shown(bytes: u64) -> String {
    match bytes % (1 << 20) {
        0 => format!("{} MiB", bytes >> 20),
        _ => format!("{bytes} bytes"),
    }
}

/// A reader that fails beyond so many bytes.
pub struct Bounded<R> {
    inner: R,
    most: u64,
    left: u64,
    budget: Option<Budget>,
}

impl<R: Read> Bounded<R> {
    /// At most [`MOST_BYTES`], or what [`limit_bytes`] was told.
    pub fn new(inner: R) -> Self {
        Self::of(inner, MOST_BYTES)
    }

    /// At most so many, or what [`limit_bytes`] was told.
    pub fn of(inner: R, usual: u64) -> Self {
        let most = limit_or(usual);
        Self { inner, most, left: most, budget: None }
    }

    /// As many, and no more than a record has left.
    pub(crate) fn within(inner: R, budget: Budget) -> Self {
        Self { budget: Some(budget), ..Self::new(inner) }
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
            let most = shown(self.most);
            io::Error::other(format!("holds more than {most}; it is not read ({ALLOWS})"))
        })?;
        self.budget.iter().try_for_each(|budget| budget.take(read as u64))?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use proof_kit::Attack;

    use super::*;

    #[test]
    fn what_has_no_end_is_refused_and_the_rest_is_read() {
        let attack = Attack::on("memory", "bytes without an end");
        let error = Bounded::new(io::repeat(0)).all().unwrap_err();
        assert!(error.to_string().starts_with("holds more than 512 MiB"), "{error}");
        drop(attack);
        assert_eq!(Bounded::new(&b"abc"[..]).all().unwrap(), b"abc");
        assert_eq!(Bounded::of(&b"abc"[..], 3).all().unwrap(), b"abc");
        assert!(Bounded::of(&b"abcd"[..], 3).all().is_err());
    }

    #[test]
    fn files_of_one_record_share_what_they_may_hold() {
        let _attack = Attack::on("memory", "many files, each within the limit of one");
        let budget = Budget { left: Arc::new(AtomicU64::new(5)) };
        let read = || Bounded::within(&b"abc"[..], budget.clone()).all();
        assert_eq!(read().unwrap(), b"abc");
        let error = read().unwrap_err().to_string();
        assert!(error.contains("files of its record that were read before"), "{error}");
    }
}
