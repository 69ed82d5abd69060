//! What a difference costs, by the noise: rounds until it is told, the minutes that they take, and
//! the price of looking after every round beside an interval of rounds that were fixed beforehand.
//!
//! Noise is normal; one run in twenty is a hiccup as well, five standard deviations long in the
//! mean. The fixed interval is Student's of the same differences, each clipped at three standard
//! deviations of a pair around the truth, so that hiccups cost both ways alike.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use lab_stats::sequence::Sequence;
use rand::{Rng, SeedableRng};
use rand_distr::{Exp1, StandardNormal};
use rand_pcg::Pcg64;
use statrs::distribution::{ContinuousCDF, StudentsT};

#[derive(Args)]
pub(crate) struct PricesArgs {
    /// Comparisons of each kind
    #[arg(long, default_value_t = 400)]
    tries: usize,
    /// Write the numbers there too, in columns with tabs between them
    #[arg(long, value_name = "FILE")]
    tsv: Option<PathBuf>,
}

const ALPHA: f64 = 0.01;
/// Standard deviations of a pair, in per cent.
const NOISES: [f64; 3] = [0.5, 1.5, 5.0];
/// Differences, in per cent.
const DIFFERENCES: [f64; 3] = [1.0, 2.0, 5.0];
/// Of half of the comparisons and of 80 %.
const PARTS: [f64; 2] = [0.5, 0.8];
/// Runs that take so long, by what they are called.
const RUNS: [(&str, f64); 3] = [("30 ms", 0.03), ("1 s", 1.0), ("10 s", 10.0)];
const RUNS_A_ROUND: f64 = 2.0;
/// Rounds at most: what is not told by then is a bug.
const MOST: usize = 50_000;
const HICCUPS: f64 = 0.05;
const HICCUP_SDS: f64 = 5.0;
const CLIP_SDS: f64 = 3.0;

/// Prints a table in Markdown.
pub(super) fn run(args: &PricesArgs) -> Result<()> {
    let rows = rows(args.tries);
    print!("{}", markdown(&rows));
    match &args.tsv {
        Some(path) => fs::write(path, tsv(&rows)).with_context(|| path.display().to_string()),
        None => Ok(()),
    }
}

/// One noise and one difference.
struct Row {
    noise: f64,
    difference: f64,
    /// By part of the comparisons.
    rounds: [f64; 2],
    fixed: [f64; 2],
}

impl Row {
    fn new(noise: f64, difference: f64, tries: usize) -> Self {
        let pairs = || (0..tries).map(|seed| Pairs::new(noise, difference, seed as u64));
        let told: Vec<usize> = pairs().map(until_told).collect();
        Self {
            noise,
            difference,
            rounds: PARTS.map(|part| nth(told.clone(), part)),
            fixed: PARTS.map(|part| fixed(pairs().collect(), part) as f64),
        }
    }

    /// By length of a run, then by part.
    fn minutes(&self) -> impl Iterator<Item = [f64; 2]> {
        RUNS.into_iter().map(|(_, s)| self.rounds.map(|rounds| rounds * RUNS_A_ROUND * s / 60.0))
    }

    fn prices(&self) -> [f64; 2] {
        [0, 1].map(|part| self.rounds[part] / self.fixed[part])
    }
}

fn rows(tries: usize) -> Vec<Row> {
    let all = NOISES.iter().flat_map(|noise| DIFFERENCES.map(|difference| (*noise, difference)));
    all.map(|(noise, difference)| Row::new(noise, difference, tries)).collect()
}

/// ln(B / A) of pairs without end, where B takes longer.
pub(super) struct Pairs {
    rng: Pcg64,
    /// Of a pair.
    sd: f64,
    shift: f64,
}

impl Pairs {
    /// That vary by so many per cent, and differ by so many.
    pub(super) fn new(noise: f64, difference: f64, seed: u64) -> Self {
        let (sd, shift) = (noise / 100.0, (difference / 100.0).ln_1p());
        Self { rng: Pcg64::seed_from_u64(seed), sd, shift }
    }

    fn run(&mut self) -> f64 {
        let sd = self.sd / 2_f64.sqrt();
        let noise: f64 = self.rng.sample(StandardNormal);
        let hiccup: f64 = self.rng.sample(Exp1);
        let is_hit = self.rng.random_bool(HICCUPS);
        sd * (noise + if is_hit { HICCUP_SDS * hiccup } else { 0.0 })
    }

    pub(super) fn difference(&mut self) -> f64 {
        self.shift + self.run() - self.run()
    }

    fn clipped(&mut self) -> f64 {
        let most = CLIP_SDS * self.sd;
        self.shift + (self.difference() - self.shift).clamp(-most, most)
    }
}

/// The number that this part of all does not exceed.
pub(super) fn nth(mut all: Vec<usize>, part: f64) -> f64 {
    all.sort_unstable();
    all[((part * all.len() as f64).ceil() as usize).max(1) - 1] as f64
}

