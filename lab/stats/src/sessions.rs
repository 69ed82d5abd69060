//! Estimates of several sessions: what holds over sessions, how much sessions differ, and what the
//! next one has to be expected to find.
//!
//! Session i has an estimate y with a sampling variance v; its true value is drawn around the mean
//! of all sessions that might have been, with a variance τ² of its own. Weights are 1 / (v + τ²).
//!
//! * τ² is the one at which the weighted squares Q(τ²) add up to their expectation k − 1, or 0:
//!   Paule and Mandel (1982), "Consensus values and weighting factors", Journal of Research of the
//!   National Bureau of Standards 87(5), pp. 377-385, equation (6) and the iteration below it.
//! * The mean's error is that of Knapp and Hartung (2003), "Improved tests for a random effects
//!   meta-regression with a single covariate", Statistics in Medicine 22(17), pp. 2693-2710: the
//!   variance 1 / Σw times Q(τ²) / (k − 1), with Student's t of k − 1 degrees. That factor is 1 at
//!   a τ² of Paule and Mandel above 0, and below 1 at a τ² of 0, where the modification keeps it
//!   at 1, so that the width never falls below that of one common value. Both together are thus
//!   1 / Σw. The modification is recommended by Röver, Knapp and Friede (2015), BMC Medical
//!   Research Methodology 15:99, for few sessions of unequal precision.
//! * The interval of τ² holds each value whose Q(τ²) lies between the quantiles of χ²: Viechtbauer
//!   (2007), Statistics in Medicine 26(1), pp. 37-52 ("Q-profile"). Where variances are estimated
//!   with few degrees of freedom the quantiles are those of F.
//! * I² is τ² beside a typical sampling variance: Higgins and Thompson (2002), Statistics in
//!   Medicine 21(11), pp. 1539-1558, equations (9) and (10).
//! * The next session's estimate: Higgins, Thompson and Spiegelhalter (2009), Journal of the Royal
//!   Statistical Society A 172(1), pp. 137-159, section 4.1 have the interval of the next true
//!   value; its own sampling variance comes on top, and t has k − 1 degrees. Where all sessions
//!   have one variance, and differ by more than it, this is the classical √(1 + 1/k).

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, StudentsT};

use crate::{mean, open_unit, usable};

/// Halvings of an interval that is searched, which leave nothing of it.
const HALVINGS: usize = 100;

/// The estimate of one session.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SessionEstimate {
    /// What it found.
    pub value: f64,
    /// Its sampling variance, above 0.
    pub variance: f64,
}

/// What holds over sessions; see the module's text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sessions {
    /// How many there are.
    pub count: usize,
    /// The mean over all sessions that might have been.
    pub estimate: f64,
    /// Its standard error.
    pub error: f64,
    /// Its interval.
    pub interval: [f64; 2],
    /// The standard deviation of the sessions' true values.
    pub tau: f64,
    /// Its interval.
    pub tau_interval: [f64; 2],
    /// The part of the variance of estimates that the sessions carry, from 0 to 1.
    pub i_squared: f64,
    /// Its interval.
    pub i_squared_interval: [f64; 2],
    /// The probability that sessions of one value disagree as much as these.
    pub p: f64,
    /// What the next session's estimate is expected within, if its sampling variance is the mean of
    /// these.
    pub prediction: [f64; 2],
    /// Of all intervals.
    pub confidence: f64,
}

