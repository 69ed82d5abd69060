//! Random numbers with an address: a draw depends on its key alone, never on what was drawn before.
//! Variants can therefore be added or left out without changing the work of the others.

use rand::SeedableRng;
use rand_pcg::Pcg64;
use xxhash_rust::xxh64::Xxh64;

/// A generator for one address.
pub fn generator(seed: u64, address: &[&str]) -> Pcg64 {
    Pcg64::seed_from_u64(hash(seed, address))
}

/// A seed for a variant's own generator.
pub fn seed(seed: u64, address: &[&str]) -> u64 {
    hash(seed, address)
}

/// A positive 31-bit seed for a request: what every Ollama version takes.
pub fn request_seed(seed: u64, address: &[&str]) -> i64 {
    i64::try_from(hash(seed, address) >> 33).expect("31 bits fit") + 1
}

fn hash(seed: u64, address: &[&str]) -> u64 {
    let mut hasher = Xxh64::new(seed);
    for part in address {
        hasher.update(part.as_bytes());
        // A separator that no name holds, so that ("ab", "c") and ("a", "bc") differ.
        hasher.update(&[0]);
    }
    hasher.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_more_than_its_letters() {
        assert_ne!(hash(1, &["ab", "c"]), hash(1, &["a", "bc"]));
        assert_ne!(hash(1, &["a"]), hash(2, &["a"]));
    }

    #[test]
    fn request_seeds_are_positive_and_fit_32_bits() {
        for block in 0..1000 {
            let seed = request_seed(7, &[&block.to_string()]);
            assert!((1..=i64::from(i32::MAX) + 1).contains(&seed));
        }
    }
}
