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
//! Where the pair's order is told, x = clip(d − δ − c·p, ±c₀): c is +1 where B ran last and −1 where
//! A did, and p is by how much the later run took longer in earlier pairs. At the true δ the coin c
//! alone decides the sign of d − δ, so that subtracting c·p from it leaves it symmetric.
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
/// from their median, clipped at [`CLIP_SDS`] robust standard deviations; 0 where it is no more than
/// two of its standard errors, for then it would add more noise than it takes.
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
mod tests {
    use super::*;

    #[test]
    fn what_the_later_place_adds_is_taken_off_whichever_runs_last() {
        let pairs: Vec<f64> = differences(0.03, 400).collect();
        let mut without = Sequence::new(0.01, &[0.0]).unwrap();
        let mut with = without.clone();
        for (at, difference) in pairs.into_iter().enumerate() {
            // A fair coin's turns, and 20 % more in the later place.
            let b_ran_last = (at * 6_701) % 89 < 44;
            let more = if b_ran_last { 0.2 } else { -0.2 };
            assert!(without.push(difference + more));
            assert!(with.push_ordered(difference + more, b_ran_last));
        }
        assert!((with.estimate().unwrap() - 0.03).abs() < 0.01, "{:?}", with.estimate());
        assert!(with.excludes(0.0) && !without.excludes(0.0));
        let widths = [&with, &without].map(|one| one.interval().unwrap().half_width());
        assert!(widths[0] < widths[1] / 4.0, "{widths:?}");
        assert!(!with.push_ordered(f64::NAN, true));
    }

    #[test]
    fn a_place_that_adds_no_more_than_noise_adds_nothing_however_large_the_difference() {
        let ordered = |middle: f64, more: f64| -> Vec<(f64, f64)> {
            let coin = |at: usize| if (at * 6_701) % 89 < 44 { 1.0 } else { -1.0 };
            let pairs = differences(middle, 200).enumerate();
            pairs.map(|(at, difference)| (difference + coin(at) * more, coin(at))).collect()
        };
        for middle in [0.0, 2.3, -9.0] {
            assert_eq!(place_effect(&ordered(middle, 0.0)), 0.0, "{middle}");
            let found = place_effect(&ordered(middle, 0.02));
            assert!((found - 0.02).abs() < 0.004, "{middle}: {found}");
        }
    }

    /// Differences that repeat and hold every kind: around `middle`, with hiccups to one side.
    fn differences(middle: f64, count: usize) -> impl Iterator<Item = f64> {
        let noise = |at: usize| ((at * 7919) % 101) as f64 / 50.0 - 1.0;
        let hiccup = |at: usize| if at % 37 == 5 { 40.0 } else { 0.0 };
        (0..count).map(move |at| middle + 0.01 * (noise(at) + hiccup(at)))
    }

    fn filled(middle: f64, count: usize) -> Sequence {
        let mut sequence = Sequence::new(0.01, &[0.0, 0.5, 0.0213]).unwrap();
        differences(middle, count).for_each(|difference| assert!(sequence.push(difference)));
        sequence
    }

    /// M as the module's text defines it, with none of the shortcuts.
    fn log_m(sequence: &Sequence, shift: f64) -> f64 {
        let clip = |at: usize| sequence.clips.iter().rfind(|(from, _)| *from <= at).unwrap().1;
        let counted = sequence.differences.iter().enumerate().skip(UNCOUNTED);
        let increments: Vec<f64> =
            counted.map(|(at, d)| (d - shift).clamp(-clip(at), clip(at))).collect();
        let s: f64 = increments.iter().sum();
        let v: f64 = increments.iter().map(|x| x * x).sum();
        let rho = sequence.rho;
        ((rho / (rho + v)).sqrt() * (s * s / (2.0 * (rho + v))).exp()).ln()
    }

    #[test]
    fn the_evidence_is_the_formulas() {
        let sequence = filled(0.02, 100);
        for shift in [0.0, 0.5, 0.02, 0.0213, -0.3] {
            let (found, expected) = (sequence.log_evidence(shift), log_m(&sequence, shift));
            assert!((found - expected).abs() < 1e-9, "{shift}: {found} {expected}");
        }
    }

    #[test]
    fn noise_is_the_median_deviation_or_the_mean_one_where_most_values_are_equal() {
        assert_eq!(robust_sd(&[1.0, 2.0, 3.0, 4.0, 100.0]), NORMAL_SD_PER_MAD);
        assert_eq!(robust_sd(&[7.0, 7.0, 7.0, 11.0]), NORMAL_SD_PER_MEAN_DEVIATION);
    }

    #[test]
    fn the_mixture_is_the_tightest_where_its_equation_says() {
        for log_threshold in [0.7, 4.6, 12.0] {
            let ratio = tuning(log_threshold);
            assert!((ratio - ratio.ln_1p() - 2.0 * log_threshold).abs() < 1e-9, "{ratio}");
        }
    }

    #[test]
    fn the_clip_comes_from_earlier_pairs_alone() {
        let mut sequence = filled(0.0, 50);
        let before = sequence.clips.clone();
        assert_eq!(before.iter().map(|(from, _)| *from).collect::<Vec<_>>(), [10, 20, 40]);
        (0..29).for_each(|_| assert!(sequence.push(1e6)));
        assert_eq!(sequence.clips, before);
        // What comes with the 80th pair is used from the 81st on.
        sequence.push(0.0);
        assert_eq!(sequence.clips[3].0, 80);
    }

