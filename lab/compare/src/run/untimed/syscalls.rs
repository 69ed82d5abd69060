//! System calls, as strace counts them, or perf.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use lab_console::Failure;
use serde::Serialize;

use super::{is_installed, under};
use crate::run::{
    commands::Command,
    runner::{Runner, Stopped},
};

/// Calls that the table shows at most.
const SHOWN: usize = 8;

/// Of one run of a command with all its processes: how often each call was made.
#[derive(Debug, Serialize)]
pub(crate) struct Syscalls(BTreeMap<String, u64>);

/// What counts, the better one first: perf asks for the right to read the kernel's tracepoints.
const TOOLS: [Tool; 2] = [
    Tool { words: &["strace", "-f", "-c", "-o"], call: of_strace },
    Tool { words: &["perf", "trace", "-s", "-o"], call: of_perf },
];

/// A tool that writes a table of calls.
struct Tool {
    /// Before the table's path.
    words: &'static [&'static str],
    /// Name and number of a line.
    call: fn(&str) -> Option<(String, u64)>,
}

impl Tool {
    fn here() -> Option<Self> {
        TOOLS.into_iter().find(|tool| is_installed(tool.words[0]))
    }
}

/// Whether anything here can count.
pub(super) fn are_countable() -> bool {
    Tool::here().is_some()
}

pub(super) fn count(runner: &Runner<'_>, commands: &[Command]) -> Result<Vec<Syscalls>, Stopped> {
    let gone = || Failure::input("neither strace nor perf is installed any more");
    let tool = Tool::here().ok_or_else(gone)?;
    commands.iter().map(|command| run(&tool, runner, command)).collect()
}

fn run(tool: &Tool, runner: &Runner<'_>, command: &Command) -> Result<Syscalls, Stopped> {
    let folder = under(runner, command, |folder| {
        let summary = folder.join("summary").into_os_string();
        let words = tool.words.iter().map(Into::into);
        words.chain([summary, "--".into()]).collect()
    })?;
    let text = fs::read_to_string(folder.join("summary")).unwrap_or_default();
    let mut calls = BTreeMap::new();
    for (name, count) in text.lines().filter_map(tool.call) {
        *calls.entry(name).or_insert(0) += count;
    }
    if calls.is_empty() {
        let (tool, text) = (tool.words[0], command.shown());
        return Err(Failure::failed(format!("{tool} counted no system call of `{text}`")).into());
    }
    Ok(Syscalls(calls))
}

/// Name and number of "  0.00    0.000000           0        37        13 openat"; the last column
/// but one, of errors, may be empty.
fn of_strace(line: &str) -> Option<(String, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, _, _, calls, .., name] = words[..] else { return None };
    (name != "total").then_some((name.to_owned(), calls.parse().ok()?))
}

/// Name and number of "   openat     2      0     0.040     0.020     0.020     0.021      1.53%";
/// each thread has a table of its own.
fn of_perf(line: &str) -> Option<(String, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, calls, .., spread] = words[..] else { return None };
    let is_row = words.len() >= 7 && spread.ends_with('%');
    is_row.then_some((name.to_owned(), calls.parse().ok()?))
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
        assert_eq!(of_strace(with_errors), Some(("openat".to_owned(), 37)));
        let without = " 12.50    0.000123           4        28           close";
        assert_eq!(of_strace(without), Some(("close".to_owned(), 28)));
        for other in [
            "% time     seconds  usecs/call     calls    errors syscall",
            "------ ----------- ----------- --------- --------- ----------------",
            "100.00    0.000000           0       218        31 total",
            "",
        ] {
            assert_eq!(of_strace(other), None, "{other}");
        }
    }

    #[test]
    fn perfs_lines_are_read() {
        let row = "   wait4     4      2     5.899     0.012     1.475     5.834     98.53%";
        assert_eq!(of_perf(row), Some(("wait4".to_owned(), 4)));
        for other in [
            " sh (28603), 118 events, 27.7%",
            "   syscall            calls  errors  total       min       avg       max       stddev",
            "                                     (msec)    (msec)    (msec)    (msec)        (%)",
            "   --------------- --------  ------ -------- --------- --------- ---------     ------",
            "",
        ] {
            assert_eq!(of_perf(other), None, "{other}");
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
