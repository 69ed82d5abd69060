//! How good the audit is on documents that others wrote: which findings are true and which
//! contradictions are found, per grade and per kind.

mod corpus;
mod times_ten;

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;

#[derive(Subcommand)]
pub(crate) enum Task {
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

pub(crate) fn run(task: Task) -> Result<()> {
    let text = match task {
        Task::Corpus { dir, part, open, missed, rows } => {
            let parts = part.map_or(corpus::Part::ALL.to_vec(), |one| vec![one]);
            let corpus = corpus::Corpus::read(&dir, include_str!("judged.tsv"))?;
            match rows {
                true => corpus.rows(&parts),
                false => corpus.report(&parts, open, missed),
            }
        }
        Task::TimesTen { dir, rows } => {
            times_ten::report(&dir, include_str!("redundant.tsv"), rows)?
        }
    };
    print!("{text}");
    Ok(())
}
