//! How runs fail, in sentences.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    time::Duration,
};

use lab_console::{Exit, Failure, plain};
use lab_process::{Ended, Finished, RunError};

use super::{
    answers::MEMORY,
    commands::Command,
    options::OnFailure,
    runner::{Runner, Stopped},
    stages::hindrance_of,
};

/// The end of a failed command's complaints that is shown.
const EXCERPT_LINES: usize = 5;
/// Of each line.
const LINE_CHARS: usize = 200;
/// Of all together.
const EXCERPT_CHARS: usize = 400;
/// What is read of them, which may be a gigabyte.
const EXCERPT_BYTES: u64 = 64 << 10;
/// A shell's status where there is no such program, or what reads it is not there.
pub(super) const NOT_FOUND: i32 = 127;
/// A shell's status where a program cannot be started.
pub(super) const NOT_STARTED: i32 = 126;

impl Runner<'_> {
    /// Refuses a run that failed; `when` stands behind how it ended.
    pub(super) fn judge(
        &self,
        command: &Command,
        finished: Finished,
        when: &str,
    ) -> Result<Finished, Stopped> {
        match finished.ended {
            Ended::Exited(status) if self.options.failure.accepts(status) => Ok(finished),
            Ended::Interrupted => Err(Stopped::Interrupted),
            ended => {
                self.is_there()?;
                if let Ended::Exited(NOT_FOUND | NOT_STARTED) = ended
                    && let Some(why) = hindrance_of(command)
                {
                    return Err(Failure::input(format!("`{}`: {why}", command.shown())).into());
                }
                let told = told_of_run(ended, self.timeout(), &self.options.failure, when);
                let last = excerpt_of(&finished.errors);
                let sentence = format!("`{}` {told}{last}", command.shown());
                Err(match ended {
                    Ended::Exited(NOT_FOUND) => Failure::input(sentence),
                    _ => Failure::failed(sentence),
                }
                .into())
            }
        }
    }

    /// What was there and is gone is why a program cannot be started.
    pub(super) fn broken(&self, error: RunError) -> Stopped {
        self.is_there().map_or_else(Stopped::Failed, |()| broken(error))
    }
}

/// How a run failed, when, and what would accept it.
pub(crate) fn told_of_run(
    ended: Ended,
    timeout: Option<Duration>,
    failure: &OnFailure,
    when: &str,
) -> String {
    let told = told(ended, timeout) + when;
    match ended {
        Ended::Exited(NOT_FOUND) => told,
        Ended::Exited(_) => told + failure.hint(),
        _ => told,
    }
}

pub(super) fn told(ended: Ended, timeout: Option<Duration>) -> String {
    match ended {
        Ended::Exited(NOT_FOUND) => "was not found".to_owned(),
        Ended::Exited(status) => format!("ended with status {status}"),
        Ended::Signalled(signal) => format!("was ended by signal {signal}"),
        Ended::TimedOut => {
            let seconds = timeout.unwrap_or_default().as_secs_f64();
            format!("was ended after {seconds} s, the --timeout")
        }
        Ended::Interrupted => "was interrupted".to_owned(),
        Ended::PrintedTooMuch | Ended::ComplainedTooMuch | Ended::Hid => format!(
            "printed more than {MEMORY}, which is what is kept of an output in memory; give \
             --output pipe, or --check once"
        ),
    }
}

pub(crate) fn broken(error: RunError) -> Stopped {
    let exit = match error {
        RunError::Start { .. } => Exit::Input,
        RunError::Open { .. } => Exit::File,
        RunError::Follow(_) => Exit::Internal,
    };
    Stopped::Failed(Failure { exit, sentence: error.to_string() })
}

/// The last words of a failed command.
pub(crate) fn excerpt(errors: &Path) -> String {
    excerpt_of(&end_of(errors).unwrap_or_default())
}

/// What a build that failed complained of first, with what stands below it; a compiler ends with
/// carets and counts. Its last words, where no line speaks of an error.
pub(crate) fn excerpt_of_build(errors: &Path) -> String {
    let text = end_of(errors).unwrap_or_default();
    excerpt_of(first_error(&text).unwrap_or(&text))
}

