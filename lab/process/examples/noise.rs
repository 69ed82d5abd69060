//! Records the noise of a machine: pairs of runs of one program, for the replays of lab-compare.
//!
//! `noise PAIRS WORK` prints, per pair, the wall time of the first and of the second run in
//! microseconds. The program is this one with the single argument `WORK`: it sums so many thousand
//! numbers from a generator and ends.

#![forbid(unsafe_code)]

use std::{env, error::Error, sync::atomic::AtomicBool};

use lab_process::{Ended, Run};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<u64> =
        env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    match arguments[..] {
        [work] => {
            std::hint::black_box(sum(work * 1_000));
        }
        [pairs, work] => {
            for _ in 0..pairs {
                println!("{}\t{}", microseconds(work)?, microseconds(work)?);
            }
        }
        _ => return Err("how many pairs of how much work?".into()),
    }
    Ok(())
}

fn microseconds(work: u64) -> Result<u128, Box<dyn Error>> {
    let argv = vec![env::current_exe()?.into(), work.to_string().into()];
    let finished = Run { argv, ..Run::default() }.execute(&AtomicBool::new(false))?;
    match finished.ended {
        Ended::Exited(0) => Ok(finished.wall.as_micros()),
        ended => Err(format!("{ended:?}").into()),
    }
}

/// Marsaglia's xorshift: each number needs the last one.
fn sum(numbers: u64) -> u64 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut total = 0_u64;
    for _ in 0..numbers {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        total = total.wrapping_add(state);
    }
    total
}
