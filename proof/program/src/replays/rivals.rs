//! The rules by which other tools, or people at them, call two commands different. Each looks at
//! runs of one program here, so that whatever it finds is false.

use lab_stats::unpaired::welch_t;
use statrs::distribution::{ContinuousCDF, Normal};

/// A rule by which two columns of run times are called different.
#[derive(Clone, Copy)]
pub struct Rule {
    /// What it is.
    pub name: &'static str,
    /// The probabilities of error at which it is asked: the one at which it is used, and ours.
    /// `None` where it has none.
    levels: Option<[f64; 2]>,
    differs: fn(&[[f64; 2]], f64) -> bool,
}

/// The level at which people use these rules, and the one of our verdicts.
const LEVELS: Option<[f64; 2]> = Some([0.05, 0.01]);
const WELCH: Rule = Rule { name: "Welch's t-test", levels: LEVELS, differs: welch };

/// Rules that people ask again and again while they measure.
pub const PEEKED: [Rule; 3] = [
    WELCH,
    Rule { name: "Mann-Whitney", levels: LEVELS, differs: mann_whitney },
    Rule { name: "perfgate's paired interval", levels: LEVELS, differs: perfgate_paired },
];

/// Rules that are asked once, at the end.
pub const ONCE: [Rule; 4] = [
    WELCH,
    Rule { name: "hyperfine's mean ± SD apart", levels: None, differs: hyperfine_overlap },
    Rule { name: "perfgate's budget of 20 %", levels: None, differs: perfgate_budget },
    Rule { name: "criterion's rule", levels: LEVELS, differs: criterion },
];

/// The pairs before somebody looks for the first time.
const FIRST_LOOK: usize = 5;

/// A rule at one of its levels.
#[derive(Clone, Copy)]
pub struct Asked {
    rule: Rule,
    level: Option<f64>,
}

impl Rule {
    /// At each of its levels.
    pub fn asked(self) -> impl Iterator<Item = Asked> {
        let levels = self.levels.map_or(vec![None], |levels| levels.map(Some).to_vec());
        levels.into_iter().map(move |level| Asked { rule: self, level })
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.rule.name)?;
        self.level.map_or(Ok(()), |level| write!(f, " at {} %", 100.0 * level))
    }
}

impl Asked {
    /// Whether it calls the two columns different.
    pub fn differs(self, pairs: &[[f64; 2]]) -> bool {
        (self.rule.differs)(pairs, self.level.unwrap_or(f64::NAN))
    }

    /// Whether, asked after every pair, it ever does.
    pub fn ever(self, pairs: &[[f64; 2]]) -> bool {
        (FIRST_LOOK..=pairs.len()).any(|looked_at| self.differs(&pairs[..looked_at]))
    }
}

/// Welch's t-test.
fn welch(pairs: &[[f64; 2]], alpha: f64) -> bool {
    let [a, b] = columns(pairs);
    welch_t(&a, &b).is_some_and(|welch| welch.p < alpha)
}

/// The quantile of the normal distribution that two sides leave `alpha` beyond.
fn two_sided(alpha: f64) -> f64 {
    Normal::standard().inverse_cdf(1.0 - alpha / 2.0)
}

/// The Mann-Whitney test, by its normal approximation. Times in whole microseconds have few
/// ties, and one counts half.
fn mann_whitney(pairs: &[[f64; 2]], alpha: f64) -> bool {
    let [mut a, mut b] = columns(pairs);
    a.sort_unstable_by(f64::total_cmp);
    b.sort_unstable_by(f64::total_cmp);
    let (mut below, mut up_to) = (0, 0);
    let mut wins = 0.0;
    for value in &a {
        below += b[below..].iter().take_while(|other| *other < value).count();
        up_to = up_to.max(below);
        up_to += b[up_to..].iter().take_while(|other| *other <= value).count();
        wins += below.midpoint(up_to) as f64 + 0.5 * ((below + up_to) % 2) as f64;
    }
    let n = pairs.len() as f64;
    let sd = (n * n * (2.0 * n + 1.0) / 12.0).sqrt();
    (wins - n * n / 2.0).abs() > two_sided(alpha) * sd
}

