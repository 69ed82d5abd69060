//! What the engines family shares: query, lines, prefilter, parser, kernel, merge.
//!
//! An engine decides which thread or task reads which file and when; everything that touches a line
//! is here, so that engines differ in scheduling and input alone. It is synchronous, starts no
//! thread and must never know a runtime.
//!
//! The door is [`variant_main`], which hands an engine its [`Search`]: cut the corpus into
//! [`jobs`](Search::jobs); give each thread or task a [`worker`](Search::worker); let it
//! [`search`](Worker::search_job) by itself, or read for it and [`feed`](Stream::feed) a
//! [`Stream`]; [`finish`](Worker::finish) it and [`add`](Merger::add) what it found to a
//! [`merger`](Search::merger).

mod arena;
mod ask;
mod busy;
mod clock;
mod cut_short;
mod entry;
mod files;
mod find;
mod kernel;
mod lines;
mod merge;
mod meter;
mod outcome;
mod parse;
mod peer;
mod prefilter;
mod query;
mod render;
mod scan;
mod search;
mod show;
mod spelling;
mod time;
mod times;
mod walk;

pub use entry::variant_main;
pub use files::{CHUNKS, Chunk, Job, SourceFile, aligned};
pub use kernel::{Tally, Worker};
pub use lab_protocol::engines::{Advise, Granularity, Parser, Read, Workload};
pub use lab_variant::{Identity, RunError, now_ns};
pub use lines::Stream;
pub use merge::{Answer, Found, Hit, Merger};
pub use peer::{Ends, Question, ask_peer, count_after_colon};
pub use query::{Query, QueryError};
pub use scan::count_newlines;
pub use search::Search;
pub use time::Time;
