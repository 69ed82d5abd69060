//! `lab import`: results of other benchmark tools, as records or judged.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::Args;
use lab_console::exit_codes;
use lab_import::{
    Benchmark, ImportError, Source,
    judge::{self, DRIFT, Judged, Settings},
    read, records,
};
use lab_record::{Bounded, Folder};
use serde_json::json;

use crate::{Exit, Failure, streams};

/// Of what --json prints.
const SCHEMA: &str = "lab-import-1";
/// Folders between criterion's and a benchmark's: group, function, parameter and some to spare.
const DEEPEST: usize = 8;

/// Without --against and --reference the samples are printed, one a line of JSON.
#[derive(Args)]
#[command(after_help = exit_codes(&CODES))]
pub(crate) struct ImportArgs {
    /// Results: JSON of hyperfine, criterion, JMH, pytest-benchmark or Google Benchmark, text of
    /// `go test -bench` or Google Benchmark, records of this command, or criterion's folder
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Results to compare the files with, benchmark by benchmark of the same name
    #[arg(long, value_name = "OLD", conflicts_with = "reference")]
    against: Vec<PathBuf>,
    /// Benchmark of the files to compare the others with
    #[arg(long, value_name = "NAME")]
    reference: Option<String>,
    /// Difference in per cent that is too small to matter
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    margin: f64,
    /// Probability in per cent of a wrong verdict, over all benchmarks together
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    error_level: f64,
    /// Seed of the random regroupings
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

const CODES: [(Exit, &str); 5] = [
    (Exit::Success, "no benchmark is slower by more than the margin; or records were printed"),
    (Exit::Slower, "one is"),
    (Exit::Open, "that cannot be told"),
    (Exit::Input, "the command line is wrong, or a file is of no known format"),
    (Exit::File, "a file cannot be read or is broken"),
];

pub(crate) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    let settings = settings(args)?;
    let new = load(&args.files)?;
    let judged = if let Some(reference) = &args.reference {
        judge::within(&new, reference, &settings)
    } else if args.against.is_empty() {
        streams::print_all(records(&new))?;
        return Ok(Exit::Success);
    } else {
        let old = load(&args.against)?;
        let judged = judge::against(&old, &new, &settings);
        if judged
            .as_ref()
            .is_ok_and(|judged| (old.len(), new.len()) != (1, 1) && !judged.is_empty())
        {
            note_unmatched(&old, &new);
        }
        judged
    };
    let judged = judged.map_err(|error| Failure::input(error.to_string()))?;
    let exit = exit(&judged);
    let mut text = if args.json {
        let result = json!({
            "schema": SCHEMA, "settings": settings, "interleaved": false, "benchmarks": judged,
            "exit": exit.code(),
        });
        result.to_string()
    } else {
        let lines = judged.iter().map(|judged| line(judged) + "\n");
        format!("{}{DRIFT}; `lab compare` runs both commands in turns", lines.collect::<String>())
    };
    text.push('\n');
    streams::print(text.as_bytes())?;
    Ok(exit)
}

fn settings(args: &ImportArgs) -> Result<Settings, Failure> {
    let share = |option, percent: f64| match percent > 0.0 && percent < 100.0 {
        true => Ok(percent / 100.0),
        false => Err(Failure::input(format!("{option} is no number between 0 and 100"))),
    };
    Ok(Settings {
        alpha: share("--error-level", args.error_level)?,
        margin: share("--margin", args.margin)?,
        seed: args.seed,
    })
}

fn note_unmatched(old: &[Benchmark], new: &[Benchmark]) {
    for (names, place) in [
        (judge::unmatched(old, new), "the files of --against"),
        (judge::unmatched(new, old), "the new files"),
    ] {
        for name in names {
            streams::tell(format_args!("note: {name} is in {place} alone"));
        }
    }
}

