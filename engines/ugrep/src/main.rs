//! ugrep: lines that hold the word anywhere.

#![forbid(unsafe_code)]

use std::process::{Command, ExitCode};

use engines_kit::{Ends, Identity, Question, ask_peer, count_after_colon, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |search| {
        let ask = |question: &Question| {
            let mut command = Command::new("ugrep");
            command.args(["-r", "-c", "-F", "--hidden"]);
            command.args((!question.case_sensitive).then_some("-i"));
            command.args(question.mmap.then_some("--mmap"));
            command.arg("-J").arg(question.threads.to_string());
            command.arg("--").arg(&question.word).arg(&question.corpus);
            Ok(command)
        };
        ask_peer(&search, Ends::AsGrep, ask, count_after_colon)
    })
}