/// Rounds until the sequence excludes 0.
pub(super) fn until_told(mut pairs: Pairs) -> usize {
    let mut sequence = Sequence::new(ALPHA, &[0.0]).expect("a level");
    let told = (1..MOST).find(|_| {
        sequence.push(pairs.difference());
        sequence.excludes(0.0)
    });
    told.unwrap_or(MOST)
}

/// The number of rounds after which Student's interval excludes 0 in this part of comparisons.
fn fixed(mut all: Vec<Pairs>, part: f64) -> usize {
    let mut sums = vec![[0.0; 2]; all.len()];
    let enough = (1..MOST).find(|rounds| {
        let n = *rounds as f64;
        for (pairs, [sum, squares]) in all.iter_mut().zip(&mut sums) {
            let difference = pairs.clipped();
            *sum += difference;
            *squares += difference * difference;
        }
        let Ok(student) = StudentsT::new(0.0, 1.0, n - 1.0) else { return false };
        let quantile = student.inverse_cdf(1.0 - ALPHA / 2.0);
        let excludes = |[sum, squares]: &[f64; 2]| {
            let variance = (squares - sum * sum / n) / (n - 1.0);
            sum.abs() / n > quantile * (variance / n).sqrt()
        };
        let found = sums.iter().filter(|sums| excludes(sums)).count();
        found as f64 >= part * sums.len() as f64
    });
    enough.unwrap_or(MOST)
}

fn markdown(rows: &[Row]) -> String {
    let names = RUNS.map(|(name, _)| format!(" {name} a run |"));
    let mut page = format!(
        "Rounds of two runs until a difference is told, in half / 80 % of comparisons; minutes \
         for 80 %.\n\n\
         | pairs vary by | difference | rounds |{} rounds of a fixed interval | price |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|\n",
        names.concat()
    );
    for row in rows {
        let both = |values: [f64; 2]| values.map(|value| value.to_string()).join(" / ");
        let minutes: String = row.minutes().map(|[_, most]| format!(" {most:.2} |")).collect();
        let prices = row.prices().map(|price| format!("{price:.1}")).join(" / ");
        page += &format!(
            "| {} % | {} % | {} |{minutes} {} | {prices} |\n",
            row.noise,
            row.difference,
            both(row.rounds),
            both(row.fixed),
        );
    }
    page
}

fn tsv(rows: &[Row]) -> String {
    let mut table = "pair_sd_percent\tdifference_percent\tpart\trounds\tminutes_30_ms\tminutes_1_s\
                     \tminutes_10_s\tfixed_rounds\tprice\n"
        .to_owned();
    for row in rows {
        for (place, part) in PARTS.iter().enumerate() {
            let minutes: String =
                row.minutes().map(|minutes| format!("{:.4}\t", minutes[place])).collect();
            table += &format!(
                "{}\t{}\t{part}\t{}\t{minutes}{}\t{:.3}\n",
                row.noise,
                row.difference,
                row.rounds[place],
                row.fixed[place],
                row.prices()[place],
            );
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_noise_and_less_difference_cost_more_and_looking_has_a_price() {
        let row = |noise, difference| Row::new(noise, difference, 40);
        let (few, more, most) = (row(0.5, 5.0), row(1.5, 1.0), row(5.0, 2.0));
        for [a, b] in [[&few, &more], [&more, &most]] {
            assert!(a.rounds[1] < b.rounds[1] && a.fixed[1] < b.fixed[1]);
        }
        for row in [&few, &more, &most] {
            assert!(row.rounds[0] <= row.rounds[1] && row.fixed[0] <= row.fixed[1]);
            assert!(row.prices().iter().all(|price| (1.0..20.0).contains(price)));
        }
    }

    #[test]
    fn a_fixed_interval_takes_what_the_normal_distribution_says() {
        // Half of them by (2.576 · 1.5 / 0.5)² pairs, and hiccups add a little.
        let pairs = (0..400).map(|seed| Pairs::new(1.5, 0.5, seed)).collect();
        let found = fixed(pairs, 0.5);
        assert!((55..110).contains(&found), "{found}");
    }

    #[test]
    fn each_row_is_a_line_of_both_tables() {
        let rows = [Row { noise: 1.5, difference: 2.0, rounds: [19.0, 27.0], fixed: [9.0, 13.5] }];
        let page = markdown(&rows);
        let line = "| 1.5 % | 2 % | 19 / 27 | 0.03 | 0.90 | 9.00 | 9 / 13.5 | 2.1 / 2.0 |\n";
        assert!(page.ends_with(line), "{page}");
        let table = tsv(&rows);
        let columns = |line: &str| line.split('\t').count();
        assert_eq!(table.lines().map(columns).collect::<Vec<_>>(), [9, 9, 9]);
        assert!(
            table.ends_with("1.5\t2\t0.8\t27\t0.0270\t0.9000\t9.0000\t13.5\t2.000\n"),
            "{table}"
        );
    }
}
