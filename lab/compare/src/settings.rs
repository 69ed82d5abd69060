//! What is asked, how surely, and for how long.

use lab_stats::tail::SHARE_MARGIN;
use serde::{Deserialize, Serialize};

use crate::Design;

/// Rounds beyond the fewest that a comparison gets for which nobody gave a budget: a difference far
/// beyond the noise is mostly told in them.
const SPARE_ROUNDS: usize = 2;

/// The pairs before which a sequence at this level excludes nothing.
pub(crate) fn fewest_pairs(alpha: f64) -> usize {
    lab_stats::sequence::fewest_pairs(alpha).unwrap_or(usize::MAX)
}

/// What has to be known before a comparison stops of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Faster, slower, or equivalent.
    Direction,
    /// That, and by how much: the difference lies within the margin, or is known to a quarter of
    /// itself or to the precision.
    Size,
    /// On which side of the margin a slowdown lies: what a gate in CI asks.
    Margin,
    /// Whether a candidate has more slow runs, by [`Settings::tail`]: what a gate may ask too.
    Tail,
}

/// A difference is known well enough to this part of it.
const PART: f64 = 0.25;

/// Settings of a comparison, fixed before its first run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The probability that a verdict is wrong, over all candidates together.
    pub alpha: f64,
    /// The relative difference that is too small to matter: 0.01 for 1 %.
    pub margin: f64,
    /// Seconds after which the comparison ends without a verdict.
    pub budget_s: f64,
    /// Rounds that it gets even where these take longer; 0 where the budget is all that it gets.
    pub least_rounds: usize,
    /// Rounds after which it ends, whatever the budget.
    pub most_rounds: Option<usize>,
    /// Commands that are compared with the first.
    pub candidates: usize,
    /// Whether the reference is compared with a copy of its program, in rounds of their own. Rounds
    /// of before held the reference twice instead, and are read by what is in them.
    pub control: bool,
    /// When to stop.
    pub question: Question,
    /// To what the size of a difference is asked, as a share; `None` for the margin, or to a part
    /// of a larger difference. Settings of before had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// How many more runs may be slow before it matters, as a share of all.
    #[serde(default = "share_margin")]
    pub tail: f64,
    /// Whether the two commands of a round run at once.
    #[serde(default)]
    pub duet: bool,
    /// Whether each candidate is asked in rounds of its own with the reference: where one uses
    /// files of another, a third one would warm one side's alone.
    #[serde(default)]
    pub apart: bool,
    /// How often in a row a command runs, of which the first run does not count; `None` where a
    /// round runs each once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_a_row: Option<u32>,
}

fn share_margin() -> f64 {
    SHARE_MARGIN
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            alpha: 0.01,
            margin: 0.01,
            budget_s: 60.0,
            least_rounds: fewest_pairs(0.01) + SPARE_ROUNDS,
            most_rounds: None,
            candidates: 1,
            control: false,
            question: Question::Direction,
            precision: None,
            tail: SHARE_MARGIN,
            duet: false,
            apart: false,
            in_a_row: None,
        }
    }
}

/// Settings that no comparison can have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingsError {
    /// The level of error.
    #[error("alpha is {0}; it is a probability of error, such as 0.01")]
    Alpha(f64),
    /// The margin.
    #[error("the margin is {0}; it is a share above 0 and at most 1, such as 0.01 for 1 %")]
    Margin(f64),
    /// How well a difference should be known.
    #[error("the precision is {0}; it is a share above 0, such as 0.005 for 0.5 %")]
    Precision(f64),
    /// The slow runs that do not matter.
    #[error(
        "the tail is {0}; it is a share of runs above 0 and below 1, such as 0.05 for 5 points"
    )]
    Tail(f64),
    /// Nothing to compare.
    #[error("there is no second command; the first is the reference that others are compared with")]
    NoCandidate,
    /// More than a pair.
    #[error("a duet has two commands, not {0}")]
    Duet(usize),
}

