//! Records of a service, as the kind `logs` has them.

use crate::needles::{Due, NEEDLES};
use crate::random::Random;
use crate::text::{self, Prose};
use crate::time;
use crate::words::Words;

const LEVELS: [&str; 8] = ["INFO", "INFO", "INFO", "INFO", "DEBUG", "DEBUG", "WARN", "ERROR"];

const TARGETS: [&str; 6] =
    ["http::server", "db::pool", "cache", "auth::token", "queue::worker", "scheduler"];

const METHODS: [&str; 4] = ["GET", "POST", "PUT", "DELETE"];

/// Appends one record, without the end of the line.
pub(crate) fn append(
    time_ms: u64,
    due: &Due,
    words: &Words,
    random: &mut Random,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(br#"{"timestamp":""#);
    time::append(time_ms, out);
    out.extend_from_slice(br#"","type":"log","level":""#);
    let level = random.pick(&LEVELS);
    out.extend_from_slice(level.as_bytes());
    out.extend_from_slice(br#"","target":""#);
    out.extend_from_slice(random.pick(&TARGETS).as_bytes());
    for (needle, _) in NEEDLES.iter().zip(due.decoy).filter(|(_, due)| *due) {
        out.extend_from_slice(b"::");
        out.extend_from_slice(needle.word.as_bytes());
    }
    out.extend_from_slice(br#"","sessionId":"s-"#);
    text::number(random.below(10_000), out);
    out.extend_from_slice(br#"","message":{"role":"system","content":""#);
    request(words, random, out);
    Prose::new(words, random).append(0, due, out);
    words.append(4, random, out);
    if level == "ERROR" {
        trace(words, random, out);
    }
    out.extend_from_slice(br#""}}"#);
}

/// Some services colour what they write for a terminal.
fn request(words: &Words, random: &mut Random, out: &mut Vec<u8>) {
    let coloured = random.once_in(4);
    out.extend_from_slice(if coloured { b"\\u001b[32m" } else { b"" });
    out.extend_from_slice(random.pick(&METHODS).as_bytes());
    out.extend_from_slice(if coloured { b"\\u001b[0m /" } else { b" /" });
    out.extend_from_slice(words.word(random.bits() as u16));
    out.push(b'/');
    text::number(random.below(100_000), out);
    out.extend_from_slice(b" 200 ");
    text::number(random.below(900), out);
    out.extend_from_slice(b"ms ");
}

fn trace(words: &Words, random: &mut Random, out: &mut Vec<u8>) {
    for _ in 0..1 + random.below(6) {
        out.extend_from_slice(b"\\n\\tat ");
        out.extend_from_slice(words.word(random.bits() as u16));
        out.extend_from_slice(b"::");
        out.extend_from_slice(words.word(random.bits() as u16));
        out.extend_from_slice(b" (src/");
        out.extend_from_slice(words.word(random.bits() as u16));
        out.extend_from_slice(b".rs:");
        text::number(1 + random.below(900), out);
        out.push(b')');
    }
}
