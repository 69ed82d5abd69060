//! The command line of every variant.

use std::any::Any;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use lab_protocol::search::Workload;
use lab_protocol::{PROTOCOL, RunOutcome, RunSpec, Status, exit};
use serde::Serialize;

use crate::meter::Meter;
use crate::{Answer, RunError, Search, ask, outcome, show};

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
            family: "engines".to_owned(),
            variant: self.variant.to_owned(),
            measures: self.measures.to_owned(),
            version: self.version.to_owned(),
            features: self.features.iter().map(|&feature| feature.to_owned()).collect(),
        }
    }
}

/// The whole of an engine's `main`: answers `--describe` and `--help`, searches for a person
/// (`--search`), or reads one `RunSpec` line from standard input, calls `run` and writes one
/// `RunOutcome` line to standard output. `run` is what is timed: walk, read, search, merge. Its
/// error and its panic become an outcome without numbers. The exit codes are those of
/// [`lab_protocol::exit`].
pub fn variant_main(
    identity: &Identity,
    run: impl FnOnce(Arc<Search>) -> Result<Answer, RunError>,
) -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    match arguments.iter().map(|argument| argument.to_str()).collect::<Vec<_>>()[..] {
        [] => {}
        [Some("--describe")] => return print(&identity.describe(), exit::DONE),
        [Some("--help" | "-h")] => return print_help(identity),
        [Some("--search"), ..] => return show::search(identity.variant, &arguments[1..], run),
        _ => return refuse("the only arguments are --describe, --search and --help"),
    }
    let (name, search) = match read_spec() {
        Ok(spec) => spec,
        Err(sentence) => return refuse(&sentence),
    };
    match caught(|| timed(Arc::new(search), run)) {
        Ok((counters, samples)) => {
            let (protocol, run, status) = (PROTOCOL, name, Status::Ok);
            let done = RunOutcome { protocol, run, status, reason: None, counters, samples };
            print(&done, exit::DONE)
        }
        Err(error) => {
            eprintln!("{}: {error}", identity.variant);
            let (status, code) = match error {
                RunError::Unsupported(_) => (Status::Unsupported, exit::DONE),
                _ => (Status::Failed, exit::FAILED),
            };
            print(&RunOutcome::without_numbers(&name, status, error.to_string()), code)
        }
    }
}

/// What `work` gives, and its panic as an error.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    let result = catch_unwind(AssertUnwindSafe(work));
    result.unwrap_or_else(|panic| Err(RunError::Panicked(panic_text(&*panic))))
}

type Numbers = (BTreeMap<String, u64>, BTreeMap<String, Vec<i64>>);

fn timed(
    search: Arc<Search>,
    run: impl FnOnce(Arc<Search>) -> Result<Answer, RunError>,
) -> Result<Numbers, RunError> {
    if search.workload().cold {
        search.evict()?;
    }
    let meter = Meter::start();
    let answer = run(Arc::clone(&search))?;
    let mut counters = meter.counters();
    counters.extend(outcome::counters(&answer));
    counters.extend([("walk_ns", search.walk_ns()), ("files", search.files())]);
    for (index, reason) in &answer.unreadable {
        eprintln!("file {index} cannot be read: {reason}");
    }
    let counters = counters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Ok((counters, outcome::samples(&answer)))
}

fn read_spec() -> Result<(String, Search), String> {
    let mut line = String::new();
    let length = io::stdin().lock().read_line(&mut line);
    match length.map_err(|error| format!("cannot read standard input: {error}"))? {
        0 => Err("standard input ended before a run spec: write one JSON line to it".to_owned()),
        _ => {
            let spec = RunSpec::<Workload>::from_line(&line)?;
            let search = Search::new(spec.workload);
            Ok((spec.run, search.map_err(|error| format!("cannot read the query: {error}"))?))
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
        "engines-{}: a query over JSON Lines on {} {}\n\nReads one run spec as a JSON line from \
         standard input and writes one outcome as a JSON line.\n\n  --describe  print who this \
         is, as JSON\n  --help      print this\n\nExit codes: 0 done, 1 failed (the outcome says \
         why), 2 bad spec\n\n{}",
        identity.variant,
        identity.measures,
        identity.version,
        ask::HELP
    );
    let written = writeln!(io::stdout(), "{text}");
    ExitCode::from(if written.is_ok() { exit::DONE } else { exit::FAILED } as u8)
}

fn refuse(sentence: &str) -> ExitCode {
    eprintln!("{sentence}");
    ExitCode::from(exit::BAD_SPEC as u8)
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_default()
}