/// Reading hyperfine: "mean ± standard deviation" of the two do not overlap.
fn hyperfine_overlap(pairs: &[[f64; 2]], _: f64) -> bool {
    let [a, b] = columns(pairs).map(|column| mean_and_variance(&column));
    (a.0 - b.0).abs() > a.1.sqrt() + b.1.sqrt()
}

/// perfgate's paired mode: the 95 % interval of the mean difference, with 2.0 for Student's t below
/// 30 pairs and 1.96 from there on, does not hold 0 (perfgate-paired 0.15). At another level both
/// grow alike.
fn perfgate_paired(pairs: &[[f64; 2]], alpha: f64) -> bool {
    let differences: Vec<f64> = pairs.iter().map(|[a, b]| b - a).collect();
    let (mean, variance) = mean_and_variance(&differences);
    let t = if pairs.len() < 30 { 2.0 / 1.96 } else { 1.0 } * two_sided(alpha);
    mean.abs() > t * (variance / pairs.len() as f64).sqrt()
}

/// perfgate's budget: the medians differ by more than 20 %, for the worse.
fn perfgate_budget(pairs: &[[f64; 2]], _: f64) -> bool {
    let [a, b] = columns(pairs).map(|column| lab_stats::describe::median(&column));
    a.zip(b).is_some_and(|(a, b)| b > 1.2 * a)
}

/// criterion: a t-test, and the interval of the relative change of the mean beyond its
/// noise threshold of 1 %. Its bootstrap is replaced by the normal distribution.
fn criterion(pairs: &[[f64; 2]], alpha: f64) -> bool {
    let [a, b] = columns(pairs).map(|column| mean_and_variance(&column));
    let change = b.0 / a.0 - 1.0;
    let relative = (a.1 / (a.0 * a.0) + b.1 / (b.0 * b.0)) / pairs.len() as f64;
    let error = two_sided(alpha) * (1.0 + change) * relative.sqrt();
    welch(pairs, alpha) && (change - error > 0.01 || change + error < -0.01)
}

