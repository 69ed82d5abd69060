//! Spreads that are too equal or too small for what they are spreads of.

use serde::Serialize;

/// A group that hardly varies while others of its kind do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pinned {
    /// Index of the group.
    pub group: usize,
    /// Its coefficient of variation.
    pub cv: f64,
    /// The median coefficient of variation of the other groups.
    pub others: f64,
}

/// Groups whose coefficient of variation is below a fiftieth of what the others' is at the
/// median and below a thousandth itself: pinned by the metric's definition, not by calm.
/// Groups with fewer than three values, or a mean of zero, are left out; at least three must be
/// left.
pub fn pinned(groups: &[&[f64]]) -> Vec<Pinned> {
    let summaries = groups.iter().enumerate().filter(|(_, values)| values.len() >= 3);
    let spreads: Vec<(usize, f64)> = summaries
        .filter_map(|(index, values)| Some((index, lab_stats::describe::summarize(values)?.cv?)))
        .collect();
    if spreads.len() < 3 {
        return Vec::new();
    }
    let judge = |&(group, cv): &(usize, f64)| {
        let others: Vec<f64> =
            spreads.iter().filter(|(index, _)| *index != group).map(|(_, cv)| *cv).collect();
        let others = lab_stats::describe::median(&others)?;
        (cv < 1e-3 && cv < others / 50.0).then_some(Pinned { group, cv, others })
    };
    spreads.iter().filter_map(judge).collect()
}

/// How many values of a sample that was measured to many digits stand there more than once, and
/// how many to expect if it was measured at all: pairs n(n - 1)/2 over the number of steps in its
/// interquartile range. `None` below eight values or without spread.
pub fn repeated(values: &[f64], step: f64) -> Option<(usize, f64)> {
    let summary = lab_stats::describe::summarize(values)?;
    let range = summary.p75 - summary.p25;
    if values.len() < 8 || range <= 0.0 || step <= 0.0 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let stretches = sorted.chunk_by(|a, b| b - a < step / 2.0);
    let equal = stretches.map(|tied| tied.len() * (tied.len() - 1) / 2).sum();
    let n = values.len() as f64;
    Some((equal, n * (n - 1.0) / 2.0 * step / range))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_group_is_named() {
        let (a, b, c) = ([98.1, 97.2, 99.9], [94.0, 96.4, 99.1], [49.997, 49.998, 49.997]);
        let found = pinned(&[&a, &b, &c]);
        assert_eq!(found.iter().map(|pinned| pinned.group).collect::<Vec<_>>(), [2]);
        assert!(pinned(&[&a, &b, &a]).is_empty());
        assert!(pinned(&[&c, &c, &c]).is_empty());
    }

    #[test]
    fn copies_are_counted() {
        let values = [1.001, 1.105, 1.207, 1.207, 1.310, 1.207, 1.411, 1.502];
        let (equal, expected) = repeated(&values, 0.001).unwrap();
        assert_eq!(equal, 3);
        assert!(expected < 0.3, "{expected}");
        assert_eq!(repeated(&values[..5], 0.001), None);
    }
}
