//! An anytime-valid confidence sequence for the shift of paired differences: it may be looked at
//! after every pair, and the comparison may stop at any look.
//!
//! A pair is two runs in random order; its difference d is, for times, ln(tB / tA). For a shift δ
//! every difference gives the increment x = clip(d − δ, ±c), where c comes from earlier pairs alone
//! and is the same for all δ. With S = Σx and V = Σx², and a scale ρ fixed beforehand,
//!
//! M(δ) = √(ρ / (ρ + V)) · exp(S² / (2(ρ + V)))
//!
//! is a supermartingale that starts at 1 where every d − δ is symmetric around 0 given the past:
//! exp(λS − λ²V/2) is one for each λ (de la Peña 1999, "A General Class of Exponential Inequalities
//! for Martingales and Ratios", The Annals of Probability 27(1), lemma 6.1), and M(δ) is its
//! mixture over λ ~ N(0, 1/ρ) (Howard, Ramdas, McAuliffe and Sekhon 2021, "Time-uniform,
//! nonparametric, nonasymptotic confidence sequences", The Annals of Statistics 49(2), section 3.2
//! on normal mixtures). By Ville's inequality M(δ) reaches 1/α with probability at most α, ever;
//! the sequence is {δ: M(δ) < 1/α} after each pair.
//!
//! Where the pair's order is told, x = clip(d − δ − c·p, ±c₀): c is +1 where B ran last and −1
//! where A did, and p is by how much the later run took longer in earlier pairs. At the true δ the
//! coin c alone decides the sign of d − δ, so that subtracting c·p from it leaves it symmetric.
//!
//! Why p: the first run of a pair follows the last run of the pair before. Where a program is
//! faster by g right after itself, and both programs are alike, d = c·(e + g·[c ≠ c']) with c' the
//! coin of the pair before, and e what the place and noise add. With a the mean of d over both
//! values of c' and h half of the gain, d = c·a − c'·h, so that S = Σ c·(a − h) but for its two
//! ends: fair coins with fixed weights, whatever the noise was. V estimates Σ (a² + h²), where the
//! sum of the squared weights is Σ (a − h)². It is no more as long as Σ a·h ≥ 0, and it is more,
//! twice at most, where the first place is slow and a program is fast after itself. With p
//! subtracted a is 0 in the mean, and the two agree.
//!
//! What this needs: at δ = 0 nothing but the coin. If both commands would have taken the same time
//! in either place, the coin alone decides the sign of d, whatever the noise is and however it
//! depends on itself. At another δ it needs that B differs by a factor: d − δ must be symmetric
//! given the past.
//!
//! Intervals of earlier looks are not intersected with later ones. That would be valid for one δ
//! that never changes; a difference that drifts would leave an interval that is empty or wrong.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::{describe::median, open_unit, usable};

/// The pairs that set the first clip and the mixture's scale, and count for nothing else.
pub const UNCOUNTED: usize = 10;
/// The clip in robust standard deviations: noise is left alone, a hiccup has bounded influence.
const CLIP_SDS: f64 = 3.0;
/// The standard deviation of a normal sample over its median absolute deviation.
const NORMAL_SD_PER_MAD: f64 = 1.482_602_218_505_602;
/// The standard deviation of a normal sample over its mean absolute deviation.
const NORMAL_SD_PER_MEAN_DEVIATION: f64 = 1.253_314_137_315_5;
/// The clip where all earlier differences are equal: counts are, times never.
const LEAST_CLIP: f64 = 1e-4;
/// The counted pairs for which the mixture is the tightest. Six times as many, or a sixth, widen
/// the interval by a few per cent.
const TUNED_FOR: f64 = 200.0;
/// Points between the estimate and the outermost limit at which the set is looked up.
const SCAN: usize = 64;

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
    /// Less what the place adds.
    differences: Vec<f64>,
    /// The differences of pairs whose order was told, as they were, each with its coin.
    ordered: Vec<(f64, f64)>,
    /// What the later place adds, by earlier pairs.
    place: f64,
    /// The clip from this difference on, until the next one's.
    clips: Vec<(usize, f64)>,
    rho: f64,
    /// Shifts that are asked about after every pair, with their sums so far.
    watched: Vec<(f64, Sums)>,
}

/// S, V and the number of increments that are not clipped, at one shift.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    sum: f64,
    squares: f64,
    inside: usize,
}

impl Sums {
    fn add(&mut self, residual: f64, clip: f64) {
        let increment = residual.clamp(-clip, clip);
        self.sum += increment;
        self.squares += increment * increment;
        self.inside += usize::from(increment.abs() < clip);
    }
}

