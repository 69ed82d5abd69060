//! What workers beyond the CPUs cost, per variant and cell.

use super::sweep::{Cell as Levels, Sweep, centre};
use crate::effect::{Effect, Series, as_times, log_ratios, minus};
use crate::measure::Unit;
use crate::tables::{Cell, Table};

/// A variant at many workers and at the best count up to the CPUs, in one cell.
#[derive(Debug, Clone)]
pub(super) struct Penalty {
    pub(super) rest: Levels,
    pub(super) many: u32,
    pub(super) few: u32,
    /// Logarithm of the time at many over the time at few.
    pub(super) log: Series,
    /// The same as a difference in nanoseconds.
    pub(super) ns: Series,
}

/// The penalty of one variant in one cell.
pub(super) fn penalty(sweep: &Sweep, variant: &str, rest: &Levels) -> Option<Penalty> {
    let (_, levels) = sweep.curves(variant).into_iter().find(|(cell, _)| cell == rest)?;
    let many = sweep.many(&levels)?;
    let few = sweep.best_within_cpus(variant, rest, &levels)?;
    Some(between(sweep, variant, rest, many, few))
}

/// The same between two counts that are given.
pub(super) fn between(sweep: &Sweep, variant: &str, rest: &Levels, many: u32, few: u32) -> Penalty {
    let at = |count: u32| sweep.elapsed(variant, rest, &count.to_string());
    let (slow, fast) = (at(many), at(few));
    let (log, ns) = (log_ratios(&slow, &fast), minus(&slow, &fast));
    Penalty { rest: rest.clone(), many, few, log, ns }
}

/// Every variant in every cell.
pub(super) fn penalties(sweep: &Sweep) -> Table {
    let mut table = Table::new(&[
        ("variant", "variant"),
        ("cell", "cell"),
        ("many", "many"),
        ("best within the CPUs", "few"),
        ("n", "n"),
        ("time ratio", "ratio"),
        ("low", "ratio_low"),
        ("high", "ratio_high"),
        ("lost", "lost_ns"),
    ]);
    for variant in sweep.variants() {
        for (rest, _) in sweep.curves(variant) {
            let Some(penalty) = penalty(sweep, variant, &rest) else { continue };
            let effect = Effect::of(penalty.log.values().copied().collect());
            let mut row = vec![
                Cell::code(variant),
                Cell::text(sweep.label(&rest)),
                Cell::count(penalty.many as usize),
                Cell::count(penalty.few as usize),
                Cell::count(penalty.log.len()),
            ];
            row.extend(as_times(effect.as_ref()));
            row.push(Cell::value(centre(&penalty.ns), Unit::Ns));
            table.row(row);
        }
    }
    table
}
