//! Where a sequence changes: E-divisive with a permutation test.
//!
//! Source: Matteson and James (2014), "A Nonparametric Approach for Multiple Change Point Analysis
//! of Multivariate Data", Journal of the American Statistical Association 109(505), pp. 334-345:
//! equations 5 to 7 for the statistic with exponent 1, section 3.1 for the order in which changes
//! are found, section 3.2 for the test.
//!
//! The values of one segment must be exchangeable: one value a session, never the single runs of
//! few sessions, whose common shift would look like a change at each border.

use rand::seq::SliceRandom;

use crate::{open_unit, resample::generator, usable};

/// With the sequence itself 1,000 orders, so that the smallest p-value is 0.001.
const PERMUTATIONS: usize = 999;
/// The sums of a longer sequence would fill the memory, and its test a minute.
const LONGEST: usize = 500;
/// Orders of equal statistic differ by rounding, and count as equal.
const ROUNDING: f64 = 1e-9;

/// A place where the distribution of a sequence changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The position of the first value after the change.
    pub at: usize,
    /// How far the values before and after it are apart: the scaled energy distance.
    pub statistic: f64,
    /// The share of the orders within segments that have a change at least as large.
    pub p: f64,
}

/// The changes of a sequence in its order, largest first until one has a p-value above `level`.
/// Every segment has at least `fewest` values, two or more. Empty where there is none; `None` of
/// values that cannot be used, and of more than 500.
pub fn changes(values: &[f64], fewest: usize, level: f64, seed: u64) -> Option<Vec<Change>> {
    if !usable(values) || values.len() > LONGEST || fewest < 2 || !open_unit(level) {
        return None;
    }
    let mut rng = generator(seed);
    let mut found: Vec<Change> = Vec::new();
    loop {
        let borders = borders(&found, values.len());
        let Some((at, statistic)) = largest(values, &borders, fewest) else { break };
        let mut shuffled = values.to_vec();
        let mut as_large = 0;
        for _ in 0..PERMUTATIONS {
            for segment in borders.windows(2) {
                shuffled[segment[0]..segment[1]].shuffle(&mut rng);
            }
            let other = largest(&shuffled, &borders, fewest);
            let bound = statistic - ROUNDING * statistic.abs();
            as_large += usize::from(other.is_some_and(|(_, other)| other >= bound));
        }
        // The sequence is one of the orders.
        let p = (as_large + 1) as f64 / (PERMUTATIONS + 1) as f64;
        if p > level {
            break;
        }
        found.push(Change { at, statistic, p });
        found.sort_unstable_by_key(|change| change.at);
    }
    Some(found)
}

/// Where the segments between the changes begin, and the end of the last.
fn borders(found: &[Change], len: usize) -> Vec<usize> {
    let places = found.iter().map(|change| change.at);
    std::iter::once(0).chain(places).chain([len]).collect()
}

/// The largest statistic of any segment, and where it is.
fn largest(values: &[f64], borders: &[usize], fewest: usize) -> Option<(usize, f64)> {
    let of_segment = |ends: &[usize]| {
        let (at, statistic) = split(&values[ends[0]..ends[1]], fewest)?;
        Some((ends[0] + at, statistic))
    };
    let splits = borders.windows(2).filter_map(of_segment);
    splits.reduce(|best, other| if other.1 > best.1 { other } else { best })
}

/// The best split of one segment: of all positions, and of all ends of the part after it, for a
/// further change behind it would dilute the difference (equation 7).
fn split(values: &[f64], fewest: usize) -> Option<(usize, f64)> {
    let sums = Distances::of(values);
    let mut best: Option<(usize, f64)> = None;
    for at in fewest..=values.len().checked_sub(fewest)? {
        for end in at + fewest..=values.len() {
            let statistic = sums.statistic(at, end);
            if best.is_none_or(|(_, most)| statistic > most) {
                best = Some((at, statistic));
            }
        }
    }
    best
}

/// Sums of the distances between the first values and the first values, for every pair of counts:
/// so the sum over any rectangle of pairs is four look-ups.
struct Distances {
    sums: Vec<f64>,
    width: usize,
}

impl Distances {
    fn of(values: &[f64]) -> Self {
        let width = values.len() + 1;
        let mut sums = vec![0.0; width * width];
        for (row, a) in values.iter().enumerate() {
            let mut of_row = 0.0;
            for (column, b) in values.iter().enumerate() {
                of_row += (a - b).abs();
                sums[(row + 1) * width + column + 1] = sums[row * width + column + 1] + of_row;
            }
        }
        Self { sums, width }
    }

    fn between(&self, rows: [usize; 2], columns: [usize; 2]) -> f64 {
        let sum = |row: usize, column: usize| self.sums[row * self.width + column];
        let [top, bottom] = rows;
        let [left, right] = columns;
        sum(bottom, right) - sum(top, right) - sum(bottom, left) + sum(top, left)
    }

    /// Equation 6: the values before `at` against those from there to `end`.
    fn statistic(&self, at: usize, end: usize) -> f64 {
        let (n, m) = (at as f64, (end - at) as f64);
        let across = 2.0 * self.between([0, at], [at, end]) / (n * m);
        // A rectangle of a part with itself has each pair twice.
        let within = |from: usize, to: usize, count: f64| {
            self.between([from, to], [from, to]) / (count * (count - 1.0))
        };
        n * m / (n + m) * (across - within(0, at, n) - within(at, end, m))
    }
}
