//! The same work for every engine: lines in, hits out.

use std::ops::AddAssign;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use memchr::{memchr, memrchr};
use xxhash_rust::xxh64::xxh64;

use crate::again::Texts;
use crate::arena::Arena;
use crate::clock::{now_ns, since};
use crate::cut_short::Watch;
use crate::lines::each_line;
use crate::merge::{Best, Kept, Order, Shown};
use crate::parse::{Message, Parse, Scope, Text};
use crate::prefilter::{Candidate, Prefilter};
use crate::render::{Place, Rendered, Style};
use crate::scan::Pass;
use crate::speeds::Speeds;
use crate::{Advise, Found, Hit, Job, Query, Read, busy};

/// Bytes that are scanned and then parsed before the next ones are: they stay in the second-level
/// cache in between.
const WINDOW_BYTES: usize = 256 << 10;
/// A read buffer where the workload leaves it to the engine.
const BUFFER_BYTES: usize = 256 << 10;

/// Bytes from whose frequencies a worker tells what is rare.
const SAMPLE_BYTES: usize = 8 << 10;
/// Counters of the work, those in nanoseconds summed over the workers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Bytes of the lines that were searched.
    pub bytes: u64,
    /// Bytes that were copied out of files, or of lines in mapped ones.
    pub bytes_read: u64,
    /// Bytes of the lines that the prefilter let through.
    pub bytes_parsed: u64,
    /// Lines.
    pub lines: u64,
    /// Lines that the prefilter let through.
    pub lines_parsed: u64,
    /// Lines among these that are no message.
    pub lines_invalid: u64,
    /// Lines that were repaired and have a message that matches; engines repair none.
    pub lines_repaired: u64,
    /// Lines that hold what is looked for in what is no message, even repaired.
    pub lines_unreadable: u64,
    /// Messages that match.
    pub matches: u64,
    /// Waiting for bytes.
    pub read_ns: u64,
    /// Finding lines and literals.
    pub scan_ns: u64,
    /// Parsing and matching.
    pub parse_ns: u64,
    /// Merging.
    pub merge_ns: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.bytes_read += other.bytes_read;
        self.bytes_parsed += other.bytes_parsed;
        self.lines += other.lines;
        self.lines_parsed += other.lines_parsed;
        self.lines_invalid += other.lines_invalid;
        self.lines_repaired += other.lines_repaired;
        self.lines_unreadable += other.lines_unreadable;
        self.matches += other.matches;
        self.read_ns += other.read_ns;
        self.scan_ns += other.scan_ns;
        self.parse_ns += other.parse_ns;
        self.merge_ns += other.merge_ns;
    }
}

/// How lines are searched.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) query: Query,
    /// Which lines are parsed; `None` where every line is.
    pub prefilter: Option<Prefilter>,
    /// How files are read.
    pub read: Read,
    /// What the kernel is told of a file before.
    pub advise: Advise,
    /// Of a read buffer.
    pub buffer_bytes: usize,
    /// Whether a read buffer follows its file instead.
    pub buffer_adapts: bool,
    /// The most messages of an answer.
    pub limit: Option<usize>,
    /// Messages that each worker has room for from the beginning.
    pub result_capacity: usize,
    /// Which way of reading was how fast, for a person.
    pub(crate) speeds: Arc<Speeds>,
    /// Which texts of a message are searched, for a person.
    pub(crate) scope: Scope,
    /// How a person is shown what is found.
    pub(crate) showing: Option<Showing>,
    /// Which messages come first.
    pub(crate) order: Order,
    /// Whether the search ends with the first message that matches.
    pub(crate) is_first_enough: bool,
    /// For a person, whose files are read as they are.
    pub(crate) texts: Option<Texts>,
}

/// A style, and how much memory all workers may still fill with it.
#[derive(Debug, Clone)]
pub(crate) struct Showing {
    pub(crate) style: Style,
    room: Arc<AtomicI64>,
}

/// Bytes of messages that are kept for a person; of the others the line is read again.
const ROOM_BYTES: i64 = 1 << 30;

/// So many lines that are no message are named.
const LOST: usize = 100;

/// So few lines are kept as they are.
const FEW: usize = 1000;

impl Showing {
    pub(crate) fn new(style: Style) -> Self {
        Self { style, room: Arc::new(AtomicI64::new(ROOM_BYTES)) }
    }

    fn show(
        &self,
        place: Place,
        message: &mut Message<'_>,
        query: &Query,
        memory: &mut (Arena, Vec<u8>),
    ) -> Option<Shown> {
        if self.room.load(Ordering::Relaxed) < 0 {
            return None;
        }
        let (arena, bytes) = memory;
        let Rendered { bytes, before } = self.style.render(place, message, Some(query), bytes);
        self.room.fetch_sub(bytes.len() as i64, Ordering::Relaxed);
        Some(Shown::Rendered(Rendered { bytes: arena.keep(bytes)?, before }))
    }
}

