//! The answer: the same order whoever found what.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};

use crate::{Tally, Time};

/// A message that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// When it was written; `None`, which is older than everything, where it does not say.
    pub time: Option<Time>,
    /// Index of its file.
    pub file: u32,
    /// Of its line in the file, in bytes.
    pub offset: u64,
    /// xxh64, seed 0, of the line without its end (`\n` or `\r\n`).
    pub hash: u64,
}

impl Hit {
    fn rank(&self) -> (Reverse<Option<Time>>, u32, u64) {
        (Reverse(self.time), self.file, self.offset)
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

/// The hits that the answer may need: the first so many, or all.
#[derive(Debug, Default)]
pub(crate) struct Best {
    limit: Option<usize>,
    /// The last one on top.
    heap: BinaryHeap<Hit>,
    all: Vec<Hit>,
}

impl Best {
    pub(crate) fn new(limit: Option<usize>, capacity: usize) -> Self {
        let capacity = limit.map_or(capacity, |limit| capacity.min(limit));
        match limit {
            Some(_) => Self { limit, heap: BinaryHeap::with_capacity(capacity), all: Vec::new() },
            None => Self { limit, heap: BinaryHeap::new(), all: Vec::with_capacity(capacity) },
        }
    }

    /// Keeps the hit if it is among the first; its hash is taken only then.
    pub(crate) fn offer(&mut self, mut hit: Hit, hash: impl FnOnce() -> u64) {
        let Some(limit) = self.limit else {
            hit.hash = hash();
            return self.all.push(hit);
        };
        if self.heap.len() < limit {
            hit.hash = hash();
            self.heap.push(hit);
        } else if self.heap.peek().is_some_and(|last| hit < *last) {
            hit.hash = hash();
            self.heap.pop();
            self.heap.push(hit);
        }
    }

    fn absorb(&mut self, other: Self) {
        for hit in other.heap.into_iter().chain(other.all) {
            self.offer(hit, || hit.hash);
        }
    }

    fn sorted(self) -> Vec<Hit> {
        let mut hits = self.all;
        hits.extend(self.heap);
        hits.sort_unstable();
        hits
    }
}

/// What one worker found; send it to the [`Merger`].
#[derive(Debug)]
pub struct Found {
    pub(crate) best: Best,
    pub(crate) tally: Tally,
    /// Why files could not be read, by index.
    pub(crate) unreadable: Vec<(u32, String)>,
}

/// Makes one answer out of what the workers found, in whatever order they come.
#[derive(Debug)]
pub struct Merger {
    best: Best,
    tally: Tally,
    unreadable: BTreeMap<u32, String>,
}

/// What a run found.
#[derive(Debug)]
pub struct Answer {
    /// Newest first, ties by file and offset.
    pub hits: Vec<Hit>,
    /// What it took.
    pub tally: Tally,
    /// Why files could not be read, by index.
    pub unreadable: BTreeMap<u32, String>,
}

impl Merger {
    pub(crate) fn new(limit: Option<usize>) -> Self {
        let (best, tally) = (Best::new(limit, 0), Tally::default());
        Self { best, tally, unreadable: BTreeMap::new() }
    }

    /// Takes in what a worker found.
    pub fn add(&mut self, found: Found) {
        let start = crate::now_ns();
        self.best.absorb(found.best);
        self.tally += found.tally;
        self.unreadable.extend(found.unreadable);
        self.tally.merge_ns += crate::clock::since(start);
    }

    /// The answer.
    pub fn finish(self) -> Answer {
        let start = crate::now_ns();
        let Self { best, mut tally, unreadable } = self;
        let hits = best.sorted();
        tally.merge_ns += crate::clock::since(start);
        Answer { hits, tally, unreadable }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(seconds: Option<i64>, file: u32, offset: u64) -> Hit {
        let time = seconds.map(|seconds| Time { seconds, nanoseconds: 0 });
        Hit { time, file, offset, hash: 0 }
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
                    part.iter().for_each(|&hit| best.offer(hit, || 0));
                    let (tally, unreadable) = (Tally::default(), vec![]);
                    merger.add(Found { best, tally, unreadable });
                }
                let kept = &sorted[..limit.unwrap_or(7).min(7)];
                assert_eq!(merger.finish().hits, kept, "{limit:?}");
            }
        }
    }
}