impl Sessions {
    /// Of estimates whose variances are known with so many degrees of freedom together, or exactly
    /// with [`f64::INFINITY`].
    ///
    /// `None` for fewer than two, unusable values, variances or degrees that are not above 0, and a
    /// `confidence` outside (0, 1).
    pub fn over(sessions: &[SessionEstimate], degrees: f64, confidence: f64) -> Option<Self> {
        let values: Vec<f64> = sessions.iter().map(|session| session.value).collect();
        let variances: Vec<f64> = sessions.iter().map(|session| session.variance).collect();
        let is_known = variances.iter().all(|variance| *variance > 0.0) && degrees > 0.0;
        if sessions.len() < 2 || !usable(&values) || !usable(&variances) || !is_known {
            return None;
        }
        if !open_unit(confidence) {
            return None;
        }
        let between = sessions.len() as f64 - 1.0;
        let chance = Chance::new(between, degrees)?;
        let tau_squared = tau_squared_at(sessions, between);
        let Weighted { mean: estimate, variance, .. } = Weighted::at(sessions, tau_squared);
        let (beyond, typical) = ((1.0 - confidence) / 2.0, typical_variance(&variances));
        let ends = [1.0 - beyond, beyond]
            .map(|probability| tau_squared_at(sessions, chance.quantile(probability)));
        let i_squared = |tau_squared: f64| tau_squared / (tau_squared + typical);
        let t = StudentsT::new(0.0, 1.0, between).ok()?.inverse_cdf(1.0 - beyond);
        let around = |variance: f64| [-1.0, 1.0].map(|sign| estimate + sign * t * variance.sqrt());
        let interval = around(variance);
        let prediction = around(variance + tau_squared + mean(&variances));
        usable(&[interval, prediction, ends].concat()).then(|| Self {
            count: sessions.len(),
            estimate,
            error: variance.sqrt(),
            interval,
            tau: tau_squared.sqrt(),
            tau_interval: ends.map(f64::sqrt),
            i_squared: i_squared(tau_squared),
            i_squared_interval: ends.map(i_squared),
            p: chance.beyond(Weighted::at(sessions, 0.0).squares),
            prediction,
            confidence,
        })
    }

    /// Whether the sessions disagree beyond chance.
    pub fn differ(&self) -> bool {
        self.p < 1.0 - self.confidence
    }

    /// The mean that so many such sessions would have told from 0 with this power.
    pub fn detectable(&self, power: f64) -> Option<f64> {
        let t = StudentsT::new(0.0, 1.0, self.count as f64 - 1.0).ok()?;
        let half = self.interval[1] - self.estimate;
        open_unit(power).then(|| half + self.error * t.inverse_cdf(power))
    }
}

/// Estimates with weights.
struct Weighted {
    mean: f64,
    /// Of that mean.
    variance: f64,
    /// The weighted squares around it.
    squares: f64,
}

impl Weighted {
    fn at(sessions: &[SessionEstimate], tau_squared: f64) -> Self {
        let weight = |session: &SessionEstimate| 1.0 / (session.variance + tau_squared);
        let first = sessions[0].value;
        let sum: f64 = sessions.iter().map(weight).sum();
        let away = |session: &SessionEstimate| weight(session) * (session.value - first);
        let mean = first + sessions.iter().map(away).sum::<f64>() / sum;
        let square = |session: &SessionEstimate| weight(session) * (session.value - mean).powi(2);
        Self { mean, variance: 1.0 / sum, squares: sessions.iter().map(square).sum() }
    }
}

/// The τ² at which the weighted squares, which fall with it, are `squares`; 0 where they are no
/// more without it.
fn tau_squared_at(sessions: &[SessionEstimate], squares: f64) -> f64 {
    let exceeds = |tau_squared: f64| Weighted::at(sessions, tau_squared).squares > squares;
    if !exceeds(0.0) {
        return 0.0;
    }
    // No weight exceeds 1 / τ², and no centre has smaller squares than the weighted mean.
    let equal = sessions.iter().map(|session| SessionEstimate { variance: 1.0, ..*session });
    let (mut low, mut high) =
        (0.0, Weighted::at(&equal.collect::<Vec<_>>(), 0.0).squares / squares);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        *(if exceeds(middle) { &mut low } else { &mut high }) = middle;
    }
    high
}

/// What one variance would have to be for all, as far as weights go.
fn typical_variance(variances: &[f64]) -> f64 {
    let sum: f64 = variances.iter().map(|variance| 1.0 / variance).sum();
    let squares: f64 = variances.iter().map(|variance| variance.powi(-2)).sum();
    (variances.len() as f64 - 1.0) * sum / (sum * sum - squares)
}

/// The weighted squares of sessions of one value, as they come by chance.
enum Chance {
    Known(ChiSquared),
    Estimated { between: f64, of: FisherSnedecor },
}

impl Chance {
    fn new(between: f64, degrees: f64) -> Option<Self> {
        Some(match degrees.is_finite() {
            true => Self::Estimated { between, of: FisherSnedecor::new(between, degrees).ok()? },
            false => Self::Known(ChiSquared::new(between).ok()?),
        })
    }

    fn quantile(&self, probability: f64) -> f64 {
        match self {
            Self::Known(of) => of.inverse_cdf(probability),
            Self::Estimated { between, of } => between * of.inverse_cdf(probability),
        }
    }