impl Plan {
    /// As people search for everything that matches; nothing is shown.
    pub fn new(query: Query) -> Self {
        Self {
            prefilter: Prefilter::new(&query),
            query,
            read: Read::Auto,
            advise: Advise::None,
            buffer_bytes: BUFFER_BYTES,
            buffer_adapts: false,
            limit: None,
            result_capacity: 0,
            speeds: Arc::default(),
            scope: Scope::ALL,
            showing: None,
            order: Order::Newest,
            is_first_enough: false,
            texts: None,
        }
    }
}

/// Searches lines and keeps what it finds. One for each thread or task; it allocates nothing for a
/// line that the prefilter rejects, and nothing but what the parser needs for one that does not
/// match.
pub struct Worker<P> {
    /// A copy of its own, for threads that share a regex wait for each other.
    pub(crate) plan: Plan,
    best: Best,
    pub(crate) tally: Tally,
    pub(crate) unreadable: Vec<(u32, String)>,
    /// Lines that hold what is looked for and are no message, by file and offset.
    lost: Vec<(u32, u64)>,
    /// Messages that match, by file.
    counts: Vec<(u32, u64)>,
    /// What is shown of what was found, and memory to make it in.
    shown: (Arena, Vec<u8>),
    /// Whether the prefilter knows which bytes are frequent in what is searched.
    is_tuned: bool,
    parser: P,
    pass: Pass,
    /// The window's lines that are to be parsed.
    candidates: Vec<Candidate>,
    pub(crate) buffer: Vec<u8>,
    /// Jobs that came of the last one.
    pub(crate) more: Vec<Job>,
    /// How far it is in a map that may be cut short.
    pub(crate) watch: Watch,
    /// Whether no line can be read again.
    pub(crate) is_read_once: bool,
}

impl<P: Parse> Worker<P> {
    /// For a thread or a task.
    pub fn new(plan: &Plan, parser: P) -> Self {
        Self {
            best: Best::new(plan.limit, plan.result_capacity),
            plan: plan.clone(),
            tally: Tally::default(),
            unreadable: Vec::new(),
            lost: Vec::new(),
            counts: Vec::new(),
            shown: Default::default(),
            is_tuned: false,
            parser,
            pass: Pass::default(),
            candidates: Vec::new(),
            buffer: Vec::new(),
            more: Vec::new(),
            watch: Watch::default(),
            is_read_once: false,
        }
    }

    /// What it found since the last time; it goes on with the memory that it has.
    pub fn take(&mut self) -> Found {
        let best = Best::new(self.plan.limit, self.plan.result_capacity);
        Found {
            best: std::mem::replace(&mut self.best, best),
            tally: std::mem::take(&mut self.tally),
            unreadable: std::mem::take(&mut self.unreadable),
            lost: std::mem::take(&mut self.lost),
            counts: std::mem::take(&mut self.counts),
            arena: std::mem::take(&mut self.shown.0),
        }
    }

    /// What it found.
    pub fn finish(mut self) -> Found {
        self.best.sort();
        let Self { best, tally, unreadable, lost, counts, shown: (arena, _), .. } = self;
        Found { best, tally, unreadable, lost, counts, arena }
    }

    /// Gives up the hits that it keeps, and then what is shown of them. Without a limit.
    pub(crate) fn give_up(&mut self, mut each: impl FnMut(&Kept, &Arena)) {
        let (arena, _) = &mut self.shown;
        self.best.drain().for_each(|kept| each(&kept, arena));
        let bytes = arena.clear();
        if let Some(showing) = &self.plan.showing {
            showing.room.fetch_add(bytes as i64, Ordering::Relaxed);
        }
    }

    /// Searches whole lines that begin at `offset` of a file; only the last may lack its newline.
    pub fn search(&mut self, file: u32, offset: u64, lines: &[u8]) {
        let mut from = 0;
        while from < lines.len() && self.watch.reach(offset + from as u64) {
            let rest = &lines[from..];
            let length = window(rest);
            self.search_window(file, offset + from as u64, &rest[..length]);
            from += length;
        }
    }

