//! Duets against runs one at a time, on this machine as it is.
//!
//! A try compares a program of about 25 ms with itself, and with 1 % and 2 % more work, in both
//! ways by turns. A line each: what was planted, the way, the runnable processes beside it before
//! the try (all but the first of `/proc/loadavg`'s fourth number), what `lab compare` answered, its
//! rounds and seconds, the estimate, the interval's half-width and the robust standard deviation of
//! a pair, all in per cent.

use std::{env, fs, path::Path, process::Command};

use anyhow::{Context, Result};
use serde_json::Value;

/// The loops of the first program.
const LOOPS: u64 = 12_000;
/// Additional loops of the second.
const PLANTED: [u64; 3] = [0, 120, 240];
/// Seconds of a try at most.
const BUDGET: &str = "30";
/// The standard deviation of a normal sample over its median absolute deviation.
const NORMAL_SD_PER_MAD: f64 = 1.4826;

pub(super) fn all(tries: u32) -> Result<()> {
    println!(
        "planted_percent\tway\trunnable\toutcome\trounds\tseconds\testimate\thalf_width\tpair_sd"
    );
    for number in 0..tries {
        for more in PLANTED {
            let ways = [false, true];
            // By turns first, so that a load that grows meets both.
            for duet in if number % 2 == 0 { ways } else { [true, false] } {
                println!("{}", one(more, duet)?);
            }
        }
    }
    Ok(())
}

fn one(more: u64, duet: bool) -> Result<String> {
    let program = env::current_exe()?;
    let record = env::temp_dir().join(format!("lab-duets-{}", std::process::id()));
    let command = |loops: u64| format!("{} compare work {loops}", program.display());
    let runnable = runnable()?;
    let output = Command::new(super::lab()?)
        .args(["compare", &command(LOOPS), &command(LOOPS + more), "-N", "--json"])
        .args(["--budget", BUDGET, "--record"])
        .arg(&record)
        .args(duet.then_some("--duet"))
        .output()
        .context("lab")?;
    let pair_sd = pair_sd(&record);
    let _ = fs::remove_file(&record);
    let result: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let state = &result["state"];
    let candidate = &state["candidates"][0];
    let estimate = &candidate["metrics"][0]["estimate"];
    let end = |place: usize| estimate["interval"][place].as_f64().unwrap_or(f64::NAN);
    let outcome = candidate["verdict"]["outcome"].as_str().unwrap_or("-");
    Ok(format!(
        "{}\t{}\t{runnable}\t{outcome}\t{}\t{:.1}\t{:.2}\t{:.2}\t{:.2}",
        100 * more / LOOPS,
        if duet { "duet" } else { "one at a time" },
        state["rounds"],
        state["elapsed_s"].as_f64().unwrap_or(f64::NAN),
        100.0 * estimate["shift"].as_f64().unwrap_or(f64::NAN),
        50.0 * (end(1) - end(0)),
        100.0 * pair_sd?,
    ))
}

/// Of the differences of logarithms of wall time, robust against the runs that were disturbed most.
fn pair_sd(record: &Path) -> Result<f64> {
    let text = fs::read_to_string(record)?;
    let difference = |line: &str| {
        let round: Value = serde_json::from_str(line).ok()?;
        let wall = |run: usize| round["runs"][run][0].as_f64();
        Some((wall(1)? / wall(0)?).ln())
    };
    let differences: Vec<f64> = text.lines().skip(1).filter_map(difference).collect();
    let deviation = lab_stats::describe::median_deviation(&differences).context("no rounds")?;
    Ok(NORMAL_SD_PER_MAD * deviation)
}

fn runnable() -> Result<u64> {
    let load = fs::read_to_string("/proc/loadavg")?;
    let field = load.split_whitespace().nth(3).and_then(|field| field.split('/').next());
    let count: u64 = field.context("/proc/loadavg has no fourth field")?.parse()?;
    Ok(count.saturating_sub(1))
}
