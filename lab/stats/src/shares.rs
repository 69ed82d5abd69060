//! An anytime-valid confidence sequence for the difference of two shares, by betting: of pairs in
//! which one, the other, both or neither was hit.
//!
//! A pair's increment y is 1 where the candidate alone was hit, −1 where the reference alone was,
//! and else 0. Increments follow the past in any way. What is estimated is the mean of their
//! expectations given the past, up to the look. Against "that mean is at least m" a gambler bets a
//! fixed part u of what is allowed, since y is at most 1:
//!
//! W(m) = Π (1 + u (m − y) / (1 − m))
//!
//! Its factors are never negative and, each divided by its expectation, a martingale; the product
//! of the expectations is at most exp(u Σ(m − μ) / (1 − m)), hence at most 1 at every look at which
//! the mean of the μ is at least m. So W(m) reaches 1/α at such a look with probability at most α,
//! ever (Ville), and so does a mixture over u with weights fixed beforehand. W(m) grows with m,
//! thus the means not excluded are an interval. The other end is the same of −y.
//!
//! Betting: Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by
//! betting", Journal of the Royal Statistical Society B 86(1), section 4. Bets that never change
//! are what makes it hold for means that do.

use crate::{open_unit, sequence::Hull};

/// The largest bet; each further one is half of the one before, and so is its weight. The large
/// weight of the first is what shows ±5 points within 108 pairs, at 1 %, where none is hit.
const LARGEST_BET: f64 = 0.95;
/// The bets that are mixed: 0.95, 0.475, … 0.03.
const BETS: i32 = 6;
/// How closely an end is looked for.
const CLOSE: f64 = 1e-9;

/// Pairs so far; see the module's text.
#[derive(Clone, Debug)]
pub struct Shares {
    log_threshold: f64,
    pairs: u32,
    /// Of the reference and of the candidate.
    hits: [u32; 2],
    /// Pairs in which this one alone was hit.
    alone: [u32; 2],
}

impl Shares {
    /// None yet, with each end of the interval at level `alpha`; `None` unless 0 < alpha < 1.
    pub fn new(alpha: f64) -> Option<Self> {
        let (pairs, hits, alone) = (0, [0; 2], [0; 2]);
        open_unit(alpha).then(|| Self { log_threshold: -alpha.ln(), pairs, hits, alone })
    }

    /// Takes a pair: whether the reference was hit, and whether the candidate was.
    pub fn push(&mut self, [reference, candidate]: [bool; 2]) {
        self.pairs += 1;
        for (side, hit) in [reference, candidate].into_iter().enumerate() {
            self.hits[side] += u32::from(hit);
            self.alone[side] += u32::from(hit && reference != candidate);
        }
    }

    /// The pairs so far.
    pub fn pairs(&self) -> u32 {
        self.pairs
    }

    /// The reference's share and the candidate's; `None` without a pair.
    pub fn both(&self) -> Option<[f64; 2]> {
        let share = |hits| f64::from(hits) / f64::from(self.pairs);
        (self.pairs > 0).then(|| self.hits.map(share))
    }

    /// The differences candidate minus reference that are not excluded: each end is missed with
    /// probability at most α at any look.
    pub fn interval(&self) -> Hull {
        let [reference, candidate] = self.alone;
        Hull { low: -self.upper([candidate, reference]), high: self.upper([reference, candidate]) }
    }

    /// The pairs still needed to know on which side of `margin` the difference lies, if the
    /// evidence goes on growing as it did.
    pub fn pairs_to_go(&self, margin: f64) -> Option<f64> {
        let [reference, candidate] = self.alone;
        let less = self.log_evidence([reference, candidate], margin);
        let evidence = less.max(self.log_evidence([candidate, reference], -margin));
        let needed = (self.log_threshold / evidence - 1.0).max(0.0);
        (evidence > 0.0).then(|| f64::from(self.pairs) * needed)
    }

    /// The smallest mean that is excluded, with its pairs of −1 and of 1.
    fn upper(&self, pairs: [u32; 2]) -> f64 {
        let (mut low, mut high) = (-1.0_f64, 1.0);
        while high - low > CLOSE {
            let middle = low.midpoint(high);
            let excluded = self.log_evidence(pairs, middle) >= self.log_threshold;
            *(if excluded { &mut high } else { &mut low }) = middle;
        }
        high
    }

