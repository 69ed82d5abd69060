//! What pairs tell of the sessions that they were run in.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{
    describe::{NORMAL_SD_PER_MAD, median},
    mean,
    outcome::Outcome,
    sequence::Hull,
    sessions::{SessionEstimate, Sessions},
    verdict::{Verdict, of_interval},
};

/// From so many sessions on a verdict is about sessions.
pub const ENOUGH_SESSIONS: usize = 6;
/// Pairs without which a session tells nothing of its own noise.
pub const LEAST_PAIRS: usize = 2;
/// A pair counts for at most this many robust standard deviations from its session's middle, as in
/// the confidence sequence: a hiccup must not look like a session.
const CLIP_SDS: f64 = 3.0;
/// A session's middle moves no more after so many steps.
const STEPS: usize = 20;
/// The variance of pairs that are all equal: counts are, times never.
const LEAST_VARIANCE: f64 = 1e-12;

/// One command against the reference, by session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OverSessions {
    /// The pairs of each session, in their order.
    pub pairs: Vec<usize>,
    /// ln(candidate / reference) of each session with two pairs and more.
    pub each: Vec<SessionEstimate>,
    /// What holds over them; `None` of fewer than two.
    pub over: Option<Sessions>,
    /// Whether a verdict is about sessions: all that were asked for were run, and are enough.
    pub is_verdict: bool,
}

/// What pairs (session, ln(candidate / reference)) tell of so many sessions, at level `alpha`.
///
/// A session's estimate is the middle of its pairs, each counting for at most three robust standard
/// deviations (Huber's, as the confidence sequence's). The spread of pairs is taken as one for all
/// sessions, so that a session of two pairs does not look precise by chance; where it is not one,
/// the weights are nearly equal, and Student's t of equal weights holds for unequal variances up
/// to a level of 8 % (Ibragimov and Müller 2010, Journal of Business and Economic Statistics 28(4),
/// pp. 453-468, from Bakirov and Székely 2005).
pub fn over_sessions(pairs: &[(usize, f64)], sessions: usize, alpha: f64) -> OverSessions {
    let mut groups = vec![Vec::new(); sessions];
    for (session, difference) in pairs.iter().filter(|(_, difference)| difference.is_finite()) {
        if let Some(group) = groups.get_mut(*session) {
            group.push(*difference);
        }
    }
    let told = groups.iter().filter(|group| group.len() >= LEAST_PAIRS);
    let told: Vec<&[f64]> = told.map(Vec::as_slice).collect();
    let clip = CLIP_SDS * robust_sd(&told);
    let clipped: Vec<(f64, Vec<f64>)> = told.iter().map(|group| around(group, clip)).collect();
    let degrees = told.iter().map(|group| group.len() - 1).sum::<usize>() as f64;
    let squares = clipped.iter().flat_map(|(_, away)| away).map(|away| away * away).sum::<f64>();
    let variance = (squares / degrees).max(LEAST_VARIANCE);
    let each: Vec<SessionEstimate> = (clipped.iter())
        .map(|(value, away)| SessionEstimate {
            value: *value,
            variance: variance / away.len() as f64,
        })
        .collect();
    let over = Sessions::over(&each, degrees, 1.0 - alpha);
    let is_verdict = over.is_some() && sessions >= ENOUGH_SESSIONS && each.len() == sessions;
    OverSessions { pairs: groups.iter().map(Vec::len).collect(), each, over, is_verdict }
}

/// The standard deviation of pairs around the middles of their sessions, as their median deviation
/// tells it; the deviations of a session's few pairs from their own middle are too small.
fn robust_sd(groups: &[&[f64]]) -> f64 {
    let away = |group: &&[f64]| -> Vec<f64> {
        let size = group.len() as f64;
        let (centre, grown) = (median(group).unwrap_or_default(), (size / (size - 1.0)).sqrt());
        group.iter().map(|value| (value - centre).abs() * grown).collect()
    };
    let away: Vec<f64> = groups.iter().flat_map(away).collect();
    let sd = NORMAL_SD_PER_MAD * median(&away).unwrap_or_default();
    // Where most pairs are equal there is no deviation to clip at.
    if sd > 0.0 { sd } else { f64::MAX / CLIP_SDS }
}

