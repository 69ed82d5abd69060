//! The statistics of one metric within a record.

use super::grid::{Record, Stat, same_unit};
use super::role::Role;

/// Statistics of one metric of one subject, all in one unit.
pub(crate) struct Group<'r, 'a> {
    pub(crate) stats: Vec<&'r Stat<'a>>,
    /// Single runs, where the table prints them.
    pub(crate) runs: Vec<&'r Stat<'a>>,
    /// How many values stand behind the statistics, where the record says it.
    pub(crate) n: Option<usize>,
}

impl<'r, 'a> Group<'r, 'a> {
    /// The record's groups, by metric.
    pub(crate) fn all(record: &'r Record<'a>) -> Vec<Self> {
        let mut metrics: Vec<&str> = Vec::new();
        for stat in record.stats.iter().filter(|stat| grouped(stat.role)) {
            if !metrics.contains(&&*stat.metric) {
                metrics.push(&stat.metric);
            }
        }
        // `Mean latency | SD latency | CV`: the CV is about the only metric there is.
        let nameless = |stat: &&Stat<'_>| grouped(stat.role) && stat.metric.is_empty();
        let shared = metrics.len() == 2
            && record.stats.iter().filter(nameless).all(|stat| stat.role == Role::Cv);
        if shared {
            metrics.retain(|metric| !metric.is_empty());
        }
        let runs: Vec<&Stat<'_>> =
            record.stats.iter().filter(|stat| matches!(stat.role, Role::Run(_))).collect();
        let n = count(record);
        // Runs without a metric's name belong to the only metric there is.
        let lone = metrics.len() == 1;
        let group = |metric: &&str| {
            let of = |stat: &&Stat<'_>| {
                let own = *stat.metric == **metric || shared && stat.metric.is_empty();
                own && grouped(stat.role)
            };
            let stats: Vec<_> = record.stats.iter().filter(of).collect();
            let own = |run: &&&Stat<'_>| {
                (lone || *run.metric == **metric)
                    && stats.iter().all(|stat| same_unit(&stat.number, &run.number))
            };
            let runs = runs.iter().filter(own).copied().collect();
            Group { stats, runs, n }
        };
        metrics.iter().map(group).collect()
    }

    /// The statistic with this role, where exactly one has it. One of a column of its own goes
    /// before what stands behind `±`.
    pub(crate) fn get(&self, role: Role) -> Option<&'r Stat<'a>> {
        let with = |sure: bool| {
            let mut stats = self.stats.iter().filter(|s| s.role == role && s.sure == sure);
            (stats.next(), stats.next())
        };
        match (with(true), with(false)) {
            ((Some(one), None), _) | ((None, _), (Some(one), None)) => Some(*one),
            _ => None,
        }
    }

    /// Whether these share a unit, so that they can be compared.
    pub(crate) fn comparable(stats: &[&Stat<'_>]) -> bool {
        stats.windows(2).all(|pair| pair[0].shares_unit(pair[1]))
    }
}

/// How many repeats the record says it has.
fn count(record: &Record<'_>) -> Option<usize> {
    let mut counts = record.stats.iter().filter(|stat| stat.role == Role::Count);
    let first = counts.next()?;
    let value = first.number.value;
    let whole = value.fract() == 0.0 && (1.0..1e9).contains(&value) && first.number.decimals >= 0;
    (whole && counts.next().is_none() && !first.number.approximate).then_some(value as usize)
}

fn grouped(role: Role) -> bool {
    role.is_statistic() || matches!(role, Role::Low | Role::High | Role::Estimate | Role::Sum)
}
