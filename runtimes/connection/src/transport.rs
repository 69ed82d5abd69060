//! What a runtime does for a connection.

use std::io;
use std::time::{Duration, Instant};

/// A connected socket of one runtime, and that runtime's way to wait.
///
/// Buffers are given away and come back, for a kernel that fills them while nobody looks
/// (`io_uring`) needs them as its own.
pub trait Transport: Sized {
    /// Connects to `host:port` and sends small pieces at once (`TCP_NODELAY`). One that blocks its
    /// thread gives up reads and writes with [`io::ErrorKind::TimedOut`] when nothing moves for
    /// `stall_timeout`; another one need not look at it.
    ///
    /// # Errors
    /// The system's, of the last address that was tried.
    fn connect(authority: &str, stall_timeout: Duration) -> impl Future<Output = io::Result<Self>>;

    /// Writes all of it.
    ///
    /// # Errors
    /// The system's.
    fn write_all(&mut self, bytes: Vec<u8>) -> impl Future<Output = io::Result<()>>;

    /// Waits for bytes and puts them at the start of `buffer`, as many as its capacity takes; the
    /// number is 0 where the server has closed. The buffer comes back with those bytes in it, and
    /// its length is at least their number.
    ///
    /// # Errors
    /// The system's.
    fn read(&mut self, buffer: Vec<u8>) -> impl Future<Output = (io::Result<usize>, Vec<u8>)>;

    /// Waits until then; for ever, where reads and writes end by themselves.
    fn sleep_until(deadline: Instant) -> impl Future<Output = ()>;
}
