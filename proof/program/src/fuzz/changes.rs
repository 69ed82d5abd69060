//! How an input is made of the seeds.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Changes of one input, at most.
const CHANGES_MAX: u32 = 6;
/// Inputs grow no further.
const BYTES_MAX: usize = 1 << 16;
/// What readers stumble over.
const ODD: &[&[u8]] = &[
    b"\0",
    b"\n",
    b"\r\n\r\n",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b"|",
    b"-1",
    b"9223372036854775808",
    b"1e999",
    b"0.0000000001",
    b"NaN",
    b"null",
    b"true",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"((((((((",
    b"[[",
    b"= ",
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"ffffffffffffffff\r\n",
    b"%",
    b"\xc2\xb1",
];

/// Input `number` of a target: the same for the same arguments.
pub(crate) fn input(target: &str, seeds: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    let stream = target.bytes().fold(seed, |sum, byte| sum.wrapping_mul(131) + u64::from(byte));
    let mut rng = Pcg64::seed_from_u64(stream ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut bytes = seeds[rng.random_range(0..seeds.len())].clone();
    for _ in 0..rng.random_range(1..=CHANGES_MAX) {
        change(&mut bytes, seeds, &mut rng);
    }
    bytes.truncate(BYTES_MAX);
    bytes
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut Pcg64) {
    let at = rng.random_range(0..=bytes.len());
    let end = (at + rng.random_range(0..64)).min(bytes.len());
    match rng.random_range(0..8) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..end)),
        2 => {
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
        3 | 4 => drop(bytes.splice(at..at, ODD[rng.random_range(0..ODD.len())].iter().copied())),
        5 => drop(bytes.splice(at..end, ODD[rng.random_range(0..ODD.len())].iter().copied())),
        6 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << rng.random_range(0..8);
            }
        }
        _ => {
            let other = &seeds[rng.random_range(0..seeds.len())];
            let from = rng.random_range(0..=other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
    }
}
