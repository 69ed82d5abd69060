//! Two sets of equal files against each other, through the command line: whatever is found of them
//! is false.

mod programs;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use lab_compare::{Comparison, Settings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::programs::Class;
use self::programs::Programs;
pub use self::table::{again, table};
use super::{store, trial};

/// What one call makes.
#[derive(Args)]
pub struct CopiesArgs {
    /// JSON Lines, one a try
    file: PathBuf,
    /// The program `lab`
    #[arg(long, default_value = "target/release/lab")]
    lab: PathBuf,
    /// Only these kinds of program; default: all
    #[arg(long, value_enum)]
    only: Vec<Class>,
    /// Tries of each kind, half of them with the sets in the other order
    #[arg(long, default_value_t = 40)]
    tries: usize,
    /// Rounds of a try
    #[arg(long, default_value_t = 200)]
    rounds: usize,
    /// Compare the same two sets a second time, in the other order: what lies in the files is found
    /// again, and what lies in the order is not
    #[arg(long)]
    again: bool,
    /// Seconds after which no further try begins
    #[arg(long)]
    within: Option<u64>,
}

/// A finished try.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Copied {
    /// The programs.
    pub class: Class,
    /// The number of the try among those of its class; of odd ones `b/` is the first command.
    pub number: usize,
    /// Whether the same sets had been compared before, in the other order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// The revision of this repository, with `+changes` where the work tree has some.
    pub commit: String,
    /// The CPU's name and how many there are.
    pub machine: String,
    /// The load average over a minute when it began.
    pub load: f64,
    /// From the first round to the last.
    pub elapsed_s: f64,
    /// By round: 0 where the first command ran first, 1 where the second did.
    pub first: Vec<u8>,
    /// Wall times in nanoseconds by round: the first command's, the second's.
    pub wall_ns: Vec<[u64; 2]>,
}

impl Copied {
    /// The comparison with all its rounds.
    pub fn comparison(&self) -> Comparison {
        let mut comparison =
            Comparison::new(Settings::default(), &["wall"]).expect("the defaults are valid");
        for (first, wall) in self.first.iter().zip(&self.wall_ns) {
            let order = if *first == 0 { [0, 1] } else { [1, 0] };
            let runs = wall.map(|ns| vec![ns as f64 / 1e3]);
            comparison.add(&order, &runs, 0.0).expect("a round has a run for each command");
        }
        comparison
    }
}

/// Per cent: out of reach, so that no try ends as equivalent.
const MARGIN: &str = "0.0001";

/// Makes the tries that the file does not hold yet.
pub fn run(args: &CopiesArgs) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let lab = fs::canonicalize(&args.lab).context("the program lab; build it, or give --lab")?;
    let programs = Programs::new(folder.path().to_owned(), lab.clone())?;
    let done: Vec<Copied> = store::read(&args.file)?;
    let is_done = |class: Class, number: usize| {
        done.iter().any(|one| (one.class, one.number) == (class, number))
    };
    let classes: Vec<Class> = match args.only.is_empty() {
        true => Class::value_variants().to_vec(),
        false => args.only.clone(),
    };
    // A part of all has some of each.
    let all = (0..args.tries).flat_map(|number| classes.iter().map(move |class| (*class, number)));
    let missing: Vec<_> = all.filter(|(class, number)| !is_done(*class, *number)).collect();
    let bar = ProgressBar::new(missing.len() as u64).with_style(ProgressStyle::with_template(
        "{bar:30} {pos}/{len} tries, {elapsed} gone, about {eta} to go; {msg}",
    )?);
    let end = args.within.map(|within| Instant::now() + Duration::from_secs(within));
    for (class, number) in missing {
        if end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        bar.set_message(format!("{class:?} {number}"));
        let folder = tempfile::tempdir()?;
        let mut commands = programs.make(class, folder.path(), number as u64)?;
        if number % 2 == 1 {
            commands.reverse();
        }
        let made = compared(&lab, folder.path(), &commands, number, args.rounds)?;
        store::append(&args.file, &made.of(class, number, false)?)?;
        if args.again {
            commands.reverse();
            let made = compared(&lab, folder.path(), &commands, !number, args.rounds)?;
            store::append(&args.file, &made.of(class, number, true)?)?;
        }
        bar.inc(1);
    }
    bar.finish();
    Ok(())
}

/// What one call of the program measured.
struct Measured {
    load: f64,
    elapsed_s: f64,
    first: Vec<u8>,
    wall_ns: Vec<[u64; 2]>,
}

impl Measured {
    fn of(self, class: Class, number: usize, again: bool) -> Result<Copied> {
        let Self { load, elapsed_s, first, wall_ns } = self;
        let (commit, machine) = (trial::commit()?, trial::machine());
        Ok(Copied { class, number, again, commit, machine, load, elapsed_s, first, wall_ns })
    }
}

fn compared(
    lab: &Path,
    folder: &Path,
    commands: &[String; 2],
    seed: usize,
    rounds: usize,
) -> Result<Measured> {
    let record = folder.join(format!("rounds{seed}"));
    let load = lab_driver::probe::load_1min().unwrap_or(f64::NAN);
    let output = Command::new(lab)
        .arg("compare")
        .args(commands)
        .args(["--runs", &rounds.to_string(), "--budget", "1e8", "--margin", MARGIN, "--json"])
        .args(["--seed", &seed.to_string(), "--record"])
        .arg(&record)
        // A module's `__pycache__` is what one class is about.
        .env_remove("PYTHONDONTWRITEBYTECODE")
        .output()
        .context("lab")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(matches!(output.status.code(), Some(0 | 10 | 11)), "{}: {said}", commands[0]);
    let mut made = Measured { load, elapsed_s: 0.0, first: Vec::new(), wall_ns: Vec::new() };
    for line in fs::read_to_string(&record)?.lines().skip(1) {
        let round: Value = serde_json::from_str(line)?;
        let wall_ns = |command: usize| {
            let wall = round["runs"][command][0].as_f64();
            wall.map(|microseconds| (1e3 * microseconds).round() as u64)
        };
        let walls = wall_ns(0).zip(wall_ns(1)).context("a round without wall times")?;
        made.wall_ns.push(walls.into());
        made.first.push(u8::from(round["order"][0] == 1));
        made.elapsed_s = round["elapsed_s"].as_f64().unwrap_or(f64::NAN);
    }
    Ok(made)
}
