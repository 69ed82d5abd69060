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
}
