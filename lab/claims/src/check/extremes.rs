//! Values outside the extremes that the document gives for what they are part of.

use std::collections::BTreeMap;

use super::{Evidence, impossible, lines, shown, span};
use crate::{Comparator, Key, Statement};
use lab_audit::{Check, Finding, checks::Span};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let mut limits: BTreeMap<&Key, Vec<&Statement>> = BTreeMap::new();
    let extreme = |statement: &&Statement| {
        statement.comparator == Comparator::Equal
            && statement.value.number().is_some()
            && ["min", "max"].contains(&statement.key.statistic.as_str())
    };
    for statement in evidence.statements.iter().filter(extreme) {
        limits.entry(&statement.key).or_default().push(statement);
    }
    let mut findings: Vec<_> =
        limits.iter().filter_map(|(key, group)| outside(evidence, key, group)).collect();
    findings.extend(impossible_values(evidence));
    findings
}

/// The extreme as the document states it furthest out: a value beyond that one is beyond all.
fn limit(key: &Key, group: &[&Statement]) -> Option<Span> {
    let spans = group.iter().filter_map(|statement| span(statement));
    let further = |a: Span, b: Span| {
        let b_is_further = if key.statistic == "max" { b.high > a.high } else { b.low < a.low };
        if b_is_further { b } else { a }
    };
    spans.reduce(further)
}

fn outside(evidence: &Evidence, key: &Key, group: &[&Statement]) -> Option<Finding> {
    let limit = limit(key, group)?;
    let beyond = |statement: &&Statement| {
        let located = is_location(&statement.key.statistic)
            && statement.key.statistic != key.statistic
            || statement.key.statistic == key.statistic && statement.key != *key;
        let plain = statement.comparator == Comparator::Equal;
        located
            && plain
            && statement.key.within(key)
            && span(statement).is_some_and(|span| match key.statistic.as_str() {
                "max" => limit.below(span),
                _ => span.below(limit),
            })
    };
    let beyond: Vec<&Statement> = evidence.statements.iter().filter(beyond).collect();
    let distance = |statement: &&&Statement| {
        span(statement).map_or(0.0, |span| (span.middle() - limit.middle()).abs())
    };
    let worst = beyond.iter().max_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let side = if key.statistic == "max" { "above" } else { "below" };
    let more = match beyond.len() {
        1 => String::new(),
        n => format!(" (so do {} more: {})", n - 1, lines(beyond.iter().copied())),
    };
    let sentence = format!(
        "the {} of {} lies {side} the {key}, which is {:.2} at the furthest ({}){more}",
        worst.key,
        shown(worst),
        limit.middle(),
        lines(group.iter().copied()),
    );
    Some(
        impossible(
            Check::OutsideItsExtremes,
            worst,
            Some(limit.middle()),
            sentence,
            "no part of a set of measurements lies beyond the extremes of the set",
        )
        .against(group.first().map(|statement| statement.place.clone())),
    )
}

/// Whether a statistic always lies between the smallest and the largest value.
fn is_location(statistic: &str) -> bool {
    let percentile = statistic.strip_prefix('p').is_some_and(|p| p.parse::<f64>().is_ok());
    percentile || ["value", "mean", "median", "min", "max"].contains(&statistic)
}

/// Values that the metric cannot take.
fn impossible_values(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for metric in &evidence.claims.metric {
        let Some(range) = metric.range else { continue };
        let low = range.low.unwrap_or(f64::NEG_INFINITY);
        let high = range.high.unwrap_or(f64::INFINITY);
        for statement in &evidence.statements {
            let about = statement.key.metric == metric.id
                && is_location(&statement.key.statistic)
                && statement.comparator == Comparator::Equal;
            let Some(span) = span(statement).filter(|_| about) else { continue };
            if span.high >= low && span.low <= high {
                continue;
            }
            let limit = if span.low > high { high } else { low };
            findings.push(impossible(
                Check::OutsideItsRange,
                statement,
                Some(limit),
                format!(
                    "the {} of {} lies beyond {limit}, the limit of the metric",
                    statement.key,
                    shown(statement)
                ),
                format!("`range` of the metric {}: {}", metric.id, metric.says),
            ));
        }
    }
    findings
}
