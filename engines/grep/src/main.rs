//! GNU grep, on its one thread: lines that hold the word anywhere.

#![forbid(unsafe_code)]

use std::process::{Command, ExitCode};

use engines_kit::{Ends, Identity, Question, ask_peer, count_after_colon, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |search| {
        let ask = |question: &Question| {
            question.buffered()?;
            let mut command = Command::new("grep");
            command.args(["-r", "-c", "-F"]).args((!question.case_sensitive).then_some("-i"));
            command.arg("--").arg(&question.word).arg(&question.corpus);
            Ok(command)
        };
        ask_peer(&search, Ends::AsGrep, ask, count_after_colon)
    })
}
