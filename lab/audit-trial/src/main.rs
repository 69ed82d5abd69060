//! How good the audit is on documents that others wrote.
//!
//! `audit-trial corpus DIR` audits every document of a corpus with labels and prints, per grade
//! and per kind, which findings are true and which contradictions were found.

mod corpus;
mod times_ten;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Audit every document of a corpus and score the findings
    Corpus {
        /// Folder with docs/, labels.tsv and clean.txt
        dir: PathBuf,
        /// Half of the repositories to score: `tuned`, `held` or both [default: both]
        #[arg(long)]
        half: Option<corpus::Half>,
        /// List the findings that nobody has judged, as rows of judged.tsv
        #[arg(long)]
        open: bool,
        /// List the labels that no finding matches
        #[arg(long)]
        missed: bool,
    },
    /// Multiply single numbers of tables that have a redundancy by ten, and count which are noticed
    TimesTen {
        /// Folder with docs/
        dir: PathBuf,
    },
}

fn main() -> ExitCode {
    let Args { command } = Args::parse();
    let text = match command {
        Command::Corpus { dir, half, open, missed } => {
            let halves =
                half.map_or(vec![corpus::Half::Tuned, corpus::Half::Held], |one| vec![one]);
            corpus::Corpus::read(&dir, include_str!("judged.tsv"))
                .map(|corpus| corpus.report(&halves, open, missed))
        }
        Command::TimesTen { dir } => times_ten::report(&dir, include_str!("redundant.tsv")),
    };
    match text {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("audit-trial: {error:#}");
            ExitCode::from(2)
        }
    }
}
