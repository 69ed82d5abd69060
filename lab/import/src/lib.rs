//! Results that other benchmark tools wrote, read into one kind of record and judged.
//!
//! [`read`] tells the tool from the text and gives every sample as nanoseconds a call, [`records`]
//! writes them as JSON Lines, and [`judge`] compares two sets. Their runs were not interleaved, so
//! a machine that changed in between looks like a difference: no verdict from here excludes that.
//!
//! Pure: text comes in, values go out. This crate reads no file and knows no clock.

#![forbid(unsafe_code)]

mod criterion;
mod criterion_messages;
pub mod generators;
mod go;
mod go_line;
mod goodput;
mod google;
mod google_text;
mod hyperfine;
mod jmh;
mod json;
pub mod judge;
mod lenient;
mod node;
mod pool;
mod pytest;
mod read;
mod reading;
mod record;
mod requests;
mod units;
mod welch;

pub use criterion::last_runs;
pub use goodput::{Slo, SloError};
pub use lenient::without_nan;
pub use read::{ImportError, Source, read};
pub use reading::Contents;
pub use record::{SCHEMA, records};

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// The tool that measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// `hyperfine --export-json`, which `lab compare --export-json` writes too.
    Hyperfine,
    /// `sample.json` or `estimates.json` of criterion, or the messages of cargo-criterion.
    Criterion,
    /// The text of `go test -bench`, or what `-json` makes of it.
    GoTest,
    /// `-rf json` of JMH, or what kotlinx-benchmark writes.
    Jmh,
    /// `--benchmark-json` of pytest-benchmark.
    PytestBenchmark,
    /// `--benchmark_format=json` of Google Benchmark, or the table that it prints else.
    GoogleBenchmark,
    /// `profile_export.jsonl` of aiperf.
    Aiperf,
    /// `kind=json` of guidellm.
    Guidellm,
    /// `--out json=FILE` of k6.
    K6,
    /// `--save-result --save-detailed` of vLLM's benchmark.
    Vllm,
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hyperfine => "hyperfine",
            Self::Criterion => "criterion",
            Self::GoTest => "go test",
            Self::Jmh => "JMH",
            Self::PytestBenchmark => "pytest-benchmark",
            Self::GoogleBenchmark => "Google Benchmark",
            Self::Aiperf => "aiperf",
            Self::Guidellm => "guidellm",
            Self::K6 => "k6",
            Self::Vllm => "vLLM's benchmark",
        })
    }
}

/// What a file says of the machine and the runtime that measured, such as `cpu` → `AMD EPYC 7763`.
pub type Machine = BTreeMap<String, String>;

/// One measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Of one call.
    pub ns: f64,
    /// Which process of the file measured it, where the tool tells; else all of a file are of one.
    pub fork: Option<usize>,
}

/// A benchmark of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmark {
    /// What measured it.
    pub tool: Tool,
    /// Where it was read.
    pub file: String,
    /// As the tool names it, parameters included.
    pub name: String,
    /// In the file's order; empty where the file has only a mean.
    pub samples: Vec<Sample>,
    /// Nanoseconds a call, of a file without samples. No spread is known, so nothing can be judged.
    pub mean_ns: Option<f64>,
    /// Where it was measured, as far as the file says.
    pub machine: Machine,
    /// How its runs ended, such as `status 139`, and how many did so, where the file says.
    pub endings: BTreeMap<String, usize>,
    /// Whether what counts is how many there are a second: more are better.
    pub is_rate: bool,
}

/// How a run ends that did not fail.
pub(crate) const GOOD_ENDING: &str = "status 0";

impl Benchmark {
    /// One of which nothing is known but its samples.
    pub fn new(tool: Tool, file: &str, name: impl Into<String>, samples: Vec<Sample>) -> Self {
        Self {
            tool,
            file: file.to_owned(),
            name: name.into(),
            samples,
            mean_ns: None,
            machine: Machine::new(),
            endings: BTreeMap::new(),
            is_rate: false,
        }
    }

    fn summary(tool: Tool, file: &str, name: impl Into<String>, mean_ns: f64) -> Self {
        Self { mean_ns: Some(mean_ns), ..Self::new(tool, file, name, Vec::new()) }
    }

    /// Whether a run ended as no run should.
    fn is_failed(&self) -> bool {
        self.endings.keys().any(|ending| ending != GOOD_ENDING)
    }
}
