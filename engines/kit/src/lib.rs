//! What the engines family shares: the workload, what it costs, parsers to compare, peers.
//!
//! An engine decides which thread or task reads which file and when; everything that touches a line
//! is here and in `jsonl_search`, so that engines differ in scheduling and input alone. Both are
//! synchronous and must never know a runtime.
//!
//! The door is [`variant_main`], which hands an engine its [`Search`]: cut the corpus into
//! [`jobs`](Search::jobs); give each thread or task a [`worker`](Search::worker); let it
//! [`search`](Worker::search_job) by itself, or read for it and [`feed`](Stream::feed) a
//! [`Stream`]; [`finish`](Worker::finish) it and [`add`](Merger::add) what it found to a
//! [`merger`](Search::merger).

#![forbid(unsafe_code)]

mod clock;
mod entry;
mod meter;
mod outcome;
mod parse;
mod peer;
mod search;

pub use entry::variant_main;
pub use jsonl_search::{
    Answer, Chunk, Found, Hit, Job, Merger, Query, SourceFile, Stream, Wanted, aligned,
    count_newlines,
};
pub use lab_protocol::engines::{Advise, Granularity, Parser, Read, Workload};
pub use lab_variant::{Identity, RunError, now_ns};
pub use peer::{Ends, Question, ask_peer, count_after_colon};
pub use search::{CHUNKS, Search, Worker};
