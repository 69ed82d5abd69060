//! jq, on its one thread: every line parsed whole, the message's content tested.

#![forbid(unsafe_code)]

use std::process::{Command, ExitCode};

use engines_kit::{Ends, Identity, Question, ask_peer, count_after_colon, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |search| {
        let ask = |question: &Question| {
            question.buffered()?;
            let flags = if question.case_sensitive { "" } else { "i" };
            let mut command = Command::new("jq");
            command.arg("--arg").arg("word").arg(&question.word);
            command.arg("--arg").arg("flags").arg(flags);
            command.arg("select((.message.content | tostring) | test($word; $flags)) | 1");
            command.args(&question.files);
            Ok(command)
        };
        ask_peer(&search, Ends::WithZero, ask, count_after_colon)
    })
}
