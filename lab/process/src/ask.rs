//! A command whose answer is wanted: it is run to its end, or ended with all that it started, for
//! none takes longer, or says more, than it may.

use std::{io, process::ExitStatus, sync::atomic::AtomicBool, time::Duration};

use crate::{Bound, Ended, Output, Run, RunError, Usage, counters::Open};

/// What a command may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From its start to its end.
    pub time: Duration,
    /// Of standard output, and of standard error.
    pub output_bytes: u64,
}

impl Limits {
    /// Of a tool that is asked a question.
    pub const QUESTION: Self = Self { time: Duration::from_secs(10), output_bytes: 1 << 20 };
}

/// What a command said that ended by itself.
#[derive(Debug)]
pub struct Answer {
    /// How it ended.
    pub status: ExitStatus,
    /// Before its start, by CLOCK_MONOTONIC.
    pub start_ns: u64,
    /// From then to its end.
    pub wall: Duration,
    /// What the kernel counted of it and of its children that it waited for.
    pub usage: Usage,
    /// Its output.
    pub stdout: Vec<u8>,
    /// Its complaints.
    pub stderr: Vec<u8>,
}

/// Why a command did not end by itself; what was started has been killed.
#[derive(Debug, thiserror::Error)]
pub enum Unfinished {
    /// It is not there, or may not be started.
    #[error("cannot be started: {0}")]
    CannotStart(io::Error),
    /// It took longer than it may.
    #[error("did not end within {} s and was killed", .0.as_secs_f64())]
    TooLate(Duration),
    /// It said more than it may.
    #[error("printed more than {0} bytes and was killed")]
    TooMuch(u64),
    /// It complained more than it may.
    #[error("printed more than {0} bytes to standard error and was ended")]
    TooMuchError(u64),
    /// Nobody could hear it any more, and it went on.
    #[error("closed its output but did not exit, and was killed")]
    Hiding,
    /// As the user asked.
    #[error("was interrupted")]
    Interrupted,
}

impl Run {
    /// Asks a tool: little time, and nobody interrupts it.
    pub fn ask(self, limits: Limits) -> Result<Answer, Unfinished> {
        self.ask_until(limits, &AtomicBool::new(false))
    }

    /// Runs the command to its end, or ends it and everything that it started. A file that it is
    /// [`bound`](Run::bound) to has its own limit. The processor counts nothing of it.
    pub fn ask_until(self, limits: Limits, interrupted: &AtomicBool) -> Result<Answer, Unfinished> {
        let most = |bound: &Option<Bound>| {
            bound.as_ref().map_or(limits.output_bytes, |file| file.bytes_max)
        };
        let output = Output::Whole(limits.output_bytes);
        let run = Self { output, timeout: Some(limits.time), ..self };
        let finished = run.execute_with(Open::none(), interrupted).map_err(not_started)?;
        match finished.ended {
            Ended::TimedOut => Err(Unfinished::TooLate(limits.time)),
            Ended::PrintedTooMuch => Err(Unfinished::TooMuch(most(&run.bound))),
            Ended::ComplainedTooMuch => Err(Unfinished::TooMuchError(limits.output_bytes)),
            Ended::Hid => Err(Unfinished::Hiding),
            ended => Ok(Answer {
                status: ended.status().ok_or(Unfinished::Interrupted)?,
                start_ns: finished.start_ns,
                wall: finished.wall,
                usage: finished.usage,
                stdout: finished.printed,
                stderr: finished.errors,
            }),
        }
    }
}

fn not_started(error: RunError) -> Unfinished {
    Unfinished::CannotStart(match error {
        RunError::Start { source, .. } => source,
        other => io::Error::other(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use proof_kit::Attack;

    use super::*;

    fn shell(script: &str, limits: Limits) -> Result<Answer, Unfinished> {
        Run::of("sh", ["-c", script]).ask(limits)
    }

    #[test]
    fn what_takes_too_long_or_says_too_much_is_ended() {
        let limits = Limits { time: Duration::from_millis(300), output_bytes: 10 };
        for (name, script, said) in [
            ("a program that hangs", "sleep 100", "did not end within 0.3 s and was killed"),
            ("output without an end", "yes", "printed more than 10 bytes and was killed"),
            ("a byte too much", "printf 01234567890", "printed more than 10 bytes and was killed"),
            (
                "errors without an end",
                "yes >&2",
                "printed more than 10 bytes to standard error and was ended",
            ),
            (
                "a byte too much of errors",
                "printf 01234567890 >&2; echo",
                "printed more than 10 bytes to standard error and was ended",
            ),
            (
                "a program that hides",
                "exec >&-; sleep 100",
                "closed its output but did not exit, and was killed",
            ),
        ] {
            let _attack = Attack::on("programs", name);
            assert_eq!(shell(script, limits).unwrap_err().to_string(), said, "{name}");
        }
        let right = shell("printf 0123456789; printf e >&2; exit 3", Limits::QUESTION).unwrap();
        assert_eq!((right.stdout, right.stderr), (b"0123456789".to_vec(), b"e".to_vec()));
        assert_eq!(right.status.code(), Some(3));
    }

    #[test]
    fn what_says_too_much_into_a_file_is_ended() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let into_file = |script: &str| {
            let path = file.path().to_owned();
            let run = Run::of("sh", ["-c", script, "sh", path.to_str().unwrap()]);
            let limits = Limits { time: Duration::from_secs(60), output_bytes: 99 };
            Run { bound: Some(Bound { path, bytes_max: 10 }), ..run }.ask(limits)
        };
        let said = |script| into_file(script).unwrap_err().to_string();
        let _attack = Attack::on("programs", "a file without an end");
        let endless = "while :; do echo yes; sleep 0.01; done >$1";
        assert_eq!(said(endless), "printed more than 10 bytes and was killed");
        assert_eq!(said("printf 01234567890 >$1"), "printed more than 10 bytes and was killed");
        assert!(into_file("printf 0123456789 >$1").unwrap().status.success());
    }

    #[test]
    fn input_that_nobody_reads_does_not_hold_the_lab() {
        let limits = Limits { time: Duration::from_millis(300), output_bytes: 10 };
        let _attack = Attack::on("programs", "input that nobody reads");
        let input_line = Some("x".repeat(1 << 20));
        let ended = Run { input_line, ..Run::of("sleep", ["100"]) }.ask(limits);
        assert!(matches!(ended, Err(Unfinished::TooLate(_))), "{ended:?}");
    }
}
