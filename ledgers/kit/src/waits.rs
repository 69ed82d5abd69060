//! What threads waited for locks.

use lab_protocol::ledgers::names;

use std::iter::Sum;
use std::ops::AddAssign;

use crate::now_ns;

/// What one thread, or all of them, waited for locks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LockWaits {
    /// Acquisitions that found the lock taken.
    pub count: u64,
    /// Nanoseconds until they had it.
    pub ns: u64,
}

impl LockWaits {
    pub(crate) fn columns(self) -> [(&'static str, i64); 2] {
        [
            (names::LOCK_WAITS, self.count.cast_signed()),
            (names::LOCK_WAIT_NS, self.ns.cast_signed()),
        ]
    }
}

impl AddAssign for LockWaits {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.ns += other.ns;
    }
}

impl Sum for LockWaits {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

/// Times an acquisition after a first try found the lock taken.
#[cold]
pub fn wait<T>(waits: &mut LockWaits, acquire: impl FnOnce() -> T) -> T {
    let start = now_ns();
    let guard = acquire();
    waits.count += 1;
    waits.ns += (now_ns() - start).unsigned_abs();
    guard
}