/// The value from which the clipped deviations add up to 0, and these.
fn around(group: &[f64], clip: f64) -> (f64, Vec<f64>) {
    let mut centre = median(group).unwrap_or_default();
    let away = |centre: f64| group.iter().map(move |value| (value - centre).clamp(-clip, clip));
    for _ in 0..STEPS {
        centre += away(centre).sum::<f64>() / group.len() as f64;
    }
    (centre, away(centre).collect())
}

impl OverSessions {
    /// What holds over sessions, where a verdict is about them.
    pub fn verdict_over(&self) -> Option<&Sessions> {
        self.over.as_ref().filter(|_| self.is_verdict)
    }

    /// The part of the variance of a session's estimate that lies between sessions, from 0 to 1.
    pub fn between(&self) -> Option<f64> {
        let tau_squared = self.over.as_ref()?.tau.powi(2);
        let variances: Vec<f64> = self.each.iter().map(|session| session.variance).collect();
        Some(tau_squared / (tau_squared + mean(&variances)))
    }

    /// Pairs in a session for which a given width takes the least time, where a session costs so
    /// much besides its pairs: √(cost of a session / cost of a pair × variance of pairs / τ²),
    /// Kalibera and Jones (2013), equation 3. `None` where sessions are not seen to differ: then
    /// pairs alone count.
    pub fn cheapest(&self, session_cost: f64, pair_cost: f64) -> Option<f64> {
        let tau_squared = self.over.as_ref()?.tau.powi(2);
        let told = self.pairs.iter().find(|pairs| **pairs >= LEAST_PAIRS)?;
        let of_a_pair = self.each.first()?.variance * *told as f64;
        let best = (session_cost / pair_cost * of_a_pair / tau_squared).sqrt();
        best.is_finite().then(|| best.max(LEAST_PAIRS as f64))
    }

    /// The half-width of the interval with so many times the sessions and so many times the pairs
    /// in each, if sessions differ as these do. What more pairs buy is the variance within sessions
    /// alone: Kalibera and Jones (2013), "Rigorous Benchmarking in Reasonable Time", ISMM, section
    /// 6.
    pub fn half_width(&self, sessions: usize, pairs: usize) -> Option<f64> {
        let over = self.over.as_ref()?;
        let variances: Vec<f64> = self.each.iter().map(|session| session.variance).collect();
        let count = (sessions * self.each.len()) as f64;
        let t = StudentsT::new(0.0, 1.0, count - 1.0).ok()?;
        let t = t.inverse_cdf(1.0 - (1.0 - over.confidence) / 2.0);
        let variance = over.tau.powi(2) + mean(&variances) / pairs as f64;
        Some(t * (variance / count).sqrt())
    }
}

