//! `lab completions`: what a shell offers after `lab`.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::{Exit, Failure, streams::print};

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell, for example: source <(lab completions bash)
    shell: Shell,
}

pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "lab", &mut script);
    print(&script)?;
    Ok(Exit::Success)
}
