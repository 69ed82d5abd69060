//! Real searches for a planted commit, a row of a table each.
//!
//! A repository has 64 commits after the first, one of which adds 3 % to the loops of a small C
//! program, and `lab bisect` searches for it. A table goes on where it was stopped.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

const HEADER: &str =
    "planted\tfound\tright\texit\tcomparisons\tpairs\tseconds\tbudget_s\twhole\tload_before";
const COMMITS: usize = 64;
/// About 25 ms on a processor of 2 to 3 GHz; slow is 3 % more.
const LOOPS: [usize; 2] = [12_000_000, 12_360_000];
/// The version keeps its length, so that commits differ by their bytes and not by their layout.
const PROGRAM: &str = r#"#include <stdint.h>
#include <stdio.h>
int main(void) {
    uint64_t state = 88172645463325252u, total = 0;
    for (long loop = 0; loop < LOOPS; loop++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        total += state;
    }
    fprintf(stderr, "version VERSION\n");
    printf("%d\n", total != 0);
    return 0;
}
"#;

#[derive(Args)]
pub(crate) struct BisectsArgs {
    /// Rows that the table is to have
    rows: usize,
    /// The table, for example reports/compare/bisects-real.tsv
    file: PathBuf,
    /// Seconds for each comparison
    #[arg(default_value = "60")]
    budget: String,
}

pub(super) fn run(BisectsArgs { rows, file, budget }: &BisectsArgs) -> Result<()> {
    let lab = super::lab()?;
    if !file.exists() {
        fs::write(file, format!("{HEADER}\n"))?;
    }
    loop {
        let done = fs::read_to_string(file)?.lines().skip(1).count();
        if done >= *rows {
            return Ok(());
        }
        let row = searched(&lab, done, budget)?;
        eprintln!("{row}");
        writeln!(OpenOptions::new().append(true).open(file)?, "{row}")?;
    }
}

/// A row of the table.
fn searched(lab: &Path, number: usize, budget: &str) -> Result<String> {
    let planted = place(number);
    let (files, cache) = (TempDir::new()?, TempDir::new()?);
    let commits = repository(files.path(), planted)?;
    let load = lab_driver::probe::load_1min().map_or("-".to_owned(), |load| format!("{load:.2}"));
    let start = Instant::now();
    let output = Command::new(lab)
        .args(["bisect", "--good", &commits[0], "--bad", &commits[COMMITS], "--json"])
        .args(["--budget", budget, "--seed", &number.to_string()])
        .args(["--build", "cc -O1 -o tool tool.c", "--", "tool"])
        .current_dir(&files)
        .env("XDG_CACHE_HOME", cache.path())
        .output()?;
    let seconds = start.elapsed().as_secs_f64();
    let Ok(result) = serde_json::from_slice::<Value>(&output.stdout) else {
        bail!("{}", String::from_utf8_lossy(&output.stderr))
    };
    let found = commits.iter().position(|commit| result["found"] == commit.as_str());
    let comparisons = result["comparisons"].as_array().map_or(&[][..], Vec::as_slice);
    let pairs = |compared: &Value| compared["estimate"]["pairs"].as_u64().unwrap_or(0);
    let whole = comparisons.first().and_then(|whole| whole["estimate"]["shift"].as_f64());
    // An end without an answer names no commit, and is not right.
    let right = if found == Some(planted) && result["exit"] == 0 { "yes" } else { "no" };
    let row = [
        planted.to_string(),
        found.map_or("-".to_owned(), |found| found.to_string()),
        right.to_owned(),
        result["exit"].to_string(),
        comparisons.len().to_string(),
        comparisons.iter().map(pairs).sum::<u64>().to_string(),
        format!("{seconds:.1}"),
        budget.to_owned(),
        whole.map_or("-".to_owned(), |shift| format!("{:+.2} %", 100.0 * shift.exp_m1())),
        load,
    ];
    Ok(row.join("\t"))
}

/// The planted commit of a row: the same whenever the row is made.
fn place(number: usize) -> usize {
    1 + usize::from(Sha256::digest(number.to_le_bytes())[0]) % COMMITS
}

/// The commits, the first one without the plant.
fn repository(folder: &Path, planted: usize) -> Result<Vec<String>> {
    let git = |words: &[&str]| -> Result<String> {
        let identity = ["-c", "user.name=n", "-c", "user.email=e@e"];
        let output = Command::new("git").args(identity).args(words).current_dir(folder).output()?;
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout)?.trim().to_owned()),
            false => bail!("{}", String::from_utf8_lossy(&output.stderr)),
        }
    };
    git(&["init", "--quiet"])?;
    let commit = |at: usize| {
        let loops = LOOPS[usize::from(at >= planted)].to_string();
        let program = PROGRAM.replace("LOOPS", &loops).replace("VERSION", &format!("{at:04}"));
        fs::write(folder.join("tool.c"), program)?;
        git(&["add", "tool.c"])?;
        git(&["commit", "--quiet", "--message", &format!("Version {at}")])?;
        git(&["rev-parse", "HEAD"])
    };
    (0..=COMMITS).map(commit).collect()
}
