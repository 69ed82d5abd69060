//! The worker's side of the pipes.

use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::OwnedFd;

use nix::time::{ClockId, clock_gettime};

use crate::{Answer, Hello, Step};

/// Takes steps and gives answers. The times are taken here: between handing a step out and being
/// given its value lies the operation, with whatever leads there and back.
#[derive(Debug)]
pub struct Worker {
    input: BufReader<File>,
    output: File,
    step: Step,
    started_ns: i64,
}

impl Worker {
    /// Says hello.
    ///
    /// # Errors
    /// Nobody reads.
    pub fn open(input: OwnedFd, output: OwnedFd, hello: Hello) -> io::Result<Self> {
        let mut output = File::from(output);
        hello.write(&mut output)?;
        let input = BufReader::new(File::from(input));
        Ok(Self { input, output, step: Step::default(), started_ns: 0 })
    }

    /// Waits for a step; `None` when there is none any more.
    ///
    /// # Errors
    /// What comes is no step.
    pub fn next_step(&mut self) -> io::Result<Option<&Step>> {
        if !self.step.read(&mut self.input)? {
            return Ok(None);
        }
        self.started_ns = now_ns();
        Ok(Some(&self.step))
    }

    /// Gives the value of the last step.
    ///
    /// # Errors
    /// Nobody reads.
    pub fn record(&mut self, value: u64) -> io::Result<()> {
        let finished_ns = now_ns();
        Answer { value, started_ns: self.started_ns, finished_ns }.write(&mut self.output)
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds: the clock of the back end, which is another process.
fn now_ns() -> i64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has had this clock since 2.6");
    time.tv_sec() * 1_000_000_000 + time.tv_nsec()
}
