//! Which way to read large files is faster here and now.
//!
//! To map a file saves its copy and costs faults. A fault maps the pages around it that lie in one
//! piece of the page cache, so the same gigabyte costs more or less by how it came into memory: by
//! large reads ahead, or by a program that wrote it page by page. Nothing tells that before.

use std::sync::atomic::{AtomicU64, Ordering};

/// So many bytes are read each way before one is chosen.
const TRIED_BYTES: u64 = 12 << 20;

/// What was read by maps, and into buffers.
#[derive(Debug, Default)]
pub(crate) struct Speeds {
    mapped: Way,
    buffered: Way,
}

#[derive(Debug, Default)]
struct Way {
    bytes: AtomicU64,
    /// For all that was done with them, which is the same both ways.
    elapsed_ns: AtomicU64,
}

impl Speeds {
    /// Whether the next piece is mapped.
    pub(crate) fn are_maps_next(&self) -> bool {
        let [mapped, buffered] = [&self.mapped, &self.buffered].map(Way::read);
        match mapped.0.min(buffered.0) < TRIED_BYTES {
            true => mapped.0 <= buffered.0,
            false => mapped.1 / mapped.0 as f64 <= buffered.1 / buffered.0 as f64,
        }
    }

    pub(crate) fn add(&self, is_mapped: bool, bytes: u64, elapsed_ns: u64) {
        let way = if is_mapped { &self.mapped } else { &self.buffered };
        way.bytes.fetch_add(bytes, Ordering::Relaxed);
        way.elapsed_ns.fetch_add(elapsed_ns, Ordering::Relaxed);
    }
}

impl Way {
    fn read(&self) -> (u64, f64) {
        let elapsed_ns = self.elapsed_ns.load(Ordering::Relaxed);
        (self.bytes.load(Ordering::Relaxed), elapsed_ns as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_are_tried_and_the_faster_one_is_taken() {
        for (mapped_ns, buffered_ns) in [(1, 2), (2, 1)] {
            let speeds = Speeds::default();
            let mut ways = Vec::new();
            for _ in 0..20 {
                let is_mapped = speeds.are_maps_next();
                speeds.add(is_mapped, 4 << 20, if is_mapped { mapped_ns } else { buffered_ns });
                ways.push(is_mapped);
            }
            assert_eq!(ways[..4], [true, false, true, false]);
            assert!(ways[6..].iter().all(|&is_mapped| is_mapped == (mapped_ns < buffered_ns)));
        }
    }
}
