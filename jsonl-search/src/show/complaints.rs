//! What standard error is told once the messages are shown.

use std::io::{IsTerminal, Write, stderr};

use super::PROGRAM;
use super::numbers::Numbers;
use super::sources::Sources;
use crate::Answer;
use crate::render::Style;

/// So many lines that are no message are named; the others are counted.
const NAMED: usize = 10;

/// How names are written beside what went wrong with them.
fn style() -> Style {
    Style::plain(stderr().is_terminal())
}

/// Says a sentence that ends the program.
pub(super) fn fail(sentence: &str) {
    say(style().lines(sentence).as_bytes());
}

/// Says something; where nobody reads this, the exit code still says it.
pub(super) fn say(sentence: &[u8]) {
    let line = [PROGRAM.as_bytes(), b": ", sentence, b"\n"].concat();
    let _ = stderr().write_all(&line);
}

/// Says which files could not be read.
pub(super) fn unreadable(answer: &Answer, sources: &Sources) {
    for (index, reason) in &answer.unreadable {
        let path = style().path(sources.path(*index));
        say(&[&path, &b": "[..], reason.as_bytes()].concat());
    }
}

/// Says which lines hold what is looked for and are no message.
pub(super) fn lost(answer: &Answer, sources: &Sources) {
    let all = answer.tally.lines_unreadable;
    for &(file, offset) in answer.lost.iter().take(NAMED) {
        let number = Numbers::of([(file, offset)], sources).ok();
        let place = match number.and_then(|numbers| numbers.get(file, offset)) {
            Some(number) => format!(":{number}"),
            None => format!(" at byte {offset}"),
        };
        let why = b": the line holds what is looked for and cannot be read as a message";
        let name = style().path(sources.path(file));
        say(&[&name, place.as_bytes(), why].concat());
    }
    if all > NAMED as u64 {
        say(format!("{} more such lines", all - NAMED as u64).as_bytes());
    }
}

/// Says how many lines were no JSON and have messages that match.
pub(super) fn repaired(answer: &Answer) {
    match answer.tally.lines_repaired {
        0 => {}
        1 => say(b"1 line was broken and was repaired"),
        count => say(format!("{count} lines were broken and were repaired").as_bytes()),
    }
}

/// Says that there is more than is shown.
pub(super) fn more(shown: usize, all: u64) {
    if all > shown as u64 {
        let sentence = format!("{shown} of {all} messages are shown; --limit all shows all");
        say(sentence.as_bytes());
    }
}
