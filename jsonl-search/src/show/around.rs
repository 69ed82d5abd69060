//! Messages of the same file before and behind those that match.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::sources::Sources;
use crate::content::At;
use crate::kernel::without_mark;
use crate::merge::Kept;
use crate::parse::{Parse, Records, Scope};
use crate::render::{Place, Rendered, Style};

/// A message's place in its file: its line's offset, and which of the line's messages it is.
pub(super) type Key = (u64, u32);

/// Messages of a file that stand beside each other, in its order.
pub(super) struct Group<'a> {
    pub(super) file: u32,
    pub(super) members: BTreeMap<Key, Member<'a>>,
}

pub(super) enum Member<'a> {
    Hit(&'a Kept),
    Context(Rendered<Vec<u8>>),
}

/// Bytes that are read at once on the way back.
const BLOCK: u64 = 64 << 10;

/// The hits with so many messages before and behind each. Where groups that follow each other
/// overlap or touch they are one, as grep has it.
pub(super) fn groups<'a>(
    kept: &'a [Kept],
    sources: &Sources,
    (before, behind): (usize, usize),
    (scope, style): (Scope, Style),
) -> Vec<Group<'a>> {
    let mut reader = Reader { parser: Records::new(scope), style };
    let mut groups: Vec<Group<'a>> = Vec::new();
    for kept in kept {
        let (file, key) = (kept.hit.file, (kept.hit.offset, kept.hit.part));
        // One more on each side tells what touches.
        let mut near =
            reader.around(sources.open(file), key, before + 1, behind + 1).unwrap_or_default();
        let last = groups.last_mut().filter(|last| last.file == file);
        let joined = last.filter(|last| {
            last.members.contains_key(&key)
                || near.iter().any(|(key, _)| last.members.contains_key(key))
        });
        let at = near.partition_point(|(near, _)| *near < key);
        near.truncate(at + behind.min(near.len() - at));
        near.drain(..at - before.min(at));
        let mut own = None;
        let group = match joined {
            Some(group) => group,
            None => own.insert(Group { file, members: BTreeMap::new() }),
        };
        for (key, rendered) in near {
            group.members.entry(key).or_insert(Member::Context(rendered));
        }
        group.members.insert(key, Member::Hit(kept));
        groups.extend(own);
    }
    groups
}

type Near = Vec<(Key, Rendered<Vec<u8>>)>;

/// Reads messages that have text.
struct Reader {
    parser: Records,
    style: Style,
}

impl Reader {
    /// So many messages before one and behind it, in the file's order; fewer where there are none,
    /// and none where the file is no longer what it was.
    fn around(
        &mut self,
        text: io::Result<At>,
        key: Key,
        before: usize,
        behind: usize,
    ) -> io::Result<Near> {
        let mut text = text?;
        let (mut own, mut after) = self.behind(&mut text, key, behind)?;
        let at = own.partition_point(|(near, _)| *near < key);
        let mut near = own.drain(..at).rev().take(before).collect::<Vec<_>>();
        self.before(&mut text, key.0, before, &mut near)?;
        near.reverse();
        own.truncate(behind);
        after.truncate(behind - own.len());
        Ok(near.into_iter().chain(own).chain(after).collect())
    }

    /// The other messages of its line, and so many of the lines behind it.
    fn behind(&mut self, text: &mut At, key: Key, most: usize) -> io::Result<(Near, Near)> {
        let mut lines = BufReader::new(text);
        lines.seek(SeekFrom::Start(key.0))?;
        let (mut own, mut after, mut line) = (Near::new(), Near::new(), Vec::new());
        let mut offset = key.0;
        while after.len() < most {
            line.clear();
            let count = lines.read_until(b'\n', &mut line)?;
            if count == 0 {
                break;
            }
            let near = if offset == key.0 { &mut own } else { &mut after };
            self.messages(offset, &line, near);
            offset += count as u64;
        }
        own.retain(|(near, _)| *near != key);
        Ok((own, after))
    }

    /// Adds messages of lines before an offset, the last one first, until there are so many.
    fn before(
        &mut self,
        text: &mut At,
        mut end: u64,
        most: usize,
        near: &mut Near,
    ) -> io::Result<()> {
        let mut size = BLOCK;
        while end > 0 && near.len() < most {
            let start = end.saturating_sub(size);
            let mut block = vec![0; (end - start) as usize];
            text.seek(SeekFrom::Start(start))?;
            text.read_exact(&mut block)?;
            // The first line of a block that is not the file's began before it.
            let first = match start {
                0 => Some(0),
                _ => memchr::memchr(b'\n', &block).map(|at| at + 1),
            };
            let Some(first) = first.filter(|&first| first < block.len()) else {
                size *= 2;
                continue;
            };
            let mut stop = block.len();
            while stop > first && near.len() < most {
                let line = memchr::memrchr(b'\n', &block[first..stop - 1]);
                let from = line.map_or(first, |at| first + at + 1);
                let mut of_line = Near::new();
                self.messages(start + from as u64, &block[from..stop], &mut of_line);
                near.extend(of_line.into_iter().rev());
                stop = from;
            }
            end = start + first as u64;
        }
        near.truncate(most);
        Ok(())
    }

    /// Adds the messages of a line that have text.
    fn messages(&mut self, offset: u64, line: &[u8], near: &mut Near) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = without_mark(offset, line.strip_suffix(b"\r").unwrap_or(line));
        let Self { parser, style } = self;
        // A line that is no message is none to show.
        let _ = parser.each_message(line, |message, part| {
            if message.text.whole().trim().is_empty() {
                return;
            }
            let place = Place { offset, part, is_context: true };
            let mut bytes = Vec::new();
            let before = style.render(place, message, None, &mut bytes).before;
            near.push(((offset, part.number), Rendered { bytes, before }));
        });
    }
}
