//! Sessions of an experiment: records of the same questions, each of which draws anew what it can.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[analysis.sessions]`: `lab run` divides the experiment's time among sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sessions {
    /// Sessions that a verdict needs; six and more.
    pub least: u32,
}

/// Which session of its experiment a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionOf {
    /// From 1. The record's seed is the experiment's and this number, less 1.
    pub number: u32,
    /// Sessions among which the experiment's time is divided; 1 where each takes all of it.
    pub sharing: u32,
    /// What was not drawn anew, to see how much of the spread it carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Nuisance>,
}

/// What a session draws anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Nuisance {
    /// Orders, lengths and schedules: all sessions have the experiment's seed.
    Order,
    /// Where corpora lie: all sessions read the files that are kept.
    Files,
}

impl SessionOf {
    /// Whether it draws this anew.
    pub fn draws(&self, nuisance: Nuisance) -> bool {
        self.held != Some(nuisance)
    }
}
