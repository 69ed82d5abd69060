//! What may be said of one candidate at any look at its sequence.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    outcome::Outcome,
    sequence::{Hull, Sequence},
};

/// Where a difference lies against the margin, where that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// Wholly outside.
    Beyond,
    /// Wholly inside.
    Within,
}

/// What is missing to an answer that would else be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// The control's interval is too wide yet.
    Control,
}

/// An outcome, and its size where one is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The answer, in the words of every table of the lab: faster, slower, equivalent, cannot tell
    /// or withheld.
    pub outcome: Outcome,
    /// Against the margin, of *faster* and *slower* alone.
    pub size: Option<Size>,
    /// Of *cannot tell* alone.
    pub missing: Option<Missing>,
}

impl Verdict {
    /// An answer without more.
    pub fn of(outcome: Outcome) -> Self {
        Self { outcome, size: None, missing: None }
    }

    /// No answer yet, and why.
    pub fn without(missing: Missing) -> Self {
        Self { missing: Some(missing), ..Self::of(Outcome::CannotTell) }
    }

    /// Whether more runs are not needed for it.
    pub fn settles(self) -> bool {
        self.outcome != Outcome::CannotTell
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = match self.size {
            Some(Size::Beyond) => ", beyond the margin",
            Some(Size::Within) => ", within the margin",
            None => "",
        };
        write!(f, "{}{size}", self.outcome)
    }
}

/// What a sequence of candidate minus reference shows, where less is better and before any control
/// is asked; `None` where it shows nothing. `margin` is on the sequence's scale.
pub fn reading(sequence: &Sequence, margin: f64) -> Option<Verdict> {
    let small = sequence.excludes(margin) && sequence.excludes(-margin);
    if !small && !sequence.excludes(0.0) {
        return None;
    }
    of_interval(sequence.interval()?, margin)
}

/// What an interval of candidate minus reference shows, where less is better; `None` where it shows
/// nothing.
pub fn of_interval(interval: Hull, margin: f64) -> Option<Verdict> {
    let Hull { low, high } = interval;
    let within = -margin <= low && high <= margin;
    let size = match within {
        true => Some(Size::Within),
        false => (margin <= low || high <= -margin).then_some(Size::Beyond),
    };
    let outcome = if high < 0.0 {
        Outcome::Faster
    } else if low > 0.0 {
        Outcome::Slower
    } else {
        return within.then(|| Verdict::of(Outcome::Equivalent));
    };
    Some(Verdict { outcome, size, missing: None })
}

/// Whether a control that compares the reference with itself lets a verdict on `sequence` count: it
/// holds 0, and is known as well as the verdict claims to be, to the margin or to half of a larger
/// effect.
pub fn control_suffices(control: &Sequence, sequence: &Sequence, margin: f64) -> bool {
    let enough = control_needs(sequence, margin);
    control.interval().is_some_and(|hull| hull.holds(0.0) && hull.half_width() <= enough)
}

/// The half-width at which a control is known well enough for a verdict on `sequence`.
pub fn control_needs(sequence: &Sequence, margin: f64) -> f64 {
    needs_for(sequence.estimate().unwrap_or(0.0), margin)
}

/// The same for a verdict on an estimated difference.
pub fn needs_for(estimate: f64, margin: f64) -> f64 {
    margin.max(estimate.abs() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs around a shift, that vary by ±`noise`.
    fn around(shift: f64, noise: f64, pairs: usize) -> Sequence {
        let mut sequence = Sequence::new(0.01, &[]).unwrap();
        let spread = |at: usize| ((at * 7919) % 101) as f64 / 50.0 - 1.0;
        for at in 0..pairs {
            assert!(sequence.push(shift + noise * spread(at)));
        }
        sequence
    }

    fn read(sequence: &Sequence) -> Option<Verdict> {
        reading(sequence, 0.05)
    }

    #[test]
    fn direction_and_size_are_where_the_interval_lies() {
        let verdict = |outcome, size| Some(Verdict { outcome, size, missing: None });
        for (shift, size) in [(0.08, Some(Size::Beyond)), (0.02, Some(Size::Within)), (0.05, None)]
        {
            let [faster, slower] = [-shift, shift].map(|shift| around(shift, 0.01, 300));
            assert_eq!(read(&faster), verdict(Outcome::Faster, size), "{shift}");
            assert_eq!(read(&slower), verdict(Outcome::Slower, size), "{shift}");
        }
    }

    #[test]
    fn no_difference_is_equivalent_where_the_interval_lies_inside() {
        assert_eq!(read(&around(0.0, 0.01, 300)), Some(Verdict::of(Outcome::Equivalent)));
        let settles = |verdict: Verdict| verdict.settles();
        assert!(settles(Verdict::of(Outcome::Equivalent)));
        assert!(!settles(Verdict::without(Missing::Control)));
    }

    #[test]
    fn nothing_is_shown_by_few_pairs_or_much_noise() {
        assert_eq!(read(&around(0.5, 0.01, 5)), None);
        assert_eq!(read(&around(0.0, 0.5, 100)), None);
        // One side of the margin is left out, and neither 0 nor the other side.
        assert_eq!(read(&around(-0.02, 0.15, 100)), None);
    }

    #[test]
    fn a_verdict_is_told_in_the_words_of_every_table() {
        let slower = |size| Verdict { size, ..Verdict::of(Outcome::Slower) }.to_string();
        assert_eq!(slower(None), "slower");
        assert_eq!(slower(Some(Size::Beyond)), "slower, beyond the margin");
        assert_eq!(slower(Some(Size::Within)), "slower, within the margin");
        assert_eq!(Verdict::without(Missing::Control).to_string(), "cannot tell");
    }

    #[test]
    fn a_control_must_hold_0_and_be_known_to_the_margin_or_half_of_the_effect() {
        let (small, large) = (around(0.01, 0.01, 300), around(-0.2, 0.01, 300));
        assert_eq!(control_needs(&small, 0.05), 0.05);
        assert!((control_needs(&large, 0.05) - 0.1).abs() < 0.001);
        let rough = around(0.0, 0.6, 300);
        let half_width = rough.interval().unwrap().half_width();
        assert!(0.055 < half_width && half_width < 0.095, "{half_width}");
        assert!(!control_suffices(&rough, &small, 0.05));
        assert!(control_suffices(&rough, &large, 0.05));
        assert!(control_suffices(&around(0.0, 0.01, 300), &small, 0.05));
        assert!(!control_suffices(&around(0.02, 0.01, 300), &small, 0.05));
        assert!(!control_suffices(&around(0.0, 0.01, 5), &small, 0.05));
    }
}
