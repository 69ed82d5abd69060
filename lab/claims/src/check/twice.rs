//! One quantity, stated more than once with values that cannot be one.

use std::collections::BTreeMap;

use super::{Evidence, lines, shown, span};
use crate::{Comparator, Key, Statement, StatementValue};
use lab_audit::{Check, Finding, Severity};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let mut groups: BTreeMap<&Key, Vec<&Statement>> = BTreeMap::new();
    let plain = |statement: &&Statement| statement.comparator == Comparator::Equal;
    for statement in evidence.statements.iter().filter(plain) {
        groups.entry(&statement.key).or_default().push(statement);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    // What is said most often is what the document rests on.
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.len()));
    let numbers = groups.iter().filter_map(|(key, group)| numbers(evidence, key, group));
    let names = groups.iter().filter_map(|(key, group)| names(key, group));
    numbers.chain(names).collect()
}

/// Statements by the value they print, the value with the most statements first.
fn by_value<'s>(
    group: &[&'s Statement],
    text: impl Fn(&Statement) -> Option<String>,
) -> Vec<(String, Vec<&'s Statement>)> {
    let mut values: BTreeMap<String, Vec<&Statement>> = BTreeMap::new();
    for statement in group {
        if let Some(text) = text(statement) {
            values.entry(text).or_default().push(statement);
        }
    }
    let mut values: Vec<_> = values.into_iter().collect();
    let first = |statements: &[&Statement]| statements.iter().map(|one| one.place.line).min();
    values.sort_by_key(|(_, list)| (std::cmp::Reverse(list.len()), first(list)));
    values
}

fn numbers(evidence: &Evidence, key: &Key, group: &[&Statement]) -> Option<Finding> {
    let text = |statement: &Statement| statement.value.number().map(|_| shown(statement));
    let values = by_value(group, text);
    let (_, most) = values.first()?;
    let stated = span(most[0])?;
    let differs = |statement: &&&Statement| span(statement).is_some_and(|s| !s.meets(stated));
    let away = |statement: &&&Statement| {
        span(statement).map_or(0.0, |span| (span.middle() - stated.middle()).abs())
    };
    let all = values.iter().flat_map(|(_, list)| list);
    let worst = all.filter(differs).max_by(|a, b| away(a).total_cmp(&away(b)))?;
    let unit = evidence.unit(&key.metric);
    let listed = values.iter().map(|(text, list)| {
        format!(
            "{text}{}{unit} ({})",
            if unit.is_empty() { "" } else { " " },
            lines(list.iter().copied())
        )
    });
    let listed: Vec<_> = listed.collect();
    let fact = evidence.fact(key);
    let data = fact.map(|fact| format!("; the raw data give {fact:.2}")).unwrap_or_default();
    let sentence = format!("the {key} is stated as {}{data}", listed.join(", as "));
    Some(finding(most[0], worst, sentence, worst.value.number().map(|printed| printed.value)))
}

fn names(key: &Key, group: &[&Statement]) -> Option<Finding> {
    let text = |statement: &Statement| match &statement.value {
        StatementValue::Name(name) => Some(name.clone()),
        _ => None,
    };
    let values = by_value(group, text);
    let [(_, most), (_, other), ..] = values.as_slice() else { return None };
    let listed: Vec<_> = values
        .iter()
        .map(|(name, list)| format!("{name} ({})", lines(list.iter().copied())))
        .collect();
    let sentence = format!("the {key} is stated as {}", listed.join(", as "));
    Some(finding(most[0], other[0], sentence, None))
}

fn finding(one: &Statement, other: &Statement, sentence: String, computed: Option<f64>) -> Finding {
    Finding {
        check: Check::StatedTwice.name().to_owned(),
        severity: Severity::Impossible,
        place: one.place.clone(),
        against: Some(other.place.clone()),
        stated: one.value.number().map(|printed| printed.value),
        computed,
        sentence,
        how: "statements of one quantity, each with the rounding its digits allow".into(),
    }
}
