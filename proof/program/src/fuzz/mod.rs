//! Feeds every reader of the lab with broken input, and says how much of it was fed.
//!
//! Inputs are seeds that are cut, doubled, flipped and mixed by a generator that depends on target,
//! seed and number alone: so a run goes on with `--from`, and an input that broke a reader is made
//! again by its number. `tools/proof fuzz` feeds the same readers with what reaches new branches.

mod changes;
mod corpus;
mod targets;

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Result;
use clap::Args;

use self::{
    changes::input,
    targets::{TARGETS, Target},
};

#[derive(Args)]
pub(crate) struct FuzzArgs {
    /// Only this reader
    target: Option<String>,
    /// Seconds for each reader
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    /// Seed of all changes
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first input, to go on with an earlier run
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Feed nothing; write each reader's good input, and what was kept, to FOLDER/READER
    #[arg(long, value_name = "FOLDER")]
    seeds: Option<PathBuf>,
    /// Feed nothing; keep the files of FOLDER/READER for the tests
    #[arg(long, value_name = "FOLDER", conflicts_with = "seeds")]
    keep: Option<PathBuf>,
}

pub(crate) fn run(args: &FuzzArgs) -> Result<ExitCode> {
    if let Some(folder) = &args.seeds {
        TARGETS.iter().try_for_each(|target| write_seeds(folder, target))?;
    } else if let Some(folder) = &args.keep {
        for Target { name, .. } in TARGETS {
            println!("{name}\t{}", corpus::keep(folder, name)?);
        }
    } else {
        return Ok(feed(args));
    }
    Ok(ExitCode::SUCCESS)
}

fn write_seeds(folder: &Path, target: &Target) -> Result<()> {
    let folder = folder.join(target.name);
    fs::create_dir_all(&folder)?;
    let inputs = (target.seeds)().into_iter().chain(corpus::kept(target.name)?);
    for (number, input) in inputs.enumerate() {
        fs::write(folder.join(number.to_string()), input)?;
    }
    Ok(())
}

fn feed(args: &FuzzArgs) -> ExitCode {
    let chosen = |name: &str| args.target.as_deref().is_none_or(|target| target == name);
    if !TARGETS.iter().any(|target| chosen(target.name)) {
        let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("proof: no such reader; there are: {}", known.join(", "));
        return ExitCode::from(2);
    }
    println!("target\tseed\tfrom\tinputs\tseconds\tbroken");
    let mut broken = false;
    for target in TARGETS.iter().filter(|target| chosen(target.name)) {
        let seeds = (target.seeds)();
        let began = Instant::now();
        let mut number = args.from;
        let mut found = None;
        while found.is_none() && began.elapsed() < Duration::from_secs_f64(args.seconds) {
            let bytes = input(target.name, &seeds, args.seed, number);
            let fed = catch_unwind(AssertUnwindSafe(|| (target.feed)(&bytes)));
            found = fed.is_err().then_some(number);
            number += 1;
        }
        let (name, seconds) = (target.name, began.elapsed().as_secs());
        let shown = found.map_or("-".to_owned(), |number| number.to_string());
        let inputs = number - args.from;
        println!("{name}\t{}\t{}\t{inputs}\t{seconds}\t{shown}", args.seed, args.from);
        broken |= found.is_some();
    }
    ExitCode::from(u8::from(broken))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many of each; a run by hand makes millions.
    const INPUTS: u64 = 2_000;

    #[test]
    fn no_reader_breaks() {
        for target in TARGETS {
            let seeds = (target.seeds)();
            assert!(!seeds.is_empty(), "{}", target.name);
            for input in seeds.iter().chain(&corpus::kept(target.name).unwrap()) {
                (target.feed)(input);
            }
            for number in 0..INPUTS {
                let bytes = input(target.name, &seeds, 1, number);
                let fed = catch_unwind(AssertUnwindSafe(|| (target.feed)(&bytes)));
                assert!(fed.is_ok(), "{} breaks at input {number} of seed 1", target.name);
            }
        }
    }
}
