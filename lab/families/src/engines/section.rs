//! The workload of the `engines` family: a query over a generated corpus.

use std::{collections::BTreeMap, sync::Arc};

use lab_family::{
    Address, Answer, Cell, Checked, Corpus, InputError, Levels, Needs, Places, Planned, Section,
    Truth, Work,
};
use lab_protocol::engines::{Advise, Granularity, Parser, Query, Read, Workload};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::engines::check;

/// Bytes that one thread searches in a millisecond, roughly: for forecasts, never for a result.
const BYTES_PER_MS: u64 = 1_000_000;
/// More files would use up what a disk can name.
const FILES_MAX: u32 = 1_000_000;
/// A larger corpus would fill a disk by a slip of the pen.
const BYTES_MAX: u64 = 16_000_000_000;
/// A program's start and end, for forecasts.
const RUN_MS: u64 = 10;
/// A peer that parses everything is slower than the forecast by far.
const DEADLINE_FACTOR: u64 = 60;

/// `[search]` of an experiment.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnginesSection {
    /// The level of every factor that a group of cells does not name. Every variant must be able to
    /// do this cell, for each is checked on it first.
    pub defaults: Cell,
    /// Corpora by the level that names them.
    pub corpus: BTreeMap<String, Corpus>,
    /// Queries by the level that names them.
    pub query: BTreeMap<String, Asked>,
}

/// A query as an experiment writes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
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

impl EnginesSection {
    fn workload(&self, file: &str, cell: &Cell) -> Result<(Workload, &Corpus), InputError> {
        let levels = Levels { file, section: "engines", cell };
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
            read: levels.one_of("read", &READS)?,
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

impl Section for EnginesSection {
    fn defaults(&self) -> Cell {
        self.defaults.clone()
    }

    /// A query of a cell with the smallest corpus: one of another cell may find nothing in it.
    fn lightest(&self, cells: &[Cell]) -> Cell {
        let places = cells.iter().map(|cell| {
            let level = |factor: &str| cell.get(factor).or_else(|| self.defaults.get(factor));
            ["corpus", "query"].map(|factor| level(factor).cloned().unwrap_or_default())
        });
        let bytes = |name: &str| self.corpus.get(name).map_or(u64::MAX, |corpus| corpus.bytes);
        let lightest = places.min_by_key(|[corpus, _]| bytes(corpus));
        let named =
            lightest.map(|levels| ["corpus", "query"].map(str::to_owned).into_iter().zip(levels));
        named.into_iter().flatten().collect()
    }

    fn check(&self, file: &str) -> Result<(), InputError> {
        for (name, corpus) in &self.corpus {
            let files_fit = (1..=FILES_MAX).contains(&corpus.files);
            if !files_fit || corpus.bytes == 0 || corpus.bytes > BYTES_MAX {
                let message = "needs 1 to 1,000,000 files, and 1 byte to 16 GB";
                return Err(InputError::value(file, &format!("engines.corpus.{name}"), message));
            }
        }
        self.workload(file, &self.defaults).map(drop)
    }

    fn needs(&self, _cells: &[Cell]) -> Needs {
        Needs { floor_answers: true, whole_processes: true, ..Needs::default() }
    }

    fn plan(&self, file: &str, at: &Address<'_>) -> Result<Planned, InputError> {
        let (workload, corpus) = self.workload(file, at.cell)?;
        let expected_ms = RUN_MS + corpus.bytes / BYTES_PER_MS;
        let deadline_ms = 30_000 + DEADLINE_FACTOR * expected_ms;
        let work = Arc::new(EnginesWork { workload, corpus: corpus.clone() });
        Ok(Planned { work, expected_ms, deadline_ms })
    }
}

/// The query of one run.
#[derive(Debug)]
struct EnginesWork {
    workload: Workload,
    corpus: Corpus,
}

impl EnginesWork {
    fn at(&self, at: &Places) -> Workload {
        let corpus = at.corpus.to_string_lossy().into_owned();
        Workload { corpus, ..self.workload.clone() }
    }
}

impl Work for EnginesWork {
    fn workload(&self, at: &Places) -> serde_json::Value {
        json!(self.at(at))
    }

    fn corpus(&self) -> Option<&Corpus> {
        Some(&self.corpus)
    }

    fn floor_workload(&self, at: &Places, _tags: &[String]) -> Option<serde_json::Value> {
        Some(json!(floor_workload(&self.at(at))))
    }

    fn check(&self, answer: &Answer<'_>, truth: &Truth<'_>) -> Result<Checked, String> {
        let Truth::Floor(floor) = truth else {
            return Err("there is no answer of the floor".into());
        };
        if answer.is_tagged(PEER_TAG) {
            return Ok(check::beside(answer.outcome, floor));
        }
        check::answer(answer.outcome, floor).map(|()| Checked::right())
    }
}

/// A variant with this tag runs somebody else's program, which reports a count and no lines.
pub(crate) const PEER_TAG: &str = "peer";

fn chunk(levels: &Levels<'_>) -> Result<Granularity, InputError> {
    Ok(match levels.text("chunk")? {
        "file" => Granularity::File,
        _ => levels.number_or("chunk", "default")?.map_or(Granularity::Own, Granularity::Bytes),
    })
}

const BUFFER: &str = "buffer_bytes";
/// The level of it that follows the file's size.
const ADAPTIVE: &str = "adaptive";
const READS: [(&str, Read); 3] =
    [("buffered", Read::Buffered), ("mmap", Read::Mmap), ("auto", Read::Auto)];
const PARSERS: [(&str, Parser); 6] = [
    ("spans", Parser::Spans),
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
fn floor_workload(workload: &Workload) -> Workload {
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
