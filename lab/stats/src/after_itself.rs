//! What a run leaves to the next: how much faster a program is right after itself than right after
//! another one.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{
    describe::{NORMAL_SD_PER_MAD, median, median_deviation},
    mean, open_unit, sample_variance, usable,
};

/// Fewer runs on either side tell nothing.
const LEAST_RUNS: usize = 5;
/// A run counts for at most this many robust standard deviations from its side's median: a hiccup
/// must not look like what another run left.
const CLIP_SDS: f64 = 3.0;

/// A run that was the first of its round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstRun {
    /// ln(time), or ln(time / what the run is set against).
    pub log_time: f64,
    /// Whether the run before it was of the same program.
    pub after_itself: bool,
}

/// Runs right after themselves against runs right after another program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AfterItself {
    /// ln(after itself / after another): below 0 where a program is faster after itself.
    pub shift: f64,
    /// Of `shift`.
    pub standard_error: f64,
    /// Degrees of freedom of the error, by Satterthwaite's formula.
    pub df: f64,
    /// Runs right after themselves.
    pub own: usize,
    /// Runs right after another.
    pub other: usize,
}

impl AfterItself {
    /// Of one program's first runs: the difference of the two means, runs clipped around their
    /// side's median. Only first runs of rounds may be given: in a later place no run follows its
    /// own program, so that place and predecessor could not be told apart.
    /// Source of error and degrees: Welch (1947), Biometrika 34(1/2), pp. 28-35; Satterthwaite
    /// (1946), Biometrics Bulletin 2(6), pp. 110-114.
    ///
    /// `None` for fewer than five runs on either side, and for runs that do not vary.
    pub fn of(runs: &[FirstRun]) -> Option<Self> {
        let side = |after_itself: bool| -> Vec<f64> {
            let here = runs.iter().filter(|run| run.after_itself == after_itself);
            here.map(|run| run.log_time).filter(|time| usable(&[*time])).collect()
        };
        let (own, other) = (clipped(side(true))?, clipped(side(false))?);
        let errors = [&own, &other].map(|side| sample_variance(side) / side.len() as f64);
        let error = errors[0] + errors[1];
        let spread: f64 = [&own, &other]
            .iter()
            .zip(errors)
            .map(|(side, part)| (part / error).powi(2) / (side.len() as f64 - 1.0))
            .sum();
        let (shift, df) = (mean(&own) - mean(&other), 1.0 / spread);
        df.is_finite().then_some(Self {
            shift,
            standard_error: error.sqrt(),
            df,
            own: own.len(),
            other: other.len(),
        })
    }

    /// The mean over programs, each weighted by the runs that tell of it; `None` of none.
    pub fn pooled(each: &[Self]) -> Option<Self> {
        let weight = |one: &Self| (one.own * one.other) as f64 / (one.own + one.other) as f64;
        let total: f64 = each.iter().map(weight).sum();
        let share = |one: &Self| weight(one) / total;
        let variance: f64 = each.iter().map(|one| (share(one) * one.standard_error).powi(2)).sum();
        let spread: f64 =
            each.iter().map(|one| (share(one) * one.standard_error).powi(4) / one.df).sum();
        let df = variance.powi(2) / spread;
        df.is_finite().then(|| Self {
            shift: each.iter().map(|one| share(one) * one.shift).sum(),
            standard_error: variance.sqrt(),
            df,
            own: each.iter().map(|one| one.own).sum(),
            other: each.iter().map(|one| one.other).sum(),
        })
    }

    /// Student's interval; `None` unless 0 < `confidence` < 1.
    pub fn interval(&self, confidence: f64) -> Option<[f64; 2]> {
        let quantile = open_unit(confidence).then_some(0.5 + confidence / 2.0)?;
        let reach = StudentsT::new(0.0, 1.0, self.df).ok()?.inverse_cdf(quantile);
        let reach = reach * self.standard_error;
        Some([self.shift - reach, self.shift + reach])
    }

