//! Where a number is to be, and whether it is there.

use super::trials::Trials;
use crate::measure::Unit;
use crate::reading::Reading;
use crate::tables::show;

/// Where a number is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// Stands beside another bar, and is none.
    None,
}

impl Target {
    pub(super) fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
            Self::None => true,
        }
    }

    pub(super) fn surely(self, reading: &Reading) -> bool {
        match self {
            Self::AtMost(bound) => reading.surely_at_most(bound),
            Self::AtLeast(bound) => reading.surely_at_least(bound),
            Self::None => true,
        }
    }

    /// Missed with the interval's confidence.
    pub(super) fn surely_not(self, reading: &Reading) -> bool {
        match self {
            Self::AtMost(bound) => reading.low_high.is_some_and(|(low, _)| low > bound),
            Self::AtLeast(bound) => reading.low_high.is_some_and(|(_, high)| high < bound),
            Self::None => false,
        }
    }

    pub(super) fn text(self, unit: Unit) -> String {
        match self {
            Self::AtMost(bound) => format!("at most {}", show(bound, unit)),
            Self::AtLeast(bound) => format!("at least {}", show(bound, unit)),
            Self::None => "none, it stands beside".to_owned(),
        }
    }
}

/// Whether a number is where it is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    /// The whole interval is.
    Yes,
    /// The whole interval is not.
    No,
    /// The interval reaches over the bound, there are too few blocks for one, or the lab tells two
    /// equal programs apart by this metric.
    Unknown,
    NotMeasured,
}

impl Truth {
    pub(super) fn of(
        trials: &Trials,
        metric: &str,
        reading: Option<&Reading>,
        target: Target,
    ) -> Self {
        match reading {
            None => Self::NotMeasured,
            Some(_) if trials.doubt(metric).is_some() => Self::Unknown,
            Some(reading) if target.surely(reading) => Self::Yes,
            Some(reading) if target.surely_not(reading) => Self::No,
            Some(_) => Self::Unknown,
        }
    }

    /// What holds for all runs and for those that passed the noise gate, where not all did.
    pub(super) fn agreed(self, clean: Option<Self>) -> Self {
        match clean {
            Some(clean) if clean != self => Self::Unknown,
            _ => self,
        }
    }

    /// One that is not refutes all; one that is not known leaves all unknown.
    pub(super) fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let parts: Vec<Self> = parts.into_iter().collect();
        let holds = [Self::No, Self::NotMeasured, Self::Unknown];
        let found = holds.into_iter().find(|truth| parts.contains(truth));
        found.unwrap_or(if parts.is_empty() { Self::NotMeasured } else { Self::Yes })
    }
}
