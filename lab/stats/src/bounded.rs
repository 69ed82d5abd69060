//! An anytime-valid confidence sequence for the mean of bounded increments: shares and capped
//! means, where a clip around the middle would hide the tail that is asked about.
//!
//! Increments y lie in [−b, b] and follow the past in any way. What is estimated is the mean of
//! their expectations given the past, up to the look. Against "that mean is at least m" a gambler
//! bets a fixed part u of what the bound allows:
//!
//! W(m) = Π (1 + u (m − y) / (b − m))
//!
//! Its factors are never negative and, each divided by its expectation, a martingale; the product
//! of the expectations is at most exp(u Σ(m − μ) / (b − m)), hence at most 1 at every look at which
//! the mean of the μ is at least m. So W(m) reaches 1/α at such a look with probability at most α,
//! ever (Ville), and so does a mixture over u with weights fixed beforehand. W(m) grows with m,
//! thus the means not excluded are an interval.
//!
//! Betting: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by
//! betting", Journal of the Royal Statistical Society B 86(1), section 4. Bets that never change
//! are what makes it hold for means that do.

use crate::{open_unit, sequence::Hull};

/// The parts of the largest bet that are mixed with equal weights: 0.9, 0.64, … 0.02.
const BETS: usize = 12;

/// Increments so far; see the module's text.
#[derive(Clone, Debug)]
pub struct BoundedMean {
    alpha: f64,
    bound: f64,
    increments: Vec<f64>,
    inside: [Wealth; 2],
}

/// What each bet has become, as logarithms.
#[derive(Clone, Debug)]
struct Wealth {
    mean: f64,
    logs: [f64; BETS],
}

impl BoundedMean {
    /// Increments within ±`bound`, asked whether their mean lies within ±`margin`. `None` unless
    /// 0 < alpha < 1 and 0 < margin < bound.
    pub fn new(alpha: f64, bound: f64, margin: f64) -> Option<Self> {
        let usable = open_unit(alpha) && 0.0 < margin && margin < bound && bound <= 1e150;
        let wealth = || Wealth { mean: margin, logs: [0.0; BETS] };
        let inside = [wealth(), wealth()];
        usable.then(|| Self { alpha, bound, increments: Vec::new(), inside })
    }

    /// Takes an increment; one beyond the bound counts as the bound, no number as 0.
    pub fn push(&mut self, increment: f64) {
        let increment = if increment.is_nan() { 0.0 } else { increment };
        let increment = increment.clamp(-self.bound, self.bound);
        self.increments.push(increment);
        let [below, above] = &mut self.inside;
        below.take(increment, self.bound);
        above.take(-increment, self.bound);
    }

    /// The increments so far.
    pub fn len(&self) -> usize {
        self.increments.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.increments.is_empty()
    }

    /// Their mean; `None` without one.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| crate::mean(&self.increments))
    }

    /// Whether the mean is shown to lie within ±margin: both of "at least margin" and "at most
    /// −margin" are excluded, each at α. Only one of the two can be true, so that this errs with
    /// probability at most α.
    pub fn is_inside(&self) -> bool {
        self.log_evidence() >= -self.alpha.ln()
    }

    /// The smaller of the two logarithms of evidence behind [`Self::is_inside`].
    pub fn log_evidence(&self) -> f64 {
        let [below, above] = &self.inside;
        below.log_total().min(above.log_total())
    }

    /// The means not excluded, each end at α/2. Every increment is gone through for each step of
    /// the search: for a page, not for every look.
    pub fn interval(&self) -> Hull {
        Hull { low: -self.upper(-1.0), high: self.upper(1.0) }
    }

    /// The upper end for the increments times `sign`.
    fn upper(&self, sign: f64) -> f64 {
        let threshold = -(self.alpha / 2.0).ln();
        let excluded = |mean: f64| {
            let mut wealth = Wealth { mean, logs: [0.0; BETS] };
            self.increments.iter().for_each(|increment| wealth.take(sign * increment, self.bound));
            wealth.log_total() >= threshold
        };
        let (mut low, mut high) = (-self.bound, self.bound);
        while high - low > 1e-4 * self.bound {
            let middle = low.midpoint(high);
            *(if excluded(middle) { &mut high } else { &mut low }) = middle;
        }
        high
    }
}

