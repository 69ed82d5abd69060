//! A search for a person: the messages themselves, and an exit code that a script can trust.

mod again;
mod around;
mod complaints;
mod numbers;
mod page;
mod sources;
mod stream;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::iter::once;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;

use crate::ask::{Asked, Options, Shape};
use crate::render::Output;
use crate::walk::Walk;
use crate::{Answer, SourceFile, threads};
use page::{Hits, Page};
use sources::Sources;
use stream::Stream;

const PROGRAM: &str = "jsonl-search";

/// Something was found, and nothing went wrong.
const FOUND: u8 = 0;
/// Nothing was found, and nothing went wrong.
const NOTHING: u8 = 1;
/// Something went wrong, whatever was found: as grep and ripgrep have it.
pub(crate) const TROUBLE: u8 = 2;

/// As many bytes as a pipe holds, a few times over.
const WRITE_BYTES: usize = 256 << 10;

/// The whole of the program's `main`: searches, shows, and says how that went.
pub fn answer(arguments: &[OsString]) -> ExitCode {
    let program = OsString::from(PROGRAM);
    let code = match Options::try_parse_from(once(&program).chain(arguments)) {
        Ok(options) => answered(options).unwrap_or_else(|sentence| {
            complaints::fail(&sentence);
            TROUBLE
        }),
        Err(page) => {
            // Help that nobody reads is no trouble.
            let _ = page.print();
            if page.use_stderr() { TROUBLE } else { FOUND }
        }
    };
    ExitCode::from(code)
}

fn answered(options: Options) -> Result<u8, String> {
    if let Some(page) = options.page() {
        return written(io::stdout().write_all(&page)).map(|()| FOUND);
    }
    let asked = options.asked()?;
    let mut walk = Walk::for_a_person(asked.threads);
    walk.follows = asked.follows;
    let files = walk
        .files(&asked.roots)
        .map_err(|(root, error)| format!("cannot walk {}: {error}", root.display()))?;
    let sources = Sources {
        paths: files.iter().map(|file| Arc::clone(&file.path)).collect(),
        texts: asked.plan.texts.clone().unwrap_or_default(),
    };
    let (answer, result) = shown(&asked, files, &sources);
    written(result)?;
    let code = code(&asked, &answer);
    if asked.shape != Shape::Nothing || code != FOUND {
        complain(&asked, &answer, &sources);
    }
    // The process ends here: to free a message after the other takes longer than to write them.
    std::mem::forget(answer);
    Ok(code)
}

/// What was found, and whether it could be written.
fn shown(asked: &Asked, files: Vec<SourceFile>, sources: &Sources) -> (Answer, io::Result<()>) {
    let mut out = BufWriter::with_capacity(WRITE_BYTES, io::stdout());
    let hits = Hits { asked, sources };
    let opened = hits.open(&mut out);
    let (answer, out) = if asked.is_streamed() {
        let stream = Stream::new(hits, out);
        let go_on: &threads::GoOn<'_> = &|taken, queue, worker| stream.go_on(taken, queue, worker);
        let answer = threads::search(&asked.plan, files, asked.threads, Some(go_on));
        (answer, stream.finish())
    } else {
        (threads::search(&asked.plan, files, asked.threads, None), Ok(out))
    };
    let written =
        opened.and(out).and_then(|out| Page { out, hits, asked, answer: &answer, sources }.write());
    (answer, written)
}

fn code(asked: &Asked, answer: &Answer) -> u8 {
    let is_whole = answer.unreadable.is_empty() && answer.tally.lines_unreadable == 0;
    match (is_whole, answer.tally.matches) {
        // Who asks for nothing but the code is told of the first message, as by grep.
        (_, 1..) if asked.shape == Shape::Nothing => FOUND,
        (false, _) => TROUBLE,
        (true, 0) => NOTHING,
        (true, _) => FOUND,
    }
}

fn complain(asked: &Asked, answer: &Answer, sources: &Sources) {
    complaints::unreadable(answer, sources);
    complaints::lost(answer, sources);
    if asked.style.output == Output::Text {
        complaints::repaired(answer);
        if asked.is_limited_unasked && asked.shape == Shape::Messages {
            complaints::more(answer.kept.len(), answer.tally.matches);
        }
    }
}

fn written(result: io::Result<()>) -> Result<(), String> {
    match result {
        // Whoever read has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| format!("cannot show what was found: {error}")),
    }
}