/// From the first line that names an error on, as many lines as are shown.
fn first_error(errors: &[u8]) -> Option<&[u8]> {
    let names_error = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let is_summary = line.starts_with("error: could not compile");
        let starts = ["error:", "error["].iter().any(|start| line.trim_start().starts_with(start));
        (starts || line.contains(": error:") || line.contains(": fatal error:")) && !is_summary
    };
    let lines = || errors.split_inclusive(|byte| *byte == b'\n');
    let place = lines().position(names_error)?;
    let length = |count: usize| -> usize { lines().take(count).map(<[u8]>::len).sum() };
    Some(&errors[length(place)..length(place + EXCERPT_LINES)])
}

/// Behind a sentence: one line in its line, and several below it.
pub(super) fn excerpt_of(errors: &[u8]) -> String {
    match &last_lines(errors)[..] {
        [] => String::new(),
        [line] => format!(": {line}"),
        lines => lines.iter().fold(":".to_owned(), |text, line| text + "\n  | " + line),
    }
}

/// The last words, without what a terminal obeys.
pub(super) fn last_lines(errors: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(errors);
    let mut room = EXCERPT_CHARS;
    let line = |line: &str| {
        // Of a line that is written over again and again, the last.
        let line = line.trim_end().rsplit('\r').next().unwrap_or_default();
        let words = line.chars().filter(|letter| !letter.is_control() || *letter == '\t');
        let words: String = words.take(LINE_CHARS.min(room)).collect();
        room -= words.chars().count();
        plain::line(words.trim_end())
    };
    let lines = text.lines().rev().map(line).filter(|line| !line.trim().is_empty());
    let mut lines: Vec<String> = lines.take(EXCERPT_LINES).collect();
    lines.reverse();
    lines
}

fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(EXCERPT_BYTES)))?;
    let mut text = Vec::new();
    file.take(EXCERPT_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_last_words_of_a_gigabyte_are_found_without_reading_it() {
        let mut errors = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(excerpt(errors.path()), "");
        // It takes no room on the disk, and more than there is in memory.
        errors.as_file().set_len(64 << 30).unwrap();
        errors.seek(SeekFrom::End(0)).unwrap();
        errors.write_all("\nfirst\n\x1b[31mbad\x1b[0m\n".as_bytes()).unwrap();
        assert_eq!(excerpt(errors.path()), ":\n  | first\n  | [31mbad[0m");
        assert_eq!(excerpt(Path::new("/no/such/file")), "");
    }

    #[test]
    fn of_a_compiler_the_first_error_is_shown_and_not_the_last_caret() {
        let said = "warning: unused\n  --> src/a.rs:1:1\nerror[E0425]: cannot find value `x`\n  \
                    --> src/main.rs:2:5\n   |\n 2 |     x\n   |     ^\n\nerror: aborting\n\n\
                    error: could not compile `tool` (bin \"tool\") due to 1 previous error\n";
        let shown = excerpt_of(first_error(said.as_bytes()).unwrap());
        let expected = ":\n  | error[E0425]: cannot find value `x`\n  |   --> src/main.rs:2:5\n";
        assert!(shown.starts_with(expected) && !shown.contains("compile"), "{shown}");
        let of_c = b"a.c: In function f:\na.c:1:9: error: expected ;\n";
        assert_eq!(excerpt_of(first_error(of_c).unwrap()), ": a.c:1:9: error: expected ;");
        assert_eq!(first_error(b"no sleep\n"), None);
    }

    #[test]
    fn few_lines_are_shown_and_few_letters() {
        assert_eq!(excerpt_of(b" \n\none\n\n"), ": one");
        assert_eq!(excerpt_of(b"10 %\r20 %\rdone\r\n"), ": done");
        let many: Vec<String> = (0..99).map(|number| number.to_string()).collect();
        assert_eq!(last_lines(many.join("\n").as_bytes()), ["94", "95", "96", "97", "98"]);
        let long = ["x".repeat(999), "y".repeat(999), "z".repeat(999)].join("\n");
        assert_eq!(last_lines(long.as_bytes()), ["y".repeat(200), "z".repeat(200)]);
    }
}
