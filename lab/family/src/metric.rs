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

/// What a variant does with a metric, in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// "takes 3 % less time".
    Takes,
    /// "delivers 3 % more tokens per second".
    Delivers,
    /// "has 3 % less regret".
    Has,
}

impl Verb {
    /// Of times and bytes, of rates, and of everything else.
    const fn of(unit: Unit) -> Self {
        match unit {
            Unit::Ns | Unit::Bytes => Self::Takes,
            Unit::PerSecond => Self::Delivers,
            Unit::Share | Unit::Times | Unit::Count => Self::Has,
        }
    }

    /// Of one variant, or of several.
    pub const fn form(self, is_one: bool) -> &'static str {
        match (self, is_one) {
            (Self::Takes, true) => "takes",
            (Self::Takes, false) => "take",
            (Self::Delivers, true) => "delivers",
            (Self::Delivers, false) => "deliver",
            (Self::Has, true) => "has",
            (Self::Has, false) => "have",
        }
    }
}

/// One metric of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// The name in experiments and in tables for programs, with the unit where it has one.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Which way it is better.
    pub better: Better,
    /// What people read instead of the name: "elapsed time".
    pub noun: &'static str,
    /// What a variant does with it.
    pub verb: Verb,
    /// How it is computed, in one sentence.
    pub says: &'static str,
}

impl Metric {
    const fn new(
        (name, noun): (&'static str, &'static str),
        unit: Unit,
        better: Better,
        says: &'static str,
    ) -> Self {
        Self { name, unit, better, noun, verb: Verb::of(unit), says }
    }

    /// The same with another verb than its unit's.
    pub const fn with(self, verb: Verb) -> Self {
        Self { verb, ..self }
    }

    /// What stands before the noun of a value above another, or below it.
    pub const fn comparative(&self, is_more: bool) -> &'static str {
        match (self.unit, is_more) {
            (Unit::Share | Unit::Times, true) => "higher",
            (Unit::Share | Unit::Times, false) => "lower",
            (Unit::Count, false) => "fewer",
            (_, true) => "more",
            (_, false) => "less",
        }
    }
}

/// A metric that is better when lower; `names` are its name and its noun.
pub const fn lower(names: (&'static str, &'static str), unit: Unit, says: &'static str) -> Metric {
    Metric::new(names, unit, Better::Lower, says)
}

/// A metric that is better when higher.
pub const fn higher(names: (&'static str, &'static str), unit: Unit, says: &'static str) -> Metric {
    Metric::new(names, unit, Better::Higher, says)
}

/// A metric that describes a run and is neither way better.
pub const fn neither(
    names: (&'static str, &'static str),
    unit: Unit,
    says: &'static str,
) -> Metric {
    Metric::new(names, unit, Better::Neither, says)
}
