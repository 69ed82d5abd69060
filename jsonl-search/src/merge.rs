//! The answer: the same order whoever found what.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use clap::ValueEnum;

use crate::arena::{Arena, Arenas, Slice};
use crate::clock::{now_ns, since};
use crate::render::Rendered;
use crate::{Tally, Time};

/// A message that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// When it was written; `None`, which is older than everything, where it does not say.
    pub time: Option<Time>,
    /// Index of its file.
    pub file: u32,
    /// Which of its line's messages it is, from 0.
    pub part: u32,
    /// Of its line in the file, in bytes.
    pub offset: u64,
    /// xxh64, seed 0, of the line without its end (`\n` or `\r\n`).
    pub hash: u64,
}

impl Hit {
    fn rank(&self) -> (Reverse<Option<Time>>, u32, u64, u32) {
        (Reverse(self.time), self.file, self.offset, self.part)
    }
}

impl Ord for Hit {
    /// The one that is reported first is the least: newest first, then by file and offset.
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Which messages come first; those that do not say when they were written come last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// Newest first
    #[default]
    Newest,
    /// Oldest first
    Time,
    /// As files' paths and their lines go
    Path,
}

impl Order {
    /// The time by which a hit comes first that is the newest.
    pub(crate) fn rank(self, time: Option<Time>) -> Option<Time> {
        match self {
            Self::Newest => time,
            Self::Time => time.map(Time::mirrored),
            Self::Path => None,
        }
    }
}

/// A hit, and how a person is shown it.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) hit: Hit,
    /// `None` where nobody is, or where memory for it ran out.
    pub(crate) shown: Option<Shown>,
}

/// What is shown.
#[derive(Debug, Clone)]
pub(crate) enum Shown {
    /// Of one that a later hit may push out: its line, for most are.
    Line(Box<[u8]>),
    /// Of one that stays: what is written.
    Rendered(Rendered<Slice>),
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.hit.cmp(&other.hit).is_eq()
    }
}

impl Eq for Kept {}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> Ordering {
        self.hit.cmp(&other.hit)
    }
}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The hits that the answer may need: the first so many, or all.
#[derive(Debug, Default)]
pub(crate) struct Best {
    limit: Option<usize>,
    /// The last one on top.
    heap: BinaryHeap<Kept>,
    all: Vec<Kept>,
}

impl Best {
    pub(crate) fn new(limit: Option<usize>, capacity: usize) -> Self {
        let capacity = limit.map_or(capacity, |limit| capacity.min(limit));
        match limit {
            Some(_) => Self { limit, heap: BinaryHeap::with_capacity(capacity), all: Vec::new() },
            None => Self { limit, heap: BinaryHeap::new(), all: Vec::with_capacity(capacity) },
        }
    }

    /// Keeps the hit if it is among the first; only then the rest of it is made, if it can be.
    pub(crate) fn offer(&mut self, hit: Hit, kept: impl FnOnce(Hit) -> Option<Kept>) {
        let Some(limit) = self.limit else {
            return self.all.extend(kept(hit));
        };
        if self.heap.len() < limit {
            self.heap.extend(kept(hit));
        } else if let Some(mut last) = self.heap.peek_mut().filter(|last| hit < last.hit)
            && let Some(kept) = kept(hit)
        {
            *last = kept;
        }
    }

    /// All that it keeps without a limit.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Kept> {
        self.all.drain(..)
    }

    /// In order, so that whoever takes in several has less to do. Without a limit that is most of
    /// the work of an answer, and each worker can do its part.
    pub(crate) fn sort(&mut self) {
        self.all.sort_unstable();
    }

    fn absorb(&mut self, mut other: Self) {
        if self.limit.is_none() {
            return self.all.append(&mut other.all);
        }
        for kept in other.heap {
            self.offer(kept.hit, |_| Some(kept));
        }
    }

    fn sorted(self) -> Vec<Kept> {
        let Self { mut all, heap, .. } = self;
        all.extend(heap);
        // Made of parts in order, which this sort finds.
        all.sort();
        all
    }
}

