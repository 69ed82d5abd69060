//! Reads in flight, given back in the order in which they were asked for.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::{IoUring, opcode, types};

/// Reads in flight at most: enough to keep a disk busy, and their buffers stay in the cache.
const DEPTH: usize = 4;

/// A ring and its reads. `T` says what a read is for.
pub struct Reads<T> {
    ring: IoUring,
    /// In the order in which they were asked for. The kernel writes into the buffers of those
    /// without a result: they are neither moved nor freed before it is there.
    asked: VecDeque<Asked<T>>,
    /// The number of the front of `asked`.
    front: u64,
    buffers: Vec<Vec<u8>>,
}

struct Asked<T> {
    what: T,
    buffer: Vec<u8>,
    result: Option<i32>,
}

/// A read that is done.
pub struct Done<T> {
    /// What it was for.
    pub what: T,
    /// The bytes asked for; `read` of them are there.
    pub buffer: Vec<u8>,
    /// How many bytes were read.
    pub read: io::Result<usize>,
}

impl<T> Reads<T> {
    /// # Errors
    /// Where the kernel refuses a ring, for example because a sandbox forbids it.
    pub fn new() -> io::Result<Self> {
        let ring = IoUring::new(DEPTH as u32)?;
        Ok(Self { ring, asked: VecDeque::new(), front: 0, buffers: Vec::new() })
    }

    /// Whether one more read may be asked for.
    pub fn has_room(&self) -> bool {
        self.asked.len() < DEPTH
    }

    /// Asks for `length` bytes at `offset` of a file, which `what` keeps open.
    ///
    /// # Panics
    /// Without room.
    pub fn ask(&mut self, file: &File, offset: u64, length: usize, what: T) {
        assert!(self.has_room(), "ask for room first");
        let mut buffer = self.buffers.pop().unwrap_or_default();
        buffer.resize(length, 0);
        let read = opcode::Read::new(
            types::Fd(file.as_raw_fd()),
            buffer.as_mut_ptr(),
            u32::try_from(length).expect("a buffer is shorter than 4 GiB"),
        );
        let entry = read.offset(offset).build().user_data(self.front + self.asked.len() as u64);
        self.asked.push_back(Asked { what, buffer, result: None });
        // SAFETY: `asked` keeps the buffer's memory and the file in place until the result is
        // there, also when this is dropped. The queue has as many places as there are reads.
        #[expect(unsafe_code, reason = "the kernel writes to the buffer later")]
        unsafe { self.ring.submission().push(&entry) }.expect("the queue has room");
    }

    /// Waits for the first of the reads; `None` where there is none.
    pub fn next(&mut self) -> Option<io::Result<Done<T>>> {
        while self.asked.front()?.result.is_none() {
            if let Err(error) = self.wait() {
                return Some(Err(error));
            }
        }
        let Asked { what, buffer, result } = self.asked.pop_front()?;
        self.front += 1;
        let result = result.expect("the loop above waited for it");
        let error = || io::Error::from_raw_os_error(-result);
        let read = usize::try_from(result).map_err(|_| error());
        Some(Ok(Done { what, buffer, read }))
    }

    /// Takes a buffer for the next read.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        self.buffers.push(buffer);
    }

    fn wait(&mut self) -> io::Result<()> {
        match self.ring.submit_and_wait(1) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        for entry in self.ring.completion() {
            let place = usize::try_from(entry.user_data() - self.front);
            let asked = place.ok().and_then(|place| self.asked.get_mut(place));
            asked.expect("only what was asked for is answered").result = Some(entry.result());
        }
        Ok(())
    }
}

impl<T> Drop for Reads<T> {
    fn drop(&mut self) {
        while self.asked.iter().any(|asked| asked.result.is_none()) {
            if self.wait().is_err() {
                // The kernel may still write to these buffers, so they must outlive this process.
                std::mem::take(&mut self.asked).into_iter().for_each(std::mem::forget);
            }
        }
    }
}
