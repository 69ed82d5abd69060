//! Metrics whose values stand on multiples of a step: what decided them was a poll or a tick.

use std::collections::BTreeMap;

use super::{Evidence, span};
use crate::{Comparator, Key, Metric};
use lab_audit::{Check, Finding, Place, Severity, checks::lattice};

/// Fits by chance are reported below this rate.
const ALPHA: f64 = 0.01;

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for metric in &evidence.claims.metric {
        let Some(statistic) = &metric.lattice else { continue };
        for (name, values) in samples(evidence, metric, statistic) {
            findings.extend(on_a_lattice(metric, statistic, &name, &values));
        }
    }
    findings
}

struct Value {
    value: f64,
    half_step: f64,
    place: Place,
}

/// The values, apart for each level of the factors of repeats and apart for each raw file.
fn samples(evidence: &Evidence, metric: &Metric, statistic: &str) -> BTreeMap<String, Vec<Value>> {
    let repeats: Vec<_> = evidence.claims.factor.iter().filter(|factor| factor.repeats).collect();
    let about = |key: &Key| key.metric == metric.id && key.statistic == statistic;
    let part = |key: &Key| -> String {
        let levels = repeats.iter().filter_map(|factor| {
            key.scope.get(&factor.id).map(|level| format!("{} {level}", factor.id))
        });
        levels.collect::<Vec<_>>().join(", ")
    };
    let mut samples: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut seen = std::collections::BTreeSet::new();
    for statement in &evidence.statements {
        let plain = statement.comparator == Comparator::Equal && about(&statement.key);
        let (true, Some(span)) = (plain, span(statement)) else { continue };
        if !seen.insert(&statement.key) {
            continue;
        }
        let value = statement.value.number().map_or(span.middle(), |printed| printed.value);
        let half_step = statement.value.number().map_or(0.0, lab_audit::Printed::half_step);
        let value = Value { value, half_step, place: statement.place.clone() };
        samples.entry(part(&statement.key)).or_default().push(value);
    }
    for (key, fact) in evidence.facts.iter().filter(|(key, _)| about(key)) {
        let Some(value) = fact.value.number() else { continue };
        let value = Value { value, half_step: 0.0, place: fact.place.clone() };
        samples.entry(format!("{} {}", fact.place.document, part(key))).or_default().push(value);
    }
    samples
}

fn on_a_lattice(metric: &Metric, statistic: &str, name: &str, values: &[Value]) -> Option<Finding> {
    let numbers: Vec<f64> = values.iter().map(|value| value.value).collect();
    let half_step = values.iter().map(|value| value.half_step).fold(0.0, f64::max);
    let found = lattice::find(&numbers, half_step, ALPHA, 1)?;
    let sentence = format!(
        "the {} values of {statistic} {} {}stand on {} multiples of {:.4} {} (offset {:.4}; \
         p {:.4} that smooth values would): something that recurs at this step decided them",
        numbers.len(),
        metric.id,
        if name.trim().is_empty() { String::new() } else { format!("({}) ", name.trim()) },
        found.levels,
        found.step,
        metric.unit,
        found.offset,
        found.p,
    );
    Some(Finding {
        check: Check::Lattice.name().to_owned(),
        severity: Severity::Doubtful,
        place: values.first()?.place.clone(),
        against: None,
        stated: None,
        computed: Some(found.step),
        sentence,
        how: "Rayleigh's statistic over all steps, against the values smoothed".into(),
    })
}
