//! What holds over sessions, put in the place of what holds in one.

use lab_stats::{
    by_session::{OverSessions, verdict},
    outcome::Outcome,
    verdict::{Missing, Verdict, needs_for},
};

use crate::{CandidateState, Estimate, POWER, State};

/// As a comparison tells it, where a verdict is about sessions.
pub fn estimate_over(of: &OverSessions) -> Option<Estimate> {
    let over = of.verdict_over()?;
    let pairs = of.pairs.iter().sum();
    Some(Estimate { shift: over.estimate, interval: Some(over.interval), pairs })
}

/// Puts what holds over sessions in the place of what holds in this one, against a margin of
/// logarithms.
fn put_into(of: &OverSessions, candidate: &mut CandidateState, margin: f64) {
    let Some(over) = of.verdict_over() else { return };
    let [low, high] = over.interval;
    candidate.metrics[0].estimate = estimate_over(of);
    candidate.verdict = verdict(over.interval, margin);
    candidate.slower_beyond_margin =
        if high <= margin { Some(false) } else { (low >= margin).then_some(true) };
    candidate.detectable = over.detectable(POWER);
    candidate.seconds_to_go = None;
}

/// Puts what holds over sessions into a state: one for each candidate, and the control's last where
/// there is one. `margin` is one of logarithms.
pub fn over_state(state: &mut State, each: &[OverSessions], margin: f64) {
    let candidates = state.candidates.len();
    let control = each.get(candidates).and_then(estimate_over);
    let is_withheld = |verdict: Verdict| verdict.outcome == Outcome::Withheld;
    let all = state.candidates.iter_mut().zip(each);
    for (candidate, over) in all.filter(|(candidate, _)| candidate.endings.is_none()) {
        let before = candidate.verdict;
        put_into(over, candidate, margin);
        let against = control.as_ref().and_then(|control| control.interval);
        let Some([low, high]) = against else { continue };
        let estimate = candidate.metrics[0].estimate.as_ref().map_or(0.0, |found| found.shift);
        // As in a single session: the control holds 0, and is known as well as the verdict claims.
        let needs = needs_for(estimate, margin);
        if low > 0.0 || high < 0.0 || is_withheld(before) {
            candidate.verdict = Verdict::of(Outcome::Withheld);
            candidate.slower_beyond_margin = None;
        } else if (high - low) / 2.0 > needs && candidate.verdict.settles() {
            candidate.verdict = Verdict::without(Missing::Control);
            candidate.slower_beyond_margin = None;
        }
    }
    if control.is_some() {
        state.control = control;
    }
}
