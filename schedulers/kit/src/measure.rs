//! Which test a run does, and what it leaves.

use std::collections::BTreeMap;

use lab_protocol::schedulers::names;
use lab_protocol::schedulers::{Test, Workload};
use lab_variant::high_water_bytes;

use crate::clock::cpu_ns;
use crate::{Arm, Policy, RunError, decide, replay, stream, wake};

/// Counters and columns of a run, as the protocol names them.
#[derive(Debug, Default)]
pub struct Measured {
    /// Numbers of the whole run.
    pub counters: BTreeMap<String, u64>,
    /// Columns of integers.
    pub samples: BTreeMap<String, Vec<i64>>,
}

/// Does the workload's test with a policy of this kind.
///
/// # Errors
/// As [`RunError`] says.
pub fn measure<P: Policy>(workload: &Workload) -> Result<Measured, RunError> {
    let mut measured = match &workload.test {
        Test::Decide(decide) => decide::run::<P>(workload, decide)?,
        Test::Replay(replay) => replay::run::<P>(workload, replay)?,
        Test::Stream(stream) => stream::run::<P>(workload, stream)?,
        Test::Wake(wake) => wake::run::<P>(workload, wake)?,
    };
    measured.count(names::CPU_TOTAL_NS, cpu_ns());
    measured.count(names::RSS_HIGH_WATER_BYTES, high_water_bytes());
    Ok(measured)
}

impl Measured {
    pub(crate) fn count(&mut self, name: &str, value: u64) {
        self.counters.insert(name.to_owned(), value);
    }

    pub(crate) fn count_policy(&mut self, policy: &impl Policy) {
        for (name, value) in policy.counters() {
            self.count(name, value);
        }
    }

    pub(crate) fn count_decisions(&mut self, decisions: Decisions) {
        self.count(names::DECISIONS_INLINE, decisions.inline);
        self.count(names::DECISIONS_OFFLOAD, decisions.offload);
    }

    pub(crate) fn column<T: Into<Cell>>(&mut self, name: &str, rows: impl IntoIterator<Item = T>) {
        let rows = rows.into_iter().map(|row| row.into().0);
        self.samples.entry(name.to_owned()).or_default().extend(rows);
    }
}

/// A cell of a column; nothing that is measured here comes near 2^63.
pub(crate) struct Cell(i64);

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self(value)
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Self {
        Self(value.cast_signed())
    }
}

impl From<u32> for Cell {
    fn from(value: u32) -> Self {
        Self(value.into())
    }
}

impl From<Arm> for Cell {
    fn from(arm: Arm) -> Self {
        Self(arm as i64)
    }
}

/// How often each arm was chosen, warm-up included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Decisions {
    pub(crate) inline: u64,
    pub(crate) offload: u64,
}

impl Decisions {
    pub(crate) fn add(&mut self, arm: Arm) {
        match arm {
            Arm::Inline => self.inline += 1,
            Arm::Offload => self.offload += 1,
        }
    }
}

impl FromIterator<Arm> for Decisions {
    fn from_iter<I: IntoIterator<Item = Arm>>(arms: I) -> Self {
        let mut decisions = Self::default();
        arms.into_iter().for_each(|arm| decisions.add(arm));
        decisions
    }
}

impl std::ops::AddAssign for Decisions {
    fn add_assign(&mut self, other: Self) {
        self.inline += other.inline;
        self.offload += other.offload;
    }
}
