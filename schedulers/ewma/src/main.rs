//! The rule that production systems use: per call site and size class, a moving average of what
//! the work takes against one of what the way to the pool and back adds. The shorter wins; the
//! other is tried again now and then.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use dashmap::DashMap;
use schedulers_kit::{Arm, Ask, Cost, Identity, Policy, RunError, Setup, variant_main};

const IDENTITY: Identity = Identity::of(include_str!("../variant.toml"));

/// An observation's weight is one in this many.
const MEMORY: u64 = 8;
/// One decision in this many tries the arm that looks worse.
const PROBE_EVERY: u64 = 128;

fn main() -> ExitCode {
    variant_main::<Ewma>(&IDENTITY)
}

struct Ewma {
    classes: DashMap<Class, Averages>,
    /// What an offload is taken to cost before the first one.
    round_trip_ns: Option<u64>,
}

/// A call site and the position of the highest bit of its input's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Class {
    site: u32,
    size: u32,
}

/// Moving averages; `None` before the first observation.
#[derive(Debug, Clone, Copy, Default)]
struct Averages {
    inline_ns: Option<u64>,
    offload_ns: Option<u64>,
    decisions: u64,
}

impl Policy for Ewma {
    type Asked = Class;
    type Pending = (Class, Arm);

    fn new(setup: &Setup) -> Result<Self, RunError> {
        Ok(Self { classes: DashMap::new(), round_trip_ns: setup.offload_round_trip_ns })
    }

    fn ask(ask: &Ask) -> Class {
        Class { site: ask.site, size: u64::BITS - ask.size.leading_zeros() }
    }

    fn choose(&self, class: &Class) -> (Arm, (Class, Arm)) {
        let mut averages = self.classes.entry(*class).or_default();
        let arm = averages.choose(self.round_trip_ns);
        (arm, (*class, arm))
    }

    fn finish(&self, (class, arm): (Class, Arm), cost: Cost) {
        if let Some(mut averages) = self.classes.get_mut(&class) {
            averages.learn(arm, cost);
        }
    }
}

impl Averages {
    fn choose(&mut self, round_trip_ns: Option<u64>) -> Arm {
        self.decisions += 1;
        let (inline, offload) = match (self.inline_ns, self.offload_ns.or(round_trip_ns)) {
            (None, _) => return Arm::Inline,
            (_, None) => return Arm::Offload,
            (Some(inline), Some(offload)) => (inline, offload),
        };
        let probe = self.decisions.is_multiple_of(PROBE_EVERY);
        if (offload < inline) != probe { Arm::Offload } else { Arm::Inline }
    }

    /// What was offloaded tells both: what the work took, and what the way added. Where nobody
    /// knows how much was work, all of it counts as the way.
    fn learn(&mut self, arm: Arm, cost: Cost) {
        match (arm, cost.function_ns) {
            (Arm::Inline, _) => average(&mut self.inline_ns, cost.total_ns),
            (Arm::Offload, None) => average(&mut self.offload_ns, cost.total_ns),
            (Arm::Offload, Some(function_ns)) => {
                average(&mut self.inline_ns, function_ns);
                average(&mut self.offload_ns, cost.total_ns.saturating_sub(function_ns));
            }
        }
    }
}

fn average(average: &mut Option<u64>, value: u64) {
    let old = average.unwrap_or(value);
    *average = Some(old - old / MEMORY + value / MEMORY);
}
