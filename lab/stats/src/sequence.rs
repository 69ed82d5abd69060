//! An anytime-valid confidence sequence for the shift of paired differences: it may be looked at
//! after every pair, and the comparison may stop at any look.
//!
//! A pair is two runs in random order; its difference d is, for times, ln(tB / tA). At the true
//! shift δ every d − δ is symmetric around 0 given the past, so that, given its magnitude too, its
//! sign is a fair coin. With x = clip((d − δ)/s, ±3), where s comes from earlier pairs, the
//! expectation of exp(λx) over that coin is cosh(λx). Hence for every λ
//!
//! E(λ, δ) = Π exp(λx) / cosh(λx)
//!
//! is a martingale that starts at 1, exactly and whatever the noise is. (exp(λx − λ²x²/2), the
//! usual bound, is smaller: de la Peña 1999, "A General Class of Exponential Inequalities for
//! Martingales and Ratios", The Annals of Probability 27(1), lemma 6.1.) So is every mixture over
//! λ. With the weights w of the bets, half of them on each sign,
//!
//! M⁺(δ) = ½ Σ w E(λ, δ) and M⁻(δ) = ½ Σ w E(−λ, δ)
//!
//! have expectations of ½, and by Ville's inequality the larger one reaches 1/α with probability at
//! most α, ever. The sequence is {δ: M⁺(δ) < 1/α and M⁻(δ) < 1/α} after each pair.
//!
//! The set is an interval: λx − ln cosh(λx) grows with x, and x falls with δ as s is the same for
//! all δ, so that M⁺ falls with δ and M⁻ grows. Its ends are where the two reach 1/α. Between them
//! lies the shift at which both are the same, which is where Σx = 0: the estimate.
//!
//! The scale s is that of the differences of earlier pairs, by their quartiles. Before there are
//! four, and where the quartiles are equal, x is the sign alone, times what a typical pair has. So
//! no pair is lost to set a scale.
//!
//! Where the pair's order is told, d is first rid of c·p: c is +1 where B ran last and −1 where A
//! did, and p is by how much the later run took longer in earlier pairs. At the true δ the coin c
//! alone decides the sign of d − δ, so that subtracting c·p from it leaves it symmetric.
//!
//! Why p: the first run of a pair follows the last run of the pair before. Where a program is
//! faster by g right after itself, and both programs are alike, d = c·(e + g·[c ≠ c']) with c' the
//! coin of the pair before, and e what the place and noise add. With a the mean of d over both
//! values of c' and h half of the gain, d = c·a − c'·h, so that the sum of d is Σ c·(a − h) but for
//! its two ends: fair coins with fixed weights, whatever the noise was. What the cosh takes for
//! their squares is Σ (a² + h²), where the sum of the squared weights is Σ (a − h)². It is no more
//! as long as Σ a·h ≥ 0, and it is more, twice at most, where the first place is slow and a program
//! is fast after itself. With p subtracted a is 0 in the mean, and the two agree. So p is estimated
//! from the fifth pair on, beside the coin of the pair before, which h goes with.
//!
//! What this needs: at δ = 0 nothing but the coin. If both commands would have taken the same time
//! in either place, the coin alone decides the sign of d, whatever the noise is and however it
//! depends on itself. At another δ it needs that B differs by a factor: d − δ must be symmetric
//! given the past.
//!
//! Intervals of earlier looks are not intersected with later ones. That would be valid for one δ
//! that never changes; a difference that drifts would leave an interval that is empty or wrong.

mod evidence;

use statrs::distribution::{ContinuousCDF, Normal};

use self::evidence::{CLIP, Evidence, increment};
use crate::{
    describe::{NORMAL_SD_PER_MAD, median, median_deviation},
    open_unit, usable,
};

/// Pairs after which there is a scale.
const UNSCALED: usize = 4;
/// Pairs after which what the place adds is estimated first, and after each up to [`PLACED_LAST`];
/// then each time their number has doubled.
const PLACED_FIRST: usize = 5;
const PLACED_LAST: usize = 40;
/// The distance of the quartiles of a normal sample in its standard deviations.
const QUARTILES_SDS: f64 = 1.348_979_500_392_163_4;
/// The standard deviation of a normal sample over its mean absolute deviation.
const NORMAL_SD_PER_MEAN_DEVIATION: f64 = 1.253_314_137_315_5;
/// How finely shifts are told apart, in standard errors: far below what the pairs can tell.
const RESOLUTION: f64 = 1e-2;
/// The same where there is no noise at all, as of counts.
const LEAST_RESOLUTION: f64 = 1e-9;

