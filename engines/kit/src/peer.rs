//! Somebody else's program, asked the nearest question that it understands.
//!
//! What a peer leaves out (the field, the roles, the order) makes its work less than an engine's,
//! and its count may differ; the report puts the two counts side by side.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lab_protocol::engines::{Query, Read};

use crate::{Answer, RunError, Search};

/// What a peer is asked.
#[derive(Debug)]
pub struct Question {
    /// The folder.
    pub corpus: PathBuf,
    /// Its files, in order.
    pub files: Vec<PathBuf>,
    /// A word without quotes or operators.
    pub word: String,
    /// Whether letters match only in their own case.
    pub case_sensitive: bool,
    /// Worker threads.
    pub threads: usize,
    /// Whether files are to be mapped.
    pub mmap: bool,
}

/// By custom, what a program ends with that is there and lacks something it needs.
const NOT_INSTALLED: i32 = 77;

/// What a peer's exit status says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// 1 is nothing found.
    AsGrep,
    /// Everything but 0 is a failure.
    WithZero,
}

/// Asks a peer, and takes the sum of the counts that `count` finds in its lines.
///
/// # Errors
/// [`RunError::Unsupported`] where the workload asks for more than a word, or the program is not
/// there; [`RunError::Failed`] where it fails.
pub fn ask_peer(
    search: &Search,
    ends: Ends,
    command: impl FnOnce(&Question) -> Result<Command, RunError>,
    count: impl Fn(&str) -> u64,
) -> Result<Answer, RunError> {
    let question = Question::of(search)?;
    let mut command = command(&question)?;
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(|error| RunError::unsupported(format!("{name} cannot be started: {error}")))?;
    let output = child.stdout.take().expect("stdout is piped");
    let mut answer = search.merger().finish();
    for line in BufReader::new(output).lines() {
        let line = line.map_err(|error| RunError::setup(format!("{name}: {error}")))?;
        answer.tally.matches += count(&line);
    }
    let status = child.wait().map_err(RunError::setup)?;
    if status.code() == Some(NOT_INSTALLED) {
        return Err(RunError::unsupported(format!("{name} lacks what it needs, and says what")));
    }
    let is_nothing = ends == Ends::AsGrep && status.code() == Some(1);
    let found_nothing = is_nothing && answer.tally.matches == 0;
    if !status.success() && !found_nothing {
        return Err(RunError::setup(format!("{name} ended with {status}")));
    }
    Ok(answer)
}

impl Question {
    fn of(search: &Search) -> Result<Self, RunError> {
        let workload = search.workload();
        let Query { text, case_sensitive, .. } = &workload.query;
        let plain = Query {
            text: text.clone(),
            case_sensitive: *case_sensitive,
            limit: workload.query.limit,
            ..Query::default()
        };
        let is_word = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !is_word || plain != workload.query {
            return Err(RunError::unsupported("a peer is asked for a single plain word only"));
        }
        let files = search.walk()?.iter().map(|file| file.path.to_path_buf()).collect();
        Ok(Self {
            corpus: Path::new(&workload.corpus).to_owned(),
            files,
            word: text.clone(),
            case_sensitive: *case_sensitive,
            threads: search.threads(),
            mmap: workload.read == Read::Mmap,
        })
    }

    /// For a program that cannot map files.
    ///
    /// # Errors
    /// Where the workload asks for it.
    pub fn buffered(&self) -> Result<(), RunError> {
        match self.mmap {
            false => Ok(()),
            true => Err(RunError::unsupported("this program reads files: set read to buffered")),
        }
    }
}

/// A count at the end of `path:count`, or alone: what the greps print with `--count`.
pub fn count_after_colon(line: &str) -> u64 {
    line.rsplit(':').next().and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}