impl Wealth {
    fn take(&mut self, increment: f64, bound: f64) {
        let gain = (self.mean - increment) / (bound - self.mean);
        for (power, log) in self.logs.iter_mut().enumerate() {
            *log += (bet(power) * gain).ln_1p();
        }
    }

    /// ln of the mean of the bets.
    fn log_total(&self) -> f64 {
        let most = self.logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = self.logs.iter().map(|log| (log - most).exp()).sum();
        most + (total / BETS as f64).ln()
    }
}

fn bet(power: usize) -> f64 {
    0.9 * 0.5_f64.powf(power as f64 / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(increments: impl Iterator<Item = f64>) -> BoundedMean {
        let mut mean = BoundedMean::new(0.01, 1.0, 0.05).unwrap();
        increments.for_each(|increment| mean.push(increment));
        mean
    }

    #[test]
    fn equal_shares_are_shown_and_unequal_ones_are_not() {
        let balanced =
            filled((0..1_000).map(|at| f64::from(at % 50 == 0) - f64::from(at % 50 == 9)));
        assert!(balanced.is_inside());
        let hull = balanced.interval();
        assert!(-0.05 < hull.low && hull.high < 0.05 && hull.holds(0.0), "{hull:?}");
        let more = filled((0..1_000).map(|at| f64::from(at % 10 == 0)));
        assert!(!more.is_inside());
        assert!(more.interval().low > 0.05 && more.interval().holds(0.1), "{:?}", more.interval());
    }

    #[test]
    fn a_larger_bound_is_a_larger_unit() {
        let increments: Vec<f64> = (0..400).map(|at| f64::from(at % 9 - 4) / 40.0).collect();
        let ends = |unit: f64| {
            let mut mean = BoundedMean::new(0.01, unit, 0.05 * unit).unwrap();
            increments.iter().for_each(|increment| mean.push(unit * increment));
            (mean.is_inside(), mean.interval(), mean.log_evidence())
        };
        let [one, other] = [1.0, 32.0].map(ends);
        let (hull, wider) = (one.1, other.1);
        assert_eq!((one.0, one.2), (other.0, other.2));
        assert_eq!((32.0 * hull.low, 32.0 * hull.high), (wider.low, wider.high));
    }

    #[test]
    fn few_increments_show_nothing_however_equal() {
        assert!(!filled((0..90).map(|_| 0.0)).is_inside());
        assert!(filled((0..200).map(|_| 0.0)).is_inside());
        let none = filled(std::iter::empty());
        assert_eq!((none.mean(), none.is_empty(), none.is_inside()), (None, true, false));
        assert!(none.interval().holds(0.99) && none.interval().holds(-0.99));
    }

    #[test]
    fn bets_halve_at_every_second_step() {
        assert_eq!([0, 2, 4].map(bet), [0.9, 0.45, 0.225]);
        assert!((bet(3) - 0.9 / 8_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn an_end_is_the_first_mean_that_is_excluded_at_half_of_alpha() {
        let zeros = filled((0..500).map(|_| 0.0));
        let Hull { low, high } = zeros.interval();
        assert_eq!(low, -high);
        // W(m) of zeros: the mean over the bets of (1 + u m / (1 - m))^500.
        let wealth = |m: f64| {
            let of_bet = |power| (1.0 + bet(power) * m / (1.0 - m)).powi(500);
            (0..BETS).map(of_bet).sum::<f64>() / BETS as f64
        };
        assert!(wealth(high) >= 200.0 && wealth(high - 2e-4) < 200.0, "{high}");
    }

    #[test]
    fn what_lies_beyond_the_bound_counts_as_the_bound() {
        let mut beyond = filled([0.5].into_iter());
        let mut at = beyond.clone();
        beyond.push(7.0);
        at.push(1.0);
        assert_eq!(beyond.mean(), at.mean());
        beyond.push(f64::NAN);
        assert_eq!(beyond.len(), 3);
    }

    #[test]
    fn refuses_margins_that_no_mean_can_pass() {
        for (alpha, bound, margin) in [(0.0, 1.0, 0.1), (0.01, 1.0, 1.0), (0.01, f64::NAN, 0.1)] {
            assert!(BoundedMean::new(alpha, bound, margin).is_none());
        }
    }
}
