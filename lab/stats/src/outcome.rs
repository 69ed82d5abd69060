//! What may be said about one question, in one word.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{equivalence::Equivalence, tail::Tail};

/// The answer to a declared question: one word for one situation, in every table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// An expectation: the whole interval lies where it is expected.
    Holds,
    /// An expectation: no part of the interval does.
    Fails,
    /// A comparison: the candidate is better, by the metric's direction.
    Faster,
    /// A comparison: the candidate is worse.
    Slower,
    /// A comparison: the difference is smaller than the margin that was declared to matter.
    Equivalent,
    /// Neither is shown. The smallest detectable difference says what was out of reach.
    CannotTell,
    /// The lab itself did not pass a check on this metric, so that no answer is given.
    Withheld,
    /// No run of this sweep has the numbers.
    NotMeasured,
    /// This machine, or any machine of ours, cannot show it.
    NotTestable,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 9] = [
        Self::Holds,
        Self::Fails,
        Self::Faster,
        Self::Slower,
        Self::Equivalent,
        Self::CannotTell,
        Self::Withheld,
        Self::NotMeasured,
        Self::NotTestable,
    ];

    /// The word of pages and tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::CannotTell => "cannot tell",
            Self::Withheld => "withheld",
            Self::NotMeasured => "not measured",
            Self::NotTestable => "not testable",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A word that is no outcome.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no outcome; there are: {words}",
    words = Outcome::ALL.map(Outcome::word).join(", ")
)]
pub struct UnknownOutcome(String);

impl FromStr for Outcome {
    type Err = UnknownOutcome;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|outcome| outcome.word() == word);
        found.ok_or_else(|| UnknownOutcome(word.to_owned()))
    }
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Times, bytes, CPU.
    LowerIsBetter,
    /// Rates and efficiencies.
    HigherIsBetter,
}

/// What [`of_difference`] reads; all differences are candidate minus reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// The p-value after Holm's adjustment.
    pub adjusted_p: f64,
    /// The Hodges-Lehmann estimate of the difference.
    pub estimate: f64,
    /// The mean difference, which is what the permutation test is about.
    pub mean: f64,
    /// The equivalence test against the declared margin; `None` where it could not be made.
    pub equivalence: Option<Equivalence>,
    /// What is known of the tail; `None` where that could not be computed.
    pub tail: Option<Tail>,
}

impl Evidence {
    /// The typical run is equivalent; whether the tail is too is not shown.
    pub fn is_typically_equivalent(&self) -> bool {
        self.equivalence.is_some_and(|equivalence| equivalence.holds)
            && !self.tail.is_some_and(|tail| tail.holds)
    }
}

/// Faster, slower, equivalent or cannot tell, at the family-wise level `alpha`.
///
/// Equivalence comes first: a difference that is surely not 0 and surely inside the margin was
/// declared, before anything ran, to be too small to matter. It is claimed of middle and tail
/// together, never of the middle alone. A direction is then claimed only
/// where the test is significant, and only where the mean (which was tested) and the estimate
/// (which is printed) have the same sign. Anything else, a NaN included, is
/// [`Outcome::CannotTell`].
pub fn of_difference(evidence: &Evidence, alpha: f64, direction: Direction) -> Outcome {
    let is_middle = evidence.equivalence.is_some_and(|equivalence| equivalence.holds);
    if is_middle && !evidence.is_typically_equivalent() {
        return Outcome::Equivalent;
    }
    let significant = evidence.adjusted_p <= alpha;
    let lower = evidence.estimate < 0.0 && evidence.mean < 0.0;
    let higher = evidence.estimate > 0.0 && evidence.mean > 0.0;
    match (significant, lower, higher, direction) {
        (true, true, _, Direction::LowerIsBetter) => Outcome::Faster,
        (true, _, true, Direction::HigherIsBetter) => Outcome::Faster,
        (true, true, _, Direction::HigherIsBetter) => Outcome::Slower,
        (true, _, true, Direction::LowerIsBetter) => Outcome::Slower,
        _ => Outcome::CannotTell,
    }
}

/// Where a number is expected to lie; both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// The smallest value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
}

