//! The concurrent runs, by variant and configuration, in the order of the plan.

use std::collections::{BTreeMap, BTreeSet};

use lab_report::{Measured, Study};
use lab_stats::describe::median;

use crate::runtimes::cells::{
    UNSCALED_PPM, configuration, is_solo, time_scale_label, time_scale_ppm,
};

/// Below this overlap of its agents a variant runs them one after the other.
const SERIAL_OVERLAP: f64 = 0.05;

/// A counter of the paced server alone.
const PACED: &str = "server_pacing_error_p99_ns";

/// Some of a variant's concurrent runs.
pub(crate) struct Group<'s, 'a> {
    pub(crate) variant: &'a str,
    /// Where the group is one configuration.
    pub(crate) config: String,
    pub(crate) runs: Vec<&'s Measured<'a>>,
}

impl Group<'_, '_> {
    pub(crate) fn values(&self, metric: &str) -> Vec<f64> {
        self.runs.iter().filter_map(|one| one.value(metric)).collect()
    }

    pub(crate) fn median(&self, metric: &str) -> Option<f64> {
        median(&self.values(metric))
    }

    pub(crate) fn time_scale(&self) -> String {
        time_scale_of(self.runs.iter().copied())
    }

    pub(crate) fn mean(&self, metric: &str) -> Option<f64> {
        let values = self.values(metric);
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// Runs whose agents were to overlap.
pub(crate) fn concurrent<'s, 'a>(study: &'s Study<'a>) -> impl Iterator<Item = &'s Measured<'a>> {
    study.all.iter().filter(|one| !is_solo(&one.row.run))
}

/// A group for each variant, of the runs that `keep` lets through.
pub(crate) fn by_variant<'s, 'a>(
    study: &'s Study<'a>,
    keep: impl Fn(&Measured) -> bool,
) -> Vec<Group<'s, 'a>> {
    let of = |variant: &'a str| {
        let runs = concurrent(study).filter(|one| one.variant() == variant && keep(one));
        Group { variant, config: String::new(), runs: runs.collect() }
    };
    let groups = study.measured_variants().into_iter().map(of);
    groups.filter(|group| !group.runs.is_empty()).collect()
}

/// A group for each variant and configuration.
pub(crate) fn by_configuration<'s, 'a>(study: &'s Study<'a>) -> Vec<Group<'s, 'a>> {
    let mut groups = Vec::new();
    for Group { variant, runs, .. } in by_variant(study, |_| true) {
        let mut by_config: BTreeMap<String, Vec<&Measured>> = BTreeMap::new();
        for one in runs {
            by_config.entry(configuration(&one.row.run)).or_default().push(one);
        }
        let group = |(config, runs)| Group { variant, config, runs };
        let mut of_variant: Vec<Group> = by_config.into_iter().map(group).collect();
        of_variant.sort_by_cached_key(|group| as_read(&group.config));
        groups.append(&mut of_variant);
    }
    groups
}

/// A name's parts, each with the number behind it: `agents=2` comes before `agents=100`.
fn as_read(name: &str) -> Vec<(String, Option<u64>)> {
    let is_digit = |c: &char| c.is_ascii_digit();
    let (mut rest, mut parts) = (name, Vec::new());
    while !rest.is_empty() {
        let text: String = rest.chars().take_while(|c| !is_digit(c)).collect();
        let number: String = rest[text.len()..].chars().take_while(is_digit).collect();
        rest = &rest[text.len() + number.len()..];
        parts.push((text, number.parse().ok()));
    }
    parts
}

/// The configurations of the concurrent runs, by name.
pub(crate) fn configurations(study: &Study) -> Vec<String> {
    let names: BTreeSet<String> =
        concurrent(study).map(|one| configuration(&one.row.run)).collect();
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort_by_cached_key(|name| as_read(name));
    names
}

pub(crate) fn is_unscaled(one: &Measured) -> bool {
    time_scale_ppm(&one.row.run) == UNSCALED_PPM
}

/// The variants that run their agents one after the other, by what their runs show.
pub(crate) fn serial_variants<'a>(study: &Study<'a>) -> BTreeSet<&'a str> {
    let is_serial = |group: &Group| {
        group.median("agent_overlap_share").is_some_and(|share| share < SERIAL_OVERLAP)
    };
    let groups = by_variant(study, |_| true).into_iter();
    groups.filter(is_serial).map(|group| group.variant).collect()
}

/// Configurations that always run in real time are this lab's own, and none of TR115's.
pub(crate) fn is_of_tr115(study: &Study, one: &Measured) -> bool {
    let own = study.section.get("unscaled").and_then(toml::Value::as_array);
    let config = one.row.run.cell.get("config").map(String::as_str);
    !own.is_some_and(|own| own.iter().any(|name| name.as_str() == config))
}

/// The time scale of some runs for a caption, and whether their servers are simulated: a picture is
/// looked at without the page around it.
pub(crate) fn scale_of<'r>(runs: impl IntoIterator<Item = &'r Measured<'r>>) -> String {
    let runs: Vec<&Measured> = runs.into_iter().collect();
    let simulated = runs.iter().any(|one| one.row.run.counters.contains_key(PACED));
    let scales = time_scale_of(runs);
    if simulated { format!("simulated servers, {scales}") } else { scales }
}

/// The time scale of some runs; where there are several, with the cells that each belongs to.
pub(crate) fn time_scale_of<'r>(runs: impl IntoIterator<Item = &'r Measured<'r>>) -> String {
    let mut cells: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for one in runs {
        let run = &one.row.run;
        cells.entry(time_scale_ppm(run)).or_default().insert(configuration(run));
    }
    let several = cells.len() > 1;
    let one = |(ppm, names): (u64, BTreeSet<String>)| match names.first() {
        Some(name) if several && names.len() == 1 => format!("{} in {name}", time_scale_label(ppm)),
        _ => time_scale_label(ppm),
    };
    cells.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_in_the_order_of_their_size() {
        let mut names = ["steady agents=100", "hetero", "steady agents=2", "ctx2048", "ctx512 b"];
        names.sort_by_cached_key(|name| as_read(name));
        let expected = ["ctx512 b", "ctx2048", "hetero", "steady agents=2", "steady agents=100"];
        assert_eq!(names, expected);
        assert_eq!(as_read("a1b"), [("a".to_owned(), Some(1)), ("b".to_owned(), None)]);
        assert_eq!(as_read(""), []);
    }
}
