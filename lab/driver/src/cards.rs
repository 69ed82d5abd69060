//! What NVIDIA cards do, at one moment and while runs go on.
//!
//! One `nvidia-smi` prints a line a card again and again; a thread notes when each line came, and a
//! run takes the lines that came while it went on. It is asked only where a run's work can reach a
//! card: asking takes CPU time, which every other family would measure.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use crate::probe::{CARD_LOOP, CARD_QUERY, CardSample, card_samples, card_uses};
use lab_process::monotonic_ns;
use lab_process::{Beside, Limits};
use lab_record::{CardUse, Run};

const PROGRAM: &str = "nvidia-smi";
/// Samples that are kept for a run that ends later. At 5 a second, 14 hours of one card.
const KEPT_MAX: usize = 250_000;
/// A line that is longer is none of a card's, and may have no end.
const LINE_BYTES_MAX: usize = 4 << 10;

/// What the machine's NVIDIA cards do now, or why that is not known.
pub(crate) fn cards() -> Result<Vec<CardSample>, String> {
    let asked = lab_process::Run::of(PROGRAM, CARD_QUERY).ask(Limits::QUESTION);
    let output = asked.map_err(|unfinished| format!("{PROGRAM} {unfinished}"))?;
    let answer = String::from_utf8_lossy(&output.stdout);
    let said = || says(answer.lines().next().unwrap_or("nothing"));
    if !output.status.success() {
        return Err(said());
    }
    card_samples(&answer).ok_or_else(said)
}

/// The cards over a sweep, or why they are not watched.
#[derive(Debug)]
pub(crate) struct CardWatch(Result<Watching, String>);

#[derive(Debug)]
struct Watching {
    child: Beside,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    /// Each with the moment when its line came.
    samples: Vec<(u64, CardSample)>,
    /// The last line that was none of a card's.
    said: Option<String>,
    /// `nvidia-smi` prints no more.
    ended: bool,
}

impl CardWatch {
    /// Starts to watch; where that is not possible, every run gets the reason.
    pub(crate) fn start() -> Self {
        let mut command = Command::new(PROGRAM);
        command.args(CARD_QUERY).arg(CARD_LOOP);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = Beside::start(&mut command, &[]);
        Self(child.map(Watching::of).map_err(|error| cannot_start(&error)))
    }

    /// Nothing is asked.
    pub(crate) fn none(reason: &str) -> Self {
        Self(Err(reason.to_owned()))
    }

    /// The process that prints, whose CPU time is the lab's own.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.0.as_ref().ok().map(|watching| watching.child.pid())
    }

    /// Notes in a run's row what the cards did between two moments, and drops what is older.
    pub(crate) fn note(&self, run: &mut Run, start_ns: u64, end_ns: u64) {
        let uses = match &self.0 {
            Ok(watching) => watching.between(start_ns, end_ns),
            Err(reason) => Err(reason.clone()),
        };
        (run.gpu, run.gpu_reason) = match uses {
            Ok(uses) => (Some(uses), None),
            Err(reason) => (None, Some(reason)),
        };
    }
}

impl Watching {
    fn of(mut child: Beside) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let output = child.stdout().expect("stdout is piped");
        let shared = Arc::clone(&seen);
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(line) = next_line(&mut output) {
                lock(&shared).take(line.trim_end());
                if line.len() >= LINE_BYTES_MAX {
                    break;
                }
            }
            lock(&shared).ended = true;
        });
        Self { child, seen }
    }

    fn between(&self, start_ns: u64, end_ns: u64) -> Result<Vec<CardUse>, String> {
        let mut seen = lock(&self.seen);
        // Runs come one after the other: nobody asks for what was before this one.
        seen.samples.retain(|(at_ns, _)| *at_ns >= start_ns);
        let within = seen.samples.iter().filter(|(at_ns, _)| *at_ns <= end_ns);
        let within: Vec<CardSample> = within.map(|(_, sample)| sample.clone()).collect();
        if !within.is_empty() {
            return Ok(card_uses(&within));
        }
        Err(match (&seen.said, seen.ended) {
            (Some(said), _) => says(said),
            (None, true) => format!("{PROGRAM} ended"),
            (None, false) => "no sample fell into the run".to_owned(),
        })
    }
}

impl Seen {
    fn take(&mut self, line: &str) {
        match card_samples(line) {
            Some(cards) if self.samples.len() < KEPT_MAX => {
                let at_ns = monotonic_ns();
                self.samples.extend(cards.into_iter().map(|card| (at_ns, card)));
            }
            Some(_) => {}
            None => self.said = Some(line.to_owned()),
        }
    }
}

/// A line with its end, or the beginning of one that is too long. An error is an end, too.
fn next_line(output: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    let read = output.take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line);
    let is_there = read.is_ok_and(|bytes| bytes > 0);
    is_there.then(|| String::from_utf8_lossy(&line).into_owned())
}

/// A thread that panicked while it held the lock leaves whole samples.
fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cannot_start(error: &std::io::Error) -> String {
    format!("{PROGRAM} cannot be started: {error}")
}

fn says(line: &str) -> String {
    format!("{PROGRAM} says: {line}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_line_without_an_end_is_read_to_its_limit_and_no_further() {
        let mut command = Command::new("sh");
        command.args(["-c", "yes | tr -d '\\n'"]).stdout(Stdio::piped());
        let watching = Watching::of(Beside::start(&mut command, &[]).unwrap());
        for _ in 0..3_000 {
            if lock(&watching.seen).ended {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        assert!(lock(&watching.seen).ended, "it is still read");
        let said = watching.between(0, u64::MAX).unwrap_err();
        assert_eq!(said, says(&"y".repeat(LINE_BYTES_MAX)));
    }
}
