//! What standard output is given: messages, or how many of them there are.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::again::Again;
use super::around::{Group, Member, groups};
use super::numbers::Numbers;
use super::sources::Sources;
use crate::arena::Slice;
use crate::ask::{Asked, Shape};
use crate::merge::{Kept, Shown};
use crate::render::{Output, Rendered, Source, json, path_fields};
use crate::{Answer, Tally};

/// The first key of the object, which its readers can tell apart from later ones.
const SCHEMA: &str = "jsonl-search-1";

/// What was found beside the messages. The last key of the object, `unreadable`, is written behind
/// it.
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

/// How messages that match are written.
#[derive(Clone, Copy)]
pub(super) struct Hits<'a> {
    pub(super) asked: &'a Asked,
    pub(super) sources: &'a Sources,
}

impl<'a> Hits<'a> {
    pub(super) fn again(self) -> Again<'a> {
        Again::new(&self.asked.plan, self.asked.style, self.sources)
    }

    pub(super) fn is_array(self) -> bool {
        self.asked.style.output == Output::Json
    }

    /// What stands before all of them.
    pub(super) fn open(self, out: &mut impl Write) -> io::Result<()> {
        if !self.is_array() || self.asked.shape == Shape::Nothing {
            return Ok(());
        }
        let has_messages = self.asked.shape == Shape::Messages;
        let list = if has_messages { "messages" } else { "counts" };
        write!(out, "{{\"schema\":\"{SCHEMA}\",\"{list}\":[")
    }

    /// A comma before every element of an array but the first.
    pub(super) fn begin(self, out: &mut impl Write, is_first: bool) -> io::Result<()> {
        match self.is_array() && !is_first {
            true => out.write_all(b","),
            false => Ok(()),
        }
    }

    /// One of them, whose bytes are somewhere.
    pub(super) fn write<'b>(
        self,
        out: &mut impl Write,
        kept: &Kept,
        line: Option<u64>,
        bytes: impl Fn(Slice) -> &'b [u8],
        again: &mut Again<'_>,
    ) -> io::Result<()> {
        let rendered = match &kept.shown {
            Some(Shown::Rendered(Rendered { bytes: slice, before })) => {
                Rendered { bytes: bytes(*slice), before: *before }
            }
            Some(Shown::Line(line)) => again.render(kept.hit, line).expect("it was parsed before"),
            None => again.read(kept)?,
        };
        let source = Source { path: self.sources.path(kept.hit.file), line, is_context: false };
        self.asked.style.write(out, source, rendered)
    }
}

/// An answer, and where it is written.
pub(super) struct Page<'a, W> {
    pub(super) out: W,
    pub(super) hits: Hits<'a>,
    pub(super) asked: &'a Asked,
    pub(super) answer: &'a Answer,
    pub(super) sources: &'a Sources,
}

impl<W: Write> Page<'_, W> {
    /// Everything behind what [`Hits::open`] writes, and what was written while it was found.
    pub(super) fn write(&mut self) -> io::Result<()> {
        match self.asked.shape {
            Shape::Nothing => return Ok(()),
            Shape::Messages => self.messages()?,
            Shape::Counts | Shape::Files => self.counts()?,
        }
        if self.hits.is_array() { self.summary() } else { self.out.flush() }
    }

    fn messages(&mut self) -> io::Result<()> {
        let style = self.asked.style;
        let mut again = self.hits.again();
        let mut is_first = true;
        let kept = &self.answer.kept;
        if self.asked.around == (0, 0) {
            let places = kept.iter().map(|kept| (kept.hit.file, kept.hit.offset));
            let numbers = self.numbers(places)?;
            return kept.iter().try_for_each(|kept| {
                self.begin(&mut is_first)?;
                self.hit(kept, &numbers, &mut again)
            });
        }
        let scope = self.asked.plan.scope;
        let groups = groups(kept, self.sources, self.asked.around, (scope, style));
        let place = |group: &Group<'_>| {
            let (file, members) = (group.file, &group.members);
            members.keys().map(move |key| (file, key.0)).collect::<BTreeSet<_>>()
        };
        let numbers = self.numbers(groups.iter().flat_map(place))?;
        for (index, group) in groups.iter().enumerate() {
            if index > 0 && style.output == Output::Text {
                self.out.write_all(b"--\n")?;
            }
            for (key, member) in &group.members {
                self.begin(&mut is_first)?;
                match member {
                    Member::Hit(kept) => self.hit(kept, &numbers, &mut again)?,
                    Member::Context(Rendered { bytes, before }) => {
                        let line = numbers.get(group.file, key.0);
                        let path = self.sources.path(group.file);
                        let source = Source { path, line, is_context: true };
                        let rendered = Rendered { bytes: &bytes[..], before: *before };
                        style.write(&mut self.out, source, rendered)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn numbers(&self, places: impl Iterator<Item = (u32, u64)>) -> io::Result<Numbers> {
        match self.asked.style.numbers {
            true => Numbers::of(places, self.sources),
            false => Ok(Numbers::default()),
        }
    }

    fn begin(&mut self, is_first: &mut bool) -> io::Result<()> {
        self.hits.begin(&mut self.out, std::mem::replace(is_first, false))
    }

    fn hit(&mut self, kept: &Kept, numbers: &Numbers, again: &mut Again<'_>) -> io::Result<()> {
        let line = numbers.get(kept.hit.file, kept.hit.offset);
        let arenas = &self.answer.arenas;
        self.hits.write(&mut self.out, kept, line, |slice| arenas.get(slice), again)
    }

    fn counts(&mut self) -> io::Result<()> {
        let style = self.asked.style;
        let most = self.asked.limit.map_or(usize::MAX, |limit| limit as usize);
        let mut is_first = true;
        for (&file, count) in self.answer.counts.iter().take(most) {
            let path = self.sources.path(file);
            self.begin(&mut is_first)?;
            match style.output {
                Output::Text => {
                    self.out.write_all(&style.shown_path(path))?;
                    if self.asked.shape == Shape::Counts {
                        write!(self.out, ":{count}")?;
                    }
                    self.out.write_all(b"\n")?;
                }
                Output::Json | Output::Jsonl => {
                    write!(self.out, "{{{},\"matches\":{count}}}", path_fields(path))?;
                    self.out.write_all(if style.output == Output::Jsonl { b"\n" } else { b"" })?;
                }
            }
        }
        Ok(())
    }

    fn summary(&mut self) -> io::Result<()> {
        let Tally { matches, lines_repaired, lines_unreadable, .. } = self.answer.tally;
        let files = self.sources.paths.len();
        let summary = json(&Summary { matches, files, lines_repaired, lines_unreadable });
        let inside = summary.trim_start_matches('{').trim_end_matches('}');
        let unreadable = self.answer.unreadable.iter().map(|(file, reason)| {
            format!("{{{},\"reason\":{}}}", path_fields(self.sources.path(*file)), json(reason))
        });
        let unreadable: Vec<_> = unreadable.collect();
        writeln!(self.out, "],{inside},\"unreadable\":[{}]}}", unreadable.join(","))?;
        self.out.flush()
    }
}