fn exit(judged: &[Judged]) -> Exit {
    let slower = || judged.iter().map(|judged| judged.slower_beyond_margin);
    if slower().any(|slower| slower == Some(true)) {
        Exit::Slower
    } else if slower().all(|slower| slower == Some(false)) {
        Exit::Success
    } else {
        Exit::Open
    }
}

/// "name: slower (…): +1.2 % (+0.4 … +2.0), 20 and 20 samples, 1.2 ms and 1.3 ms".
fn line(judged: &Judged) -> String {
    let name = match judged.benchmark == judged.reference {
        true => judged.benchmark.clone(),
        false => format!("{} against {}", judged.benchmark, judged.reference),
    };
    let percent = |shift: f64| 100.0 * shift.exp_m1();
    let mut text = format!("{name}: {}", judged.verdict());
    if let Some(shift) = judged.shift {
        text += &format!(": {:+.2} %", percent(shift));
    }
    if let Some([low, high]) = judged.interval {
        text += &format!(" ({:+.2} … {:+.2})", percent(low), percent(high));
    }
    let [old, new] = judged.samples;
    text += &format!(", {old} and {new} samples");
    if let [Some(old), Some(new)] = judged.median_ns {
        text += &format!(", medians {} and {}", time(old), time(new));
    }
    if let Some(reason) = &judged.reason {
        text += &format!("\n  {reason}");
    }
    text
}

fn time(ns: f64) -> String {
    let (divisor, unit) = match ns {
        ..1e3 => (1.0, "ns"),
        ..1e6 => (1e3, "µs"),
        ..1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.4} {unit}", ns / divisor)
}

fn load(paths: &[PathBuf]) -> Result<Vec<Benchmark>, Failure> {
    let mut benchmarks = Vec::new();
    for path in paths {
        if path.is_dir() {
            let folder = Folder::at(path);
            for name in samples(&folder)? {
                let text = folder.read(&name);
                benchmarks.extend(of_file(&folder.join(&name), text)?);
            }
        } else {
            let text = fs::File::open(path).and_then(|file| Bounded::new(file).all());
            benchmarks.extend(of_file(path, text)?);
        }
    }
    Ok(benchmarks)
}

fn of_file(path: &Path, bytes: io::Result<Vec<u8>>) -> Result<Vec<Benchmark>, Failure> {
    let bytes = bytes.map_err(|error| Failure::reading(path, error))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::files(format!("{} is no text in UTF-8", path.display())))?;
    let beside = Folder::at(path.parent().unwrap_or(Path::new(""))).text("benchmark.json").ok();
    let name = path.display().to_string();
    let source = Source { file: &name, text: &text, beside: beside.as_deref() };
    read(&source).map_err(|error| Failure {
        exit: match error {
            ImportError::Unknown { .. } => Exit::Input,
            _ => Exit::File,
        },
        sentence: error.to_string(),
    })
}

/// The samples of criterion's last run, by their names in its folder.
fn samples(folder: &Folder) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    samples_below(folder, "", DEEPEST, &mut found)?;
    if found.is_empty() {
        let expected = "holds no `new/sample.json` of criterion; name a file, or target/criterion";
        return Err(Failure::input(format!("{} {expected}", folder.path().display())));
    }
    Ok(found)
}

/// A link is left out: it leads out of the folder.
fn samples_below(
    folder: &Folder,
    below: &str,
    depth: usize,
    found: &mut Vec<String>,
) -> Result<(), Failure> {
    let sample = format!("{below}new/sample.json");
    if folder.has(&sample) {
        found.push(sample);
        return Ok(());
    }
    let names =
        folder.names(below).map_err(|error| Failure::reading(&folder.join(below), error))?;
    for name in names {
        let inner = format!("{below}{name}/");
        let is_folder = fs::symlink_metadata(folder.join(&inner[..inner.len() - 1]));
        if is_folder.is_ok_and(|kind| kind.is_dir()) && depth > 0 {
            samples_below(folder, &inner, depth - 1, found)?;
        }
    }
    Ok(())
}
