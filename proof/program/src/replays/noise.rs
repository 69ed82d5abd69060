//! Recorded run times of one program, and new series made from them.

use rand::Rng;
use rand_pcg::Pcg64;

/// Runs that stay together when a series is drawn anew: long enough to keep how runs depend on
/// their neighbours.
const BLOCK: usize = 60;

/// The wall times of one program, run again and again, in the order in which they were measured.
#[derive(Clone, Debug)]
pub struct Noise {
    /// What was run, in a few words.
    pub name: &'static str,
    runs: Vec<f64>,
}

impl Noise {
    /// Parses lines of run times in microseconds; lines that begin with `#` say how they came to
    /// be.
    pub(super) fn parse(name: &'static str, text: &str) -> Noise {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let runs = lines.flat_map(str::split_whitespace).filter_map(|word| word.parse().ok());
        Noise { name, runs: runs.collect() }
    }

    /// The recorded runs.
    pub fn runs(&self) -> &[f64] {
        &self.runs
    }

    /// The robust standard deviation of ln(second / first) of neighbouring runs.
    pub fn pair_sd(&self) -> f64 {
        let differences = self.runs.chunks_exact(2).map(|pair| (pair[1] / pair[0]).ln().abs());
        1.4826 * lab_stats::describe::median(&differences.collect::<Vec<_>>()).unwrap_or(f64::NAN)
    }

    /// Rounds of so many neighbouring runs without end, in blocks that begin at random places.
    /// Source: Künsch (1989), "The Jackknife and the Bootstrap for General Stationary
    /// Observations", The Annals of Statistics 17(3), section 2.
    pub(super) fn rounds(&self, of: usize, mut rng: Pcg64) -> impl Iterator<Item = &[f64]> {
        let block = BLOCK / of * of;
        std::iter::repeat_with(move || {
            let from = rng.random_range(0..=self.runs.len() - block);
            self.runs[from..from + block].chunks_exact(of)
        })
        .flatten()
    }

    /// So many runs in a row, as they were recorded: what a tool sees that does not interleave.
    pub(super) fn window(&self, runs: usize, rng: &mut Pcg64) -> &[f64] {
        let from = rng.random_range(0..=self.runs.len() - runs);
        &self.runs[from..from + runs]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(runs: u32) -> Noise {
        let lines: Vec<String> = (0..runs).map(|run| run.to_string()).collect();
        Noise::parse("counting", &format!("# 7 words\n{}\n", lines.join("\n")))
    }

    #[test]
    fn remarks_are_no_runs() {
        assert_eq!(counting(3).runs(), [0.0, 1.0, 2.0]);
        assert_eq!(Noise::parse("", "# 1\n5 6\n7\n").runs(), [5.0, 6.0, 7.0]);
    }

    /// ln 2, 2 ln 2 and 3 ln 2 between the runs of a pair, whatever lies between pairs.
    #[test]
    fn a_pairs_standard_deviation_is_of_the_logarithm() {
        let noise = Noise::parse("", "1 2 400 100 7 56 9");
        assert!((noise.pair_sd() - 1.4826 * 4_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn rounds_are_neighbours_in_blocks_of_whole_rounds() {
        let noise = counting(500);
        let rng = rand::SeedableRng::seed_from_u64(1);
        let rounds: Vec<&[f64]> = noise.rounds(7, rng).take(80).collect();
        let follows = |pair: &[&[f64]]| pair[1][0] == pair[0][0] + 7.0;
        assert!(rounds.iter().all(|round| round.len() == 7));
        // Eight rounds of seven fit into a block, and ten blocks begin at ten places.
        assert!(rounds.chunks(8).all(|block| block.windows(2).all(follows)));
        assert!(!rounds.windows(2).skip(7).step_by(8).any(follows));
        // The first run and the last one are in reach, and no more than all are asked for.
        let few = counting(61);
        let rng = rand::SeedableRng::seed_from_u64(1);
        let begins: Vec<f64> = few.rounds(60, rng).take(20).map(|round| round[0]).collect();
        assert!(begins.contains(&0.0) && begins.contains(&1.0), "{begins:?}");
    }

    #[test]
    fn a_window_is_as_it_was_recorded() {
        let noise = counting(11);
        let mut rng = rand::SeedableRng::seed_from_u64(1);
        let windows: Vec<&[f64]> = (0..20).map(|_| noise.window(10, &mut rng)).collect();
        for window in &windows {
            assert!(*window == &noise.runs()[..10] || *window == &noise.runs()[1..], "{window:?}");
        }
        assert!(windows.iter().any(|window| window[0] != windows[0][0]));
    }
}