impl Region {
    /// Holds where the whole interval lies inside, fails where none of it does. Without an
    /// interval, and with a NaN, nobody can tell.
    pub fn outcome(self, interval: Option<(f64, f64)>) -> Outcome {
        let Some((low, high)) = interval else { return Outcome::CannotTell };
        if low >= self.low && high <= self.high {
            Outcome::Holds
        } else if high < self.low || low > self.high {
            Outcome::Fails
        } else {
            Outcome::CannotTell
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Interval;
    use Direction::{HigherIsBetter, LowerIsBetter};

    fn evidence(adjusted_p: f64, estimate: f64) -> Evidence {
        Evidence { adjusted_p, estimate, mean: estimate, equivalence: None, tail: None }
    }

    #[test]
    fn significance_and_sign_give_the_direction() {
        let lower = evidence(0.01, -2.0);
        let higher = evidence(0.05, 2.0);
        assert_eq!(of_difference(&lower, 0.05, LowerIsBetter), Outcome::Faster);
        assert_eq!(of_difference(&lower, 0.05, HigherIsBetter), Outcome::Slower);
        assert_eq!(of_difference(&higher, 0.05, LowerIsBetter), Outcome::Slower);
        assert_eq!(of_difference(&higher, 0.05, HigherIsBetter), Outcome::Faster);
        let weak = evidence(0.051, -2.0);
        assert_eq!(of_difference(&weak, 0.05, LowerIsBetter), Outcome::CannotTell);
    }

    #[test]
    fn no_direction_without_agreement_or_numbers() {
        let torn = Evidence { mean: 1.0, ..evidence(0.001, -1.0) };
        assert_eq!(of_difference(&torn, 0.05, LowerIsBetter), Outcome::CannotTell);
        for (estimate, mean) in [(-1.0, 0.0), (0.0, -1.0), (1.0, 0.0), (0.0, 1.0)] {
            let on_one_side = Evidence { mean, ..evidence(0.001, estimate) };
            assert_eq!(of_difference(&on_one_side, 0.05, LowerIsBetter), Outcome::CannotTell);
        }
        for broken in [evidence(f64::NAN, -1.0), evidence(0.01, f64::NAN), evidence(0.01, 0.0)] {
            assert_eq!(of_difference(&broken, 0.05, LowerIsBetter), Outcome::CannotTell);
        }
    }

    #[test]
    fn a_difference_inside_the_margin_is_equivalent_even_when_significant() {
        let inside = Equivalence { p: 0.001, interval: None, holds: true };
        let interval = Interval { low: -0.2, high: 0.0, confidence: 0.9 };
        let tail = Tail { slow_share: None, mean: interval, holds: true };
        let small =
            Evidence { equivalence: Some(inside), tail: Some(tail), ..evidence(0.001, -0.1) };
        assert_eq!(of_difference(&small, 0.05, LowerIsBetter), Outcome::Equivalent);
        let unknown = Evidence { tail: Some(Tail { holds: false, ..tail }), ..small };
        assert!(unknown.is_typically_equivalent() && !small.is_typically_equivalent());
        assert_eq!(of_difference(&unknown, 0.05, LowerIsBetter), Outcome::Faster);
        let unsure = Evidence { adjusted_p: 0.3, ..unknown };
        assert_eq!(of_difference(&unsure, 0.05, LowerIsBetter), Outcome::CannotTell);
        let outside = Equivalence { holds: false, ..inside };
        let large = Evidence { equivalence: Some(outside), ..small };
        assert_eq!(of_difference(&large, 0.05, LowerIsBetter), Outcome::Faster);
    }

    #[test]
    fn an_interval_holds_inside_fails_outside_and_else_cannot_tell() {
        let at_least_two = Region { low: 2.0, high: f64::INFINITY };
        assert_eq!(at_least_two.outcome(Some((2.0, 3.0))), Outcome::Holds);
        assert_eq!(at_least_two.outcome(Some((1.0, 1.9))), Outcome::Fails);
        assert_eq!(at_least_two.outcome(Some((1.9, 2.1))), Outcome::CannotTell);
        assert_eq!(at_least_two.outcome(Some((f64::NAN, 3.0))), Outcome::CannotTell);
        assert_eq!(at_least_two.outcome(None), Outcome::CannotTell);
        // Both ends belong to the region.
        assert_eq!(at_least_two.outcome(Some((1.0, 2.0))), Outcome::CannotTell);
        let at_most_two = Region { low: f64::NEG_INFINITY, high: 2.0 };
        let outcome = |low, high| at_most_two.outcome(Some((low, high)));
        assert_eq!(outcome(1.0, 2.0), Outcome::Holds);
        assert_eq!(outcome(2.0, 3.0), Outcome::CannotTell);
        assert_eq!(outcome(2.1, 3.0), Outcome::Fails);
    }

    #[test]
    fn every_word_is_read_back_and_no_other() {
        for outcome in Outcome::ALL {
            assert_eq!(outcome.word().parse(), Ok(outcome));
        }
        let error = "refuted".parse::<Outcome>().unwrap_err().to_string();
        assert!(error.starts_with("`refuted` is no outcome; there are: holds, fails"), "{error}");
    }
}