/// The set of shifts that are not excluded; see [`Sequence::interval`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hull {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Hull {
    /// Whether the shift lies in the interval.
    pub fn holds(self, shift: f64) -> bool {
        self.low <= shift && shift <= self.high
    }

    /// Half the distance of the ends.
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// Differences so far; see the module's text.
#[derive(Clone, Debug)]
pub struct Sequence {
    log_threshold: f64,
    /// Each less what the place adds, with the scale that earlier ones had, 0 where they had none.
    differences: Vec<(f64, f64)>,
    /// The same differences in order.
    sorted: Vec<f64>,
    /// The differences of pairs whose order was told, as they were, each with its coin.
    ordered: Vec<(f64, f64)>,
    /// What the later place adds, by earlier pairs.
    place: f64,
    /// Shifts that are asked about after every pair, with their evidence so far.
    watched: Vec<(f64, Evidence)>,
}

/// Which shifts a side excludes.
#[derive(Clone, Copy, Debug)]
enum Side {
    /// Those that are too low: M⁺.
    Low,
    /// Those that are too high: M⁻.
    High,
}

impl Side {
    fn sign(self) -> f64 {
        match self {
            Self::Low => 1.0,
            Self::High => -1.0,
        }
    }
}

impl Sequence {
    /// An empty one at level `alpha`; `None` unless 0 < alpha < 1. Asking about one of the
    /// `watched` shifts takes the same time after however many pairs.
    pub fn new(alpha: f64, watched: &[f64]) -> Option<Self> {
        open_unit(alpha).then(|| Self {
            log_threshold: -alpha.ln(),
            differences: Vec::new(),
            sorted: Vec::new(),
            ordered: Vec::new(),
            place: 0.0,
            watched: watched.iter().map(|shift| (*shift, Evidence::default())).collect(),
        })
    }

    /// Takes a pair's difference; `false` where it is no usable number and was left out.
    pub fn push(&mut self, difference: f64) -> bool {
        if !usable(&[difference]) {
            return false;
        }
        self.take(difference);
        true
    }

    /// The same of a pair whose order is known: whether B ran last.
    pub fn push_ordered(&mut self, difference: f64, b_ran_last: bool) -> bool {
        if !usable(&[difference]) {
            return false;
        }
        let coin = if b_ran_last { 1.0 } else { -1.0 };
        self.take(difference - coin * self.place);
        self.ordered.push((difference, coin));
        let n = self.ordered.len();
        let has_doubled = n.is_multiple_of(PLACED_LAST) && (n / PLACED_LAST).is_power_of_two();
        if (PLACED_FIRST..PLACED_LAST).contains(&n) || has_doubled {
            self.place = place_effect(&self.ordered);
        }
        true
    }

    fn take(&mut self, difference: f64) {
        let scale = self.scale();
        for (shift, evidence) in &mut self.watched {
            evidence.add(increment(difference - *shift, scale));
        }
        self.differences.push((difference, scale));
        let place = self.sorted.partition_point(|other| *other < difference);
        self.sorted.insert(place, difference);
    }

    /// The standard deviation that normal differences with these quartiles would have; 0 where
    /// there are too few.
    fn scale(&self) -> f64 {
        let n = self.sorted.len();
        match n < UNSCALED {
            true => 0.0,
            false => (self.sorted[n - 1 - n / 4] - self.sorted[n / 4]) / QUARTILES_SDS,
        }
    }

    /// The pairs so far; all of them count.
    pub fn counted(&self) -> usize {
        self.differences.len()
    }

    /// The logarithm of the larger of M⁺(`shift`) and M⁻(`shift`): from ln(1/α) on the shift is
    /// excluded.
    pub fn log_evidence(&self, shift: f64) -> f64 {
        let evidence = self.evidence(shift);
        evidence.log_against(1.0, 1.0).max(evidence.log_against(-1.0, 1.0))
    }

    /// Whether the shift is excluded.
    pub fn excludes(&self, shift: f64) -> bool {
        self.log_evidence(shift) >= self.log_threshold
    }

    /// The shift at which the increments add up to 0; `None` before the first pair.
    pub fn estimate(&self) -> Option<f64> {
        let (mut low, mut high) = (*self.sorted.first()?, *self.sorted.last()?);
        let resolution = resolution(self.noise_error(1.0));
        while high - low > resolution {
            let middle = low.midpoint(high);
            let sum: f64 = self.increments(middle).sum();
            *(if sum > 0.0 { &mut low } else { &mut high }) = middle;
        }
        Some(low.midpoint(high))
    }