/// What one worker found; send it to the [`Merger`].
#[derive(Debug)]
pub struct Found {
    pub(crate) best: Best,
    pub(crate) tally: Tally,
    /// Why files could not be read, by index.
    pub(crate) unreadable: Vec<(u32, String)>,
    /// Lines that hold what is looked for and are no message, by file and offset; the first few.
    pub(crate) lost: Vec<(u32, u64)>,
    /// Messages that match, by file; a file may come several times.
    pub(crate) counts: Vec<(u32, u64)>,
    /// What its hits are shown as.
    pub(crate) arena: Arena,
}

/// Makes one answer out of what the workers found, in whatever order they come.
#[derive(Debug)]
pub struct Merger {
    best: Best,
    tally: Tally,
    unreadable: BTreeMap<u32, String>,
    lost: Vec<(u32, u64)>,
    counts: BTreeMap<u32, u64>,
    arenas: Arenas,
}

/// What a run found.
#[derive(Debug)]
pub struct Answer {
    /// Newest first, ties by file and offset.
    pub(crate) kept: Vec<Kept>,
    /// What it took.
    pub tally: Tally,
    /// Why files could not be read, by index.
    pub unreadable: BTreeMap<u32, String>,
    /// Some of the lines that hold what is looked for and are no message, by file and offset.
    pub(crate) lost: Vec<(u32, u64)>,
    /// Messages that match, by file; engines do not count them.
    pub(crate) counts: BTreeMap<u32, u64>,
    pub(crate) arenas: Arenas,
}

impl Merger {
    /// Of nothing yet, for an answer of so many messages at most.
    pub fn new(limit: Option<usize>) -> Self {
        let (best, tally) = (Best::new(limit, 0), Tally::default());
        let (unreadable, lost, counts) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        Self { best, tally, unreadable, lost, counts, arenas: Arenas::default() }
    }

    /// Takes in what a worker found.
    pub fn add(&mut self, found: Found) {
        let start = now_ns();
        self.best.absorb(found.best);
        self.tally += found.tally;
        self.unreadable.extend(found.unreadable);
        self.lost.extend(found.lost);
        for (file, count) in found.counts {
            *self.counts.entry(file).or_default() += count;
        }
        self.arenas.add(found.arena);
        self.tally.merge_ns += since(start);
    }

    /// The answer.
    pub fn finish(self) -> Answer {
        let start = now_ns();
        let Self { best, mut tally, unreadable, mut lost, counts, arenas } = self;
        lost.sort_unstable();
        let kept = best.sorted();
        tally.merge_ns += since(start);
        Answer { kept, tally, unreadable, lost, counts, arenas }
    }
}

impl Answer {
    /// What was found, newest first, ties by file and offset.
    pub fn hits(&self) -> impl ExactSizeIterator<Item = &Hit> {
        self.kept.iter().map(|kept| &kept.hit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(seconds: Option<i64>, file: u32, offset: u64) -> Hit {
        let time = seconds.map(|seconds| Time { seconds, nanoseconds: 0 });
        Hit { time, file, part: 0, offset, hash: 0 }
    }

    #[test]
    fn newest_first_then_by_place_and_a_limit_keeps_the_first() {
        let sorted = [
            hit(Some(9), 4, 0),
            hit(Some(5), 0, 7),
            hit(Some(5), 1, 3),
            hit(Some(5), 1, 4),
            hit(Some(-1), 0, 0),
            hit(None, 0, 1),
            hit(None, 2, 0),
        ];
        let mut hits = sorted.to_vec();
        for limit in [None, Some(0), Some(1), Some(4), Some(7), Some(100)] {
            for _ in 0..hits.len() {
                hits.rotate_left(3);
                hits.swap(0, 1);
                let mut merger = Merger::new(limit);
                for part in hits.chunks(3) {
                    let mut best = Best::new(limit, 2);
                    let kept = |hit| Some(Kept { hit, shown: None });
                    part.iter().for_each(|&hit| best.offer(hit, kept));
                    best.sort();
                    let (tally, arena) = (Tally::default(), Arena::default());
                    let (unreadable, lost, counts) = (vec![], vec![], vec![]);
                    merger.add(Found { best, tally, unreadable, lost, counts, arena });
                }
                let kept = &sorted[..limit.unwrap_or(7).min(7)];
                let answer = merger.finish();
                let found: Vec<_> = answer.hits().copied().collect();
                assert_eq!(found, kept, "{limit:?}");
            }
        }
    }
}
