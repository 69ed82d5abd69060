//! A search for a person: the messages themselves, and an exit code that a script can trust.

use std::ffi::OsString;
use std::io::{
    self, BufRead, BufReader, BufWriter, IsTerminal, Read, Seek, SeekFrom, Write, stderr,
};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;
use xxhash_rust::xxh64::xxh64;

use crate::again::Texts;
use crate::ask::{Asked, HELP};
use crate::content::At;
use crate::kernel::without_mark;
use crate::merge::{Kept, Shown};
use crate::parse::{Invalid, Parse, Records, Scope};
use crate::render::{Output, Rendered, Style, json, path_fields};
use crate::walk::Walk;
use crate::{Answer, Hit, QueryError, Tally, threads};

const PROGRAM: &str = "jsonl-search";

/// Something was found, and nothing went wrong.
const FOUND: u8 = 0;
/// Nothing was found, and nothing went wrong.
const NOTHING: u8 = 1;
/// Something went wrong, whatever was found: as grep and ripgrep have it.
pub(crate) const TROUBLE: u8 = 2;

/// As many bytes as a pipe holds, a few times over.
const WRITE_BYTES: usize = 256 << 10;

/// So many lines that are no message are named; the others are counted.
const NAMED: usize = 10;

/// What was found beside the messages; closes the object whose first key is `messages`. The last
/// key, `unreadable`, is written behind it.
#[derive(Serialize)]
struct Summary {
    /// All that match, also those beyond the limit.
    matches: u64,
    files: usize,
    /// Lines that were no JSON and have a message that matches, repaired.
    lines_repaired: u64,
    /// Lines that hold what is looked for in what is no message.
    lines_unreadable: u64,
}

/// The whole of the program's `main`: searches, shows, and says how that went.
pub fn answer(arguments: &[OsString]) -> ExitCode {
    let code = answered(arguments).unwrap_or_else(|sentence| {
        let sentence = errors().lines(&sentence);
        eprintln!("{PROGRAM}: {sentence}");
        TROUBLE
    });
    ExitCode::from(code)
}

/// How names are written beside what went wrong with them.
fn errors() -> Style {
    Style { output: Output::Text, escapes: stderr().is_terminal() }
}

fn answered(arguments: &[OsString]) -> Result<u8, String> {
    let Some(asked) = Asked::parse(arguments)? else {
        return written(writeln!(io::stdout(), "{HELP}")).map(|()| FOUND);
    };
    let plan = asked.plan().map_err(|error| at_column(&asked, &error))?;
    let files = Walk::for_a_person(asked.threads())
        .files(&asked.roots)
        .map_err(|(root, error)| format!("cannot walk {}: {error}", root.display()))?;
    let paths: Vec<_> = files.iter().map(|file| Arc::clone(&file.path)).collect();
    let texts = plan.texts.clone().unwrap_or_default();
    let answer = threads::search(&plan, files, asked.threads());
    let mut out = BufWriter::with_capacity(WRITE_BYTES, io::stdout().lock());
    written(
        write(&mut out, (asked.style, plan.scope), &answer, (&paths, &texts))
            .and_then(|()| out.flush()),
    )?;
    for (index, reason) in &answer.unreadable {
        let path = errors().path(path(&paths, *index));
        let line = [PROGRAM.as_bytes(), b": ", &path, b": ", reason.as_bytes(), b"\n"].concat();
        // Where nobody reads this, the exit code still says it.
        let _ = stderr().write_all(&line);
    }
    lost(&answer, &paths, &texts);
    let is_whole = answer.unreadable.is_empty() && answer.tally.lines_unreadable == 0;
    let code = match (is_whole, answer.tally.matches) {
        (false, _) => TROUBLE,
        (true, 0) => NOTHING,
        (true, _) => FOUND,
    };
    // The process ends here: to free a message after the other takes longer than to write them.
    std::mem::forget(answer);
    Ok(code)
}

/// Says which lines hold what is looked for and are no message.
fn lost(answer: &Answer, paths: &[Arc<Path>], texts: &Texts) {
    let all = answer.tally.lines_unreadable;
    for &(file, offset) in answer.lost.iter().take(NAMED) {
        let path = path(paths, file);
        let place = match texts.open(file, path).and_then(|text| line_number(text, offset)) {
            Ok(number) => format!(":{number}"),
            Err(_) => format!(" at byte {offset}"),
        };
        let why = b": the line holds what is looked for and cannot be read as a message";
        let name = errors().path(path);
        let line = [PROGRAM.as_bytes(), b": ", &name, place.as_bytes(), why, b"\n"].concat();
        let _ = stderr().write_all(&line);
    }
    if all > NAMED as u64 {
        let _ = writeln!(stderr(), "{PROGRAM}: {} more such lines", all - NAMED as u64);
    }
}