    /// The shifts that are not excluded, each end rounded outwards by a hundredth of a standard
    /// error; `None` before the number of [`fewest_pairs`], and rarely for a few pairs more.
    pub fn interval(&self) -> Option<Hull> {
        let estimate = self.estimate()?;
        Some(Hull {
            low: self.end(estimate, Side::Low, 1.0)?,
            high: self.end(estimate, Side::High, 1.0)?,
        })
    }

    /// The distance of the further end from the estimate that is to be expected after so many
    /// pairs, if they go on as these did; `None` before a pair, and where so many would not give an
    /// interval.
    pub fn half_width_after(&self, pairs: usize) -> Option<f64> {
        let estimate = self.estimate()?;
        let times = pairs as f64 / self.counted() as f64;
        let low = self.end(estimate, Side::Low, times)?;
        let high = self.end(estimate, Side::High, times)?;
        Some((estimate - low).max(high - estimate))
    }

    /// The true shift that would have been excluded from 0 by now with this power, if the noise is
    /// what it seems to be: the half-width and what a normal estimate may fall short of its mean.
    pub fn detectable(&self, power: f64) -> Option<f64> {
        self.with_power(self.interval()?.half_width(), self.counted(), power)
    }

    /// The same of so many pairs, if they go on as these did.
    pub fn detectable_after(&self, pairs: usize, power: f64) -> Option<f64> {
        self.with_power(self.half_width_after(pairs)?, pairs, power)
    }

    fn with_power(&self, half_width: f64, pairs: usize, power: f64) -> Option<f64> {
        let quantile = Normal::standard().inverse_cdf(open_unit(power).then_some(power)?);
        let times = pairs as f64 / self.counted() as f64;
        Some(half_width + quantile * self.standard_error()? / times.sqrt())
    }

    /// Of the estimate, as of the zero of clipped sums; `None` where nothing lies within the clip.
    /// Huber 1964, "Robust Estimation of a Location Parameter", The Annals of Mathematical
    /// Statistics 35(1), section 5.
    fn standard_error(&self) -> Option<f64> {
        let (estimate, scale) = (self.estimate()?, self.scale());
        if scale == 0.0 {
            return (self.counted() >= UNSCALED).then_some(0.0);
        }
        let increments = self.sorted.iter().map(|one| increment(one - estimate, scale));
        let (mut squares, mut inside) = (0.0, 0.0);
        for increment in increments {
            squares += increment * increment;
            inside += f64::from(increment.abs() < CLIP);
        }
        (inside > 0.0).then(|| scale * squares.sqrt() / inside)
    }

    /// The pairs after which the interval's ends are to be expected at or below this distance from
    /// the estimate; `None` where no number is enough.
    pub fn pairs_until(&self, half_width: f64) -> Option<usize> {
        let estimate = self.estimate()?;
        let at = |side: Side| self.evidence(estimate - side.sign() * half_width);
        let (low, high) = (at(Side::Low), at(Side::High));
        let reached = |pairs: usize| {
            let times = pairs as f64 / self.counted() as f64;
            let log = |evidence: &Evidence, side: Side| evidence.log_against(side.sign(), times);
            log(&low, Side::Low).min(log(&high, Side::High)) >= self.log_threshold
        };
        let mut enough = (0..40).map(|power| 1 << power).find(|pairs| reached(*pairs))?;
        let mut few = enough / 2;
        while few + 1 < enough {
            let middle = few.midpoint(enough);
            *(if reached(middle) { &mut enough } else { &mut few }) = middle;
        }
        Some(enough)
    }

    /// The end of the interval on this side if there were so many times the pairs: excluded, and
    /// hardly beyond what is not. From the estimate it is looked for in steps that double, then by
    /// halves.
    fn end(&self, estimate: f64, side: Side, times: f64) -> Option<f64> {
        let outwards = -side.sign();
        let excluded = |distance: f64| {
            let evidence = self.evidence(estimate + outwards * distance);
            evidence.log_against(side.sign(), times) >= self.log_threshold
        };
        let limit = self.reach();
        let error = self.noise_error(times);
        let resolution = resolution(error);
        let mut inner = 0.0;
        let mut outer = (4.0 * error).max(resolution).min(limit);
        while !excluded(outer) {
            if outer >= limit {
                return None;
            }
            (inner, outer) = (outer, (2.0 * outer).min(limit));
        }
        while outer - inner > resolution {
            let middle = f64::midpoint(inner, outer);
            *(if excluded(middle) { &mut outer } else { &mut inner }) = middle;
        }
        Some(estimate + outwards * outer)
    }

