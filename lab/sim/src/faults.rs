//! Servers that misbehave, so that clients and the driver can be tested against each case.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// One kind of misbehaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The connection is reset when the request was read, before a byte of an answer. (A port
    /// that nobody listens on needs no server.)
    Refuse,
    /// Nothing more is sent; the connection stays open until the client leaves, or two minutes.
    Stall,
    /// The connection is reset in the middle of the stream.
    Reset,
    /// A line that is cut off inside its JSON, then the proper end of the HTTP body.
    BrokenJson,
    /// The HTTP body ends properly, but no line said `done`.
    NeverDone,
    /// A line `{"error":"…"}` as Ollama sends when its runner dies, then the end of the body.
    ErrorLine,
    /// Status 500 instead of a stream.
    #[serde(rename = "http_500")]
    Http500,
    /// Status 404 and Ollama's sentence for an unknown model.
    NotFound,
    /// Fewer tokens than were asked for, and a `done` line that owns up to it.
    ShortReply,
}

/// A fault and the calls that it hits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// Tokens sent before it goes wrong. Without it `never_done` sends all, the others none, and
    /// `short_reply` half.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_tokens: Option<usize>,
    /// The port it is limited to, counted from 0 in the order of `--ports`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port_index: Option<usize>,
    /// Hits every n-th call (of its port); without it, each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
}

impl Fault {
    /// Refuses a fault that could never strike.
    pub(crate) fn check(&self, ports: usize) -> Result<(), String> {
        if let Some(index) = self.port_index.filter(|index| *index >= ports) {
            return Err(format!("faults: port_index {index} is not below the {ports} open ports"));
        }
        if self.every == Some(0) {
            return Err("faults: every must be 1 or more".into());
        }
        Ok(())
    }

    /// How many tokens of `asked` are sent before the fault.
    pub(crate) fn tokens_before(&self, asked: usize) -> usize {
        let unasked = match self.kind {
            FaultKind::NeverDone => asked,
            FaultKind::ShortReply => (asked / 2).max(1),
            _ => 0,
        };
        self.after_tokens.unwrap_or(unasked).min(asked)
    }
}

/// The faults of one run with a count of the calls that each has seen.
#[derive(Debug)]
pub(crate) struct FaultPlan {
    faults: Vec<(Fault, AtomicU64)>,
}

impl FaultPlan {
    pub(crate) fn new(faults: &[Fault]) -> Self {
        Self { faults: faults.iter().map(|fault| (fault.clone(), AtomicU64::new(0))).collect() }
    }

    /// The fault that strikes the next call on a port; the first of the list wins. Every fault
    /// counts every call of its ports, whether or not another one strikes it.
    pub(crate) fn next_call(&self, port_index: usize) -> Option<&Fault> {
        let mut struck = None;
        for (fault, calls) in &self.faults {
            if fault.port_index.is_some_and(|only| only != port_index) {
                continue;
            }
            let call = calls.fetch_add(1, Ordering::Relaxed) + 1;
            if call.is_multiple_of(fault.every.unwrap_or(1)) {
                struck = struck.or(Some(fault));
            }
        }
        struck
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_call_of_one_port_is_hit() {
        let plan = FaultPlan::new(&[Fault {
            kind: FaultKind::Reset,
            after_tokens: None,
            port_index: Some(1),
            every: Some(3),
        }]);
        let hit: Vec<bool> = (0..6).map(|_| plan.next_call(1).is_some()).collect();
        assert_eq!(hit, [false, false, true, false, false, true]);
        assert!((0..6).all(|_| plan.next_call(0).is_none()));
    }
}
