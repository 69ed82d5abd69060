//! The workload of the `engines` family: a query over a generated corpus.

use std::collections::BTreeMap;

use lab_protocol::search::{Advise, Granularity, Parser, Query, Read, Workload};
use serde::Deserialize;

use crate::{Address, Cell, PlanError, Work, levels::Levels};

/// Bytes that one thread searches in a millisecond, roughly: for forecasts, never for a result.
const BYTES_PER_MS: u64 = 1_000_000;
/// A larger corpus would fill a disk by a slip of the pen.
const BYTES_MAX: u64 = 16_000_000_000;
/// A program's start and end, for forecasts.
const RUN_MS: u64 = 10;
/// A peer that parses everything is slower than the forecast by far.
const DEADLINE_FACTOR: u64 = 60;

/// `[search]` of an experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// The level of every factor that a group of cells does not name. Every variant must be able to
    /// do this cell, for each is checked on it first.
    pub defaults: Cell,
    /// Corpora by the level that names them.
    pub corpus: BTreeMap<String, Corpus>,
    /// Queries by the level that names them.
    pub query: BTreeMap<String, Asked>,
}

/// What `lab corpus` is to make. The same values give the same bytes on every machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corpus {
    /// Sessions, each a file.
    pub files: u32,
    /// Bytes of all together.
    pub bytes: u64,
    /// Of every draw.
    pub seed: u64,
    /// Whether file sizes follow Zipf's law instead of being equal.
    #[serde(default)]
    pub skew: bool,
    /// Whether files that break careless readers come on top.
    #[serde(default)]
    pub hostile: bool,
}

/// A query as an experiment writes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// In the query language.
    pub text: String,
    /// Only messages of this role.
    pub role: Option<String>,
    /// Whether letters match only in their own case.
    #[serde(default)]
    pub case_sensitive: bool,
    /// At most so many messages are reported.
    pub limit: Option<u32>,
}

impl Section {
    pub(crate) fn check(&self, file: &str) -> Result<(), PlanError> {
        for (name, corpus) in &self.corpus {
            if corpus.files == 0 || corpus.bytes == 0 || corpus.bytes > BYTES_MAX {
                let message = "needs at least one file, and 1 byte to 16 GB";
                return Err(PlanError::value(file, &format!("search.corpus.{name}"), message));
            }
        }
        self.workload(file, &self.defaults).map(drop)
    }

    /// The cell with a level for every factor.
    pub(crate) fn complete(&self, cell: &Cell) -> Cell {
        let mut complete = self.defaults.clone();
        complete.extend(cell.clone());
        complete
    }

    /// The workload of one run (its folder is filled in by whoever made the corpus), how long it
    /// should take, and when it is ended.
    pub(crate) fn work(&self, file: &str, at: &Address<'_>) -> Result<(Work, u64, u64), PlanError> {
        let (workload, corpus) = self.workload(file, at.cell)?;
        let expected_ms = RUN_MS + corpus.bytes / BYTES_PER_MS;
        let deadline_ms = 30_000 + DEADLINE_FACTOR * expected_ms;
        let (workload, corpus) = (Box::new(workload), corpus.clone());
        Ok((Work::Search { workload, corpus }, expected_ms, deadline_ms))
    }

    fn workload(&self, file: &str, cell: &Cell) -> Result<(Workload, &Corpus), PlanError> {
        let levels = Levels { file, section: "search", cell };
        let corpus = levels.named("corpus", &self.corpus)?;
        let asked = levels.named("query", &self.query)?;
        let adapts = levels.text(BUFFER)? == ADAPTIVE;
        let workload = Workload {
            corpus: String::new(),
            query: Query {
                text: asked.text.clone(),
                role: asked.role.clone(),
                case_sensitive: asked.case_sensitive,
                limit: asked.limit,
                ..Query::default()
            },
            threads: levels.number_or("threads", "default")?,
            read: levels.one_of("read", &[("buffered", Read::Buffered), ("mmap", Read::Mmap)])?,
            chunk: chunk(&levels)?,
            buffer_bytes: if adapts { None } else { levels.number_or(BUFFER, "default")? },
            buffer_adapts: adapts,
            channel_bound: levels.number_or("channel_bound", "unbounded")?,
            semaphore: levels.number_or("semaphore", "off")?,
            result_capacity: levels.number_or("result_capacity", "default")?.unwrap_or(0),
            prefilter: levels.one_of("prefilter", &[("on", true), ("off", false)])?,
            parser: levels.one_of("parser", &PARSERS)?,
            advise: levels.one_of("advise", &ADVICE)?,
            cold: levels.one_of("cache", &[("warm", false), ("cold", true)])?,
        };
        Ok((workload, corpus))
    }
}

fn chunk(levels: &Levels<'_>) -> Result<Granularity, PlanError> {
    Ok(match levels.text("chunk")? {
        "file" => Granularity::File,
        _ => levels.number_or("chunk", "default")?.map_or(Granularity::Own, Granularity::Bytes),
    })
}

const BUFFER: &str = "buffer_bytes";
/// The level of it that follows the file's size.
const ADAPTIVE: &str = "adaptive";
const PARSERS: [(&str, Parser); 5] = [
    ("serde_lazy", Parser::SerdeLazy),
    ("serde_copied", Parser::SerdeCopied),
    ("serde_whole", Parser::SerdeWhole),
    ("sonic", Parser::Sonic),
    ("simd", Parser::Simd),
];
const ADVICE: [(&str, Advise); 3] =
    [("none", Advise::None), ("sequential", Advise::Sequential), ("will_need", Advise::WillNeed)];

/// What the floor variant does to know the answer: the same query, by one thread, in the plainest
/// way.
pub fn oracle(workload: &Workload) -> Workload {
    Workload {
        threads: Some(1),
        read: Read::Buffered,
        chunk: Granularity::File,
        buffer_bytes: None,
        buffer_adapts: false,
        channel_bound: None,
        semaphore: None,
        result_capacity: 0,
        prefilter: false,
        parser: Parser::SerdeWhole,
        advise: Advise::None,
        cold: false,
        ..workload.clone()
    }
}
