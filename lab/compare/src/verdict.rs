//! What may be said of one candidate.

use std::fmt;

use lab_stats::outcome::Outcome;
use serde::{Deserialize, Serialize};

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
    pub(crate) fn of(outcome: Outcome) -> Self {
        Self { outcome, size: None, missing: None }
    }

    pub(crate) fn without(missing: Missing) -> Self {
        Self { missing: Some(missing), ..Self::of(Outcome::CannotTell) }
    }

    /// Whether more runs are not needed for it.
    pub(crate) fn settles(self) -> bool {
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
