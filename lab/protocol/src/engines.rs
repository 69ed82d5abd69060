//! The workload of the `engines` family: a query over a folder of JSON Lines chat sessions.
//!
//! # Columns of a run's samples
//! * the answer, a row per reported message, newest first: `answer_file` (index of the file in the
//!   order of its path), `answer_offset_bytes` (of the line within its file), `answer_hash` (xxh64,
//!   seed 0, over the line's bytes, bit-cast to i64)
//! * per worker thread that did any work, where the engine can tell: `worker_busy_ns`
//!
//! # Counters of a run
//! `wall_ns` (from before the walk to after the merge) and its phases where they do not overlap, or
//! the sum over workers where they do: `walk_ns`, `read_ns`, `scan_ns`, `parse_ns`, `merge_ns`;
//! `files`, `bytes` (of the lines that were searched), `bytes_read` (copied out of files, or of
//! lines in mapped ones; what two pieces of work both need counts twice), `bytes_parsed` (of the
//! lines that the prefilter let through), `lines`, `lines_parsed` (the same lines), `matches` (all,
//! not only the reported), `lines_invalid`, `files_unreadable`; `cpu_total_ns`, `cpu_user_ns`,
//! `cpu_system_ns`, `page_faults_minor`, `page_faults_major`, `voluntary_switches`,
//! `involuntary_switches`, `threads`, `rss_high_water_bytes`, and, where allocations are counted,
//! `allocations`. A peer (somebody else's program, asked the nearest question) has `matches` and no
//! answer columns.

use serde::{Deserialize, Serialize};

/// A query, where to look, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The folder; every `*.jsonl` below it is searched.
    pub corpus: String,
    /// What is looked for. The answer depends on this and the corpus alone.
    pub query: Query,
    /// Worker threads; `None` leaves it to the engine.
    pub threads: Option<u32>,
    /// How files are read.
    pub read: Read,
    /// What one piece of work is.
    pub chunk: Granularity,
    /// Bytes of a read buffer; `None` leaves it to the engine.
    pub buffer_bytes: Option<u32>,
    /// Whether a read buffer is as large as the file instead, within bounds.
    pub buffer_adapts: bool,
    /// Capacity of a channel between workers and merger, where the engine has one; `None` for
    /// unbounded.
    pub channel_bound: Option<u32>,
    /// Files searched at once, where the engine limits them.
    pub semaphore: Option<u32>,
    /// Results that a worker's buffer has room for at first.
    pub result_capacity: u32,
    /// Whether lines are parsed only if the prefilter finds the query's literals in their bytes.
    pub prefilter: bool,
    /// Which parser reads a line.
    pub parser: Parser,
    /// What the kernel is told before reading.
    pub advise: Advise,
    /// Whether the files are dropped from the page cache first (`posix_fadvise` on these files
    /// only), outside the timed region.
    pub cold: bool,
}

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// In the query language, for example `"out of memory" AND NOT /re(try|set)/i`.
    pub text: String,
    /// Only messages of this role.
    pub role: Option<String>,
    /// Only messages of this session.
    pub session: Option<String>,
    /// Only messages at or after this time (RFC 3339).
    pub after: Option<String>,
    /// Only messages before this time (RFC 3339).
    pub before: Option<String>,
    /// Only messages whose working directory is this folder or below it.
    pub project: Option<String>,
    /// Whether letters match only in their own case.
    pub case_sensitive: bool,
    /// At most so many messages are reported, newest first; `None` for all.
    pub limit: Option<u32>,
}

/// What one piece of work is: what a thread takes, or a task is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Granularity {
    /// What the engine takes by itself.
    Own,
    /// A file.
    File,
    /// A part of a file, of so many bytes.
    Bytes(u32),
}

/// How files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Read {
    /// Into a buffer.
    Buffered,
    /// Mapped into memory.
    Mmap,
    /// As the engine does it best: for most, large files mapped and small ones into a buffer.
    Auto,
}

/// Which parser reads a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parser {
    /// Of the lab itself: checks the whole line, and decodes of it what the query looks at.
    Spans,
    /// `serde_json`, only the fields that are asked for, lent by the line wherever it can.
    SerdeLazy,
    /// The same, but the line and its fields are copied first: what lending saves.
    SerdeCopied,
    /// `serde_json`, the whole line as a value.
    SerdeWhole,
    /// `sonic-rs`, lazily.
    Sonic,
    /// `simd-json`, the whole line.
    Simd,
}

/// What the kernel is told before reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advise {
    /// Nothing.
    None,
    /// `posix_fadvise(SEQUENTIAL)`.
    Sequential,
    /// `posix_fadvise(WILLNEED)`, which reads ahead.
    WillNeed,
}

/// Names of columns and counters, as variants write them and the lab reads them.
pub mod names {
    crate::names! {
        ANSWER_FILE = "answer_file",
        ANSWER_HASH = "answer_hash",
        ANSWER_OFFSET_BYTES = "answer_offset_bytes",
        BYTES = "bytes",
        BYTES_PARSED = "bytes_parsed",
        BYTES_READ = "bytes_read",
        CPU_SYSTEM_NS = "cpu_system_ns",
        CPU_TOTAL_NS = "cpu_total_ns",
        CPU_USER_NS = "cpu_user_ns",
        FILES = "files",
        FILES_UNREADABLE = "files_unreadable",
        INVOLUNTARY_SWITCHES = "involuntary_switches",
        LINES = "lines",
        LINES_INVALID = "lines_invalid",
        LINES_PARSED = "lines_parsed",
        MATCHES = "matches",
        MERGE_NS = "merge_ns",
        PAGE_FAULTS_MAJOR = "page_faults_major",
        PAGE_FAULTS_MINOR = "page_faults_minor",
        PARSE_NS = "parse_ns",
        READ_NS = "read_ns",
        RSS_HIGH_WATER_BYTES = "rss_high_water_bytes",
        SCAN_NS = "scan_ns",
        VOLUNTARY_SWITCHES = "voluntary_switches",
        WALK_NS = "walk_ns",
        WALL_NS = "wall_ns",
        WORKER_BUSY_NS = "worker_busy_ns",
    }
}
