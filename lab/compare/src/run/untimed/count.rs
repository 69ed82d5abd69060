//! Instructions, as valgrind counts them.

use std::fs;

use lab_console::Failure;
use serde::Serialize;

use super::under;
use crate::run::{
    commands::Command,
    runner::{Runner, Stopped},
};

/// Runs of each command.
const RUNS: usize = 3;

/// Of one command with all its processes, outside the kernel: a number a run.
#[derive(Debug, Serialize)]
pub(crate) struct Instructions(Vec<u64>);

pub(super) fn count(
    runner: &Runner<'_>,
    commands: &[Command],
) -> Result<Vec<Instructions>, Stopped> {
    let counted = |command| (0..RUNS).map(|_| run(runner, command)).collect::<Result<_, _>>();
    commands.iter().map(|command| counted(command).map(Instructions)).collect()
}

fn run(runner: &Runner<'_>, command: &Command) -> Result<u64, Stopped> {
    let folder = under(runner, command, |folder| {
        let log = format!("--log-file={}/process-%p", folder.display());
        let fixed = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--trace-children=yes"];
        let more = ["--cachegrind-out-file=/dev/null", &log];
        fixed.iter().chain(&more).map(Into::into).collect()
    })?;
    let files = fs::read_dir(&folder).into_iter().flatten().flatten();
    let texts = files.map(|file| fs::read_to_string(file.path()).unwrap_or_default());
    let counts: Vec<u64> = texts.filter_map(|text| text.lines().find_map(refs)).collect();
    if counts.is_empty() {
        let sentence =
            format!("valgrind printed no number of instructions of `{}`", command.shown());
        return Err(Failure::failed(sentence).into());
    }
    Ok(counts.iter().sum())
}

/// The number of "==123== I   refs:      230,737".
fn refs(line: &str) -> Option<u64> {
    let (_, number) = line.split_once("refs:").filter(|(before, _)| before.contains(" I "))?;
    number.trim().replace(',', "").parse().ok()
}

/// A line for each candidate.
pub(super) fn lines(counts: &[Instructions], names: &[&str]) -> Vec<String> {
    let reference = &counts[0];
    let candidates = counts.iter().zip(names).skip(1);
    candidates.map(|(count, name)| line(count, reference, [name, names[0]])).collect()
}

fn line(candidate: &Instructions, reference: &Instructions, [name, other]: [&str; 2]) -> String {
    let ([least, most], [from, to]) = (candidate.ends(), reference.ends());
    let [below, above] = [least as f64 / to as f64, most as f64 / from as f64];
    let fixed = least == most && from == to;
    if fixed && least == from {
        let count = grouped(least);
        return format!("{name}: exactly as many instructions as {other}, {count} (valgrind)");
    }
    let middle = candidate.middle() as f64 / reference.middle() as f64;
    let spread = match fixed {
        true => format!("{} against {} in each of {RUNS} runs", grouped(least), grouped(from)),
        false => format!("{below:.6} … {above:.6} over {RUNS} runs each"),
    };
    format!("{name}: {middle:.6} times the instructions of {other}, {spread} (valgrind)")
}

impl Instructions {
    fn ends(&self) -> [u64; 2] {
        let ends = [self.0.iter().min(), self.0.iter().max()];
        ends.map(|end| end.copied().unwrap_or_default())
    }

    fn middle(&self) -> u64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

/// With commas between thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    String::from_utf8_lossy(&groups.join(&b',')).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valgrinds_lines_are_read() {
        assert_eq!(refs("==26505== I   refs:      230,737"), Some(230_737));
        assert_eq!(refs("==1== I refs:        7"), Some(7));
        assert_eq!(refs("==26505== D   refs:      1 (2 rd)"), None);
        assert_eq!(refs("==26505== Parent PID: 26482"), None);
    }

    #[test]
    fn equal_counts_and_ratios_are_told_apart() {
        let said = |candidate: [u64; 3], reference: [u64; 3]| {
            let [a, b] = [candidate, reference].map(|counts| Instructions(counts.to_vec()));
            line(&a, &b, ["new", "old"])
        };
        assert_eq!(
            said([1_234_567; 3], [1_234_567; 3]),
            "new: exactly as many instructions as old, 1,234,567 (valgrind)"
        );
        assert_eq!(
            said([1_010; 3], [1_000; 3]),
            "new: 1.010000 times the instructions of old, 1,010 against 1,000 in each of 3 runs \
             (valgrind)"
        );
        assert_eq!(
            said([1_010, 990, 1_000], [1_000; 3]),
            "new: 1.000000 times the instructions of old, 0.990000 … 1.010000 over 3 runs each \
             (valgrind)"
        );
    }
}