    /// The distance from anywhere among the differences beyond which every increment is clipped.
    fn reach(&self) -> f64 {
        let [first, last] =
            [self.sorted.first(), self.sorted.last()].map(|one| *one.unwrap_or(&0.0));
        let scale = self.differences.iter().map(|(_, scale)| *scale).fold(0.0, f64::max);
        last - first + CLIP * scale + LEAST_RESOLUTION
    }

    /// The standard error of a mean of normal noise of this scale, with so many times the pairs.
    fn noise_error(&self, times: f64) -> f64 {
        self.scale() / (self.counted() as f64 * times).sqrt()
    }

    fn increments(&self, shift: f64) -> impl Iterator<Item = f64> {
        let of = move |(difference, scale): &(f64, f64)| increment(difference - shift, *scale);
        self.differences.iter().map(of)
    }

    fn evidence(&self, shift: f64) -> Evidence {
        let watched = self.watched.iter().find(|(watched, _)| *watched == shift);
        watched.map_or_else(|| self.increments(shift).collect(), |(_, evidence)| evidence.clone())
    }
}

/// How finely shifts are told apart where this is the standard error.
fn resolution(error: f64) -> f64 {
    (RESOLUTION * error).max(LEAST_RESOLUTION)
}

/// The pairs before which no shift can be excluded at this level, however large and clear it is;
/// `None` unless 0 < alpha < 1.
pub fn fewest_pairs(alpha: f64) -> Option<usize> {
    let mut evidence = Evidence::default();
    let mut pairs = 0;
    while open_unit(alpha) && evidence.log_against(1.0, 1.0) < -alpha.ln() {
        let scale = f64::from(pairs >= UNSCALED);
        evidence.add(increment(f64::MAX, scale));
        pairs += 1;
    }
    open_unit(alpha).then_some(pairs)
}

/// By how much longer the later run takes: the coefficient of a pair's coin beside that of the pair
/// before, which what a run leaves to the next goes with, and a constant (least squares). What a
/// difference is away from the median is clipped at [`CLIP`] robust standard deviations. 0 where it
/// is no more than two of its standard errors, for then it would add more noise than it takes.
fn place_effect(ordered: &[(f64, f64)]) -> f64 {
    let differences: Vec<f64> = ordered.iter().map(|(difference, _)| *difference).collect();
    let (centre, clip) = (median(&differences).unwrap_or(0.0), CLIP * robust_sd(&differences));
    let (away, coins): (Vec<f64>, Vec<f64>) = ordered
        .iter()
        .skip(1)
        .map(|(difference, coin)| ((difference - centre).clamp(-clip, clip), *coin))
        .unzip();
    let before: Vec<f64> = ordered.iter().map(|(_, coin)| *coin).take(coins.len()).collect();
    let [away, coins, before] = [away, coins, before].map(|values| centred(&values));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (own, both, other) = (dot(&coins, &coins), dot(&coins, &before), dot(&before, &before));
    let determinant = own * other - both * both;
    let free = away.len() as f64 - 3.0;
    if free < 1.0 || determinant < 1e-9 {
        return 0.0;
    }
    let (of_own, of_other) = (dot(&coins, &away), dot(&before, &away));
    let effect = (other * of_own - both * of_other) / determinant;
    let of_before = (own * of_other - both * of_own) / determinant;
    let left = dot(&away, &away) - effect * of_own - of_before * of_other;
    let error = (left.max(0.0) / free * other / determinant).sqrt();
    if effect.abs() > 2.0 * error { effect } else { 0.0 }
}

fn centred(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}

/// The standard deviation of a normal sample with this median absolute deviation, or with this
/// mean absolute deviation where more than half of the values are equal.
fn robust_sd(values: &[f64]) -> f64 {
    match median_deviation(values) {
        Some(deviation) if deviation > 0.0 => NORMAL_SD_PER_MAD * deviation,
        _ => {
            let centre = median(values).unwrap_or(0.0);
            let away: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
            NORMAL_SD_PER_MEAN_DEVIATION * crate::mean(&away)
        }
    }
}

#[cfg(test)]
mod tests;
