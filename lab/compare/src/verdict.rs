//! What may be said of one candidate.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The answer, in the words of every table of the lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The candidate takes less.
    Faster,
    /// The candidate takes more.
    Slower,
    /// The typical run differs by less than the margin, and so does the tail.
    Equivalent,
    /// The typical run differs by less than the margin; of the tail that is not shown.
    TypicalEquivalent,
    /// None of these is shown.
    CannotTell,
    /// The reference differs from itself, so that no answer is given.
    Withheld,
}

/// Where a difference lies against the margin, where that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    /// Wholly outside.
    Beyond,
    /// Wholly inside.
    Within,
}

/// A finding, and its size where one is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The answer.
    pub finding: Finding,
    /// Against the margin, of *faster* and *slower* alone.
    pub size: Option<Size>,
    /// It would have been an answer, but the control's interval is too wide yet.
    pub waits_for_control: bool,
}

impl Verdict {
    pub(crate) fn of(finding: Finding) -> Self {
        Self { finding, size: None, waits_for_control: false }
    }

    /// Whether more runs are not needed for it.
    pub(crate) fn settles(self) -> bool {
        !matches!(self.finding, Finding::CannotTell | Finding::TypicalEquivalent)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = match self.size {
            Some(Size::Beyond) => ", beyond the margin",
            Some(Size::Within) => ", within the margin",
            None => "",
        };
        let word = match self.finding {
            Finding::Faster => "faster",
            Finding::Slower => "slower",
            Finding::Equivalent => "equivalent",
            Finding::TypicalEquivalent => "typical run equivalent, tail unknown",
            Finding::CannotTell => "cannot tell",
            Finding::Withheld => "withheld",
        };
        write!(f, "{word}{size}")
    }
}
