//! A search for a person: the messages themselves, and an exit code that a script can trust.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use lab_variant::caught;
use serde::Serialize;
use xxhash_rust::xxh64::xxh64;

use crate::ask::{Asked, Output};
use crate::parse::{Message, Scratch, with_message};
use crate::{Answer, Hit, Parser, QueryError, RunError, Search, SourceFile};

/// Something was found, and nothing went wrong.
const FOUND: u8 = 0;
/// Nothing was found, and nothing went wrong.
const NOTHING: u8 = 1;
/// Something went wrong, whatever was found: as grep and ripgrep have it.
const TROUBLE: u8 = 2;

/// A message as it is shown.
#[derive(Serialize)]
struct Shown<'a> {
    path: &'a str,
    /// Of its line, in bytes.
    offset_bytes: u64,
    timestamp: Option<&'a str>,
    role: Option<&'a str>,
    session: Option<&'a str>,
    project: Option<&'a str>,
    text: &'a str,
}

/// A file that could not be read.
#[derive(Serialize)]
struct Unreadable<'a> {
    path: &'a str,
    reason: &'a str,
}

/// What was found beside the messages; closes the object whose first key is `messages`.
#[derive(Serialize)]
struct Summary<'a> {
    /// All that match, also those beyond the limit.
    matches: u64,
    files: usize,
    unreadable: Vec<Unreadable<'a>>,
    /// Among the lines that the prefilter let through.
    lines_invalid: u64,
}

/// Searches and shows. `arguments` follow `--search`.
pub(crate) fn search(
    program: &str,
    arguments: &[OsString],
    run: impl FnOnce(Arc<Search>) -> Result<Answer, RunError>,
) -> ExitCode {
    let code = answered(program, arguments, run).unwrap_or_else(|sentence| {
        eprintln!("{program}: {sentence}");
        TROUBLE
    });
    ExitCode::from(code)
}

fn answered(
    program: &str,
    arguments: &[OsString],
    run: impl FnOnce(Arc<Search>) -> Result<Answer, RunError>,
) -> Result<u8, String> {
    let asked = Asked::parse(arguments)?;
    let search = Search::new(asked.workload()).map_err(|error| at_column(&asked, &error))?;
    let search = Arc::new(search.shown(asked.roots));
    let answer = caught(|| run(Arc::clone(&search))).map_err(|error| error.to_string())?;
    // Again, for the engine kept its own; a message that has moved meanwhile is noticed.
    let files = search.walk().map_err(|error| error.to_string())?;
    let mut out = BufWriter::new(io::stdout().lock());
    let written = write(&mut out, asked.output, &answer, &files).and_then(|()| out.flush());
    match written {
        // Whoever read has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        written => written.map_err(|error| format!("cannot show what was found: {error}"))?,
    }
    for (index, reason) in &answer.unreadable {
        eprintln!("{program}: {}: {reason}", path(&files, *index));
    }
    Ok(match (answer.unreadable.is_empty(), answer.tally.matches) {
        (false, _) => TROUBLE,
        (true, 0) => NOTHING,
        (true, _) => FOUND,
    })
}

/// The error, and below it the query with a mark where it goes wrong.
fn at_column(asked: &Asked, error: &QueryError) -> String {
    match error {
        QueryError::Text { column, .. } => {
            let before = " ".repeat(column - 1);
            format!("{error}\n  {}\n  {before}^", asked.query.text.replace(['\n', '\t'], " "))
        }
        QueryError::Time { .. } => error.to_string(),
    }
}

fn write(
    out: &mut impl Write,
    output: Output,
    answer: &Answer,
    files: &[SourceFile],
) -> io::Result<()> {
    let mut memory = Memory::default();
    if output == Output::Json {
        write!(out, "{{\"messages\":[")?;
    }
    for (number, hit) in answer.hits.iter().enumerate() {
        if output == Output::Json && number > 0 {
            write!(out, ",")?;
        }
        let path = path(files, hit.file);
        memory.with_message(hit, Path::new(&path), |message| {
            let shown = Shown::of(&path, hit, message);
            match output {
                Output::Text => shown.for_the_eye(out),
                Output::Json => Ok(serde_json::to_writer(&mut *out, &shown)?),
                Output::Jsonl => {
                    serde_json::to_writer(&mut *out, &shown)?;
                    writeln!(out)
                }
            }
        })??;
    }
    if output == Output::Json {
        let named = answer.unreadable.iter();
        let named: Vec<_> = named.map(|(file, why)| (path(files, *file), why)).collect();
        let unreadable = named.iter().map(|(path, reason)| Unreadable { path, reason }).collect();
        let (matches, lines_invalid) = (answer.tally.matches, answer.tally.lines_invalid);
        let summary = Summary { matches, files: files.len(), unreadable, lines_invalid };
        // An object's inside, behind the list that is there already.
        let summary = serde_json::to_string(&summary)?;
        writeln!(out, "],{}", summary.trim_start_matches('{'))?;
    }
    Ok(())
}

fn path(files: &[SourceFile], index: u32) -> String {
    let file = files.get(index as usize);
    file.map_or("?".to_owned(), |file| file.path.display().to_string())
}

impl<'a> Shown<'a> {
    fn of(path: &'a str, hit: &Hit, message: &'a mut Message<'_>) -> Self {
        Self {
            path,
            offset_bytes: hit.offset,
            timestamp: message.timestamp,
            role: message.role.or(message.kind),
            session: message.session,
            project: message.cwd,
            text: message.text.whole(),
        }
    }

    /// A line that says where and when, and the text below it.
    fn for_the_eye(&self, out: &mut impl Write) -> io::Result<()> {
        let (time, role) = (self.timestamp.unwrap_or("-"), self.role.unwrap_or("-"));
        let session = self.session.unwrap_or("-");
        writeln!(out, "{time} {role} {session} {}:{}", self.path, self.offset_bytes)?;
        self.text.lines().try_for_each(|line| writeln!(out, "  {line}"))
    }
}

/// What lines are read again into.
#[derive(Default)]
struct Memory {
    line: Vec<u8>,
    scratch: Scratch,
}

impl Memory {
    fn with_message<R>(
        &mut self,
        hit: &Hit,
        path: &Path,
        then: impl FnOnce(&mut Message<'_>) -> R,
    ) -> io::Result<R> {
        let Self { line, scratch } = self;
        line.clear();
        let mut file = BufReader::new(File::open(path)?);
        file.seek(SeekFrom::Start(hit.offset))?;
        file.read_until(b'\n', line)?;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let moved = || io::Error::other(format!("{} has changed since", path.display()));
        if xxh64(line, 0) != hit.hash {
            return Err(moved());
        }
        with_message(Parser::Spans, line, scratch, then).map_err(|_| moved())
    }
}