    #[test]
    fn the_interval_is_the_set_that_a_fine_grid_finds() {
        for count in [40, 200, 1_000] {
            let sequence = filled(0.02, count);
            let hull = sequence.interval().unwrap();
            let grid = (-20_000..20_000).map(|at| f64::from(at) * 5e-6);
            let inside: Vec<f64> =
                grid.filter(|shift| log_m(&sequence, *shift) < 100_f64.ln()).collect();
            assert!(hull.low <= inside[0] && inside[inside.len() - 1] <= hull.high, "{hull:?}");
            assert!(inside[0] - hull.low < 4e-5 && hull.high - inside[inside.len() - 1] < 4e-5);
            assert!(hull.holds(sequence.estimate().unwrap()));
        }
    }

    /// A thousandth of the clip over the root of the pairs is far below what they can tell.
    #[test]
    fn the_ends_of_many_pairs_are_looked_up_more_finely() {
        let sequence = filled(0.02, 10_000);
        let Hull { low, high } = sequence.interval().unwrap();
        let fine = 1.01e-3 * sequence.clips.last().unwrap().1 / 9_990_f64.sqrt();
        let threshold = 100_f64.ln();
        for (end, inwards) in [(low, fine), (high, -fine)] {
            assert!(log_m(&sequence, end) >= threshold);
            assert!(log_m(&sequence, end + inwards) < threshold);
        }
    }

    #[test]
    fn a_tenth_of_the_pairs_within_the_clip_are_too_few_to_expect_from() {
        let expected = |inside: usize| {
            let outside = (0..100 - inside).map(|at| if at % 2 == 0 { 9.0 } else { -9.0 });
            let differences = std::iter::repeat_n(0.0, UNCOUNTED + inside).chain(outside);
            let empty = Sequence::new(0.01, &[]).unwrap();
            let sequence = Sequence {
                differences: differences.collect(),
                clips: vec![(UNCOUNTED, 1.0)],
                rho: 1.0,
                ..empty
            };
            sequence.half_width_after(200)
        };
        assert_eq!(expected(10), None);
        // Of 200 pairs 176 are clipped to 1, and 24 bring their half-width.
        let squares = 176.0_f64;
        let growth = 2.0 * 100_f64.ln() + squares.ln_1p();
        let half_width = ((1.0 + squares) * growth).sqrt() / 24.0;
        assert!((expected(12).unwrap() / half_width - 1.0).abs() < 1e-3);
    }

    #[test]
    fn there_is_no_interval_before_it_can_have_ends() {
        assert_eq!(filled(0.0, UNCOUNTED).interval(), None);
        assert_eq!(filled(0.0, UNCOUNTED).estimate(), None);
        assert_eq!(filled(0.0, UNCOUNTED + 12).interval(), None);
        assert!(filled(0.0, UNCOUNTED + 15).interval().is_some());
        assert!(!filled(9.0, UNCOUNTED).excludes(0.0));
    }

    #[test]
    fn equal_differences_are_known_exactly() {
        let mut sequence = Sequence::new(0.01, &[]).unwrap();
        (0..60).for_each(|_| assert!(sequence.push(0.05)));
        let hull = sequence.interval().unwrap();
        assert!(hull.holds(0.05) && hull.half_width() < 1e-4 && sequence.excludes(0.0), "{hull:?}");
    }

    #[test]
    fn what_is_expected_of_more_pairs_is_what_they_bring() {
        let expected = filled(0.02, 210).half_width_after(1_000).unwrap();
        let found = filled(0.02, 1_010).interval().unwrap().half_width();
        assert!((expected / found - 1.0).abs() < 0.15, "{expected} {found}");
        let pairs = filled(0.02, 210).pairs_until(expected).unwrap();
        assert!((950..=1_000).contains(&pairs), "{pairs}");
        assert_eq!(Sequence::new(0.01, &[]).unwrap().pairs_until(0.1), None);
    }

    #[test]
    fn what_could_have_been_found_lies_beyond_the_half_width() {
        let sequence = filled(0.02, 400);
        let half_width = sequence.interval().unwrap().half_width();
        let [even, likely] = [0.5, 0.8].map(|power| sequence.detectable(power).unwrap());
        assert!((even / half_width - 1.0).abs() < 1e-9, "{even} {half_width}");
        assert!(1.1 * half_width < likely && likely < 1.4 * half_width, "{likely} {half_width}");
        assert_eq!(filled(0.0, UNCOUNTED).detectable(0.8), None);
        assert_eq!(sequence.detectable(1.0), None);
        // Of more pairs, V grows in proportion to them; 0.8416 is the normal quantile of 80 %.
        let now = sequence.sums(sequence.estimate().unwrap()).squares;
        let growth = sequence.growth(now / sequence.counted() as f64 * 1_000.0);
        let expected =
            sequence.half_width_after(1_000).unwrap() * (1.0 + 0.841_621_2 / growth.sqrt());
        let found = sequence.detectable_after(1_000, 0.8).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    }

    #[test]
    fn refuses_what_is_no_number_and_no_level() {
        assert!(Sequence::new(0.0, &[]).is_none() && Sequence::new(f64::NAN, &[]).is_none());
        let mut sequence = filled(0.0, 30);
        let before = sequence.interval();
        assert!(!sequence.push(f64::NAN) && !sequence.push(f64::INFINITY));
        assert_eq!(sequence.interval(), before);
    }
}
