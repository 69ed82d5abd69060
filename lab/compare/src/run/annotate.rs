//! What a CI system shows of a comparison: GitHub's workflow commands and the job's summary.

use std::{env, fs::OpenOptions, io::Write, path::PathBuf};

use lab_console::{Failure, plain, streams};
use lab_stats::outcome::Outcome;

use super::{
    commands::Command,
    options::FailOn,
    text::{Words, primary, typical},
};
use crate::{CandidateState, State};

/// A workflow command for each candidate.
pub(crate) fn lines(
    state: &State,
    commands: &[Command],
    words: Words<'_>,
    fail_on: Option<FailOn>,
) -> Vec<String> {
    let reference = &commands[0].name;
    let candidates = state.candidates.iter().zip(&commands[1..]);
    candidates
        .map(|(candidate, command)| {
            let level = level(candidate, fail_on);
            let title = property(&format!("{} against {reference}", command.name));
            let found = primary(candidate).map_or(String::new(), |found| {
                format!(": {}", typical(words.metric, found, words.settings))
            });
            let rounds = candidate.rounds;
            let ended = candidate.endings.as_ref().map_or(String::new(), |endings| {
                format!("; {}", endings.said([reference, &command.name]))
            });
            let text = data(&format!("{}{found}, {rounds} rounds{ended}", candidate.verdict));
            format!("::{level} title={title}::{text}")
        })
        .collect()
}

/// Tells a CI system what ended the comparison without a verdict, or failed after it.
pub fn tell_failure(sentence: &str) {
    let sentence = data(&plain::lines(sentence));
    streams::tell_ci(format_args!("::error title=lab compare::{sentence}"));
}

/// An error is what the job fails for; what was looked for and is open is a warning.
fn level(candidate: &CandidateState, fail_on: Option<FailOn>) -> &'static str {
    let shown = matches!(candidate.verdict.outcome, Outcome::Equivalent | Outcome::Faster);
    let fails = match fail_on {
        Some(FailOn::Tail) => candidate.more_slow_runs,
        Some(FailOn::NotShownEquivalent) => Some(!shown),
        Some(FailOn::Slower) | None => candidate.slower_beyond_margin,
    };
    match fails {
        Some(true) => "error",
        Some(false) => "notice",
        None if shown && fail_on != Some(FailOn::Tail) => "notice",
        None => "warning",
    }
}

/// Escapes a message, as github.com/actions/toolkit does (`packages/core/src/command.ts`).
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property, which ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// The step's output `outcome`, with the verdicts.
pub(crate) fn output(verdicts: &[String]) -> String {
    format!("outcome={}\n", verdicts.join("; "))
}

/// The variable of a job that names the file of its summary.
pub(crate) const SUMMARY: &str = "GITHUB_STEP_SUMMARY";
/// The variable of a job that names the file of a step's outputs.
pub(crate) const OUTPUT: &str = "GITHUB_OUTPUT";

/// The file that a variable of the job names.
pub(crate) fn file(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Appends to the file that a variable of the job names, where it names one.
pub(crate) fn append(variable: &str, text: &str) -> Result<(), Failure> {
    let Some(path) = file(variable) else { return Ok(()) };
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        Failure::files(format!("cannot write {}, {variable}: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_is_escaped() {
        assert_eq!(property("a: 5 %, b\nc"), "a%3A 5 %25%2C b%0Ac");
        assert_eq!(data("a: 5 %, b\r\nc"), "a: 5 %25, b%0D%0Ac");
        assert_eq!(data("%0A"), "%250A");
    }
}
