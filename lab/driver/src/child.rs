//! A command that is run to its end, or ended with all that it started: none takes longer, or says
//! more, than it may.

use std::{
    fs,
    io::{self, Read, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::{
        resource::{UsageWho, getrusage},
        signal::{Signal, killpg},
        time::TimeValLike,
    },
    unistd::Pid,
};

use crate::guard;

/// How often a wait looks at the interrupt flag. Long, so that the driver does not wake up beside
/// what it measures.
const INTERRUPT_POLL: Duration = Duration::from_millis(250);
/// A process whose output is closed is ending, or hiding. This is plenty for the first.
const ENDING: Duration = Duration::from_secs(1);

/// What a command may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) time: Duration,
    /// Of standard output, and of standard error.
    pub(crate) output_bytes: u64,
}

impl Limits {
    /// Of a tool that is asked a question.
    pub(crate) const QUESTION: Self = Self { time: Duration::from_secs(10), output_bytes: 1 << 20 };
}

/// A process that ended by itself.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    /// CPU time of the process and of its children that it waited for.
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Why a command did not end by itself; what was started has been killed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unfinished {
    #[error("cannot be started: {0}")]
    CannotStart(io::Error),
    #[error("did not end within {} s and was killed", .0.as_secs_f64())]
    TooLate(Duration),
    #[error("printed more than {0} bytes and was killed")]
    TooMuch(u64),
    #[error("printed more than {0} bytes to standard error and was ended")]
    TooMuchError(u64),
    #[error("closed its output but did not exit, and was killed")]
    Hiding,
    #[error("was interrupted")]
    Interrupted,
}

/// Asks a tool: no input, little time.
pub(crate) fn ask(command: Command, limits: Limits) -> Result<Finished, Unfinished> {
    finish(command, None, None, limits, &AtomicBool::new(false))
}

/// Runs a command to its end, or ends it and everything it started. A file into which it prints has
/// the limit of its output.
pub(crate) fn finish(
    mut command: Command,
    input: Option<&str>,
    printed: Option<&Path>,
    limits: Limits,
    interrupt: &AtomicBool,
) -> Result<Finished, Unfinished> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: ending hyperfine alone would leave what it started.
    let command = guard::mark(&mut command).process_group(0);
    let mut child = command.spawn().map_err(Unfinished::CannotStart)?;
    let stdout = read_in_background(child.stdout.take().expect("stdout is piped"), limits);
    let stderr = read_in_background(child.stderr.take().expect("stderr is piped"), limits);
    let mut stdin = child.stdin.take().expect("stdin is piped");
    if let Some(line) = input {
        let line = format!("{line}\n");
        // Not here: a program that reads nothing would hold the lab at a full pipe. One that ends
        // without reading closes it; its exit says more than this error.
        thread::spawn(move || stdin.write_all(line.as_bytes()));
    } else {
        drop(stdin);
    }
    let ended = match wait(&stdout, printed, limits, interrupt) {
        Err(unfinished) => Err(unfinished),
        Ok(stdout) => {
            let before = children_cpu_ns();
            reap(&mut child).ok_or(Unfinished::Hiding).and_then(|status| {
                let cpu_ns = children_cpu_ns().zip(before).map(|(after, before)| after - before);
                let stderr = stderr.recv_timeout(ENDING).unwrap_or_default();
                // Nobody reads on: what it wrote then ended it, or was lost.
                match stderr.len() as u64 > limits.output_bytes {
                    true => Err(Unfinished::TooMuchError(limits.output_bytes)),
                    false => Ok(Finished { status, cpu_ns, stdout, stderr }),
                }
            })
        }
    };
    if ended.is_err() {
        stop_group(&mut child);
    }
    ended
}

fn wait(
    output: &mpsc::Receiver<Vec<u8>>,
    printed: Option<&Path>,
    limits: Limits,
    interrupt: &AtomicBool,
) -> Result<Vec<u8>, Unfinished> {
    let end = Instant::now() + limits.time;
    let too_much = || Err(Unfinished::TooMuch(limits.output_bytes));
    let is_file_too_large = || {
        let file = printed.and_then(|file| fs::metadata(file).ok());
        file.is_some_and(|file| file.len() > limits.output_bytes)
    };
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match output.recv_timeout(left.min(INTERRUPT_POLL)) {
            Ok(bytes) if bytes.len() as u64 > limits.output_bytes => return too_much(),
            _ if is_file_too_large() => return too_much(),
            Ok(bytes) => return Ok(bytes),
            Err(_) if interrupt.load(Ordering::Relaxed) => return Err(Unfinished::Interrupted),
            Err(_) if left.is_zero() => return Err(Unfinished::TooLate(limits.time)),
            Err(_) => {}
        }
    }
}

/// Hands over what was read when its end has come, or one byte more than is allowed.
fn read_in_background(
    source: impl Read + Send + 'static,
    limits: Limits,
) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // An unreadable pipe gives what came before; who reads it sees that it is short.
        let _ = source.take(limits.output_bytes + 1).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

fn reap(child: &mut Child) -> Option<ExitStatus> {
    let end = Instant::now() + ENDING;
    while Instant::now() < end {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(1));
    }
    None
}

/// CPU time of all children that this process has waited for, and of theirs. Its growth around one
/// wait is the CPU time of that child, or somewhat more where another thread waited too.
pub(crate) fn children_cpu_ns() -> Option<u64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let times = [usage.user_time(), usage.system_time()];
    let microseconds: i64 = times.iter().map(|time| time.num_microseconds()).sum();
    u64::try_from(microseconds).ok().map(|microseconds| 1_000 * microseconds)
}

/// Ends a child of ours by its handle and waits for it, so that no id is ever reused under us.
pub(crate) fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends a child and all that it started, by the group that it leads.
pub(crate) fn stop_group(child: &mut Child) {
    let leader = Pid::from_raw(child.id().cast_signed());
    let _ = killpg(leader, Signal::SIGKILL);
    stop(child);
}

/// A program in this folder that does nothing for long. By another process: one that is still open
/// for writing, by a test beside this one, cannot be started.
#[cfg(test)]
pub(crate) fn hanging(folder: &Path) -> std::path::PathBuf {
    let script = "printf '#!/bin/sh\\nexec sleep 100\\n' >hanging && chmod +x hanging";
    let made = Command::new("sh").args(["-c", script]).current_dir(folder).status().unwrap();
    assert!(made.success());
    folder.join("hanging")
}

#[cfg(test)]
mod tests {
    use lab_attacks::Attack;

    use super::*;

    fn shell(script: &str, limits: Limits) -> Result<Finished, Unfinished> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        ask(command, limits)
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
            let mut command = Command::new("sh");
            command.args(["-c", script, "sh"]).arg(file.path());
            let limits = Limits { time: Duration::from_secs(60), output_bytes: 10 };
            finish(command, None, Some(file.path()), limits, &AtomicBool::new(false))
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
        let mut command = Command::new("sleep");
        command.arg("100");
        let line = "x".repeat(1 << 20);
        let ended = finish(command, Some(&line), None, limits, &AtomicBool::new(false));
        assert!(matches!(ended, Err(Unfinished::TooLate(_))), "{ended:?}");
    }
}
