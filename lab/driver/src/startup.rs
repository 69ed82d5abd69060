//! Start-up time of every variant: whole processes by hyperfine, in interleaved rounds.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
};

use serde::Deserialize;

#[derive(Deserialize)]
struct Export {
    results: Vec<Timed>,
}

/// hyperfine 1 writes `times`, hyperfine 2 `measurements`; both are in use.
#[derive(Deserialize)]
struct Timed {
    #[serde(default)]
    times: Vec<f64>,
    #[serde(default)]
    measurements: Vec<Measurement>,
}

#[derive(Deserialize)]
struct Measurement {
    time_wall_clock: Quantity,
}

#[derive(Deserialize)]
struct Quantity {
    value: f64,
    unit: String,
}

/// One timed `--describe` of a program; hyperfine's JSON is kept only as long as it takes to read.
pub(crate) fn time_once(program: &Path, scratch: &Path) -> Result<u64, String> {
    let export = scratch.join("hyperfine.json");
    let command = format!("'{}' --describe", program.display());
    let output = Command::new("hyperfine")
        .args(["-N", "-r", "1", "-w", "0", "--style", "none", "--export-json"])
        .arg(&export)
        .arg(command)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("hyperfine cannot be started: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("hyperfine: {}", said.lines().next().unwrap_or("failed")));
    }
    let text = fs::read_to_string(&export).map_err(|error| format!("hyperfine's JSON: {error}"))?;
    wall_ns(&text)
}

fn wall_ns(text: &str) -> Result<u64, String> {
    let export: Export =
        serde_json::from_str(text).map_err(|error| format!("hyperfine's JSON: {error}"))?;
    let timed = export.results.first().ok_or("hyperfine's JSON holds no result")?;
    let time_s = match (timed.times.first(), timed.measurements.first()) {
        (Some(&time_s), _) => time_s,
        (None, Some(Measurement { time_wall_clock: Quantity { value, unit } }))
            if unit == "second" =>
        {
            *value
        }
        _ => return Err("hyperfine's JSON holds no time in seconds".to_owned()),
    };
    Ok((time_s * 1e9).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::wall_ns;

    #[test]
    fn both_formats_of_hyperfine_are_read() {
        let one = r#"{"results":[{"command":"x","mean":0.5,"times":[0.25]}]}"#;
        let two = r#"{"results":[{"measurements":[
            {"time_wall_clock":{"value":0.25,"unit":"second"},"exit_code":0}]}]}"#;
        assert_eq!((wall_ns(one), wall_ns(two)), (Ok(250_000_000), Ok(250_000_000)));
    }

    #[test]
    fn another_unit_is_no_time() {
        let text = r#"{"results":[{"measurements":[
            {"time_wall_clock":{"value":250,"unit":"millisecond"}}]}]}"#;
        assert!(wall_ns(text).unwrap_err().contains("no time in seconds"));
    }
}