/// What an interval over sessions shows against a margin of logarithms.
pub fn verdict([low, high]: [f64; 2], margin: f64) -> Verdict {
    of_interval(Hull { low, high }, margin).unwrap_or(Verdict::of(Outcome::CannotTell))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sessions of these offsets and of so many pairs, whose noise adds up to nothing.
    fn pairs(offsets: &[f64], count: usize) -> Vec<(usize, f64)> {
        let noise = |pair: usize| 0.01 * if pair.is_multiple_of(2) { 1.0 } else { -1.0 };
        let of = |(session, offset): (usize, &f64)| {
            let offset = *offset;
            (0..count).map(move |pair| (session, offset + noise(pair))).collect::<Vec<_>>()
        };
        offsets.iter().enumerate().flat_map(of).collect()
    }

    #[test]
    fn sessions_that_agree_are_known_as_well_as_their_pairs() {
        let found = over_sessions(&pairs(&[0.1; 6], 8), 6, 0.05);
        let over = found.over.as_ref().unwrap();
        assert!((over.estimate - 0.1).abs() < 1e-9 && over.tau == 0.0, "{over:?}");
        // 48 pairs with a variance of 48 · 0.01² / 42; t of 5 degrees at 97.5 % is 2.570 582.
        let half = 2.570_582 * (0.01_f64.powi(2) / 42.0).sqrt();
        assert!((over.interval[1] - 0.1 - half).abs() < 1e-7, "{over:?}");
        assert!(found.is_verdict && !over.differ() && found.pairs == [8; 6]);
    }

    #[test]
    fn what_sessions_carry_is_found_beside_the_noise_of_pairs() {
        let offsets = [0.05, -0.05, 0.03, -0.03, 0.01, -0.01];
        let found = over_sessions(&pairs(&offsets, 8), 6, 0.01);
        let over = found.over.unwrap();
        let between = offsets.iter().map(|offset| offset * offset).sum::<f64>() / 5.0;
        let within = 0.01_f64.powi(2) * 8.0 / 7.0 / 8.0;
        assert!((over.tau.powi(2) - (between - within)).abs() < 1e-9, "{over:?}");
        assert!(over.differ() && over.estimate.abs() < 1e-9);
    }

    #[test]
    fn more_pairs_help_as_far_as_pairs_carry_the_variance() {
        let offsets = [0.05, -0.05, 0.03, -0.03, 0.01, -0.01];
        let found = over_sessions(&pairs(&offsets, 8), 6, 0.05);
        let interval = found.over.as_ref().unwrap().interval;
        let now = found.half_width(1, 1).unwrap();
        assert!((now - (interval[1] - interval[0]) / 2.0).abs() < 1e-12, "{found:?}");
        // Nearly all of it is between sessions; t of 11 degrees at 97.5 % is 2.200 985, of 5 it is
        // 2.570 582.
        assert!(found.half_width(1, 1000).unwrap() > 0.99 * now);
        let doubled = found.half_width(2, 1).unwrap();
        assert!((doubled / now - 2.200_985 / 2.570_582 / 2.0_f64.sqrt()).abs() < 1e-6);
        let alike = over_sessions(&pairs(&[0.1; 6], 8), 6, 0.05);
        let [now, more] = [1, 4].map(|times| alike.half_width(1, times).unwrap());
        assert!((now / more - 2.0).abs() < 1e-9, "only pairs carry variance here");
    }

    #[test]
    fn the_cheapest_plan_weighs_what_a_session_costs() {
        let offsets = [0.05, -0.05, 0.03, -0.03, 0.01, -0.01];
        let found = over_sessions(&pairs(&offsets, 8), 6, 0.05);
        let tau_squared = found.over.as_ref().unwrap().tau.powi(2);
        let of_a_pair = 0.01_f64.powi(2) * 8.0 / 7.0;
        let best = found.cheapest(900.0, 1.0).unwrap();
        assert!((best - 30.0 * (of_a_pair / tau_squared).sqrt()).abs() < 1e-6, "{best}");
        assert_eq!(found.cheapest(1.0, 1.0), Some(2.0), "a session of one pair tells nothing");
        assert!(found.between().unwrap() > 0.95);
        let alike = over_sessions(&pairs(&[0.1; 6], 8), 6, 0.05);
        assert_eq!((alike.cheapest(900.0, 1.0), alike.between()), (None, Some(0.0)));
    }

    #[test]
    fn a_hiccup_does_not_look_like_a_session() {
        let mut pairs = pairs(&[0.0; 6], 10);
        pairs[3].1 = 5.0;
        let over = over_sessions(&pairs, 6, 0.01).over.unwrap();
        assert!(over.estimate.abs() < 0.002 && !over.differ(), "{over:?}");
    }

    #[test]
    fn a_verdict_is_about_sessions_where_all_are_there_and_are_six() {
        let is_verdict = |offsets: usize, sessions: usize, count: usize| {
            over_sessions(&pairs(&vec![0.0; offsets], count), sessions, 0.01).is_verdict
        };
        assert!(is_verdict(6, 6, 2) && is_verdict(7, 7, 3));
        assert!(!is_verdict(5, 5, 9), "five are too few");
        assert!(!is_verdict(6, 7, 9), "one was not run");
        assert!(!is_verdict(6, 6, 1), "one pair tells nothing");
        let none = over_sessions(&[], 6, 0.01);
        assert_eq!((none.over, none.pairs), (None, vec![0; 6]));
    }

    #[test]
    fn counts_that_are_always_equal_are_told_apart() {
        let equal: Vec<(usize, f64)> = (0..24).map(|at| (at / 4, 0.02)).collect();
        let over = over_sessions(&equal, 6, 0.01).over.unwrap();
        assert!(over.interval[0] > 0.019 && over.interval[1] < 0.021, "{over:?}");
    }

    #[test]
    fn a_verdict_is_where_the_interval_lies() {
        let said = |low, high| verdict([low, high], 0.02).to_string();
        assert_eq!(said(0.03, 0.05), "slower, beyond the margin");
        assert_eq!(said(0.01, 0.05), "slower");
        assert_eq!(said(-0.015, -0.01), "faster, within the margin");
        assert_eq!(said(-0.01, 0.01), "equivalent");
        assert_eq!(said(-0.01, 0.03), "cannot tell");
    }
}
