//! What standard output is given: messages, or how many of them there are.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::again::Again;
use super::around::{Group, Member, groups};
use super::numbers::Numbers;
use super::sources::Sources;
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

pub(super) struct Page<'a, W> {
    pub(super) out: W,
    pub(super) asked: &'a Asked,
    pub(super) answer: &'a Answer,
    pub(super) sources: &'a Sources,
}

impl<W: Write> Page<'_, W> {
    pub(super) fn write(&mut self) -> io::Result<()> {
        if self.asked.shape == Shape::Nothing {
            return Ok(());
        }
        let is_object = self.asked.style.output == Output::Json;
        let has_messages = self.asked.shape == Shape::Messages;
        if is_object {
            let list = if has_messages { "messages" } else { "counts" };
            write!(self.out, "{{\"schema\":\"{SCHEMA}\",\"{list}\":[")?;
        }
        match has_messages {
            true => self.messages()?,
            false => self.counts()?,
        }
        if is_object { self.summary() } else { Ok(()) }
    }

    fn messages(&mut self) -> io::Result<()> {
        let style = self.asked.style;
        let mut again = Again::new(&self.asked.plan, style, self.sources);
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

    /// A comma before every element of an array but the first.
    fn begin(&mut self, is_first: &mut bool) -> io::Result<()> {
        let is_first = std::mem::replace(is_first, false);
        match self.asked.style.output == Output::Json && !is_first {
            true => self.out.write_all(b","),
            false => Ok(()),
        }
    }

    fn hit(&mut self, kept: &Kept, numbers: &Numbers, again: &mut Again<'_>) -> io::Result<()> {
        let path = self.sources.path(kept.hit.file);
        let line = numbers.get(kept.hit.file, kept.hit.offset);
        let source = Source { path, line, is_context: false };
        let rendered = match &kept.shown {
            Some(Shown::Rendered(Rendered { bytes, before })) => {
                Rendered { bytes: self.answer.arenas.get(*bytes), before: *before }
            }
            Some(Shown::Line(line)) => again.render(kept.hit, line).expect("it was parsed before"),
            None => again.read(kept)?,
        };
        self.asked.style.write(&mut self.out, source, rendered)
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
        writeln!(self.out, "],{inside},\"unreadable\":[{}]}}", unreadable.join(","))
    }
}
