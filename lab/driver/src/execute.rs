//! One execution of a variant: a spec in, an outcome out, and no way for it to hurt the sweep.

use std::{
    io::{Read, Write},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use lab_probe::monotonic_ns;
use lab_protocol::{RunOutcome, Status};

/// A variant that prints more than this is not printing an outcome.
const OUTPUT_BYTES_MAX: u64 = 256 << 20;
/// How much of a variant's last words goes into a reason.
const EXCERPT_CHARS: usize = 200;
/// How often a wait looks at the interrupt flag. Long, so that the driver does not wake up beside
/// what it measures.
const INTERRUPT_POLL: Duration = Duration::from_millis(250);

/// How an execution ended.
#[derive(Debug)]
pub(crate) enum Executed {
    /// The variant gave an outcome (which may say `failed`).
    Outcome(RunOutcome),
    /// It gave none; the sentence says what happened instead.
    Broken(String),
    /// The user wants to stop; there is nothing to record.
    Interrupted,
}

/// An execution and when it happened.
#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) ended: Executed,
    pub(crate) start_ns: u64,
    pub(crate) process_ns: u64,
}

/// Starts the program, hands it the spec line and waits for its outcome, at most `deadline`.
pub(crate) fn execute(
    program: &Path,
    spec_line: &str,
    run: &str,
    deadline: Duration,
    interrupt: &AtomicBool,
) -> Execution {
    let start_ns = monotonic_ns();
    let ended = run_program(program, spec_line, run, deadline, interrupt);
    Execution { ended, start_ns, process_ns: monotonic_ns() - start_ns }
}

fn run_program(
    program: &Path,
    spec_line: &str,
    run: &str,
    deadline: Duration,
    interrupt: &AtomicBool,
) -> Executed {
    let spawned = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return Executed::Broken(format!("cannot be started: {error}")),
    };
    let stdout = read_in_background(child.stdout.take().expect("stdout is piped"));
    let stderr = read_in_background(child.stderr.take().expect("stderr is piped"));
    let mut stdin = child.stdin.take().expect("stdin is piped");
    // A program that ends without reading closes the pipe; its exit says more than this error.
    let _ = writeln!(stdin, "{spec_line}");
    drop(stdin);
    let output = match wait(&stdout, deadline, interrupt) {
        Waited::Output(output) => output,
        Waited::TooLate => {
            stop(&mut child);
            return Executed::Broken(format!(
                "gave no outcome within {} s and was ended",
                deadline.as_secs_f64()
            ));
        }
        Waited::Interrupted => {
            stop(&mut child);
            return Executed::Interrupted;
        }
    };
    // Its output is closed: it is ending, or hiding. A second is plenty for the first.
    let Some(status) = reap(&mut child) else {
        return Executed::Broken("closed its output but did not end, and was ended".to_owned());
    };
    let stderr = stderr.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    judge(status, &output, &stderr, run)
}

/// Turns exit status and output into an outcome, or into a sentence.
fn judge(status: ExitStatus, output: &[u8], stderr: &[u8], run: &str) -> Executed {
    let last_words = excerpt(stderr);
    let said =
        if last_words.is_empty() { String::new() } else { format!("; it said: {last_words}") };
    let text = String::from_utf8_lossy(output);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let (Some(line), None) = (lines.next(), lines.next()) else {
        let count = text.lines().count();
        return Executed::Broken(format!(
            "ended with {status} and printed {count} lines instead of one outcome{said}"
        ));
    };
    let outcome: RunOutcome = match serde_json::from_str(line) {
        Ok(outcome) => outcome,
        Err(error) => {
            let shown = excerpt(line.as_bytes());
            return Executed::Broken(format!("printed no outcome but `{shown}` ({error}){said}"));
        }
    };
    if outcome.run != run {
        return Executed::Broken(format!("answered for run `{}`, asked was `{run}`", outcome.run));
    }
    if status.success() == (outcome.status == Status::Failed) {
        let claim = outcome.status;
        return Executed::Broken(format!("says {claim:?} but ended with {status}{said}"));
    }
    Executed::Outcome(outcome)
}

enum Waited {
    Output(Vec<u8>),
    TooLate,
    Interrupted,
}

fn wait(output: &mpsc::Receiver<Vec<u8>>, deadline: Duration, interrupt: &AtomicBool) -> Waited {
    let end = Instant::now() + deadline;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match output.recv_timeout(left.min(INTERRUPT_POLL)) {
            Ok(bytes) => return Waited::Output(bytes),
            Err(_) if interrupt.load(Ordering::Relaxed) => return Waited::Interrupted,
            Err(_) if left.is_zero() => return Waited::TooLate,
            Err(_) => {}
        }
    }
}

fn read_in_background(source: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // An unreadable pipe gives what came before; the outcome's check sees that it is short.
        let _ = source.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

fn reap(child: &mut Child) -> Option<ExitStatus> {
    let end = Instant::now() + Duration::from_secs(1);
    while Instant::now() < end {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(1));
    }
    stop(child);
    None
}

/// Ends a child of ours by its handle and waits for it, so that no id is ever reused under us.
pub(crate) fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn excerpt(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("");
    let cut: String = line.trim().chars().take(EXCERPT_CHARS).collect();
    cut
}