impl Settings {
    /// Refuses what cannot be computed with.
    pub fn check(&self) -> Result<(), SettingsError> {
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return Err(SettingsError::Alpha(self.alpha));
        }
        if !(self.margin > 0.0 && self.margin <= 1.0) {
            return Err(SettingsError::Margin(self.margin));
        }
        if self.precision.is_some_and(|precision| !(precision > 0.0 && precision.is_finite())) {
            return Err(SettingsError::Precision(self.precision.unwrap_or_default()));
        }
        if !(self.tail > 0.0 && self.tail < 1.0) {
            return Err(SettingsError::Tail(self.tail));
        }
        if self.candidates == 0 {
            return Err(SettingsError::NoCandidate);
        }
        if self.duet && self.candidates != 1 {
            return Err(SettingsError::Duet(1 + self.candidates));
        }
        Ok(())
    }

    /// The margin as a difference of logarithms: a ratio from 1 / (1 + margin) to 1 + margin.
    pub fn log_margin(&self) -> f64 {
        self.margin.ln_1p()
    }

    /// The half-width, of logarithms, at which a difference of this size is known well enough.
    pub(crate) fn enough(&self, effect: f64) -> f64 {
        let of_itself = self.log_margin().max(PART * effect);
        self.precision.map_or(of_itself, f64::ln_1p)
    }

    /// What each candidate's verdict may err with.
    pub fn alpha_each(&self) -> f64 {
        self.alpha / self.candidates as f64
    }

    /// The rounds of a candidate before which no verdict on it can come.
    pub fn fewest_pairs(&self) -> usize {
        fewest_pairs(self.alpha_each())
    }

    /// Rounds that it gets where nobody gave a budget, even where these take longer than the usual
    /// one.
    pub fn rounds_for_an_answer(&self) -> usize {
        self.fewest_pairs() + SPARE_ROUNDS
    }

    /// All commands, the control's copy of the reference being the last.
    pub fn commands(&self) -> usize {
        1 + self.candidates + usize::from(self.control)
    }

    /// Which of them are asked side by side.
    pub fn design(&self) -> Design {
        let candidates = 1..=self.candidates;
        let questions = match self.apart {
            true => candidates.map(|candidate| vec![0, candidate]).collect(),
            false => vec![(0..=self.candidates).collect()],
        };
        let control = self.control.then(|| [0, self.commands() - 1]);
        Design { questions, control, duet: self.duet }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(change: impl FnOnce(&mut Settings)) -> Settings {
        let mut settings = Settings::default();
        change(&mut settings);
        settings
    }

    #[test]
    fn bounds_are_open_or_closed_as_is_said() {
        for alpha in [0.0, 1.0, -0.1, f64::NAN] {
            let refused = of(|settings| settings.alpha = alpha).check();
            assert!(matches!(refused, Err(SettingsError::Alpha(_))), "{alpha}");
        }
        for margin in [0.0, 1.001, -0.1, f64::NAN] {
            let refused = of(|settings| settings.margin = margin).check();
            assert!(matches!(refused, Err(SettingsError::Margin(_))), "{margin}");
        }
        for precision in [0.0, -0.1, f64::NAN, f64::INFINITY] {
            let refused = of(|settings| settings.precision = Some(precision)).check();
            assert!(matches!(refused, Err(SettingsError::Precision(_))), "{precision}");
        }
        for tail in [0.0, 1.0, f64::NAN] {
            let refused = of(|settings| settings.tail = tail).check();
            assert!(matches!(refused, Err(SettingsError::Tail(_))), "{tail}");
        }
        assert_eq!(of(|settings| settings.margin = 1.0).check(), Ok(()));
        assert_eq!(of(|settings| settings.alpha = 0.999).check(), Ok(()));
        assert_eq!(of(|settings| settings.candidates = 0).check(), Err(SettingsError::NoCandidate));
    }

    #[test]
    fn enough_is_the_margin_or_a_quarter_unless_a_precision_is_asked_for() {
        let enough = |precision, effect| of(|it| it.precision = precision).enough(effect);
        assert_eq!(
            [0.0, 0.03, 0.4].map(|effect| enough(None, effect)),
            [0.01_f64.ln_1p(), 0.01_f64.ln_1p(), 0.1]
        );
        assert_eq!(enough(Some(0.002), 0.4), 0.002_f64.ln_1p());
    }

    #[test]
    fn settings_of_before_ask_for_a_direction_and_five_points() {
        let mut old = serde_json::to_value(Settings::default()).unwrap();
        assert!(old.as_object_mut().unwrap().remove("tail").is_some());
        assert_eq!(serde_json::from_value::<Settings>(old).unwrap(), Settings::default());
    }

    #[test]
    fn a_duet_has_two_commands() {
        let duet =
            |candidates| of(|settings| (settings.duet, settings.candidates) = (true, candidates));
        assert_eq!(duet(2).check(), Err(SettingsError::Duet(3)));
        assert_eq!(duet(1).check(), Ok(()));
        assert!(duet(1).design().duet);
    }

    #[test]
    fn a_round_holds_every_command_once_and_the_copy_has_rounds_of_its_own() {
        let design = |apart, control| {
            let settings = of(|settings| {
                (settings.candidates, settings.apart, settings.control) = (2, apart, control);
            });
            (settings.commands(), settings.design().questions, settings.design().control)
        };
        assert_eq!(design(false, false), (3, vec![vec![0, 1, 2]], None));
        assert_eq!(design(false, true), (4, vec![vec![0, 1, 2]], Some([0, 3])));
        assert_eq!(design(true, false), (3, vec![vec![0, 1], vec![0, 2]], None));
    }

    #[test]
    fn candidates_share_alpha_and_the_margin_is_a_ratio() {
        let three = of(|settings| (settings.alpha, settings.candidates) = (0.03, 3));
        assert!((three.alpha_each() - 0.01).abs() < 1e-15);
        assert!((three.log_margin() - 1.01_f64.ln()).abs() < 1e-15);
    }
}
