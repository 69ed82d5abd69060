//! System calls, as strace counts them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use serde::Serialize;

use super::under;
use crate::compare::{
    commands::Command,
    run::{Runner, Stopped, failed},
};

/// Calls that the table shows at most.
const SHOWN: usize = 8;

/// Of one run of a command with all its processes: how often each call was made.
#[derive(Debug, Serialize)]
pub(crate) struct Syscalls(BTreeMap<String, u64>);

pub(super) fn count(runner: &Runner<'_>, commands: &[Command]) -> Result<Vec<Syscalls>, Stopped> {
    commands.iter().map(|command| run(runner, command)).collect()
}

fn run(runner: &Runner<'_>, command: &Command) -> Result<Syscalls, Stopped> {
    let folder = under(runner, command, |folder| {
        let summary = folder.join("summary").into_os_string();
        let fixed = ["strace", "-f", "-c", "-o"].map(Into::into);
        fixed.into_iter().chain([summary, "--".into()]).collect()
    })?;
    let text = fs::read_to_string(folder.join("summary")).unwrap_or_default();
    let calls: BTreeMap<String, u64> = text.lines().filter_map(call).collect();
    if calls.is_empty() {
        return Err(failed(1, format!("strace counted no system call of `{}`", command.text)));
    }
    Ok(Syscalls(calls))
}

/// Name and number of "  0.00    0.000000           0        37        13 openat"; the last column
/// but one, of errors, may be empty.
fn call(line: &str) -> Option<(String, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, _, _, calls, .., name] = words[..] else { return None };
    (name != "total").then_some((name.to_owned(), calls.parse().ok()?))
}

/// A table: the total, and the calls that differ most from the reference's.
pub(super) fn lines(counts: &[Syscalls], names: &[&str]) -> Vec<String> {
    let names = names.iter().map(|name| name.chars().take(24).collect());
    let mut rows = vec![("system calls".to_owned(), names.collect::<Vec<String>>())];
    let total = |count: &Syscalls| count.0.values().sum::<u64>().to_string();
    rows.push(("total".to_owned(), counts.iter().map(total).collect()));
    for name in differing(counts) {
        let of = |count: &Syscalls| count.of(name).to_string();
        rows.push((name.to_owned(), counts.iter().map(of).collect()));
    }
    let first = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let wide = |at: usize| rows.iter().map(|(_, cells)| cells[at].chars().count()).max();
    let widths: Vec<usize> = (0..counts.len()).map(|at| wide(at).unwrap_or(0)).collect();
    let line = |(name, cells): &(String, Vec<String>)| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("  {cell:>width$}"));
        format!("{name:first$}{}", cells.collect::<String>())
    };
    rows.iter().map(line).collect()
}

/// Calls that some candidate makes more or less often than the reference, the most differing first.
fn differing(counts: &[Syscalls]) -> Vec<&str> {
    let names: BTreeSet<&str> =
        counts.iter().flat_map(|count| count.0.keys()).map(String::as_str).collect();
    let most = |name: &str| {
        let differences =
            counts[1..].iter().map(|count| count.of(name).abs_diff(counts[0].of(name)));
        differences.max().unwrap_or(0)
    };
    let mut differing: Vec<&str> = names.into_iter().filter(|name| most(name) > 0).collect();
    differing.sort_by_key(|name| std::cmp::Reverse(most(name)));
    differing.truncate(SHOWN);
    differing
}

impl Syscalls {
    fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straces_lines_are_read() {
        let with_errors = "  0.00    0.000000           0        37        13 openat";
        assert_eq!(call(with_errors), Some(("openat".to_owned(), 37)));
        let without = " 12.50    0.000123           4        28           close";
        assert_eq!(call(without), Some(("close".to_owned(), 28)));
        for other in [
            "% time     seconds  usecs/call     calls    errors syscall",
            "------ ----------- ----------- --------- --------- ----------------",
            "100.00    0.000000           0       218        31 total",
            "",
        ] {
            assert_eq!(call(other), None, "{other}");
        }
    }

    #[test]
    fn the_table_has_the_total_and_what_differs() {
        let calls = |of: &[(&str, u64)]| {
            Syscalls(of.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect())
        };
        let old = calls(&[("read", 10), ("close", 3), ("mmap", 5)]);
        let new = calls(&[("read", 200), ("close", 3), ("openat", 1), ("mmap", 3)]);
        assert_eq!(
            lines(&[old, new], &["old", "new"]),
            [
                "system calls  old  new",
                "total          18  207",
                "read           10  200",
                "mmap            5    3",
                "openat          0    1",
            ]
        );
    }
}
