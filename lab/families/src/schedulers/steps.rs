//! The steps of a replay: which arm a policy took, which would have been better, what it lost.

use lab_protocol::schedulers::names;
use lab_record::Samples;

/// Steps that are looked at together where one asks whether a policy has settled.
pub(crate) const WINDOW: usize = 20;
/// Of those, how many must take the better arm: 90 %, for a policy that explores never takes all.
pub(crate) const SETTLED: usize = 18;
/// Points of a curve of cumulative regret.
pub(crate) const POINTS: usize = 100;
/// Kept instead of the costs where a report's samples are slimmed.
pub(crate) const BETTER_ARM: &str = "better_arm";
/// The cumulative regret at [`POINTS`] evenly spaced steps, where the samples are slimmed.
pub(crate) const REGRET_CURVE: &str = "regret_curve_ns";
/// The sum of all costs, where the samples are slimmed.
pub(crate) const COST_TOTAL: &str = "cost_total_ns";

const OFFLOAD: i64 = 1;

/// Decisions of one replay, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    /// Whether the policy offloaded.
    pub(crate) offloaded: Vec<bool>,
    /// Whether offloading was the cheaper arm. Where both cost the same it is what was taken.
    better: Vec<bool>,
}

/// What a policy did after the better arm changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Switch {
    /// The first step at which the other arm is the better one.
    pub(crate) at: usize,
    /// The first step of the next change, or the end.
    pub(crate) end: usize,
    /// Whether the better arm is now to offload.
    pub(crate) to_offload: bool,
    /// Steps from the change until the first after which [`SETTLED`] of the next [`WINDOW`]
    /// decisions take the better arm; `None` where that was never so before the next change.
    pub(crate) steps: Option<usize>,
}

impl Switch {
    /// Where the change was never followed, the steps until the next one: less than it would have
    /// needed.
    pub(crate) fn at_least(&self) -> usize {
        self.steps.unwrap_or(self.end - self.at)
    }
}

impl Steps {
    /// `None` where the columns of a replay are not there, or not of one length.
    pub(crate) fn of(samples: &Samples) -> Option<Self> {
        let arms = samples.raw(names::ARM)?;
        let offloaded: Vec<bool> = arms.iter().map(|arm| *arm == OFFLOAD).collect();
        let better: Vec<bool> = match (samples.raw(BETTER_ARM), samples.raw(names::REGRET_NS)) {
            (Some(kept), _) => kept.iter().map(|arm| *arm == OFFLOAD).collect(),
            (None, Some(regret)) => {
                let other = |(took, regret): (&bool, &i64)| *took != (*regret > 0);
                offloaded.iter().zip(regret).map(other).collect()
            }
            _ => return None,
        };
        (better.len() == arms.len() && !arms.is_empty()).then_some(Self { offloaded, better })
    }

    pub(crate) fn better_arms(&self) -> Vec<i64> {
        self.better.iter().map(|offload| i64::from(*offload)).collect()
    }

    pub(crate) fn offload_share(&self) -> f64 {
        share(&self.offloaded)
    }

    /// The share of steps that took the better arm.
    pub(crate) fn better_share(&self) -> f64 {
        share(&self.hits())
    }

    /// Steps before the first [`WINDOW`] of which [`SETTLED`] take the better arm.
    pub(crate) fn learning(&self) -> Option<usize> {
        settles(&self.hits())
    }

    /// Every lasting change of the better arm: [`WINDOW`] steps before and after it agree.
    pub(crate) fn switches(&self) -> Vec<Switch> {
        let all = |steps: &[bool], arm: bool| steps.iter().all(|better| *better == arm);
        let lasting = |at: &usize| {
            let (before, after) = (&self.better[at - WINDOW..*at], &self.better[*at..*at + WINDOW]);
            before[WINDOW - 1] != after[0] && all(before, before[0]) && all(after, after[0])
        };
        let n = self.better.len();
        let changes: Vec<usize> =
            (WINDOW..(n + 1).saturating_sub(WINDOW)).filter(lasting).collect();
        let hits = self.hits();
        let switch = |(position, &at): (usize, &usize)| {
            let end = changes.get(position + 1).copied().unwrap_or(n);
            Switch { at, end, to_offload: self.better[at], steps: settles(&hits[at..end]) }
        };
        changes.iter().enumerate().map(switch).collect()
    }

    fn hits(&self) -> Vec<bool> {
        self.offloaded.iter().zip(&self.better).map(|(took, better)| took == better).collect()
    }
}

/// Regret summed up to [`POINTS`] evenly spaced steps, the last of which is the end.
pub(crate) fn regret_curve(samples: &Samples) -> Option<Vec<i64>> {
    if let Some(kept) = samples.raw(REGRET_CURVE) {
        return Some(kept.to_vec());
    }
    let regret = samples.raw(names::REGRET_NS).filter(|regret| !regret.is_empty())?;
    let up_to = |point: usize| point * regret.len() / POINTS;
    let mut sum = 0;
    let points = (1..=POINTS).map(|point| {
        sum += regret[up_to(point - 1)..up_to(point)].iter().sum::<i64>();
        sum
    });
    Some(points.collect())
}

/// What all steps cost together.
pub(crate) fn total_cost(samples: &Samples) -> Option<i64> {
    let kept = samples.raw(COST_TOTAL).and_then(|kept| kept.first().copied());
    kept.or_else(|| {
        samples.raw(names::ARM)?;
        Some(samples.raw(names::COST_NS)?.iter().sum())
    })
}

fn settles(hits: &[bool]) -> Option<usize> {
    let settled = |window: &[bool]| window.iter().filter(|hit| **hit).count() >= SETTLED;
    hits.windows(WINDOW).position(settled)
}

fn share(flags: &[bool]) -> f64 {
    flags.iter().filter(|flag| **flag).count() as f64 / flags.len() as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Inline is better for 60 steps, then offloading for 60; the policy follows `late` steps late.
    fn samples(late: usize) -> Samples {
        let better: Vec<bool> = (0..120).map(|step| step >= 60).collect();
        let arms: Vec<bool> = (0..120).map(|step| step >= 60 + late).collect();
        let wrong = better.iter().zip(&arms).map(|(better, arm)| i64::from(better != arm) * 100);
        Samples::from_raw(BTreeMap::from([
            ("regret_ns".to_owned(), wrong.collect()),
            ("cost_ns".to_owned(), vec![1; 120]),
            ("arm".to_owned(), arms.into_iter().map(i64::from).collect()),
        ]))
    }

    #[test]
    fn a_switch_is_timed_from_its_change() {
        let steps = Steps::of(&samples(10)).unwrap();
        // Two misses are left in the first window that counts as settled.
        let expected = Switch { at: 60, end: 120, to_offload: true, steps: Some(8) };
        assert_eq!(steps.switches(), [expected]);
        assert_eq!(steps.learning(), Some(0));
        let never = Steps::of(&samples(60)).unwrap();
        assert_eq!(never.switches()[0].steps, None);
    }

    #[test]
    fn a_curve_ends_at_the_sum() {
        let curve = regret_curve(&samples(10)).unwrap();
        assert_eq!((curve.len(), curve[0], curve[POINTS - 1]), (POINTS, 0, 1_000));
        assert_eq!(total_cost(&samples(10)), Some(120));
    }

    #[test]
    fn what_is_no_replay_has_no_steps() {
        assert_eq!(Steps::of(&Samples::default()), None);
        assert_eq!(regret_curve(&Samples::default()), None);
    }
}
