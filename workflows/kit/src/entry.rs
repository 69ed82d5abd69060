//! The command line of every variant.

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use lab_protocol::workflow::Workload;
use lab_protocol::{PROTOCOL, RunOutcome, RunSpec, Status, exit};
use serde::Serialize;

use crate::client::{BackEnd, Measured, measure};
use crate::{RunError, check, panic_text};

/// Who a variant is; the same as its `variant.toml`, which a test compares.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    /// The folder's name.
    pub variant: &'static str,
    /// The crate whose behaviour is measured.
    pub measures: &'static str,
    /// Its pinned version.
    pub version: &'static str,
    /// Its features that the variant asks for.
    pub features: &'static [&'static str],
}

impl Identity {
    fn describe(&self) -> lab_protocol::Identity {
        lab_protocol::Identity {
            protocol: PROTOCOL,
            family: "workflows".to_owned(),
            variant: self.variant.to_owned(),
            measures: self.measures.to_owned(),
            version: self.version.to_owned(),
            features: self.features.iter().map(|&feature| feature.to_owned()).collect(),
        }
    }
}

/// The whole of a variant's `main`: answers `--describe` and `--help`, or reads one `RunSpec` line
/// from standard input, runs the workload on `B` and writes one `RunOutcome` line to standard
/// output. A panic becomes a failed outcome. The exit codes are those of [`lab_protocol::exit`].
pub fn variant_main<B: BackEnd>(identity: &Identity) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {}
        ["--describe"] => return print(&identity.describe(), exit::DONE),
        ["--help" | "-h"] => return print_help(identity),
        _ => return refuse("the only arguments are --describe and --help"),
    }
    let spec = match read_spec() {
        Ok(spec) => spec,
        Err(sentence) => return refuse(&sentence),
    };
    let result = catch_unwind(AssertUnwindSafe(|| measure::<B>(&spec.workload)));
    match result.unwrap_or_else(|panic| Err(RunError::Panicked(panic_text(&*panic)))) {
        Ok(Measured { counters, samples }) => {
            let (protocol, run) = (PROTOCOL, spec.run);
            let status = Status::Ok;
            let done = RunOutcome { protocol, run, status, reason: None, counters, samples };
            print(&done, exit::DONE)
        }
        Err(error) => {
            eprintln!("{}: {error}", identity.variant);
            let (status, code) = match error {
                RunError::Unsupported(_) => (Status::Unsupported, exit::DONE),
                _ => (Status::Failed, exit::FAILED),
            };
            print(&RunOutcome::without_numbers(&spec.run, status, error.to_string()), code)
        }
    }
}

fn read_spec() -> Result<RunSpec<Workload>, String> {
    let mut line = String::new();
    let length = io::stdin().lock().read_line(&mut line);
    match length.map_err(|error| format!("cannot read standard input: {error}"))? {
        0 => Err("standard input ended before a run spec: write one JSON line to it".to_owned()),
        _ => {
            let spec = RunSpec::<Workload>::from_line(&line)?;
            check::workload(&spec.workload)?;
            Ok(spec)
        }
    }
}

fn print(line: &impl Serialize, code: i32) -> ExitCode {
    let text = serde_json::to_string(line).expect("an outcome has only string keys");
    match writeln!(io::stdout(), "{text}") {
        Ok(()) => ExitCode::from(code as u8),
        // Whoever asked is gone.
        Err(_) => ExitCode::from(exit::FAILED as u8),
    }
}

fn print_help(identity: &Identity) -> ExitCode {
    let text = format!(
        "workflows-{}: tasks of steps, kept by {} {}\n\nReads one run spec as a JSON line from \
         standard input and writes one outcome as a JSON line.\n\n  --describe  print who this \
         is, as JSON\n  --help      print this\n\nExit codes: 0 done, 1 failed (the outcome says \
         why), 2 bad spec",
        identity.variant, identity.measures, identity.version
    );
    let written = writeln!(io::stdout(), "{text}");
    ExitCode::from(if written.is_ok() { exit::DONE } else { exit::FAILED } as u8)
}

fn refuse(sentence: &str) -> ExitCode {
    eprintln!("{sentence}");
    ExitCode::from(exit::BAD_SPEC as u8)
}
