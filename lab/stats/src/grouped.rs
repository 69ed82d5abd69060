//! Values in groups drawn at random: how much the groups carry, and the mean over groups.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{interval::Interval, mean, open_unit, sample_variance, usable};

/// What groups tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grouped {
    /// Of each group that has values, in their order.
    pub means: Vec<f64>,
    /// The mean of these means.
    pub mean: f64,
    /// Of that mean over all groups that might have been drawn.
    pub interval: Interval,
    /// The standard deviation of the groups' true means, 0 where the values show none.
    pub between_sd: f64,
    /// The standard deviation within a group.
    pub within_sd: f64,
}

impl Grouped {
    /// The part of one value's variance that its group carries, from 0 to 1.
    pub fn between_share(&self) -> f64 {
        let [between, within] = [self.between_sd, self.within_sd].map(|sd| sd * sd);
        if between > 0.0 { between / (between + within) } else { 0.0 }
    }
}

/// The mean over groups with Student's interval, whose unit is the group: each gives one number,
/// its mean. And the components of variance between and within groups, by the one-way analysis of
/// variance with random groups of unequal size.
/// Source: Searle, Casella and McCulloch (1992), Variance Components, section 3.6 (estimators by
/// ANOVA, unbalanced data).
///
/// The interval takes the groups' means as independent draws from one normal distribution. `None`
/// for fewer than two groups with values, where no group has two, for unusable values, and for a
/// `confidence` outside (0, 1).
pub fn grouped(groups: &[Vec<f64>], confidence: f64) -> Option<Grouped> {
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| !group.is_empty()).collect();
    let (a, n) = (groups.len(), groups.iter().map(|group| group.len()).sum::<usize>());
    if !groups.iter().all(|group| usable(group)) || a < 2 || n == a || !open_unit(confidence) {
        return None;
    }
    let (of_groups, of_values) = (a as f64 - 1.0, (n - a) as f64);
    let means: Vec<f64> = groups.iter().map(|group| mean(group)).collect();
    let values: Vec<f64> = groups.iter().flat_map(|group| group.iter().copied()).collect();
    let sum = |squares: &dyn Fn(usize) -> f64| (0..a).map(squares).sum::<f64>();
    let size = |group: usize| groups[group].len() as f64;
    let grand = mean(&values);
    let between = sum(&|group| size(group) * (means[group] - grand).powi(2)) / of_groups;
    let inside = |group: usize| {
        groups[group].iter().map(|value| (value - means[group]).powi(2)).sum::<f64>()
    };
    let within = sum(&inside) / of_values;
    let size_mean = (n as f64 - sum(&|group| size(group).powi(2)) / n as f64) / of_groups;
    let middle = mean(&means);
    let error = (sample_variance(&means) / a as f64).sqrt();
    let t = StudentsT::new(0.0, 1.0, of_groups).ok()?.inverse_cdf(f64::midpoint(1.0, confidence));
    let half = t * error;
    let (low, high) = (middle - half, middle + half);
    half.is_finite().then(|| Grouped {
        mean: middle,
        interval: Interval { low, high, confidence },
        between_sd: ((between - within) / size_mean).max(0.0).sqrt(),
        within_sd: within.sqrt(),
        means,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_table_gives_what_the_formulas_give() {
        // Means 2, 5 and 8; mean squares 27 / 1 between and 1 within; three values each.
        let groups = [vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0], vec![], vec![7.0, 8.0, 9.0]];
        let found = grouped(&groups, 0.95).unwrap();
        assert_eq!((found.means.clone(), found.mean), (vec![2.0, 5.0, 8.0], 5.0));
        assert!((found.between_sd - (26.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{found:?}");
        assert!((found.within_sd - 1.0).abs() < 1e-12);
        // t of 2 degrees of freedom at 97.5 % is 4.302653, the mean's error is √3.
        assert!((found.interval.high - 5.0 - 4.302_653 * 3.0_f64.sqrt()).abs() < 1e-4);
        assert!((found.between_share() - 26.0 / 29.0).abs() < 1e-12);
    }

    /// Mean squares 10.8 between and 28 / 3 within; 2.4 is what a group of 2 and one of 3 count.
    #[test]
    fn groups_of_unequal_size_give_what_the_formulas_give() {
        let found = grouped(&[vec![1.0, 3.0], vec![2.0, 4.0, 9.0]], 0.95).unwrap();
        assert_eq!((found.means.clone(), found.mean), (vec![2.0, 5.0], 3.5));
        let expected = (10.8 - 28.0 / 3.0_f64) / 2.4;
        assert!((found.between_sd.powi(2) - expected).abs() < 1e-12, "{found:?}");
        assert!((found.within_sd.powi(2) - 28.0 / 3.0).abs() < 1e-12, "{found:?}");
        // t of 1 degree of freedom at 97.5 % is 12.706 205, the mean's error is 1.5.
        assert!((found.interval.low - (3.5 - 12.706_205 * 1.5)).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn groups_of_one_mean_carry_nothing() {
        let found = grouped(&[vec![1.0, 2.0], vec![2.0, 1.0], vec![1.5]], 0.99).unwrap();
        assert_eq!((found.between_sd, found.between_share()), (0.0, 0.0));
    }

    #[test]
    fn refuses_what_has_no_spread_to_know() {
        assert_eq!(grouped(&[vec![1.0, 2.0]], 0.95), None);
        assert_eq!(grouped(&[vec![1.0], vec![2.0]], 0.95), None);
        assert_eq!(grouped(&[vec![1.0, f64::NAN], vec![2.0]], 0.95), None);
        assert_eq!(grouped(&[vec![1.0, 2.0], vec![2.0]], 1.0), None);
        // Student's quantile of a confidence next to 1 is infinite.
        assert_eq!(grouped(&[vec![1.0, 2.0], vec![2.0]], 1.0 - f64::EPSILON / 2.0), None);
    }
}
