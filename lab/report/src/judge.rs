//! The one place that says what holds: interval, noise gate, A/A and the lab's own doubts, in one
//! order, for comparisons, contrasts and expectations of every family.

use lab_stats::outcome::Outcome;

use crate::tables::Entry;

/// How the reason begins where the typical run is equivalent and its tail is not known.
pub(crate) const TYPICAL: &str = "typical run equivalent, ";

/// What is known of one question before the lab's own checks.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Why this machine, or any of ours, cannot show it.
    pub untestable: Option<String>,
    /// Why no run has the numbers.
    pub missing: Option<String>,
    /// Why the lab itself cannot be believed here: an A/A test that failed, a server too coarse.
    pub doubts: Vec<String>,
    /// What all analysed runs say, and why where that is not plain.
    pub all: Option<(Outcome, Option<String>)>,
    /// What the runs that passed the noise gate say, where not all did.
    pub clean: Option<Outcome>,
    /// What an answer should still take, where all runs give none.
    pub needs: Option<String>,
}

/// An outcome with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The word.
    pub outcome: Outcome,
    /// The reason, where the word alone does not say it.
    pub why: Option<String>,
    /// What an answer should still take, where there is none.
    pub needs: Option<String>,
}

/// Judges one question.
pub fn judge(evidence: Evidence) -> Finding {
    let because = |outcome, why: String| Finding { outcome, why: Some(why), needs: None };
    if let Some(why) = evidence.untestable {
        return because(Outcome::NotTestable, why);
    }
    let (outcome, why) = match (evidence.missing, evidence.all) {
        (Some(why), _) => return because(Outcome::NotMeasured, why),
        (None, None) => {
            return Finding { outcome: Outcome::NotMeasured, why: None, needs: None };
        }
        (None, Some(found)) => found,
    };
    if let Some(why) = evidence.doubts.into_iter().next() {
        return because(Outcome::Withheld, why);
    }
    match evidence.clean {
        Some(clean) if clean != outcome => because(
            Outcome::CannotTell,
            format!("all runs: {outcome}; runs past the noise gate: {clean}"),
        ),
        _ => Finding { outcome, why, needs: evidence.needs },
    }
}

impl Finding {
    /// "withheld: A/A failed".
    pub fn text(&self) -> String {
        match self.because(self.why.as_deref()) {
            why if why.is_empty() => self.outcome.to_string(),
            why => format!("{}: {why}", self.outcome),
        }
    }

    /// "30 pairs are too few; 4 more rounds, 1 min".
    fn because(&self, why: Option<&str>) -> String {
        let parts = [why, self.needs.as_deref()].into_iter().flatten();
        parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }

    /// Whether the typical run is shown to be equivalent, and nothing of its tail.
    pub(crate) fn is_typically_equivalent(&self) -> bool {
        self.why.as_deref().is_some_and(|why| why.starts_with(TYPICAL))
    }

    /// The word alone, for a table.
    pub fn word(&self) -> Entry {
        Entry::text(self.outcome.word())
    }

    /// The reason without what it says of the typical run and of slow ones, for a table that people
    /// read.
    pub fn reason_in_short(&self) -> Entry {
        let why = self.why.as_deref().map(|why| why.trim_start_matches(TYPICAL));
        Entry::text(self.because(why.and_then(|why| why.split(", share of slow").next())))
    }

    /// The reason alone, for a table.
    pub fn reason(&self) -> Entry {
        Entry::text(self.because(self.why.as_deref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence() -> Evidence {
        Evidence { all: Some((Outcome::Holds, None)), ..Evidence::default() }
    }

    #[test]
    fn the_checks_of_the_lab_come_before_the_numbers() {
        let sure = judge(evidence());
        assert_eq!(sure.text(), "holds");
        let doubts = vec!["A/A failed".to_owned()];
        let clean = Some(Outcome::Fails);
        let doubted = Evidence { doubts, clean, ..evidence() };
        assert_eq!(judge(doubted.clone()).text(), "withheld: A/A failed");
        let missing = Evidence { missing: Some("no run".to_owned()), ..doubted };
        assert_eq!(judge(missing.clone()).text(), "not measured: no run");
        let untestable = Evidence { untestable: Some("needs 9 CPUs".to_owned()), ..missing };
        assert_eq!(judge(untestable).text(), "not testable: needs 9 CPUs");
    }

    #[test]
    fn what_an_answer_still_takes_stands_behind_the_reason() {
        let open = |why: Option<&str>| Evidence {
            all: Some((Outcome::CannotTell, why.map(str::to_owned))),
            needs: Some("4 more rounds, 1 min".to_owned()),
            ..Evidence::default()
        };
        let found = judge(open(Some("9 pairs are too few")));
        assert_eq!(found.text(), "cannot tell: 9 pairs are too few; 4 more rounds, 1 min");
        assert_eq!(judge(open(None)).text(), "cannot tell: 4 more rounds, 1 min");
        let doubted = Evidence { doubts: vec!["A/A failed".to_owned()], ..open(None) };
        assert_eq!(judge(doubted).text(), "withheld: A/A failed");
    }

    #[test]
    fn both_sets_of_runs_must_agree() {
        let torn = Evidence { clean: Some(Outcome::CannotTell), ..evidence() };
        let expected = "cannot tell: all runs: holds; runs past the noise gate: cannot tell";
        assert_eq!(judge(torn).text(), expected);
        let same = Evidence { clean: Some(Outcome::Holds), ..evidence() };
        assert_eq!(judge(same).outcome, Outcome::Holds);
    }
}