/// From 1, of the line that begins at a byte.
fn line_number(text: At, offset: u64) -> io::Result<u64> {
    let mut text = text.take(offset);
    let (mut number, mut buffer) = (1, vec![0; 64 << 10]);
    loop {
        let count = text.read(&mut buffer)?;
        if count == 0 {
            return Ok(number);
        }
        number += memchr::memchr_iter(b'\n', &buffer[..count]).count() as u64;
    }
}

fn written(result: io::Result<()>) -> Result<(), String> {
    match result {
        // Whoever read has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| format!("cannot show what was found: {error}")),
    }
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
    (style, scope): (Style, Scope),
    answer: &Answer,
    (paths, texts): (&[Arc<Path>], &Texts),
) -> io::Result<()> {
    let mut again = Again::new(scope, texts);
    let is_object = style.output == Output::Json;
    if is_object {
        write!(out, "{{\"messages\":[")?;
    }
    for (number, kept) in answer.kept.iter().enumerate() {
        if is_object && number > 0 {
            write!(out, ",")?;
        }
        let path = path(paths, kept.hit.file);
        match &kept.shown {
            Some(Shown::Rendered(Rendered { bytes, before })) => {
                let bytes = answer.arenas.get(*bytes);
                style.write(out, path, Rendered { bytes, before: *before })?;
            }
            Some(Shown::Line(line)) => {
                let rendered = again.render(kept.hit, line, style);
                style.write(out, path, rendered.expect("it was parsed before"))?;
            }
            None => style.write(out, path, again.read(kept, path, style)?)?,
        }
    }
    if is_object {
        let Tally { matches, lines_repaired, lines_unreadable, .. } = answer.tally;
        let files = paths.len();
        let summary = json(&Summary { matches, files, lines_repaired, lines_unreadable });
        let inside = summary.trim_start_matches('{').trim_end_matches('}');
        let unreadable = answer.unreadable.iter().map(|(file, reason)| {
            format!("{{{},\"reason\":{}}}", path_fields(path(paths, *file)), json(reason))
        });
        let unreadable: Vec<_> = unreadable.collect();
        writeln!(out, "],{inside},\"unreadable\":[{}]}}", unreadable.join(","))?;
    }
    Ok(())
}

fn path(paths: &[Arc<Path>], index: u32) -> &Path {
    paths.get(index as usize).map_or(Path::new("?"), |path| path)
}

/// Reads lines again that there was no memory to keep; the last file stays open.
struct Again<'a> {
    texts: &'a Texts,
    file: Option<(u32, BufReader<At>)>,
    line: Vec<u8>,
    parser: Records,
    rendered: Vec<u8>,
}

impl<'a> Again<'a> {
    fn new(scope: Scope, texts: &'a Texts) -> Self {
        let (line, rendered) = (Vec::new(), Vec::new());
        Self { texts, file: None, line, parser: Records::new(scope), rendered }
    }

    fn read(&mut self, kept: &Kept, path: &Path, style: Style) -> io::Result<Rendered<&[u8]>> {
        let hit = kept.hit;
        let mut file = match self.file.take() {
            Some((index, file)) if index == hit.file => file,
            _ => {
                let named = |error| io::Error::other(format!("{}: {error}", path.display()));
                BufReader::new(self.texts.open(hit.file, path).map_err(named)?)
            }
        };
        self.line.clear();
        file.seek(SeekFrom::Start(hit.offset))?;
        file.read_until(b'\n', &mut self.line)?;
        self.file = Some((hit.file, file));
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let moved = || io::Error::other(format!("{} has changed since", path.display()));
        if xxh64(line, 0) != hit.hash {
            return Err(moved());
        }
        let line = without_mark(hit.offset, line).to_owned();
        self.render(hit, &line, style).map_err(|_| moved())
    }

    fn render(&mut self, hit: Hit, line: &[u8], style: Style) -> Result<Rendered<&[u8]>, Invalid> {
        let Self { parser, rendered, .. } = self;
        let mut before = Err(Invalid);
        parser.each_message(line, |message, part| {
            if part.number == hit.part {
                before = Ok(style.render(hit.offset, message, part, rendered).before);
            }
        })?;
        Ok(Rendered { bytes: rendered, before: before? })
    }
}