    fn beyond(&self, squares: f64) -> f64 {
        match self {
            Self::Known(of) => of.sf(squares),
            Self::Estimated { between, of } => of.sf(squares / between),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, Normal};
    use rand_pcg::Pcg64;

    use super::*;

    fn sessions(pairs: &[(f64, f64)]) -> Vec<SessionEstimate> {
        pairs
            .iter()
            .map(|(value, variance)| SessionEstimate { value: *value, variance: *variance })
            .collect()
    }

    fn over(pairs: &[(f64, f64)], confidence: f64) -> Sessions {
        Sessions::over(&sessions(pairs), f64::INFINITY, confidence).unwrap()
    }

    fn is(found: f64, expected: f64, within: f64) {
        assert!((found - expected).abs() < within, "{found} and not {expected}");
    }

    /// Vaccinated and not: with and without tuberculosis. Colditz et al. (1994), JAMA 271(9),
    /// pp. 698-702, as `dat.bcg` of the R package metafor has it.
    const BCG: [[f64; 4]; 13] = [
        [4.0, 119.0, 11.0, 128.0],
        [6.0, 300.0, 29.0, 274.0],
        [3.0, 228.0, 11.0, 209.0],
        [62.0, 13_536.0, 248.0, 12_619.0],
        [33.0, 5_036.0, 47.0, 5_761.0],
        [180.0, 1_361.0, 372.0, 1_079.0],
        [8.0, 2_537.0, 10.0, 619.0],
        [505.0, 87_886.0, 499.0, 87_892.0],
        [29.0, 7_470.0, 45.0, 7_232.0],
        [17.0, 1_699.0, 65.0, 1_600.0],
        [186.0, 50_448.0, 141.0, 27_197.0],
        [5.0, 2_493.0, 3.0, 2_338.0],
        [27.0, 16_886.0, 29.0, 17_825.0],
    ];

    /// metafor gives for the log risk ratios Q = 152.233, by method PM τ² = 0.3181, and by
    /// `confint` 0.1197 to 1.1115 for τ² and 81.92 to 97.68 % for I²; for the log odds ratios its
    /// page on van Houwelingen et al. (2002) has 0.1302 to 1.1812.
    #[test]
    fn thirteen_trials_of_a_vaccine_give_what_metafor_gives() {
        let risk = BCG.map(|[a, b, c, d]| {
            let (of_a, of_c) = (a + b, c + d);
            ((a / of_a / (c / of_c)).ln(), 1.0 / a - 1.0 / of_a + 1.0 / c - 1.0 / of_c)
        });
        let found = over(&risk, 0.95);
        is(found.tau.powi(2), 0.3181, 1e-4);
        is(found.estimate, -0.714_968_15, 1e-7);
        is(found.error, 0.180_892_19, 1e-7);
        // t of 12 degrees of freedom at 97.5 % is 2.178 812 83.
        is(found.interval[0], -0.714_968_15 - 2.178_812_83 * 0.180_892_19, 1e-6);
        is(found.tau_interval[0].powi(2), 0.1197, 5e-5);
        is(found.tau_interval[1].powi(2), 1.1115, 5e-5);
        is(found.i_squared, 0.923_303, 1e-6);
        is(found.i_squared_interval[0], 0.8192, 5e-5);
        is(found.i_squared_interval[1], 0.9768, 5e-5);
        is(Weighted::at(&sessions(&risk), 0.0).squares, 152.2330, 1e-4);
        assert!(found.p < 1e-20 && found.differ());
        let odds = BCG.map(|counts| {
            let [a, b, c, d] = counts;
            ((a * d / (b * c)).ln(), counts.iter().map(|count| 1.0 / count).sum())
        });
        let [low, high] = over(&odds, 0.95).tau_interval;
        // Its search ends at steps of 1e-4.
        is(low.powi(2), 0.1302, 1e-4);
        is(high.powi(2), 1.1812, 5e-5);
    }

    /// With one variance for all the mean is the plain one, and everything is in closed form.
    #[test]
    fn sessions_of_one_variance_give_the_classical_intervals() {
        let values = [1.0, 3.0, 4.0, 8.0];
        let found = over(&values.map(|value| (value, 0.5)), 0.95);
        // Mean 4, variance 26/3; t of 3 degrees of freedom at 97.5 % is 3.182 446 3.
        let (variance, t) = (26.0 / 3.0_f64, 3.182_446_3);
        is(found.estimate, 4.0, 1e-12);
        is(found.tau.powi(2), variance - 0.5, 1e-9);
        is(found.interval[1], 4.0 + t * (variance / 4.0).sqrt(), 1e-6);
        is(found.prediction[1], 4.0 + t * (variance * 1.25).sqrt(), 1e-6);
        is(found.i_squared, (variance - 0.5) / variance, 1e-9);
        is(found.detectable(0.5).unwrap(), t * (variance / 4.0).sqrt(), 1e-6);
        assert!(found.detectable(0.8).unwrap() > found.detectable(0.5).unwrap());
        // Sessions that agree better than by chance: the width of one common value.
        let alike = over(&[(1.0, 4.0), (1.1, 4.0), (0.9, 4.0), (1.0, 4.0)], 0.95);
        assert_eq!((alike.tau, alike.i_squared, alike.tau_interval[0]), (0.0, 0.0, 0.0));
        is(alike.interval[1], 1.0 + t, 1e-6);
        is(alike.prediction[1], 1.0 + t * 5.0_f64.sqrt(), 1e-6);
        assert!(!alike.differ() && alike.p > 0.99);
    }

    /// Two sessions by hand: Q(τ²) = d² / (v₁ + v₂ + 2τ²) is 1 at τ² = (d² − v₁ − v₂) / 2.
    #[test]
    fn two_sessions_of_unequal_variance_give_what_a_pencil_gives() {
        let found = over(&[(0.0, 1.0), (4.0, 3.0)], 0.95);
        is(found.tau.powi(2), 6.0, 1e-9);
        // Weights 1/7 and 1/9: the mean is 4 · 7/16, its variance 63/16.
        is(found.estimate, 1.75, 1e-9);
        is(found.error, (63.0 / 16.0_f64).sqrt(), 1e-9);
        // χ² of 1 degree of freedom exceeds 4 with 4.550 026 %.
        is(found.p, 0.045_500_26, 1e-7);
        // F of 1 and 10 degrees of freedom with 7.338 8 %.
        let few = Sessions::over(&sessions(&[(0.0, 1.0), (4.0, 3.0)]), 10.0, 0.95).unwrap();
        is(few.p, 0.073_388, 1e-6);
        assert!(few.tau_interval[0] <= found.tau_interval[0] && few.interval == found.interval);
    }

    #[test]
    fn refuses_what_nothing_can_be_said_of() {
        let two = sessions(&[(0.0, 1.0), (1.0, 1.0)]);
        assert!(Sessions::over(&two, 5.0, 0.99).is_some());
        assert_eq!(Sessions::over(&two[..1], 5.0, 0.99), None);
        assert_eq!(Sessions::over(&two, 0.0, 0.99), None);
        assert_eq!(Sessions::over(&two, f64::NAN, 0.99), None);
        assert_eq!(Sessions::over(&two, 5.0, 1.0), None);
        for broken in [(f64::NAN, 1.0), (0.0, 0.0), (0.0, -1.0), (0.0, f64::INFINITY)] {
            assert_eq!(Sessions::over(&sessions(&[(0.0, 1.0), broken]), 5.0, 0.99), None);
        }
    }

    /// The corners of the table that `tools/proof sessions` prints.
    #[test]
    fn intervals_hold_what_they_are_said_to_hold() {
        let tries = 1_500;
        for (count, tau, ratio) in
            [(2, 0.0, 1.0), (3, 1.2, 10.0), (6, 0.0, 10.0), (6, 5.0, 1.0), (20, 1.2, 10.0)]
        {
            let mut rng = Pcg64::seed_from_u64(count as u64);
            let mut draw = |sd: f64| Normal::new(0.0, sd).unwrap().sample(&mut rng);
            let (mut held, mut foretold) = (0, 0);
            for made in 0..tries {
                let variance =
                    |at: usize| -> f64 { if at.is_multiple_of(2) { 1.0 } else { ratio } };
                let mut one = |at: usize| (draw(tau) + draw(variance(at).sqrt()), variance(at));
                let of: Vec<(f64, f64)> = (0..count).map(&mut one).collect();
                let next = one(made).0;
                let found = over(&of, 0.95);
                held += usize::from(found.interval[0] <= 0.0 && 0.0 <= found.interval[1]);
                foretold += usize::from(found.prediction[0] <= next && next <= found.prediction[1]);
            }
            let least = tries * 93 / 100;
            assert!(held >= least && foretold >= least, "{count} {tau} {ratio}: {held} {foretold}");
        }
    }
}
