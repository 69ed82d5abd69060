//! hyperfine, one run at a time: what it is told, and what its JSON says.

use std::{ffi::OsStr, path::Path};

use lab_process::Run;
use serde::Deserialize;

/// What was measured of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timed {
    pub(crate) wall_ns: u64,
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

impl Timed {
    /// As counters of a run whose program was started by this.
    pub(crate) fn counters(self, by: &str) -> [(String, u64); 3] {
        let Self { wall_ns, user_ns, system_ns } = self;
        [("wall_ns", wall_ns), ("user_ns", user_ns), ("system_ns", system_ns)]
            .map(|(name, ns)| (format!("{by}_{name}"), ns))
    }
}

#[derive(Deserialize)]
struct Export {
    results: Vec<OneRun>,
}

/// hyperfine 1 writes `times` and means, hyperfine 2 `measurements`; both are in use.
#[derive(Deserialize)]
struct OneRun {
    #[serde(default)]
    times: Vec<f64>,
    user: Option<f64>,
    system: Option<f64>,
    #[serde(default)]
    measurements: Vec<Measurement>,
}

#[derive(Deserialize)]
struct Measurement {
    time_wall_clock: Quantity,
    time_user: Quantity,
    time_system: Quantity,
}

#[derive(Deserialize)]
struct Quantity {
    value: f64,
    unit: String,
}

/// The first version that runs a command without a shell and exports its one run.
const VERSION_MIN: (u32, u32) = (1, 16);

/// Whether what `hyperfine --version` says is new enough.
///
/// # Errors
/// A sentence that says what to install.
pub(crate) fn check_version(said: Option<&str>) -> Result<(), String> {
    let to_do = "install hyperfine 1.16 or newer, or run in the pinned environment (./enter)";
    let Some(said) = said else {
        return Err(format!(
            "hyperfine times every run of this experiment and is not there; {to_do}"
        ));
    };
    let mut parts = said.trim_start_matches("hyperfine ").split('.').map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= VERSION_MIN => Ok(()),
        _ => Err(format!("`{said}` cannot time the runs of this experiment; {to_do}")),
    }
}

/// A command that runs a program with these arguments once, without a shell and without a warm-up,
/// and leaves its JSON in `export`.
pub(crate) fn once(export: &Path, program: &Path, arguments: &str) -> Run {
    with(export, &format!("{} {arguments}", quoted(program)), &[])
}

/// The same of a program that reads one file and writes another. It may fail: what it printed says
/// so.
pub(crate) fn once_between(export: &Path, program: &Path, input: &Path, output: &Path) -> Run {
    let flags = [OsStr::new("--ignore-failure"), OsStr::new("--input"), input.as_os_str()];
    let flags = [&flags[..], &[OsStr::new("--output"), output.as_os_str()]].concat();
    with(export, &quoted(program), &flags)
}

fn with(export: &Path, command_line: &str, flags: &[&OsStr]) -> Run {
    let own = ["-N", "-r", "1", "-w", "0", "--style", "none", "--export-json"].map(OsStr::new);
    let given = [export.as_os_str(), OsStr::new(command_line)];
    Run::of("hyperfine", own.into_iter().chain(given).chain(flags.iter().copied()))
}

/// A program's path as hyperfine splits command lines.
fn quoted(program: &Path) -> String {
    format!("'{}'", program.display())
}

/// Reads the JSON of one run.
pub(crate) fn read(text: &str) -> Result<Timed, String> {
    let export: Export =
        serde_json::from_str(text).map_err(|error| format!("hyperfine's JSON: {error}"))?;
    let run = export.results.first().ok_or("hyperfine's JSON holds no result")?;
    if let (Some(&wall), Some(user), Some(system)) = (run.times.first(), run.user, run.system) {
        return Ok(Timed { wall_ns: ns(wall), user_ns: ns(user), system_ns: ns(system) });
    }
    let measured = run.measurements.first().ok_or("hyperfine's JSON holds no time")?;
    let seconds = |quantity: &Quantity| {
        let found = (quantity.unit == "second").then(|| ns(quantity.value));
        found.ok_or_else(|| format!("hyperfine's JSON holds no time in seconds: {}", quantity.unit))
    };
    Ok(Timed {
        wall_ns: seconds(&measured.time_wall_clock)?,
        user_ns: seconds(&measured.time_user)?,
        system_ns: seconds(&measured.time_system)?,
    })
}

fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_hyperfine_and_none_are_refused() {
        assert_eq!(check_version(Some("hyperfine 1.16.0")), Ok(()));
        assert_eq!(check_version(Some("hyperfine 2.0.0")), Ok(()));
        let old = check_version(Some("hyperfine 1.15.0")).unwrap_err();
        assert!(old.starts_with("`hyperfine 1.15.0` cannot time the runs"), "{old}");
        assert!(check_version(Some("something else")).is_err());
        assert!(check_version(None).unwrap_err().contains("is not there; install hyperfine 1.16"));
    }

    #[test]
    fn both_formats_of_hyperfine_are_read() {
        let one = r#"{"results":[{"command":"x","mean":0.5,"user":0.5,"system":0.125,
            "times":[0.25]}]}"#;
        let two = r#"{"results":[{"measurements":[
            {"time_wall_clock":{"value":0.25,"unit":"second"},
            "time_user":{"value":0.5,"unit":"second"},
            "time_system":{"value":0.125,"unit":"second"},"exit_code":0}]}]}"#;
        let expected = Timed { wall_ns: 250_000_000, user_ns: 500_000_000, system_ns: 125_000_000 };
        assert_eq!((read(one), read(two)), (Ok(expected), Ok(expected)));
    }

    #[test]
    fn another_unit_is_no_time() {
        let text = r#"{"results":[{"measurements":[
            {"time_wall_clock":{"value":250,"unit":"millisecond"},
            "time_user":{"value":0.5,"unit":"second"},
            "time_system":{"value":0.125,"unit":"second"}}]}]}"#;
        assert!(read(text).unwrap_err().contains("no time in seconds"));
    }
}
