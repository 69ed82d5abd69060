//! The proof in full: `cargo run --release -p lab-compare --example prove > proof.tsv`.

use lab_compare::replay::{Size, Target, prove, recordings};

fn main() {
    println!("noise\tsd\twhat\tmeasured\treplays\ttarget\tmet");
    for noise in recordings() {
        let sd = noise.pair_sd();
        for row in prove(&noise, Size::FULL, 1) {
            let target = match row.target {
                Target::AtMost(most) => format!("at most {most}"),
                Target::AtLeast(least) => format!("at least {least}"),
                Target::Beside => String::new(),
            };
            let met = row.met().map_or("", |met| if met { "yes" } else { "no" });
            let (name, what, measured) = (row.noise, &row.what, row.measured);
            println!("{name}\t{sd:.4}\t{what}\t{measured:.4}\t{}\t{target}\t{met}", row.replays);
        }
    }
}