impl Sequence {
    /// An empty one at level `alpha`; `None` unless 0 < alpha < 1. Asking about one of the
    /// `watched` shifts takes the same time after however many pairs.
    pub fn new(alpha: f64, watched: &[f64]) -> Option<Self> {
        let log_threshold = -alpha.ln();
        open_unit(alpha).then(|| Self {
            log_threshold,
            differences: Vec::new(),
            ordered: Vec::new(),
            place: 0.0,
            clips: Vec::new(),
            rho: f64::INFINITY,
            watched: watched.iter().map(|shift| (*shift, Sums::default())).collect(),
        })
    }

    /// Takes a pair's difference; `false` where it is no usable number and was left out.
    ///
    /// The clip is set from all differences so far when there are [`UNCOUNTED`] of them, and again
    /// each time their number has doubled.
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
        if self.clips.last().is_some_and(|(from, _)| *from == self.differences.len()) {
            self.place = place_effect(&self.ordered);
        }
        true
    }

    fn take(&mut self, difference: f64) {
        if let Some((_, clip)) = self.clips.last() {
            for (shift, sums) in &mut self.watched {
                sums.add(difference - *shift, *clip);
            }
        }
        self.differences.push(difference);
        let n = self.differences.len();
        let next = self.clips.last().map_or(UNCOUNTED, |(from, _)| 2 * from);
        if n == next {
            let sd = robust_sd(&self.differences);
            let clip = (CLIP_SDS * sd).max(LEAST_CLIP);
            if self.clips.is_empty() {
                self.rho = (clip / CLIP_SDS).powi(2) * TUNED_FOR / tuning(self.log_threshold);
            }
            self.clips.push((n, clip));
        }
    }

    /// The pairs that count.
    pub fn counted(&self) -> usize {
        self.differences.len().saturating_sub(UNCOUNTED)
    }

    /// ln M(`shift`): above ln(1/α) the shift is excluded.
    pub fn log_evidence(&self, shift: f64) -> f64 {
        let Sums { sum, squares, .. } = self.sums(shift);
        let spread = self.rho + squares;
        sum * sum / (2.0 * spread) - 0.5 * (squares / self.rho).ln_1p()
    }

    /// Whether the shift is excluded.
    pub fn excludes(&self, shift: f64) -> bool {
        self.counted() > 0 && self.log_evidence(shift) >= self.log_threshold
    }

    /// The shift at which the increments add up to 0; `None` before a pair counts.
    pub fn estimate(&self) -> Option<f64> {
        let (low, high) = self.range()?;
        Some(self.bisect(low, high, |sums| sums.sum > 0.0))
    }

    /// The smallest interval that holds every shift which is not excluded; `None` while there is
    /// none, which is so for the first dozen counted pairs.
    ///
    /// Rigorous from outside: beyond the outermost limit everything is excluded, since |S| only
    /// grows outwards and V ≤ Σc². Between that limit and the estimate the set is looked up at
    /// [`SCAN`] points, and the end that is given is an excluded shift.
    pub fn interval(&self) -> Option<Hull> {
        let (low, high) = self.range()?;
        let estimate = self.estimate()?;
        Some(Hull { low: self.end(estimate, low)?, high: self.end(estimate, high)? })
    }

    /// The half-width to expect after so many counted pairs, if they go on as these did; `None`
    /// before a pair counts, and where too few increments lie within the clip to tell.
    pub fn half_width_after(&self, counted: usize) -> Option<f64> {
        let now = self.sums(self.estimate()?);
        let share = now.inside as f64 / self.counted() as f64;
        let squares = now.squares / self.counted() as f64 * counted as f64;
        let boundary = (self.rho + squares) * self.growth(squares);
        (share > 0.1).then(|| boundary.sqrt() / (counted as f64 * share))
    }

    /// The true shift that would have been excluded from 0 by now with this power, if the noise is
    /// what it seems to be: the half-width and what a normal estimate may fall short of its mean.
    pub fn detectable(&self, power: f64) -> Option<f64> {
        let half_width = self.interval()?.half_width();
        self.with_power(half_width, self.sums(self.estimate()?).squares, power)
    }

    /// The same of so many counted pairs, if they go on as these did.
    pub fn detectable_after(&self, counted: usize, power: f64) -> Option<f64> {
        let half_width = self.half_width_after(counted).filter(|width| width.is_finite())?;
        let squares = self.sums(self.estimate()?).squares / self.counted() as f64;
        self.with_power(half_width, squares * counted as f64, power)
    }

    fn with_power(&self, half_width: f64, squares: f64, power: f64) -> Option<f64> {
        let quantile = Normal::standard().inverse_cdf(open_unit(power).then_some(power)?);
        Some(half_width * (1.0 + quantile / self.growth(squares).sqrt()))
    }

    /// The counted pairs after which the half-width is to be expected at or below this.
    pub fn pairs_until(&self, half_width: f64) -> Option<usize> {
        let reached = |pairs| self.half_width_after(pairs).is_some_and(|width| width <= half_width);
        let mut enough = (0..40).map(|power| 1 << power).find(|pairs| reached(*pairs))?;
        let mut few = enough / 2;
        while few + 1 < enough {
            let middle = few.midpoint(enough);
            *(if reached(middle) { &mut enough } else { &mut few }) = middle;
        }
        Some(enough)
    }

    /// What S² / (ρ + V) reaches where M reaches 1/α.
    fn growth(&self, squares: f64) -> f64 {
        2.0 * self.log_threshold + (squares / self.rho).ln_1p()
    }

    /// Where every increment is clipped to one side.
    fn range(&self) -> Option<(f64, f64)> {
        let counted = self.differences.get(UNCOUNTED..).filter(|counted| !counted.is_empty())?;
        let clip = self.clips.iter().map(|(_, clip)| *clip).fold(0.0, f64::max);
        let low = counted.iter().copied().fold(f64::INFINITY, f64::min);
        let high = counted.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some((low - clip, high + clip))
    }

    /// The end of the interval between the estimate and the limit of the range.
    fn end(&self, estimate: f64, limit: f64) -> Option<f64> {
        if !self.excludes(limit) {
            return None;
        }
        let most: f64 = self.sums(limit).squares;
        let enough = (self.rho + most) * self.growth(most);
        let outermost = self.bisect(estimate, limit, |sums| sums.sum * sums.sum < enough);
        let step = (outermost - estimate) / SCAN as f64;
        let at = |point: usize| estimate + step * point as f64;
        let inner = (0..SCAN).rev().find(|point| !self.excludes(at(*point)))?;
        Some(self.bisect(at(inner), at(inner + 1), |sums| {
            sums.sum * sums.sum < (self.rho + sums.squares) * self.growth(sums.squares)
        }))
    }

    /// The outer side of the place between `inner` and `outer` where `within` ends.
    fn bisect(&self, mut inner: f64, mut outer: f64, within: impl Fn(Sums) -> bool) -> f64 {
        while (outer - inner).abs() > self.resolution() {
            let middle = inner.midpoint(outer);
            *(if within(self.sums(middle)) { &mut inner } else { &mut outer }) = middle;
        }
        outer
    }

    /// How finely shifts are told apart: far below what the pairs can tell.
    fn resolution(&self) -> f64 {
        let clip = self.clips.last().map_or(LEAST_CLIP, |(_, clip)| *clip);
        1e-3 * clip / (self.counted() as f64).sqrt()
    }

    fn sums(&self, shift: f64) -> Sums {
        if let Some((_, sums)) = self.watched.iter().find(|(watched, _)| *watched == shift) {
            return *sums;
        }
        let ends = self.clips.iter().skip(1).map(|(from, _)| *from);
        let ends = ends.chain([self.differences.len()]);
        let mut total = Sums::default();
        for ((from, clip), end) in self.clips.iter().zip(ends) {
            for difference in &self.differences[*from..end] {
                total.add(difference - shift, *clip);
            }
        }
        total
    }
}

