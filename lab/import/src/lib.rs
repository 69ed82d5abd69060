//! Results that other benchmark tools wrote, read into one kind of record and judged.
//!
//! [`read`] tells the tool from the text and gives every sample as nanoseconds a call, [`records`]
//! writes them as JSON Lines, and [`judge`] compares two sets. Their runs were not interleaved, so
//! a machine that changed in between looks like a difference: no verdict from here excludes that.
//!
//! Pure: text comes in, values go out. This crate reads no file and knows no clock.

#![forbid(unsafe_code)]

mod criterion;
mod go;
mod google;
mod google_text;
mod hyperfine;
mod jmh;
mod json;
pub mod judge;
mod node;
mod pytest;
mod read;
mod record;

pub use read::{ImportError, Source, read};
pub use record::{SCHEMA, records};

use serde::{Deserialize, Serialize};

/// The tool that measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// `hyperfine --export-json`, which `lab compare --export-json` writes too.
    Hyperfine,
    /// `sample.json` or `estimates.json` of criterion.
    Criterion,
    /// The text of `go test -bench`, or what `-json` makes of it.
    GoTest,
    /// `-rf json` of JMH.
    Jmh,
    /// `--benchmark-json` of pytest-benchmark.
    PytestBenchmark,
    /// `--benchmark_format=json` of Google Benchmark, or the table that it prints else.
    GoogleBenchmark,
}

/// One measured time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Of one call.
    pub ns: f64,
    /// The process that measured it, where the tool tells.
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
}

impl Benchmark {
    fn new(tool: Tool, file: &str, name: impl Into<String>, samples: Vec<Sample>) -> Self {
        Self { tool, file: file.to_owned(), name: name.into(), samples, mean_ns: None }
    }

    fn summary(tool: Tool, file: &str, name: impl Into<String>, mean_ns: f64) -> Self {
        let mean_ns = Some(mean_ns);
        Self { tool, file: file.to_owned(), name: name.into(), samples: Vec::new(), mean_ns }
    }
}