    fn search_window(&mut self, file: u32, offset: u64, lines: &[u8]) {
        let start = now_ns();
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        self.tally.bytes += lines.len() as u64;
        if !self.is_tuned && lines.len() >= SAMPLE_BYTES {
            self.is_tuned = true;
            if let Some(prefilter) = &mut self.plan.prefilter {
                prefilter.tune(&lines[..SAMPLE_BYTES]);
            }
        }
        let newlines = match &self.plan.prefilter {
            Some(prefilter) => prefilter.candidates(lines, &mut self.pass, &mut candidates),
            None => each_line(lines, |start, end| {
                candidates.push(Candidate { start, end, hit: start });
            }),
        };
        // A last line may lack its newline.
        let torn = lines.last().is_some_and(|&byte| byte != b'\n');
        self.tally.lines += newlines + u64::from(torn);
        let scan_ns = since(start);
        for &Candidate { start, end, hit } in &candidates {
            if !self.watch.reach(offset + start as u64) {
                break;
            }
            self.search_line(file, offset + start as u64, &lines[start..end], hit - start);
        }
        self.watch.reach(offset + lines.len() as u64);
        self.candidates = candidates;
        let all_ns = since(start);
        self.tally.scan_ns += scan_ns;
        self.tally.parse_ns += all_ns - scan_ns;
        busy::add(all_ns);
    }

    /// `hit` is where in the line the prefilter found something.
    fn search_line(&mut self, file: u32, offset: u64, line: &[u8], hit: usize) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let json = without_mark(offset, line);
        if json.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return;
        }
        self.tally.lines_parsed += 1;
        self.tally.bytes_parsed += line.len() as u64;
        let Self { plan, best, tally, parser, shown: memory, watch, .. } = self;
        let is_read_once = self.is_read_once;
        let is_few = plan.limit.is_some_and(|limit| limit <= FEW);
        let (mut is_repaired, matched) = (false, tally.matches);
        let parsed = parser.each_message(json, |message, part| {
            if !part.repaired {
                message.text.look_at(hit - (line.len() - json.len()).min(hit));
            }
            if plan.query.matches(message) && !watch.has(offset, part.number) {
                let mut is_true = watch.is_true(part.repaired);
                let time = plan.order.rank(message.time());
                let hit = Hit { time, file, part: part.number, offset, hash: 0 };
                best.offer(hit, |hit| {
                    let shown = plan.showing.as_ref().and_then(|showing| match is_few {
                        true => Some(Shown::Line(json.into())),
                        false => {
                            let place = Place { offset, part, is_context: false };
                            let shown = showing.show(place, message, &plan.query, memory);
                            shown.or_else(|| is_read_once.then(|| Shown::Line(json.into())))
                        }
                    });
                    // Of what is shown nobody asks whether it has changed.
                    let hash = if shown.is_some() { 0 } else { xxh64(line, 0) };
                    is_true &= watch.is_true(part.repaired);
                    is_true.then_some(Kept { hit: Hit { hash, ..hit }, shown })
                });
                if is_true {
                    tally.matches += 1;
                    is_repaired |= part.repaired;
                    watch.keep(part.number);
                }
            }
        });
        let matched = tally.matches - matched;
        tally.lines_repaired += u64::from(is_repaired);
        tally.lines_invalid += u64::from(parsed.is_err());
        if plan.showing.is_none() {
            return;
        }
        let is_bad = parsed.is_err() || !parser.left_over().is_empty();
        if is_bad && watch.is_true(true) {
            self.lose(file, offset, json, parsed.is_err());
        }
        if matched > 0 {
            self.count(file, matched);
        }
    }

    fn count(&mut self, file: u32, matched: u64) {
        match self.counts.last_mut().filter(|(last, _)| *last == file) {
            Some((_, count)) => *count += matched,
            None => self.counts.push((file, matched)),
        }
    }

    /// Whether nothing more needs to be searched.
    pub(crate) fn is_done(&self) -> bool {
        self.plan.is_first_enough && self.tally.matches > 0
    }

    /// Remembers a line that holds what is looked for where it is no message.
    #[cold]
    fn lose(&mut self, file: u32, offset: u64, line: &[u8], is_all: bool) {
        let rest = match is_all {
            true => String::from_utf8_lossy(line),
            false => self.parser.left_over().into(),
        };
        if self.plan.query.expr.holds(&mut Text::Whole(&rest)) {
            self.tally.lines_unreadable += 1;
            if self.lost.len() < LOST {
                self.lost.push((file, offset));
            }
        }
    }
}

/// A line without the byte order mark that a file may begin with.
pub(crate) fn without_mark(offset: u64, line: &[u8]) -> &[u8] {
    match offset {
        0 => line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line),
        _ => line,
    }
}

/// How much of `lines` fits a window: whole lines, at least one.
fn window(lines: &[u8]) -> usize {
    let Some(first) = lines.get(..WINDOW_BYTES) else { return lines.len() };
    let newline = memrchr(b'\n', first)
        .or_else(|| memchr(b'\n', &lines[WINDOW_BYTES..]).map(|at| WINDOW_BYTES + at));
    newline.map_or(lines.len(), |newline| newline + 1)
}
