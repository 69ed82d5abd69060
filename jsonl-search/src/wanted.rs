//! What whoever starts a search asks for.

use clap::ValueEnum;

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
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
}

/// How files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Read {
    /// Into a buffer.
    Buffered,
    /// Mapped into memory.
    Mmap,
    /// Small files into a buffer, large ones mapped; a person's as was faster in this search.
    Auto,
}

/// What the kernel is told of a file before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advise {
    /// Nothing.
    None,
    /// `posix_fadvise(SEQUENTIAL)`.
    Sequential,
    /// `posix_fadvise(WILLNEED)`, which reads ahead.
    WillNeed,
}
