//! What the scheduler counted.

use crate::decision::{Arm, Reason};
use crate::stripe::{Event, Stripes};

/// Counts since a scheduler was made. Each counter is exact; read beside running decisions, two
/// counters may differ by the decisions made in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    decisions: [[u64; 2]; Reason::ALL.len()],
    /// Finished calls.
    pub finished: u64,
    /// Inline calls that were so long that GR3 keeps the next ones away.
    pub strikes: u64,
    /// Times that an arm's cost was found to have changed abruptly.
    pub changes: u64,
    /// Decisions of sites that found no place of their own.
    pub overflow: u64,
}

impl Counters {
    pub(crate) fn read(stripes: &Stripes) -> Self {
        Self {
            decisions: Reason::ALL.map(|reason| {
                [Arm::Inline, Arm::Offload]
                    .map(|arm| stripes.sum(reason as usize * 2 + arm as usize))
            }),
            finished: stripes.sum(Event::Finished as usize),
            strikes: stripes.sum(Event::Strike as usize),
            changes: stripes.sum(Event::Change as usize),
            overflow: stripes.sum(Event::Overflow as usize),
        }
    }

    /// Decisions for an arm with this reason.
    #[must_use]
    pub fn decisions(&self, arm: Arm, reason: Reason) -> u64 {
        self.decisions[reason as usize][arm as usize]
    }

    /// Decisions for an arm.
    #[must_use]
    pub fn of_arm(&self, arm: Arm) -> u64 {
        Reason::ALL.iter().map(|&reason| self.decisions(arm, reason)).sum()
    }

    /// Decisions with this reason, on either arm. For a guardrail these are its activations.
    #[must_use]
    pub fn of_reason(&self, reason: Reason) -> u64 {
        self.decisions[reason as usize].iter().sum()
    }

    /// Activations of GR0, GR1, GR2 and GR3: the calls that each sent to the pool.
    #[must_use]
    pub fn guardrails(&self) -> [u64; 4] {
        [Reason::Gr0SingleWorker, Reason::Gr1Cap, Reason::Gr2Pressure, Reason::Gr3Strike]
            .map(|reason| self.of_reason(reason))
    }
}
