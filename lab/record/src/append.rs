//! A file of lines that one process appends to: its lock, and where its last whole line ends.

use std::{
    fs::{File, TryLockError},
    io, thread,
    time::Duration,
};

use nix::errno::Errno;

/// A killed lab's program may hold a lock for an instant.
const TRIES: usize = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// What became of locking a file.
#[derive(Debug)]
pub enum Lock {
    /// It is held until the file is closed.
    Held,
    /// Somebody else holds it.
    InUse,
    /// The file system has no locks, such as one of a network or of a user's program: that nobody
    /// else writes is up to the user.
    Unknown(io::Error),
}

impl Lock {
    /// Takes the lock of a file, or says at once that it is somebody else's.
    ///
    /// # Errors
    /// Where locking fails otherwise.
    pub fn take(file: &File) -> io::Result<Self> {
        match file.try_lock() {
            Ok(()) => Ok(Self::Held),
            Err(TryLockError::WouldBlock) => Ok(Self::InUse),
            Err(TryLockError::Error(error)) if has_no_locks(&error) => Ok(Self::Unknown(error)),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The same, and waits a second for somebody else.
    ///
    /// # Errors
    /// Where locking fails otherwise.
    pub fn take_patiently(file: &File) -> io::Result<Self> {
        for _ in 1..TRIES {
            match Self::take(file)? {
                Self::InUse => thread::sleep(BETWEEN_TRIES),
                other => return Ok(other),
            }
        }
        Self::take(file)
    }
}

/// Whether flock(2) failed because the file system knows no locks.
fn has_no_locks(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(errno, Some(Errno::ENOSYS | Errno::ENOLCK | Errno::EOPNOTSUPP))
}

/// How many bytes the whole lines have. What was killed while it wrote leaves part of one behind,
/// which was never a line.
pub fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_is_no_failure() {
        let told = |errno: Errno| has_no_locks(&io::Error::from(errno));
        assert!([Errno::ENOSYS, Errno::ENOLCK, Errno::EOPNOTSUPP].into_iter().all(told));
        assert!(![Errno::EIO, Errno::EBADF, Errno::EACCES].into_iter().any(told));
        assert!(!has_no_locks(&io::Error::other("no number")));
    }

    #[test]
    fn a_lock_is_held_until_its_file_is_closed() {
        let place = tempfile::NamedTempFile::new().unwrap();
        let open = || File::open(place.path()).unwrap();
        let first = open();
        assert!(matches!(Lock::take(&first).unwrap(), Lock::Held));
        assert!(matches!(Lock::take(&open()).unwrap(), Lock::InUse));
        drop(first);
        assert!(matches!(Lock::take_patiently(&open()).unwrap(), Lock::Held));
    }

    #[test]
    fn a_torn_line_is_none() {
        assert_eq!(whole_lines(b"{}\n{}\n{"), 6);
        assert_eq!((whole_lines(b"{"), whole_lines(b"")), (0, 0));
    }
}
