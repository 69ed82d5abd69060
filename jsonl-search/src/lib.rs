//! Finds messages in chat sessions that are kept as JSON Lines: query, lines, prefilter, parser,
//! merge, and the program `jsonl-search` ([`answer`]), which shows people what is found.
//!
//! The lab's engines search with it, too, each with another runtime and all with the same code, so
//! it decides nothing about threads: cut the files into [`Job`]s; give each thread or task a
//! [`Worker`]; let it [`search_job`](Worker::search_job) by itself, or read for it and
//! [`feed`](Stream::feed) a [`Stream`]; [`finish`](Worker::finish) it and [`add`](Merger::add) what
//! it found to a [`Merger`].

mod again;
mod arena;
mod as_they_are;
mod ask;
pub mod busy;
mod clock;
mod content;
mod cut_short;
mod files;
mod find;
mod kernel;
mod lines;
mod merge;
mod parse;
mod prefilter;
mod query;
mod queue;
mod reading;
mod render;
mod scan;
mod show;
mod speeds;
mod spelling;
mod threads;
mod time;
mod times;
mod walk;
mod wanted;

pub use files::{CHUNK_BYTES, Chunk, Job, SourceFile, aligned};
pub use kernel::{Plan, Tally, Worker};
pub use lines::Stream;
pub use merge::{Answer, Found, Hit, Merger};
pub use parse::{Invalid, Message, Parse, Part, Spans, Text};
pub use prefilter::Prefilter;
pub use query::{Query, QueryError};
pub use scan::count_newlines;
pub use show::answer;
pub use time::Time;
pub use walk::walk;
pub use wanted::{Advise, Read, Wanted};