    /// ln of the mixed W(`mean`).
    fn log_evidence(&self, [below, above]: [u32; 2], mean: f64) -> f64 {
        let equal = self.pairs - below - above;
        let log = |bet: f64| {
            let of = |pairs: u32, increment: f64| {
                let factor = (bet * (mean - increment) / (1.0 - mean)).ln_1p();
                f64::from(pairs) * factor
            };
            of(below, -1.0) + of(equal, 0.0) + of(above, 1.0)
        };
        let parts = || (0..BETS).map(|power| 0.5_f64.powi(power));
        let logs = || parts().map(|part| log(LARGEST_BET * part));
        let most = logs().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = parts().zip(logs()).map(|(part, log)| part * (log - most).exp()).sum();
        most + (total / parts().sum::<f64>()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(pairs: impl Iterator<Item = [bool; 2]>) -> Shares {
        let mut shares = Shares::new(0.01).unwrap();
        pairs.for_each(|pair| shares.push(pair));
        shares
    }

    fn none_hit(pairs: usize) -> Shares {
        filled((0..pairs).map(|_| [false; 2]))
    }

    fn is_inside(shares: &Shares) -> bool {
        let Hull { low, high } = shares.interval();
        -0.05 < low && high < 0.05
    }

    #[test]
    fn equal_shares_are_shown_and_unequal_ones_are_not() {
        let balanced = filled((0..1_000).map(|at| [at % 50 == 9, at % 50 == 0]));
        assert_eq!(balanced.both(), Some([0.02; 2]));
        assert!(is_inside(&balanced) && balanced.interval().holds(0.0));
        let more = filled((0..1_000).map(|at| [false, at % 10 == 0])).interval();
        assert!(more.low > 0.05 && more.holds(0.1), "{more:?}");
        let fewer = filled((0..1_000).map(|at| [at % 10 == 0, false])).interval();
        assert_eq!((fewer.low, fewer.high), (-more.high, -more.low));
        let together = filled((0..1_000).map(|at| [at % 10 == 0; 2]));
        assert!(is_inside(&together));
        assert_eq!(together.both(), Some([0.1; 2]));
    }

    #[test]
    fn no_hit_shows_five_points_after_108_pairs() {
        let first = (0..200).find(|pairs| is_inside(&none_hit(*pairs)));
        assert_eq!(first, Some(108));
        let none = none_hit(0);
        assert_eq!((none.both(), none.pairs_to_go(0.05)), (None, None));
        assert!(none.interval().holds(0.99) && none.interval().holds(-0.99));
    }

    #[test]
    fn an_end_is_the_first_mean_that_is_excluded_at_alpha() {
        let Hull { low, high } = none_hit(500).interval();
        assert_eq!(low, -high);
        // W(m) where none is hit: the weighted mean over the bets of (1 + u m / (1 - m))^500.
        let wealth = |m: f64| {
            let of_bet = |part: f64| part * (1.0 + 0.95 * part * m / (1.0 - m)).powi(500);
            [1.0, 0.5, 0.25, 0.125, 0.0625, 0.031_25].map(of_bet).iter().sum::<f64>() / 1.968_75
        };
        assert!(wealth(high) >= 100.0 && wealth(high - 1e-6) < 100.0, "{high}");
    }

    #[test]
    fn the_wait_is_for_the_side_that_the_pairs_are_on() {
        let after = |pairs| none_hit(pairs).pairs_to_go(0.05).unwrap();
        assert!((40.0..80.0).contains(&after(60)), "{}", after(60));
        assert_eq!(after(108), 0.0);
        // One in four: known to be more long before 400 pairs.
        let more = |pairs| filled((0..pairs).map(|at| [false, at % 4 == 0])).pairs_to_go(0.05);
        assert!(more(20).unwrap() > 5.0);
        assert_eq!(more(400), Some(0.0));
        // At the margin nothing speaks for either side.
        assert_eq!(filled((0..20).map(|at| [false, at == 0])).pairs_to_go(0.05), None);
    }

    #[test]
    fn refuses_levels_that_are_none() {
        assert!([0.0, 1.0, f64::NAN].iter().all(|alpha| Shares::new(*alpha).is_none()));
    }
}
