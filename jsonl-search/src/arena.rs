//! Memory for what is found, in pieces so large that the kernel gives them in large pages: to take
//! a fault for each four kilobytes of many messages costs more than to make them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::{Advice, MmapMut};

/// Bytes of an arena's first piece; each next one is twice as large, up to the last.
const FIRST_BYTES: usize = 64 << 10;
const LAST_BYTES: usize = 64 << 20;
/// Bytes of a large page.
const LARGE_PAGE: usize = 2 << 20;

/// Where some bytes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slice {
    arena: u32,
    piece: u32,
    start: u32,
    length: u32,
}

/// Bytes that stay where they are.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    /// Another one for each arena that has anything in it.
    number: u32,
    pieces: Vec<MmapMut>,
    /// Bytes of the last piece.
    used: usize,
    /// Bytes of all that it keeps.
    kept: usize,
}

/// The arenas of an answer.
#[derive(Debug, Default)]
pub(crate) struct Arenas(BTreeMap<u32, Arena>);

impl Arena {
    /// Keeps a copy; `None` where there is no memory for it.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Option<Slice> {
        let room = self.pieces.last().map(|piece| piece.len() - self.used);
        if room.is_none_or(|room| room < bytes.len()) {
            self.grow(bytes.len())?;
        }
        let piece = self.pieces.last_mut()?;
        let start = self.used;
        piece[start..start + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
        self.kept += bytes.len();
        Some(Slice {
            arena: self.number,
            piece: self.pieces.len() as u32 - 1,
            start: u32::try_from(start).ok()?,
            length: u32::try_from(bytes.len()).ok()?,
        })
    }

    /// Keeps nothing any more, but for memory; how many bytes it kept.
    pub(crate) fn clear(&mut self) -> usize {
        let before = self.pieces.len().saturating_sub(1);
        self.pieces.drain(..before);
        self.used = 0;
        std::mem::take(&mut self.kept)
    }

    /// What it keeps there.
    pub(crate) fn get(&self, slice: Slice) -> &[u8] {
        let start = slice.start as usize;
        &self.pieces[slice.piece as usize][start..start + slice.length as usize]
    }

    fn grow(&mut self, bytes: usize) -> Option<()> {
        static NUMBERS: AtomicU32 = AtomicU32::new(0);
        if self.pieces.is_empty() {
            self.number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        }
        let usual = FIRST_BYTES << self.pieces.len().min(16);
        let length = usual.min(LAST_BYTES).max(bytes);
        let piece = MmapMut::map_anon(length).ok()?;
        if length >= LARGE_PAGE {
            // A kernel without large pages gives small ones.
            let _ = piece.advise(Advice::HugePage);
        }
        self.pieces.push(piece);
        self.used = 0;
        Some(())
    }
}

impl Arenas {
    pub(crate) fn add(&mut self, arena: Arena) {
        if !arena.pieces.is_empty() {
            self.0.insert(arena.number, arena);
        }
    }

    /// The bytes of a slice of one of these arenas.
    pub(crate) fn get(&self, slice: Slice) -> &[u8] {
        self.0[&slice.arena].get(slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_several_arenas_are_found_again() {
        let bytes = |number: usize| vec![number as u8; number * 7919 % 30_000];
        let mut made = [Arena::default(), Arena::default(), Arena::default()];
        let slices: Vec<_> =
            (0..900).map(|number| made[number % 2].keep(&bytes(number)).unwrap()).collect();
        let huge = made[0].keep(&vec![1; 20 << 20]).unwrap();
        let mut arenas = Arenas::default();
        made.into_iter().for_each(|arena| arenas.add(arena));
        for (number, slice) in slices.into_iter().enumerate() {
            assert_eq!(arenas.get(slice), bytes(number));
        }
        assert_eq!(arenas.get(huge).len(), 20 << 20);
    }
}
