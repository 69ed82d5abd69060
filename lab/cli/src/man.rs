//! `lab man`: the help as manual pages.

use std::{fs, path::PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;

use crate::{
    Exit, Failure,
    paths::{Paths, to_make},
    streams::print,
};

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Print the page of this command [default: the page of `lab`]
    command: Option<String>,
    /// Write the pages of `lab` and of every command into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

pub(crate) fn man(
    args: &ManArgs,
    command: Command,
    paths: Option<&Paths>,
) -> Result<Exit, Failure> {
    // No pages of `lab help compare` and so on: they would say the same again.
    let mut command = command.disable_help_subcommand(true);
    // Gives each command its whole name, `lab-compare`.
    command.build();
    let Some(out) = &args.out else {
        let page = match &args.command {
            Some(name) => of(&command, name)?,
            None => command,
        };
        print(&rendered(page)?)?;
        return Ok(Exit::Success);
    };
    let failed = |error: std::io::Error| Failure::file(out, error);
    let folder = to_make(paths, out);
    fs::create_dir_all(&folder).map_err(failed)?;
    clap_mangen::generate_to(command, &folder).map_err(failed)?;
    println!("{}", out.display());
    Ok(Exit::Success)
}

fn of(command: &Command, name: &str) -> Result<Command, Failure> {
    command.find_subcommand(name).cloned().ok_or_else(|| {
        let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        Failure::input(format!("lab has no command `{name}`; there are: {}", known.join(", ")))
    })
}

fn rendered(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let written = Man::new(command).render(&mut page);
    written.map_err(|error| Failure::lab(format!("the manual page: {error}")))?;
    Ok(page)
}
