//! What is computed from a run: one table of metrics a family, each with unit and direction.

/// The unit of a metric, which says how its values are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// A part of a whole, 0 to 1.
    Share,
    /// A rate.
    PerSecond,
    /// A ratio.
    Times,
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
}

/// Which way a metric is better. There is no default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Times, costs, waste.
    Lower,
    /// Rates and useful shares.
    Higher,
    /// Neither way: it describes a run and cannot be compared for better or worse.
    Neither,
}

/// One metric of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// The name in experiments and tables, with the unit where it has one.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Which way it is better.
    pub better: Better,
    /// How it is computed, in one sentence.
    pub says: &'static str,
}

/// A metric that is better when lower.
pub const fn lower(name: &'static str, unit: Unit, says: &'static str) -> Metric {
    Metric { name, unit, better: Better::Lower, says }
}

/// A metric that is better when higher.
pub const fn higher(name: &'static str, unit: Unit, says: &'static str) -> Metric {
    Metric { name, unit, better: Better::Higher, says }
}

/// A metric that describes a run and is neither way better.
pub const fn neither(name: &'static str, unit: Unit, says: &'static str) -> Metric {
    Metric { name, unit, better: Better::Neither, says }
}
