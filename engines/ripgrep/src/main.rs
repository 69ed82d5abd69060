//! ripgrep: lines that hold the word anywhere, the JSON around the text included.

#![forbid(unsafe_code)]

use std::process::{Command, ExitCode};

use engines_kit::{Ends, Identity, Question, ask_peer, count_after_colon, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

fn main() -> ExitCode {
    variant_main(&IDENTITY, |search| {
        let ask = |question: &Question| {
            let mut command = Command::new("rg");
            command.args(["--no-config", "--no-ignore", "--hidden", "--count", "--fixed-strings"]);
            command.arg(if question.case_sensitive { "--case-sensitive" } else { "-i" });
            command.arg(if question.mmap { "--mmap" } else { "--no-mmap" });
            command.arg("-j").arg(question.threads.to_string());
            command.arg("--").arg(&question.word).arg(&question.corpus);
            Ok(command)
        };
        ask_peer(&search, Ends::AsGrep, ask, count_after_colon)
    })
}