fn columns(pairs: &[[f64; 2]]) -> [Vec<f64>; 2] {
    [0, 1].map(|column| pairs.iter().map(|pair| pair[column]).collect())
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many runs around `a` and around `b`, each `spread` below or above it.
    fn around(pairs: usize, a: f64, b: f64, spread: f64) -> Vec<[f64; 2]> {
        let aside = |at: usize| if at.is_multiple_of(2) { -spread } else { spread };
        (0..pairs).map(|at| [a + aside(at), b + aside(at)]).collect()
    }

    fn both_ways(rule: fn(&[[f64; 2]], f64) -> bool, pairs: &[[f64; 2]]) -> bool {
        let rule = |pairs: &[[f64; 2]]| rule(pairs, 0.05);
        let exchanged: Vec<[f64; 2]> = pairs.iter().map(|[a, b]| [*b, *a]).collect();
        assert_eq!(rule(pairs), rule(&exchanged), "{pairs:?}");
        rule(pairs)
    }

    /// The variance of each column is 4/3, that of the difference of the means 2/3, with six
    /// degrees of freedom, of which Student's 97.5 % is 2.447: so 1.998 is needed.
    #[test]
    fn welch_begins_where_a_table_of_student_says() {
        assert!(!both_ways(welch, &around(4, 10.0, 11.99, 1.0)));
        assert!(both_ways(welch, &around(4, 10.0, 12.01, 1.0)));
    }

    /// Of five and five the wins' standard deviation is 4.787, so 3 of 25 are few and 4 are not.
    #[test]
    fn mann_whitney_counts_wins_and_half_of_ties() {
        let against_one_to_five = |b: [f64; 5]| -> Vec<[f64; 2]> {
            [1.0, 2.0, 3.0, 4.0, 5.0].into_iter().zip(b).map(|(a, b)| [a, b]).collect()
        };
        for (b, differs) in [
            ([7.0, 4.5, 4.6, 4.7, 6.0], true),
            ([3.5, 4.5, 4.6, 6.0, 7.0], false),
            ([4.0, 4.5, 5.0, 6.0, 7.0], true),
            ([4.0, 4.0, 4.5, 6.0, 7.0], false),
            ([2.0, 5.0, 5.0, 5.0, 6.0], false),
            ([3.0, 5.0, 5.0, 6.0, 6.0], false),
            ([4.0, 5.0, 5.0, 5.0, 6.0], true),
        ] {
            assert_eq!(both_ways(mann_whitney, &against_one_to_five(b)), differs, "{b:?}");
        }
    }

    /// The variance of 9 and 11 is 2.
    #[test]
    fn means_are_apart_beyond_both_standard_deviations() {
        let d = 2.0 * 2.0_f64.sqrt();
        assert!(!both_ways(hyperfine_overlap, &around(2, 10.0, 10.0 + 0.999 * d, 1.0)));
        assert!(both_ways(hyperfine_overlap, &around(2, 10.0, 10.0 + 1.001 * d, 1.0)));
        // Equal means and no spread are not apart.
        assert!(!hyperfine_overlap(&around(2, 10.0, 10.0, 0.0), f64::NAN));
    }

    /// Differences of n pairs with the variance n / (n - 1): 2.0 or 1.96 times √(1 / (n - 1)).
    #[test]
    fn perfgates_interval_is_wider_below_thirty_pairs() {
        let differences = |pairs: usize, mean: f64| -> Vec<[f64; 2]> {
            around(pairs, 0.0, mean, 1.0).iter().map(|[a, b]| [0.0, b + 0.0 * a]).collect()
        };
        for (pairs, inside, outside) in
            [(4, 1.154, 1.155), (28, 0.3848, 0.3850), (30, 0.3639, 0.3641), (32, 0.3519, 0.3521)]
        {
            assert!(!both_ways(perfgate_paired, &differences(pairs, inside)), "{pairs}");
            assert!(both_ways(perfgate_paired, &differences(pairs, outside)), "{pairs}");
        }
        assert!(!perfgate_paired(&differences(4, 0.0), 0.05));
    }

    #[test]
    fn perfgates_budget_is_a_fifth_of_the_median_for_the_worse() {
        let of = |b: f64| perfgate_budget(&[[10.0, b], [9.0, 1.0], [99.0, 900.0]], f64::NAN);
        assert_eq!([12.1, 12.0, 8.0, 1.0].map(of), [true, false, false, false]);
    }

    /// The relative error is 1.96 · 0.0812 %, or 0.0822 % downwards, to be added to 1 %.
    #[test]
    fn criterion_wants_a_change_beyond_its_threshold() {
        for (b, differs) in
            [(101.155, false), (101.17, true), (98.846, false), (98.83, true), (100.5, false)]
        {
            assert_eq!(criterion(&around(4, 100.0, b, 0.1), 0.05), differs, "{b}");
        }
        // The interval is beyond 1 %, and Welch's test at few pairs cannot tell.
        assert!(!criterion(&around(4, 100.0, 119.0, 10.0), 0.05));
        assert!(criterion(&around(4, 100.0, 121.0, 10.0), 0.05));
    }

    #[test]
    fn somebody_looks_after_each_pair_from_the_fifth_on() {
        let pairs = around(9, 1.0, 2.0, 0.1);
        let ever = |differs| {
            let rule = Rule { name: "any", levels: None, differs };
            rule.asked().all(|asked| asked.ever(&pairs))
        };
        assert!(!ever(|seen, _| seen.len() < 5));
        assert!(ever(|seen, _| seen.len() == 5));
        assert!(ever(|seen, _| seen.len() == 9));
        assert!(!ever(|_, _| false));
    }

    #[test]
    fn a_rule_is_asked_at_its_own_level_and_at_ours() {
        let asked: Vec<String> = PEEKED[1].asked().map(|asked| asked.to_string()).collect();
        assert_eq!(asked, ["Mann-Whitney at 5 %", "Mann-Whitney at 1 %"]);
        let asked: Vec<String> = ONCE[2].asked().map(|asked| asked.to_string()).collect();
        assert_eq!(asked, ["perfgate's budget of 20 %"]);
        // Of five and five, 2 wins of 25 are too few at 5 % and not at 1 %.
        let pairs = [[1.0, 3.5], [2.0, 4.5], [3.0, 6.0], [4.0, 7.0], [5.0, 8.0]];
        let differ: Vec<bool> = PEEKED[1].asked().map(|asked| asked.differs(&pairs)).collect();
        assert_eq!(differ, [true, false]);
    }
}
