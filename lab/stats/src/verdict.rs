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
    /// The typical run is equivalent; whether the tail is too is not shown.
    Tail,
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
        match self.missing {
            Some(Missing::Tail) => f.write_str("typical run equivalent, tail unknown"),
            Some(Missing::Control) | None => write!(f, "{}{size}", self.outcome),
        }
    }
}

/// What a sequence of candidate minus reference shows, where less is better and before any control
/// is asked; `None` where it shows nothing. `margin` is on the sequence's scale.
pub fn reading(
    sequence: &Sequence,
    tail_is_equivalent: impl FnOnce() -> bool,
    margin: f64,
) -> Option<Verdict> {
    let small = sequence.excludes(margin) && sequence.excludes(-margin);
    if !small && !sequence.excludes(0.0) {
        return None;
    }
    let Hull { low, high } = sequence.interval()?;
    let within = -margin <= low && high <= margin;
    let size = match within {
        true => Some(Size::Within),
        false => (margin <= low || high <= -margin).then_some(Size::Beyond),
    };
    let outcome = if high < 0.0 {
        Outcome::Faster
    } else if low > 0.0 {
        Outcome::Slower
    } else if !within {
        return None;
    } else if tail_is_equivalent() {
        return Some(Verdict::of(Outcome::Equivalent));
    } else {
        return Some(Verdict::without(Missing::Tail));
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
    let effect = sequence.estimate().map_or(0.0, f64::abs);
    margin.max(effect / 2.0)
}
