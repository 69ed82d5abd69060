//! What the design and the data leave of the conclusions: cells that share a treatment, metrics
//! that are identities, subjects measured one after the other, winners that change, intervals.

use std::collections::{BTreeMap, BTreeSet};

use super::{Evidence, lines, span};
use crate::{Better, Comparator, Key, Kind, Statement};
use lab_audit::{Check, Finding, Place, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = same_treatments(evidence);
    findings.extend(identities(evidence));
    findings.extend(blocks(evidence));
    findings.extend(winners(evidence));
    findings.extend(intervals(evidence));
    findings
}

fn document(evidence: &Evidence, section: &str) -> Place {
    Place {
        document: evidence.claims.document.file.clone(),
        section: section.to_owned(),
        ..Place::default()
    }
}

/// The first place that speaks of a quantity like this.
fn mentioned(evidence: &Evidence, wanted: impl Fn(&Key) -> bool) -> Place {
    let found = evidence.statements.iter().filter(|statement| wanted(&statement.key));
    let first = found.min_by_key(|statement| statement.place.line);
    first.map_or_else(|| document(evidence, ""), |statement| statement.place.clone())
}

fn same_treatments(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for factor in &evidence.claims.factor {
        for (index, level) in factor.level.iter().enumerate() {
            let Some(treatment) = &level.treatment else { continue };
            let same = |other: &&crate::Level| {
                other.treatment.as_ref().is_some_and(|other| other.is == treatment.is)
            };
            for other in factor.level[index + 1..].iter().filter(same) {
                let place = mentioned(evidence, |key| {
                    key.scope.get(&factor.id).is_some_and(|at| *at == other.id)
                });
                let sentence = format!(
                    "{} and {} are one treatment under two names, so that their difference \
                     measures noise",
                    level.id, other.id
                );
                let severity = Severity::Doubtful;
                let how = format!("what took effect is equal: {}", treatment.why);
                findings.push(Finding::new(Check::SameTreatment, severity, place, sentence, how));
            }
        }
    }
    findings
}

/// Identities that hold to less than a hundredth of the metric's own spread (or mean).
fn identities(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    let declared = evidence.claims.derive.iter().filter(|derive| derive.kind == Kind::Identity);
    for derive in declared {
        let facts = evidence
            .facts
            .iter()
            .filter(|(key, fact)| fact.derive == derive.id && key.statistic == "largest_gap");
        for (key, fact) in facts {
            let of = |statistic: &str| {
                evidence.fact(&Key { statistic: statistic.to_owned(), ..key.clone() })
            };
            let (Some(gap), Some(n)) = (fact.value.number(), of("n")) else { continue };
            let spread = of("sd").unwrap_or(0.0).max(1e-4 * of("mean").unwrap_or(0.0).abs());
            if gap > 0.01 * spread {
                continue;
            }
            let whose =
                if key.subject.is_empty() { String::new() } else { format!(" of {}", key.subject) };
            let sentence = format!(
                "the {}{whose} equals {} within {gap:.2e} in all {n} runs, against a spread of \
                 {spread:.3}: {}",
                key.metric,
                derive.other.as_deref().unwrap_or_default(),
                derive.means,
            );
            let place = mentioned(evidence, |stated| stated.metric == key.metric);
            let how =
                format!("the largest difference of both sides over the raw data ({})", derive.id);
            findings.push(Finding::new(
                Check::MetricIsIdentity,
                Severity::Doubtful,
                place,
                sentence,
                how,
            ));
        }
    }
    findings
}

fn blocks(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (key, fact) in &evidence.facts {
        let is_blocks = evidence
            .claims
            .derive
            .iter()
            .any(|derive| derive.id == fact.derive && derive.kind == Kind::Blocks);
        if !is_blocks || key.statistic != "stretches" {
            continue;
        }
        let subjects = evidence.fact(&Key { statistic: "subjects".into(), ..key.clone() });
        let (Some(subjects), Some(stretches)) = (subjects, fact.value.number()) else { continue };
        if subjects < 2.0 || stretches > subjects {
            continue;
        }
        let sentence = format!(
            "the {subjects} subjects were measured one after the other in {stretches} stretches, \
             so that whatever drifted with time is mixed with their differences"
        );
        let how = format!("subjects in the order of `{}`", fact.derive);
        let place = document(evidence, "");
        findings.push(Finding::new(Check::BlocksInTime, Severity::Doubtful, place, sentence, how));
    }
    findings
}

type Values<'a> = BTreeMap<&'a str, f64>;

