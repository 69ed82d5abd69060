//! Draws whose values depend on the seed and this file alone: the generator's stream is fixed, and
//! what is made of it is integers made here, not a library's distributions, which may change.

use rand_pcg::{Pcg64, rand_core::RngCore};

/// Streams of one seed, so that what one part draws moves no other part.
pub(crate) enum Stream {
    /// Which lines get a needle.
    Needles,
    /// The sizes of files.
    Sizes,
    /// The hostile files.
    Hostile,
    /// The session in the file of this number.
    Session(u64),
}

/// A generator of integers.
pub(crate) struct Random(Pcg64);

impl Random {
    pub(crate) fn new(seed: u64, stream: Stream) -> Self {
        let number = match stream {
            Stream::Needles => 0,
            Stream::Sizes => 1,
            Stream::Hostile => 2,
            Stream::Session(file) => (1 << 32) | u128::from(file),
        };
        Self(Pcg64::new(u128::from(seed), number))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..limit`, by multiplication; off uniform by less than `limit` / 2^64.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// Whether a thing that happens once in `of` times happens now.
    pub(crate) fn once_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len() as u64) as usize]
    }
}
