//! Sums over many random subsets of the same values, which is what every permutation test needs.

use rand::Rng;
use rand_pcg::Pcg64;

/// A generator whose stream depends on the seed alone.
pub(crate) fn generator(seed: u64) -> Pcg64 {
    rand::SeedableRng::seed_from_u64(seed)
}

/// Sums of subsets, eight values at a time from tables of all 256 sums: five look-ups instead of
/// 36 additions for 36 pairs, which is what makes thousands of simulated tests affordable.
pub(crate) struct SubsetSums {
    tables: Vec<[f64; 256]>,
}

impl SubsetSums {
    pub(crate) fn new(values: &[f64]) -> SubsetSums {
        SubsetSums { tables: values.chunks(8).map(table).collect() }
    }

    /// The sum of the values whose bit is set; bits beyond the last value count nothing.
    pub(crate) fn sum(&self, mask: &[u64]) -> f64 {
        let bytes = mask.iter().flat_map(|word| word.to_le_bytes());
        self.tables.iter().zip(bytes).map(|(table, byte)| table[usize::from(byte)]).sum()
    }
}

/// The regroupings that a test compares its data with: subsets of `len` values, value i at bit
/// i % 64 of word i / 64. Either all there are, or a random sample of them.
#[derive(Debug)]
pub(crate) struct Masks {
    words: usize,
    bits: Vec<u64>,
    all: bool,
}

impl Masks {
    /// Sign patterns. When there are at most `most` of them these are all patterns that leave
    /// the last sign alone (the others only mirror them), else `most` draws of fair coins.
    pub(crate) fn signs(len: usize, most: usize, rng: &mut Pcg64) -> Masks {
        if len <= 64 && 1_u128 << (len - 1) <= most as u128 {
            return Masks { words: 1, bits: (0..1 << (len - 1)).collect(), all: true };
        }
        // Coins beyond the last value fall on zeros of the tables.
        let words = len.div_ceil(64);
        Masks { words, bits: (0..words * most).map(|_| rng.random()).collect(), all: false }
    }

    /// Groups of `chosen` out of `len`: all when there are at most `most`, else `most` draws.
    pub(crate) fn groups(len: usize, chosen: usize, most: usize, rng: &mut Pcg64) -> Masks {
        if len < 64 && choose(len, chosen) <= most as f64 {
            let first = (1_u64 << chosen) - 1;
            let within = |mask: &u64| mask >> len == 0;
            let bits = std::iter::successors(Some(first), |mask| Some(next_group(*mask)));
            return Masks { words: 1, bits: bits.take_while(within).collect(), all: true };
        }
        let words = len.div_ceil(64);
        let mut bits = vec![0_u64; words * most];
        let mut indices: Vec<usize> = (0..len).collect();
        for mask in bits.chunks_exact_mut(words) {
            // The start of a Fisher-Yates shuffle. It may go on from the order that the last one
            // left, for a uniform shuffle of any order is uniform.
            for i in 0..chosen {
                indices.swap(i, rng.random_range(i..len));
                mask[indices[i] / 64] |= 1 << (indices[i] % 64);
            }
        }
        Masks { words, bits, all: false }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u64]> {
        self.bits.chunks_exact(self.words)
    }

    /// The p-value when `hits` of these regroupings were as extreme as the data. Among all of
    /// them the data is one; to a random sample it is added, so that no p-value is 0: Phipson
    /// and Smyth (2010), "Permutation P-values Should Never Be Zero", Statistical Applications in
    /// Genetics and Molecular Biology 9(1), article 39, section 3.
    pub(crate) fn p_value(&self, hits: usize) -> f64 {
        let extra = usize::from(!self.all);
        (hits + extra) as f64 / (self.bits.len() / self.words + extra) as f64
    }
}

/// The binomial coefficient, infinite where it leaves the range of an f64.
pub(crate) fn choose(n: usize, k: usize) -> f64 {
    (0..k.min(n - k)).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64).round()
}

/// The next larger word with as many bits set, by Gosper's method (HAKMEM, 1972, item 175).
fn next_group(mask: u64) -> u64 {
    let lowest = mask & mask.wrapping_neg();
    let ripple = mask + lowest;
    ripple | (((ripple ^ mask) / lowest) >> 2)
}

fn table(values: &[f64]) -> [f64; 256] {
    let mut sums = [0.0; 256];
    for bit in 0..8 {
        // A last chunk may be short, and random masks have bits there.
        let value = values.get(bit).copied().unwrap_or(0.0);
        let half = 1 << bit;
        for subset in 0..half {
            sums[half + subset] = sums[subset] + value;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_sum_what_the_mask_names() {
        let values: Vec<f64> = (0..77).map(|i| f64::from(i) * 1.5 - 20.0).collect();
        let sums = SubsetSums::new(&values);
        let mut rng = generator(7);
        let masks = [Masks::signs(77, 50, &mut rng), Masks::groups(77, 30, 50, &mut rng)];
        for mask in masks.iter().flat_map(Masks::iter) {
            let named = (0..77).filter(|i| mask[i / 64] >> (i % 64) & 1 == 1);
            let plain: f64 = named.map(|i| values[i]).sum();
            assert!((sums.sum(mask) - plain).abs() < 1e-9);
        }
    }

    #[test]
    fn few_regroupings_are_enumerated_and_each_once() {
        let mut rng = generator(1);
        let mut groups = Masks::groups(10, 4, 210, &mut rng).bits;
        assert!(groups.iter().all(|mask| mask.count_ones() == 4 && mask >> 10 == 0));
        groups.dedup();
        assert_eq!(groups.len(), 210);
        assert_eq!(Masks::groups(3, 3, 10, &mut rng).bits, [0b111]);
        assert_eq!(Masks::signs(4, 8, &mut rng).bits, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(!Masks::signs(4, 7, &mut rng).all);
    }

    #[test]
    fn sampled_groups_have_the_size_asked_for() {
        let mut rng = generator(1);
        for (len, chosen) in [(40, 20), (64, 32), (65, 64), (130, 3)] {
            let masks = Masks::groups(len, chosen, 30, &mut rng);
            assert_eq!(masks.iter().count(), 30);
            for mask in masks.iter() {
                let ones: u32 = mask.iter().map(|word| word.count_ones()).sum();
                assert_eq!(ones as usize, chosen);
            }
        }
    }
}
