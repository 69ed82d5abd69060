//! What is asked, how surely, and for how long.

use serde::{Deserialize, Serialize};

/// What has to be known before a comparison stops of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Faster, slower, or equivalent.
    Direction,
    /// On which side of the margin a slowdown lies: what a gate in CI asks.
    Margin,
}

/// Settings of a comparison, fixed before its first run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The probability that a verdict is wrong, over all candidates together.
    pub alpha: f64,
    /// The relative difference that is too small to matter: 0.01 for 1 %.
    pub margin: f64,
    /// Seconds after which the comparison ends without a verdict.
    pub budget_s: f64,
    /// Rounds that it gets even where these take longer.
    pub least_rounds: usize,
    /// Rounds after which it ends, whatever the budget.
    pub most_rounds: Option<usize>,
    /// Commands that are compared with the first.
    pub candidates: usize,
    /// Whether each round holds the reference twice.
    pub control: bool,
    /// When to stop.
    pub question: Question,
    /// Whether the commands of a pair run at once, which the control then does with a run of the
    /// reference of its own.
    #[serde(default)]
    pub duet: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            alpha: 0.01,
            margin: 0.01,
            budget_s: 60.0,
            least_rounds: 25,
            most_rounds: None,
            candidates: 1,
            control: true,
            question: Question::Direction,
            duet: false,
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

    /// What each candidate's verdict may err with.
    pub fn alpha_each(&self) -> f64 {
        self.alpha / self.candidates as f64
    }

    /// The runs of one round.
    pub fn commands(&self) -> usize {
        let of_control = if self.duet { 2 } else { 1 };
        1 + self.candidates + of_control * usize::from(self.control)
    }

    /// Which run of a round the control, the last one, is compared with.
    pub(crate) fn control_reference(&self) -> usize {
        if self.duet { self.commands() - 2 } else { 0 }
    }
}
