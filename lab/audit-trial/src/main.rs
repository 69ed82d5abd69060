//! How good the audit is on documents that others wrote.
//!
//! `audit-trial corpus DIR` audits every document of a corpus with labels and prints, per grade
//! and per kind, which findings are true and which contradictions were found.

#![forbid(unsafe_code)]

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
        /// Part of the repositories to score: `tuned`, `later` or `blind` [default: all three]
        #[arg(long)]
        part: Option<corpus::Part>,
        /// List the findings that nobody has judged, as rows of judged.tsv
        #[arg(long)]
        open: bool,
        /// List the labels that no finding matches
        #[arg(long)]
        missed: bool,
        /// A row per check and per kind of contradiction instead: reports/audit/figures.tsv
        #[arg(long)]
        rows: bool,
    },
    /// Multiply single numbers of tables that have a redundancy by ten, and count which are noticed
    TimesTen {
        /// Folder with docs/
        dir: PathBuf,
        /// A row per table instead: reports/audit/times-ten.tsv
        #[arg(long)]
        rows: bool,
    },
}

fn main() -> ExitCode {
    let Args { command } = Args::parse();
    let text = match command {
        Command::Corpus { dir, part, open, missed, rows } => {
            let parts = part.map_or(corpus::Part::ALL.to_vec(), |one| vec![one]);
            corpus::Corpus::read(&dir, include_str!("judged.tsv")).map(|corpus| match rows {
                true => corpus.rows(&parts),
                false => corpus.report(&parts, open, missed),
            })
        }
        Command::TimesTen { dir, rows } => {
            times_ten::report(&dir, include_str!("redundant.tsv"), rows)
        }
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
