//! What is learned about: a call site, where wanted split by the size of its input.

use std::any::type_name;

/// A call site, and optionally the size class of this call's input.
///
/// Keys are 64-bit hashes; two sites whose hashes are equal would be learned as one, which for a
/// million sites happens with probability 3 in 10^8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(u64);

impl Key {
    /// The site with this number, for callers that number their sites themselves.
    #[must_use]
    pub const fn new(id: u64) -> Self {
        Self(not_zero(mix(id)))
    }

    /// The site of this name: FNV-1a over its bytes, so it can be a constant.
    #[must_use]
    pub const fn named(name: &str) -> Self {
        let bytes = name.as_bytes();
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut index = 0;
        while index < bytes.len() {
            hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
            index += 1;
        }
        Self::new(hash)
    }

    /// The site of a closure or function: each closure in a program has a type of its own.
    ///
    /// Closures made by one generic function share a name when they differ only in lifetimes.
    #[must_use]
    pub fn of_type<F: ?Sized>() -> Self {
        Self::named(type_name::<F>())
    }

    /// The same site for inputs of this class, by custom the logarithm to base 2 of the size.
    ///
    /// Each class is learned by itself, so that 1 KiB can run inline where 1 MiB is offloaded.
    #[must_use]
    pub const fn sized(self, class: u32) -> Self {
        Self(not_zero(mix(self.0 ^ ((class as u64 + 1) << 32))))
    }

    /// The hash, never 0.
    #[must_use]
    pub const fn hash(self) -> u64 {
        self.0
    }
}

/// What the caller knows of a call's cost before anything was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hint {
    /// Shorter than a round trip to the pool: the first call runs inline.
    Low,
    /// About as long as a round trip: the first call runs inline if nothing waits.
    Medium,
    /// Long: the first call is offloaded.
    High,
    /// Nothing is known: the first call is offloaded, which loses one round trip at worst, where
    /// the other mistake loses the length of an unknown call.
    #[default]
    Unknown,
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014, figure 18): every bit depends on all.
pub(crate) const fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The table of sites marks its free places with 0.
const fn not_zero(hash: u64) -> u64 {
    if hash == 0 { 1 } else { hash }
}
