//! Real comparisons whose answers are known: a program with itself, and with more work planted.
//!
//! `proof compare run reports/compare/tries.jsonl` makes the tries that are still missing, and
//! `proof compare tables reports/compare` derives every table from them.

mod bars;
mod copies;
mod duets;
mod neighbour;
mod page;
mod plan;
mod planted;
mod planted_bisects;
mod prices;
mod real;
mod store;
mod tables;
mod tokio;
mod trial;
mod work;

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result};
use clap::Subcommand;
use indicatif::{ProgressBar, ProgressStyle};

use self::plan::{Kind, Part};

#[derive(Subcommand)]
pub(crate) enum Task {
    /// Make the tries that FILE does not hold yet, and append them
    Run {
        /// JSON Lines, one a try
        file: PathBuf,
        /// Only these kinds; default: all
        #[arg(long, value_enum)]
        only: Vec<Kind>,
        /// Only this much more work, in thousandths; default: all
        #[arg(long, value_name = "PERMILLE")]
        more: Vec<u32>,
        /// Only beside a neighbour's load, or only without
        #[arg(long)]
        neighbour: Option<bool>,
        /// Tries of each kind at most; default: as many as the proof needs
        #[arg(long)]
        tries: Option<usize>,
        /// Pairs of an A/A; default: 300
        #[arg(long, default_value_t = 300)]
        pairs: usize,
        /// Seconds after which no further try begins
        #[arg(long)]
        within: Option<u64>,
    },
    /// Compare real programs with copies of them and of their data, and append to FILE
    Copies(copies::CopiesArgs),
    /// Derive the tables of FOLDER from its tries.jsonl or tries.jsonl.zst
    Tables {
        /// Holds the tries; the tables are written there
        folder: PathBuf,
    },
    /// Derive the pages of FOLDER from its recorded rounds of Tokio's versions
    Tokio {
        /// Holds what `tools/proof tokio` recorded; the pages are written there
        folder: PathBuf,
    },
    /// Measure what is asked of a comparison's cost, minutes, and write FOLDER/bars.tsv
    Bars {
        /// Holds the tables
        folder: PathBuf,
    },
    /// Compare duets with runs one at a time, on this machine as it is
    Duets {
        /// Comparisons of each kind and way
        tries: u32,
    },
    /// Let `lab bisect` search for planted commits, and append a row each to FILE
    Bisects(planted_bisects::BisectsArgs),
    /// Tell how many rounds and minutes a difference takes, by the noise
    Prices(prices::PricesArgs),
    /// Do this much work and end: the program that is compared
    Work {
        /// Loops
        loops: u64,
    },
    /// Load every CPU by fits and starts until standard input ends
    Neighbour {
        /// Seconds after which it ends in any case
        #[arg(default_value_t = 3_600)]
        seconds: u64,
    },
}

pub(crate) fn run(task: Task) -> Result<()> {
    match task {
        Task::Run { file, only, more, neighbour, tries, pairs, within } => {
            let part = Part { only, more, neighbour, tries, pairs };
            make(&file, &part, within.map(Duration::from_secs))
        }
        Task::Copies(args) => copies::run(&args),
        Task::Tables { folder } => tables::write(&folder),
        Task::Tokio { folder } => tokio::write(&folder),
        Task::Bars { folder } => bars::write(&folder),
        Task::Duets { tries } => duets::all(tries),
        Task::Bisects(args) => planted_bisects::run(&args),
        Task::Prices(args) => prices::run(&args),
        Task::Work { loops } => {
            println!("{:016x}", work::work(loops));
            Ok(())
        }
        Task::Neighbour { seconds } => {
            neighbour::load(Duration::from_secs(seconds));
            Ok(())
        }
    }
}

/// The program `lab` that was built beside this one.
fn lab() -> Result<PathBuf> {
    let lab = std::env::current_exe()?.with_file_name("lab");
    anyhow::ensure!(lab.is_file(), "there is no lab beside this program; build it with --bin lab");
    Ok(lab)
}

fn make(file: &std::path::Path, part: &Part, within: Option<Duration>) -> Result<()> {
    let program = std::env::current_exe().context("this program's own path")?;
    let done: Vec<trial::Try> = store::read(file)?;
    let missing = plan::missing(part, &done);
    let bar = ProgressBar::new(missing.len() as u64).with_style(ProgressStyle::with_template(
        "{bar:30} {pos}/{len} tries, {elapsed} gone, about {eta} to go; {msg}",
    )?);
    let bench = trial::Bench::calibrated(program)?;
    let end = within.map(|within| std::time::Instant::now() + within);
    for planned in missing {
        if end.is_some_and(|end| std::time::Instant::now() >= end) {
            break;
        }
        bar.set_message(planned.to_string());
        store::append(file, &bench.make(&planned)?)?;
        bar.inc(1);
    }
    bar.finish();
    Ok(())
}
