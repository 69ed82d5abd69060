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
