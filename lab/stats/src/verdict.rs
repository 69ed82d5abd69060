//! What may be said about one comparison, in one word.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::equivalence::Equivalence;

/// The answer to "is the candidate better than the reference?".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is better, by the metric's direction.
    Faster,
    /// The candidate is worse.
    Slower,
    /// The difference is smaller than the margin that was declared to matter.
    Equivalent,
    /// Neither is shown. The minimum detectable effect says what was out of reach.
    CannotTell,
    /// The lab itself did not pass its checks, so that no answer is given.
    Withheld {
        /// What failed, as a clause for the report.
        reason: String,
    },
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Times, bytes, CPU: the default.
    #[default]
    LowerIsBetter,
    /// Rates and efficiencies.
    HigherIsBetter,
}

/// What [`judge`] reads; all differences are candidate minus reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The p-value after Holm's adjustment.
    pub adjusted_p: f64,
    /// The Hodges-Lehmann estimate of the difference.
    pub estimate: f64,
    /// The mean difference, which is what the permutation test is about.
    pub mean: f64,
    /// The equivalence test against the declared margin; `None` where it could not be made.
    pub equivalence: Option<Equivalence>,
}

/// Judges one comparison at the family-wise level `alpha`.
///
/// Equivalence comes first: a difference that is surely not 0 and surely inside the margin was
/// declared, before anything ran, to be too small to matter. A direction is then claimed only
/// where the test is significant, and only where the mean (which was tested) and the estimate
/// (which is printed) have the same sign. Anything else, a NaN included, is
/// [`Verdict::CannotTell`].
pub fn judge(evidence: &Evidence, alpha: f64, direction: Direction) -> Verdict {
    if evidence.equivalence.is_some_and(|equivalence| equivalence.holds) {
        return Verdict::Equivalent;
    }
    let significant = evidence.adjusted_p <= alpha;
    let lower = evidence.estimate < 0.0 && evidence.mean < 0.0;
    let higher = evidence.estimate > 0.0 && evidence.mean > 0.0;
    match (significant, lower, higher, direction) {
        (true, true, _, Direction::LowerIsBetter) => Verdict::Faster,
        (true, _, true, Direction::HigherIsBetter) => Verdict::Faster,
        (true, true, _, Direction::HigherIsBetter) => Verdict::Slower,
        (true, _, true, Direction::LowerIsBetter) => Verdict::Slower,
        _ => Verdict::CannotTell,
    }
}

impl Verdict {
    /// The verdict that stands when all runs say `self` and the runs that passed the noise gate
    /// say `gated`: where the two differ, nobody can tell. A withheld verdict stays withheld.
    pub fn confirmed_by(self, gated: &Verdict) -> Verdict {
        match (&self, gated) {
            (Verdict::Withheld { .. }, _) => self,
            (_, Verdict::Withheld { .. }) => gated.clone(),
            _ if self == *gated => self,
            _ => Verdict::CannotTell,
        }
    }

    /// Withholds the verdict, whatever it was, when a check of the lab failed: the A/A test of
    /// the metric or a known answer. `None` leaves it as it is.
    pub fn withheld_for(self, failed_check: Option<&str>) -> Verdict {
        match failed_check {
            Some(reason) => Verdict::Withheld { reason: reason.to_owned() },
            None => self,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Faster => f.write_str("faster"),
            Verdict::Slower => f.write_str("slower"),
            Verdict::Equivalent => f.write_str("equivalent"),
            Verdict::CannotTell => f.write_str("cannot tell"),
            Verdict::Withheld { reason } => write!(f, "withheld: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{HigherIsBetter, LowerIsBetter};

    fn evidence(adjusted_p: f64, estimate: f64) -> Evidence {
        Evidence { adjusted_p, estimate, mean: estimate, equivalence: None }
    }

    #[test]
    fn significance_and_sign_give_the_direction() {
        let lower = evidence(0.01, -2.0);
        let higher = evidence(0.05, 2.0);
        assert_eq!(judge(&lower, 0.05, LowerIsBetter), Verdict::Faster);
        assert_eq!(judge(&lower, 0.05, HigherIsBetter), Verdict::Slower);
        assert_eq!(judge(&higher, 0.05, LowerIsBetter), Verdict::Slower);
        assert_eq!(judge(&higher, 0.05, HigherIsBetter), Verdict::Faster);
        assert_eq!(judge(&evidence(0.051, -2.0), 0.05, LowerIsBetter), Verdict::CannotTell);
    }

    #[test]
    fn no_direction_without_agreement_or_numbers() {
        let torn = Evidence { mean: 1.0, ..evidence(0.001, -1.0) };
        assert_eq!(judge(&torn, 0.05, LowerIsBetter), Verdict::CannotTell);
        for broken in [evidence(f64::NAN, -1.0), evidence(0.01, f64::NAN), evidence(0.01, 0.0)] {
            assert_eq!(judge(&broken, 0.05, LowerIsBetter), Verdict::CannotTell);
        }
    }

    #[test]
    fn a_difference_inside_the_margin_is_equivalent_even_when_significant() {
        let inside = Equivalence { p: 0.001, interval: None, holds: true };
        let small = Evidence { equivalence: Some(inside), ..evidence(0.001, -0.1) };
        assert_eq!(judge(&small, 0.05, LowerIsBetter), Verdict::Equivalent);
        let outside = Equivalence { holds: false, ..inside };
        let large = Evidence { equivalence: Some(outside), ..small };
        assert_eq!(judge(&large, 0.05, LowerIsBetter), Verdict::Faster);
    }

    #[test]
    fn both_sets_of_runs_must_agree() {
        assert_eq!(Verdict::Faster.confirmed_by(&Verdict::Faster), Verdict::Faster);
        assert_eq!(Verdict::Faster.confirmed_by(&Verdict::CannotTell), Verdict::CannotTell);
        assert_eq!(Verdict::Equivalent.confirmed_by(&Verdict::Slower), Verdict::CannotTell);
    }

    #[test]
    fn a_failed_check_withholds_and_says_why() {
        let withheld = Verdict::Faster.withheld_for(Some("the twin differs (p = 0.003)"));
        assert_eq!(withheld.to_string(), "withheld: the twin differs (p = 0.003)");
        assert_eq!(withheld.clone().confirmed_by(&Verdict::Faster), withheld);
        assert_eq!(Verdict::Slower.confirmed_by(&withheld), withheld);
        assert_eq!(Verdict::Slower.withheld_for(None), Verdict::Slower);
        assert_eq!(Verdict::CannotTell.to_string(), "cannot tell");
    }
}
