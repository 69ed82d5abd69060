//! `lab import`: results of other benchmark tools, as records or judged.

mod load;
mod text;

use std::{path::PathBuf, str::FromStr};

use clap::Args;
use lab_console::{exit_codes, plain};
use lab_import::{
    Benchmark, Slo,
    judge::{self, Judged, Settings},
    last_runs, records,
};
use serde_json::json;

use self::load::{Notes, load};
use crate::{Exit, Failure, streams};

/// Of what --json prints.
const SCHEMA: &str = "lab-import-1";

/// Without --against and --reference the samples are printed, one a line of JSON.
#[derive(Args)]
#[command(after_help = exit_codes(&CODES))]
pub(crate) struct ImportArgs {
    /// Results: JSON of hyperfine, criterion, JMH, pytest-benchmark or Google Benchmark, text of
    /// `go test -bench` or Google Benchmark, messages of cargo-criterion, requests of a load
    /// generator (aiperf's profile_export.jsonl, guidellm's JSON, k6's --out json, vLLM's
    /// --save-detailed), records of this command, or criterion's folder
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Results to compare the files with, benchmark by benchmark of the same name
    #[arg(long, value_name = "OLD", conflicts_with = "reference")]
    against: Vec<PathBuf>,
    /// Times that a request should meet, such as ttft_ms=200,itl_ms=50,reply_ms=3000: compares the
    /// goodput too, the requests a second that meet all of them, a value a file
    #[arg(long, value_name = "KEY=MS,…", requires = "against")]
    slo: Option<String>,
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
    (Exit::Open, "that cannot be told, or a benchmark is in the files of --against alone"),
    (
        Exit::Input,
        "the command line is wrong, a file is of no known format, or does not tell what --slo asks",
    ),
    (Exit::File, "a file cannot be read or is broken"),
];

pub(crate) fn import(args: &ImportArgs) -> Result<Exit, Failure> {
    let settings = settings(args)?;
    let mut notes = Notes::default();
    let slo = args.slo.as_deref().map(Slo::from_str).transpose();
    let slo = slo.map_err(|error| Failure::input(error.to_string()))?;
    let new = load(&args.files, slo.as_ref(), &mut notes)?;
    if args.reference.is_none() && args.against.is_empty() {
        notes.tell();
        streams::print_all(records(&new).map(|line| plain::json(&line)))?;
        return Ok(Exit::Success);
    }
    let new = once(new, &mut notes);
    let old = once(load(&args.against, slo.as_ref(), &mut notes)?, &mut notes);
    notes.tell();
    let judged = match &args.reference {
        Some(reference) => judge::within(&new, reference, &settings),
        None => judge::against(&old, &new, &settings),
    };
    let result = Results {
        judged: judged.map_err(|error| Failure::input(error.to_string()))?,
        vanished: judge::unmatched(&old, &new),
        added: if old.is_empty() { Vec::new() } else { judge::unmatched(&new, &old) },
    };
    result.tell_unmatched();
    if let Some(why) = judge::why_unmatched(&old, &new).filter(|_| !result.vanished.is_empty()) {
        streams::tell(format_args!("note: {why}"));
    }
    let exit = result.exit();
    let text = match args.json {
        true => plain::json(&result.json(&settings, exit)),
        false => text::text(&result.judged, settings.alpha),
    };
    streams::print((text + "\n").as_bytes())?;
    Ok(exit)
}

/// Without what would count a benchmark of criterion twice.
fn once(mut benchmarks: Vec<Benchmark>, notes: &mut Notes) -> Vec<Benchmark> {
    for file in last_runs(&mut benchmarks) {
        notes.add(&file, "left out: `new/sample.json` says the same or later".to_owned());
    }
    benchmarks
}

/// What is printed.
struct Results {
    judged: Vec<Judged>,
    /// In the files of --against alone.
    vanished: Vec<String>,
    /// In the new files alone.
    added: Vec<String>,
}

impl Results {
    fn tell_unmatched(&self) {
        let places = [(&self.vanished, "the files of --against"), (&self.added, "the new files")];
        for (names, place) in places {
            for name in names {
                streams::tell(format_args!("note: {} is in {place} alone", plain::line(name)));
            }
        }
    }

    fn exit(&self) -> Exit {
        let slower = || self.judged.iter().map(|judged| judged.slower_beyond_margin);
        if slower().any(|slower| slower == Some(true)) {
            Exit::Slower
        } else if self.vanished.is_empty() && slower().all(|slower| slower == Some(false)) {
            Exit::Success
        } else {
            Exit::Open
        }
    }

    fn json(&self, settings: &Settings, exit: Exit) -> String {
        let result = json!({
            "schema": SCHEMA, "settings": settings, "interleaved": false,
            "benchmarks": self.judged, "vanished": self.vanished, "added": self.added,
            "exit": exit.code(),
        });
        result.to_string()
    }
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
