//! Markdown as a stream of tables and sentences with their lines.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{Document, Sentence, SentenceKind, Table, TableRow, cell, clean, header};

/// A caption is at most so many lines above its table, and so long.
const CAPTION_LINES: usize = 3;
const CAPTION_LENGTH: usize = 160;

/// Reads a document. `text` is already repaired.
pub(crate) fn read(name: &str, text: &str) -> Document {
    let mut reader = Reader::new(name, text);
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        reader.line = reader.line_of(range.start);
        reader.event(event);
    }
    reader.left_over(text);
    reader.document
}

struct Reader {
    document: Document,
    /// Byte offsets at which lines start.
    starts: Vec<usize>,
    headings: Vec<(HeadingLevel, String)>,
    table: Option<Table>,
    /// Text of the innermost cell or block, with the line at which each piece starts.
    pieces: Vec<(usize, String)>,
    kind: SentenceKind,
    line: usize,
    row: TableRow,
    /// Inside `<sup>`, where footnote numbers stand.
    raised: bool,
    /// Lists and blocks of code so far.
    lists: usize,
    /// Those that are open, the innermost last.
    open: Vec<usize>,
}

impl Reader {
    fn new(name: &str, text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self {
            document: Document { name: name.to_owned(), ..Document::default() },
            starts: std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect(),
            headings: Vec::new(),
            table: None,
            pieces: Vec::new(),
            kind: SentenceKind::Prose,
            line: 1,
            row: TableRow::default(),
            raised: false,
            lists: 0,
            open: Vec::new(),
        }
    }

    fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.kind == SentenceKind::Code => self.code(&text),
            Event::Text(text) | Event::Code(text) => self.text(&text),
            Event::SoftBreak | Event::HardBreak => self.text(" "),
            Event::InlineHtml(tag) => self.inline_html(&tag),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        // "10<sup>6</sup>" is a power, "12.3<sup>1</sup>" has a footnote.
        let power = self.pieces.last().is_some_and(|(_, before)| before.ends_with("10"));
        if self.raised && power {
            self.pieces.push((self.line, format!("^{text}")));
        } else if !self.raised {
            self.pieces.push((self.line, text.to_owned()));
        }
    }

    fn code(&mut self, text: &str) {
        for (offset, line) in text.lines().enumerate() {
            self.pieces.push((self.line + offset, line.to_owned()));
            self.sentences();
        }
    }

    fn inline_html(&mut self, tag: &str) {
        match tag.to_lowercase().as_str() {
            "<sup>" => self.raised = true,
            "</sup>" => self.raised = false,
            "<br>" | "<br/>" | "<br />" => self.text(" "),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Table(_) => {
                self.sentences();
                let (headings, caption) = (self.path(), self.caption());
                self.table = Some(Table { line: self.line, headings, caption, ..Table::default() });
            }
            Tag::TableHead | Tag::TableRow => {
                self.row = TableRow { line: self.line, cells: Vec::new() };
            }
            Tag::TableCell => self.pieces.clear(),
            Tag::Heading { .. } | Tag::Paragraph | Tag::Item | Tag::HtmlBlock => self.sentences(),
            Tag::List(_) => self.open_list(),
            Tag::CodeBlock(_) => {
                self.open_list();
                self.kind = SentenceKind::Code;
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => self.heading(level),
            TagEnd::TableCell => self.cell(),
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.units = header::units(&table.columns);
                }
            }
            TagEnd::TableRow => {
                let row = std::mem::take(&mut self.row);
                if let Some(table) = &mut self.table {
                    table.rows.push(row);
                }
            }
            TagEnd::Table => {
                if let Some(mut table) = self.table.take() {
                    square(&mut table);
                    self.document.tables.push(table);
                }
                self.pieces.clear();
            }
            TagEnd::List(_) => {
                self.sentences();
                self.open.pop();
            }
            TagEnd::CodeBlock => {
                self.sentences();
                self.open.pop();
                self.kind = SentenceKind::Prose;
            }
            TagEnd::Paragraph | TagEnd::Item => self.sentences(),
            _ => {}
        }
        self.raised = false;
    }

    fn heading(&mut self, level: HeadingLevel) {
        let written: String = self.pieces.iter().map(|(_, text)| text.as_str()).collect();
        self.kind = SentenceKind::Heading;
        self.sentences();
        self.kind = SentenceKind::Prose;
        self.headings.retain(|(other, _)| *other < level);
        self.headings.push((level, clean::plain(&written)));
    }

    /// A cell of the head names a column; the others are read with their column's unit.
    fn cell(&mut self) {
        let written: String = self.pieces.drain(..).map(|(_, text)| text).collect();
        let Some(table) = &mut self.table else { return };
        if table.line == self.row.line {
            let name = clean::cell(&written);
            table.columns.push(name);
        } else {
            let unit = table.units.get(self.row.cells.len()).and_then(Option::as_deref);
            self.row.cells.push(cell::read(&written, unit));
        }
    }

    /// Rows with more cells than their header, and lines in bars that are no table's.
    fn left_over(&mut self, text: &str) {
        let mut columns: BTreeMap<usize, usize> = BTreeMap::new();
        for table in &self.document.tables {
            let count = table.columns.len();
            columns.extend([table.line, table.line + 1].map(|line| (line, count)));
            columns.extend(table.rows.iter().map(|row| (row.line, count)));
        }
        let mut in_code = false;
        let mut last = 0;
        for (line, written) in text.lines().enumerate().map(|(index, text)| (index + 1, text)) {
            let written = written.trim();
            in_code ^= written.starts_with("```") || written.starts_with("~~~");
            if in_code || !written.starts_with('|') || !written.ends_with('|') || written.len() < 3
            {
                continue;
            }
            let cells = written.matches('|').count() - written.matches("\\|").count() - 1;
            let reason = match columns.get(&line) {
                Some(count) if cells > *count => {
                    "a row with more cells than its header: what is behind is not read"
                }
                Some(_) => continue,
                None if last + 1 != line => {
                    "lines in bars that are no table: the line below the header must have as \
                     many cells"
                }
                None => "",
            };
            last = line;
            if !reason.is_empty() {
                self.document.unread.push((line, reason.to_owned()));
            }
        }
    }

    fn open_list(&mut self) {
        self.sentences();
        self.lists += 1;
        self.open.push(self.lists);
    }

    /// The sentence of a few words that stands right above a table.
    fn caption(&self) -> String {
        let near = |last: &&Sentence| {
            last.kind == SentenceKind::Prose
                && last.line + CAPTION_LINES >= self.line
                && last.text.chars().count() <= CAPTION_LENGTH
        };
        self.document.prose.last().filter(near).map_or(String::new(), |last| last.text.clone())
    }

    fn path(&self) -> Vec<String> {
        self.headings.iter().map(|(_, text)| text.clone()).collect()
    }

    /// Ends the block that was being read and keeps its sentences.
    fn sentences(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        if self.table.is_some() {
            return;
        }
        let headings = self.path();
        for (line, text) in split(&pieces) {
            let is_code = self.kind == SentenceKind::Code;
            let written = if is_code { text.clone() } else { String::new() };
            let text = clean::plain(&text);
            if text.chars().any(char::is_alphanumeric) {
                let numbers = crate::Printed::all(&text);
                let (headings, kind) = (headings.clone(), self.kind);
                let list = self.open.last().copied().unwrap_or(0);
                let sentence = Sentence { line, headings, text, written, numbers, kind, list };
                self.document.prose.push(sentence);
            }
        }
    }
}

