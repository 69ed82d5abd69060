//! Order of measurement: blocks run one after the other, and trends within them.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// A monotone trend over the order of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Trend {
    /// Kendall's tau between order and value, ties counted as neither.
    pub tau: f64,
    /// Two-sided p of Mann and Kendall's test.
    pub p: f64,
}

/// How groups follow each other in time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Order {
    /// Number of groups.
    pub groups: usize,
    /// Number of uninterrupted stretches of one group.
    pub stretches: usize,
    /// The chance of one stretch a group in a random order, as a logarithm to base 10.
    pub log10_chance: f64,
}

impl Order {
    /// Whether every group ran in one go, and a random order would hardly have done so.
    pub fn is_blocked(&self) -> bool {
        self.groups > 1 && self.stretches == self.groups && self.log10_chance < -3.0
    }
}

/// Values beyond which only an even sample of the pairs' rows is compared.
const MOST_VALUES: usize = 1_000;

/// The trend of values in the order in which they were measured. `None` below eight values,
/// where the normal approximation does not hold, for values that are not finite, and where all
/// are equal.
///
/// Sources: Mann (1945), Econometrica 13(3), pp. 245-259; Kendall (1975), Rank Correlation
/// Methods, 4th ed., chapter 4, with the variance for ties and the continuity correction. More
/// than 1,000 values are thinned evenly.
pub fn trend(values: &[f64]) -> Option<Trend> {
    let thinning = values.len().div_ceil(MOST_VALUES).max(1);
    let values: Vec<f64> = values.iter().copied().step_by(thinning).collect();
    let n = values.len();
    if n < 8 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sum = 0.0;
    for (i, &earlier) in values.iter().enumerate() {
        for &later in &values[i + 1..] {
            sum += f64::from(later > earlier) - f64::from(later < earlier);
        }
    }
    let size = n as f64;
    let term = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    let mut sorted = values;
    sorted.sort_unstable_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|tied| term(tied.len() as f64)).sum();
    let variance = (term(size) - ties) / 18.0;
    if variance <= 0.0 {
        return None;
    }
    let z = (sum.abs() - 1.0).max(0.0) / variance.sqrt();
    let p = (2.0 * Normal::new(0.0, 1.0).ok()?.cdf(-z)).min(1.0);
    Some(Trend { tau: sum / (size * (size - 1.0) / 2.0), p })
}

/// How the groups of runs, listed in the order of their time stamps, follow each other.
/// `None` for no runs.
pub fn order<T: PartialEq>(groups_in_time: &[T]) -> Option<Order> {
    let total = groups_in_time.len();
    let stretches = groups_in_time.chunk_by(|a, b| a == b).count();
    let mut sizes: Vec<(&T, usize)> = Vec::new();
    for group in groups_in_time {
        match sizes.iter_mut().find(|(known, _)| *known == group) {
            Some((_, size)) => *size += 1,
            None => sizes.push((group, 1)),
        }
    }
    let factorials: f64 = sizes.iter().map(|(_, size)| log10_factorial(*size)).sum();
    let chance = log10_factorial(sizes.len()) + factorials - log10_factorial(total);
    (total > 0).then_some(Order { groups: sizes.len(), stretches, log10_chance: chance })
}

/// The trend over time that remains once every group's own median is taken away: what a
/// comparison of blocks confuses with the groups. Both slices are in the order of time. `None`
/// as for [`trend`], or where they differ in length.
pub fn trend_within<T: PartialEq>(groups_in_time: &[T], values: &[f64]) -> Option<Trend> {
    if groups_in_time.len() != values.len() {
        return None;
    }
    let mut medians: Vec<(&T, f64)> = Vec::new();
    let mut rest = Vec::with_capacity(values.len());
    for (group, value) in groups_in_time.iter().zip(values) {
        let known = medians.iter().find(|(name, _)| *name == group).map(|(_, median)| *median);
        let median = match known {
            Some(median) => median,
            None => {
                let members = groups_in_time.iter().zip(values);
                let members: Vec<f64> =
                    members.filter(|(name, _)| *name == group).map(|(_, value)| *value).collect();
                let median = lab_stats::describe::median(&members)?;
                medians.push((group, median));
                median
            }
        };
        rest.push(value - median);
    }
    trend(&rest)
}

fn log10_factorial(n: usize) -> f64 {
    (2..=n).map(|factor| (factor as f64).log10()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rising_row_has_a_trend() {
        let rising: Vec<f64> = (0..10).map(f64::from).collect();
        let found = trend(&rising).unwrap();
        assert_eq!(found.tau, 1.0);
        // S = 45, variance 125: z = 44/11.18 = 3.935.
        assert!((found.p - 8.3e-5).abs() < 1e-6, "{found:?}");
        let zigzag: Vec<f64> = (0..20).map(|index| f64::from(index % 2)).collect();
        assert!(trend(&zigzag).unwrap().p > 0.3);
        assert_eq!(trend(&[1.0; 20]), None);
        assert_eq!(trend(&rising[..7]), None);
        assert_eq!(trend(&[f64::NAN; 9]), None);
    }

    #[test]
    fn many_values_are_thinned() {
        let rising: Vec<f64> = (0..10_000).map(f64::from).collect();
        let found = trend(&rising).unwrap();
        assert!(found.p < 1e-10);
    }

    #[test]
    fn blocks_are_told_from_an_interleaved_order() {
        let blocks: Vec<&str> = [["a"; 5], ["b"; 5], ["c"; 5]].concat();
        let found = order(&blocks).unwrap();
        assert_eq!((found.groups, found.stretches), (3, 3));
        assert!(found.is_blocked());
        let interleaved: Vec<&str> = ["a", "b", "c"].repeat(5);
        assert!(!order(&interleaved).unwrap().is_blocked());
        // Two runs in order are no design.
        assert!(!order(&["a", "b"]).unwrap().is_blocked());
        assert_eq!(order::<u8>(&[]), None);
    }

    #[test]
    fn a_difference_between_blocks_is_no_trend_within() {
        let groups = [["a"; 8], ["b"; 8]].concat();
        let steps: Vec<f64> =
            (0..16).map(|i| f64::from(i % 2) + if i < 8 { 0.0 } else { 50.0 }).collect();
        assert!(trend_within(&groups, &steps).unwrap().p > 0.3);
        let drifting: Vec<f64> = (0..16).map(|i| f64::from(i * i)).collect();
        assert!(trend_within(&groups, &drifting).unwrap().p < 0.05);
        assert_eq!(trend_within(&groups, &[1.0]), None);
    }
}