/// Factors whose levels are repeats: who wins should not depend on them.
fn winners(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for factor in evidence.claims.factor.iter().filter(|factor| factor.repeats) {
        for metric in &evidence.claims.metric {
            let Some(better) = metric.better else { continue };
            // The quantity without subject and repeat, then the repeat, then the subjects.
            let mut groups: BTreeMap<Key, BTreeMap<&str, Values>> = BTreeMap::new();
            for (key, value) in known(evidence, &metric.id) {
                let Some(repeat) = key.scope.get(&factor.id) else { continue };
                let mut whole = Key { subject: String::new(), ..key.clone() };
                whole.scope.remove(&factor.id);
                let values = groups.entry(whole).or_default().entry(repeat).or_default();
                values.insert(&key.subject, value);
            }
            findings.extend(flips(evidence, &factor.id, &metric.id, better, &groups));
        }
    }
    findings
}

/// Facts where there are any, else statements.
fn known<'e>(evidence: &'e Evidence, metric: &str) -> Vec<(&'e Key, f64)> {
    let location = |key: &Key| ["value", "mean", "median", "p50"].contains(&key.statistic.as_str());
    let facts = evidence.facts.iter().filter(|(key, _)| key.metric == metric && location(key));
    let facts: Vec<_> = facts.filter_map(|(key, fact)| Some((key, fact.value.number()?))).collect();
    if !facts.is_empty() {
        return facts;
    }
    let stated = evidence.statements.iter().filter(|statement| {
        statement.key.metric == metric
            && statement.comparator == Comparator::Equal
            && location(&statement.key)
    });
    stated.filter_map(|one| Some((&one.key, one.value.number()?.value))).collect()
}

fn flips(
    evidence: &Evidence,
    factor: &str,
    metric: &str,
    better: Better,
    groups: &BTreeMap<Key, BTreeMap<&str, Values>>,
) -> Option<Finding> {
    let best = |values: &Values| {
        let value = |value: f64| if better == Better::Higher { value } else { -value };
        values
            .iter()
            .max_by(|a, b| value(*a.1).total_cmp(&value(*b.1)))
            .map(|(who, _)| (*who).to_owned())
    };
    let mut compared = 0;
    let mut changing = Vec::new();
    for (quantity, repeats) in groups {
        let full: Vec<_> = repeats.iter().filter(|(_, values)| values.len() > 1).collect();
        if full.len() < 2 {
            continue;
        }
        compared += 1;
        let winners: Vec<_> =
            full.iter().filter_map(|(at, values)| Some((**at, best(values)?))).collect();
        let distinct: BTreeSet<_> = winners.iter().map(|(_, who)| who).collect();
        if distinct.len() > 1 {
            changing.push((quantity, winners));
        }
    }
    let (quantity, winners) = changing.first()?;
    let listed: Vec<_> = winners.iter().map(|(at, who)| format!("{factor} {at}: {who}")).collect();
    let sentence = format!(
        "the best {metric} changes hands between repeats ({factor}) in {} of {compared} \
         comparisons, for example the {quantity}: {}",
        changing.len(),
        listed.join(", ")
    );
    let place = mentioned(evidence, |key| key.metric == metric);
    let how = "the best subject of every repeat that has several".to_owned();
    Some(Finding::new(Check::WinnerChanges, Severity::Doubtful, place, sentence, how))
}

/// Intervals (`max_ci_low`, `max_ci_high`) that do not hold the value they are given for.
fn intervals(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for end in &evidence.statements {
        let statistic = end.key.statistic.as_str();
        let upper = statistic.strip_suffix("_ci_high");
        let Some(inner) = upper.or_else(|| statistic.strip_suffix("_ci_low")) else { continue };
        let Some(limit) = span(end) else { continue };
        let key = Key { statistic: inner.to_owned(), ..end.key.clone() };
        let beyond = |statement: &&Statement| {
            span(statement).is_some_and(|value| {
                if upper.is_some() { limit.below(value) } else { value.below(limit) }
            })
        };
        let stated: Vec<_> = evidence.stated(&key).into_iter().filter(beyond).collect();
        let fact = evidence
            .fact(&key)
            .filter(|fact| if upper.is_some() { *fact > limit.high } else { *fact < limit.low });
        let side = if upper.is_some() { "ends below" } else { "begins above" };
        let what = match (stated.first(), fact) {
            (Some(one), _) => {
                format!("{} as stated at {}", super::shown(one), lines(stated.iter().copied()))
            }
            (None, Some(fact)) => format!("{fact:.3}, as the raw data have it"),
            (None, None) => continue,
        };
        let sentence = format!(
            "the interval given for the {key} {side} it: {} against {what}",
            super::shown(end)
        );
        let mut finding = Finding::new(
            Check::IntervalExcludes,
            Severity::Impossible,
            end.place.clone(),
            sentence,
            "an interval for a value that was observed holds that value".to_owned(),
        );
        finding.stated = end.value.number().map(|printed| printed.value);
        finding.computed = fact.or_else(|| Some(stated.first()?.value.number()?.value));
        findings.push(finding);
    }
    findings
}
