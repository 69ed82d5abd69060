//! Messages that are made once more of their lines.

use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

use xxhash_rust::xxh64::xxh64;

use super::sources::Sources;
use crate::content::At;
use crate::kernel::{Plan, without_mark};
use crate::merge::Kept;
use crate::parse::{Invalid, Parse, Records};
use crate::render::{Place, Rendered, Style};
use crate::{Hit, Query};

/// Reads lines again that there was no memory to keep; the last file stays open.
pub(super) struct Again<'p> {
    query: &'p Query,
    style: Style,
    sources: &'p Sources,
    file: Option<(u32, BufReader<At>)>,
    line: Vec<u8>,
    parser: Records,
    rendered: Vec<u8>,
}

impl<'p> Again<'p> {
    pub(super) fn new(plan: &'p Plan, style: Style, sources: &'p Sources) -> Self {
        let (line, rendered) = (Vec::new(), Vec::new());
        let parser = Records::new(plan.scope);
        Self { query: &plan.query, style, sources, file: None, line, parser, rendered }
    }

    pub(super) fn read(&mut self, kept: &Kept) -> io::Result<Rendered<&[u8]>> {
        let hit = kept.hit;
        let mut file = match self.file.take() {
            Some((index, file)) if index == hit.file => file,
            _ => BufReader::new(self.sources.open(hit.file)?),
        };
        self.line.clear();
        file.seek(SeekFrom::Start(hit.offset))?;
        file.read_until(b'\n', &mut self.line)?;
        self.file = Some((hit.file, file));
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let path = self.sources.path(hit.file);
        let moved = || io::Error::other(format!("{} has changed since", path.display()));
        if xxh64(line, 0) != hit.hash {
            return Err(moved());
        }
        let line = without_mark(hit.offset, line).to_owned();
        self.render(hit, &line).map_err(|_| moved())
    }

    pub(super) fn render(&mut self, hit: Hit, line: &[u8]) -> Result<Rendered<&[u8]>, Invalid> {
        let Self { query, style, parser, rendered, .. } = self;
        let mut before = Err(Invalid);
        parser.each_message(line, |message, part| {
            if part.number == hit.part {
                let place = Place { offset: hit.offset, part, is_context: false };
                before = Ok(style.render(place, message, Some(query), rendered).before);
            }
        })?;
        Ok(Rendered { bytes: rendered, before: before? })
    }
}