/// Every row with as many cells as there are columns.
fn square(table: &mut Table) {
    let columns = table.columns.len();
    for row in &mut table.rows {
        row.cells.resize_with(columns, Default::default);
    }
}

/// Cuts a block into sentences, each with the line it starts at.
fn split(pieces: &[(usize, String)]) -> Vec<(usize, String)> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    let mut line = 0;
    let chars: Vec<(usize, char)> =
        pieces.iter().flat_map(|(line, text)| text.chars().map(|c| (*line, c))).collect();
    for (index, (at, c)) in chars.iter().enumerate() {
        if current.trim().is_empty() {
            (current, line) = (String::new(), *at);
        }
        current.push(*c);
        let next = chars.get(index + 1).map(|(_, c)| *c);
        let after = chars.get(index + 2).map(|(_, c)| *c);
        let begins = after.is_none_or(|c| c.is_uppercase() || !c.is_alphanumeric());
        let pause = matches!(c, '.' | '!' | '?') && next.is_none_or(char::is_whitespace) && begins;
        if pause && !abbreviation(&current) {
            sentences.push((line, std::mem::take(&mut current)));
        }
    }
    if !current.trim().is_empty() {
        sentences.push((line, current));
    }
    sentences
}

fn abbreviation(text: &str) -> bool {
    let last = text.split_whitespace().next_back().unwrap_or_default().to_lowercase();
    ["vs.", "e.g.", "i.e.", "est.", "approx.", "ca.", "etc.", "cf.", "fig.", "no.", "resp."]
        .iter()
        .any(|known| last.trim_start_matches('(') == *known)
}