/// By how much longer the later run takes: the mean of the coin times what a difference is away
/// from their median, clipped at [`CLIP_SDS`] robust standard deviations; 0 where it is no more
/// than two of its standard errors, for then it would add more noise than it takes.
fn place_effect(ordered: &[(f64, f64)]) -> f64 {
    let differences: Vec<f64> = ordered.iter().map(|(difference, _)| *difference).collect();
    let (centre, clip) = (median(&differences).unwrap_or(0.0), CLIP_SDS * robust_sd(&differences));
    let later: Vec<f64> = ordered
        .iter()
        .map(|(difference, coin)| coin * (difference - centre).clamp(-clip, clip))
        .collect();
    let effect = crate::mean(&later);
    let error = (crate::sample_variance(&later) / later.len() as f64).sqrt();
    if effect.abs() > 2.0 * error { effect } else { 0.0 }
}

/// The standard deviation of a normal sample with this median absolute deviation, or with this
/// mean absolute deviation where more than half of the values are equal.
fn robust_sd(values: &[f64]) -> f64 {
    let centre = median(values).unwrap_or(0.0);
    let deviations: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    match median(&deviations) {
        Some(deviation) if deviation > 0.0 => NORMAL_SD_PER_MAD * deviation,
        _ => NORMAL_SD_PER_MEAN_DEVIATION * crate::mean(&deviations),
    }
}

/// V / ρ at which the boundary is the tightest: the solution of r = ln(1 + r) + 2 ln(1/α), which
/// is −W₋₁(−α²/e) − 1 (Howard and others 2021, proposition 3).
fn tuning(log_threshold: f64) -> f64 {
    (0..100).fold(1.0, |ratio: f64, _| ratio.ln_1p() + 2.0 * log_threshold)
}

#[cfg(test)]
mod tests;
