//! Two samples of yes and no: the p of their counts.

use statrs::distribution::{ChiSquared, ContinuousCDF};
use statrs::function::factorial::ln_factorial;

use super::{Mismatch, Span};
use crate::checks::tests_of_hypotheses::StatedP;

/// How many of so many had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Had it.
    pub part: u32,
    /// All.
    pub of: u32,
}

/// A p-value that no usual test of two samples of yes and no gives: Pearson's χ² with and without
/// Yates's correction, and Fisher's exact test, on two sides and on one. `None` where one does, or
/// where all or none of both had it.
///
/// Sources: Pearson (1900), Philosophical Magazine 50, pp. 157-175; Yates (1934), Supplement to the
/// Journal of the Royal Statistical Society 1(2), pp. 217-235; Fisher (1935), The Design of
/// Experiments, section 21.
pub fn p_of_counts(p: &StatedP, a: Counts, b: Counts) -> Option<Mismatch> {
    let all = [chi_square(a, b, 0.0)?, chi_square(a, b, 0.5)?, fisher(a, b)?];
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let high = all.iter().copied().fold(0.0, f64::max);
    let two_sided = Span { low, high };
    if p.allows(two_sided) || p.allows(two_sided.times(0.5)) {
        return None;
    }
    Some(Mismatch {
        stated: p.value(),
        computed_low: low,
        computed_high: high,
        how: format!(
            "p of {}/{} against {}/{} by χ² (with and without correction) and Fisher's test",
            a.part, a.of, b.part, b.of
        ),
    })
}

/// The p of Pearson's χ² with one degree of freedom, each difference less by `correction`.
fn chi_square(a: Counts, b: Counts, correction: f64) -> Option<f64> {
    let (yes, all) = (f64::from(a.part) + f64::from(b.part), f64::from(a.of) + f64::from(b.of));
    if yes <= 0.0 || yes >= all || a.part > a.of || b.part > b.of || a.of == 0 || b.of == 0 {
        return None;
    }
    let sum: f64 = [a, b]
        .iter()
        .flat_map(|one| {
            let (part, of) = (f64::from(one.part), f64::from(one.of));
            [(part, of * yes / all), (of - part, of * (all - yes) / all)]
        })
        .map(|(seen, expected)| ((seen - expected).abs() - correction).max(0.0).powi(2) / expected)
        .sum();
    Some(ChiSquared::new(1.0).ok()?.sf(sum))
}

/// Fisher's exact p on two sides: of all tables with these margins, those that are no likelier.
fn fisher(a: Counts, b: Counts) -> Option<f64> {
    let (first, second) = (u64::from(a.of), u64::from(b.of));
    let yes = u64::from(a.part) + u64::from(b.part);
    let choose = |n: u64, k: u64| ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    let chance = |part: u64| {
        (choose(first, part) + choose(second, yes - part) - choose(first + second, yes)).exp()
    };
    let seen = chance(u64::from(a.part));
    let parts = yes.saturating_sub(second)..=yes.min(first);
    // More tables than this are what χ² is for.
    (yes.min(first) <= 100_000).then(|| {
        let sum: f64 = parts.map(chance).filter(|one| *one <= seen * (1.0 + 1e-7)).sum();
        sum.min(1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::printed;

    #[test]
    fn the_p_of_two_samples_of_yes_and_no() {
        let (a, b) = (Counts { part: 20, of: 30 }, Counts { part: 12, of: 30 });
        // z = 2.07 without, 1.81 with Yates's correction.
        assert!((chi_square(a, b, 0.0).unwrap() - 0.0384).abs() < 2e-3);
        assert!((chi_square(a, b, 0.5).unwrap() - 0.0701).abs() < 2e-3);
        assert!((0.06..0.08).contains(&fisher(a, b).unwrap()));
        assert_eq!(p_of_counts(&StatedP::Below(0.05), a, b), None);
        assert!(p_of_counts(&StatedP::Below(0.01), a, b).is_some());
        assert_eq!(p_of_counts(&StatedP::Equals(printed("0.038")), a, b), None);
        assert!(p_of_counts(&StatedP::Equals(printed("0.31")), a, b).is_some());
    }

    #[test]
    fn nothing_is_said_where_all_had_it() {
        let all = Counts { part: 5, of: 5 };
        assert_eq!(p_of_counts(&StatedP::Below(0.01), all, all), None);
    }
}
