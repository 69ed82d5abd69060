//! The proof in full: `cargo run --release -p lab-compare --example prove > proof.tsv`.

use lab_compare::replay::{Row, Size, prove, recordings};

fn main() {
    println!("{}", Row::HEADER);
    for noise in recordings() {
        eprintln!("{}: robust SD of a pair {:.2} %", noise.name, 100.0 * noise.pair_sd());
        prove(&noise, Size::FULL, 1, &mut |row| println!("{}", row.tsv()));
    }
}