    /// Whether runs right after themselves differ from the others at this confidence.
    pub fn differs(&self, confidence: f64) -> bool {
        self.interval(confidence).is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }
}

fn clipped(mut side: Vec<f64>) -> Option<Vec<f64>> {
    if side.len() < LEAST_RUNS {
        return None;
    }
    let centre = median(&side)?;
    let clip = CLIP_SDS * NORMAL_SD_PER_MAD * median_deviation(&side)?;
    if clip > 0.0 {
        side.iter_mut().for_each(|time| *time = time.clamp(centre - clip, centre + clip));
    }
    Some(side)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    /// Runs of one program, 3 % around a second, `gain` faster after itself, a tenth disturbed.
    fn runs(count: usize, gain: f64, rng: &mut Pcg64) -> Vec<FirstRun> {
        let run = |_| {
            let after_itself = rng.random_bool(0.5);
            let hiccup = if rng.random_bool(0.1) { rng.random_range(0.0..2.0) } else { 0.0 };
            let noise: f64 = rng.random_range(-0.03..0.03);
            let left = if after_itself { gain } else { 0.0 };
            FirstRun { log_time: noise + hiccup - left, after_itself }
        };
        (0..count).map(run).collect()
    }

    #[test]
    fn five_runs_a_side_by_hand() {
        let effect = |own: &[f64], other: &[f64]| {
            let run = |after_itself| move |time: &f64| FirstRun { log_time: *time, after_itself };
            let own = own.iter().map(run(true));
            AfterItself::of(&own.chain(other.iter().map(run(false))).collect::<Vec<_>>())
        };
        let (own, other) = ([1.0, 2.0, 3.0, 4.0, 5.0], [3.0, 4.0, 5.0, 6.0, 7.0]);
        let found = effect(&own, &other).unwrap();
        // Variances of 2.5 over five runs each: an error of 1, and twice four degrees.
        assert!((found.shift + 2.0).abs() < 1e-12 && (found.standard_error - 1.0).abs() < 1e-12);
        assert!((found.df - 8.0).abs() < 1e-9);
        assert_eq!((found.own, found.other), (5, 5));
        let [low, high] = found.interval(0.95).unwrap();
        assert!((low + 2.0 + 2.306).abs() < 1e-3 && (high + 2.0 - 2.306).abs() < 1e-3);
        assert!(!found.differs(0.95) && found.differs(0.9));
        assert_eq!(effect(&own[1..], &other), None);
        assert_eq!(effect(&[1.0; 5], &[1.0; 5]), None);
        assert_eq!(found.interval(1.0), None);
    }

    #[test]
    fn equal_sides_differ_as_often_as_is_said_and_a_gain_is_found() {
        let mut rng = Pcg64::seed_from_u64(1);
        let mut differs = |gain: f64| {
            let found = (0..1_000).filter_map(|_| AfterItself::of(&runs(60, gain, &mut rng)));
            found.filter(|found| found.differs(0.99)).count()
        };
        // 1 % of 1,000 is 10, with a standard deviation of 3.1.
        assert!(differs(0.0) <= 22);
        assert!(differs(0.05) >= 950);
    }

    #[test]
    fn programs_are_pooled_by_the_runs_that_tell_of_them() {
        let one = |shift, runs| AfterItself {
            shift,
            standard_error: 1.0,
            df: 8.0,
            own: runs,
            other: runs,
        };
        let pooled = AfterItself::pooled(&[one(0.0, 10), one(4.0, 30)]).unwrap();
        assert!((pooled.shift - 3.0).abs() < 1e-12);
        assert!((pooled.standard_error - (0.0625_f64 + 0.5625).sqrt()).abs() < 1e-12);
        assert_eq!((pooled.own, pooled.other), (40, 40));
        assert_eq!(AfterItself::pooled(&[]), None);
    }
}
