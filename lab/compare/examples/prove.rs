//! The proof in full: `cargo run --release -p lab-compare --example prove > replays.tsv`, and of
//! searches among commits: `… --example prove bisects > bisects.tsv`.

#![forbid(unsafe_code)]

use std::env;

use lab_compare::replay::{BisectSize, Row, Size, bisects, prove, recordings};

fn main() {
    let of_searches = env::args().nth(1).as_deref() == Some("bisects");
    println!("{}", Row::HEADER);
    for noise in recordings() {
        eprintln!("{}: robust SD of a pair {:.2} %", noise.name, 100.0 * noise.pair_sd());
        let mut print = |row: Row| println!("{}", row.tsv());
        match of_searches {
            true => bisects(&noise, BisectSize::FULL, 1, &mut print),
            false => prove(&noise, Size::FULL, 1, &mut print),
        }
    }
}
