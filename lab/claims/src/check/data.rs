//! Statements against the facts of the authors' own raw data.

use std::collections::BTreeMap;

use super::{Evidence, Fact, computed, impossible, lines, shown, span};
use crate::{Comparator, Key, Statement, StatementValue};
use lab_audit::{Check, Finding, Severity, checks::Span};

/// What a statement is to the fact of its quantity.
pub(super) enum Match<'e> {
    /// There is no such fact.
    Unknown,
    /// It fits.
    Fits,
    /// It does not.
    Differs(&'e Fact),
    /// It is another statistic, of this name.
    Another(&'e Fact, &'static str),
}

/// Whether the data have the statement's quantity and give its value.
pub(super) fn agrees(evidence: &Evidence, statement: &Statement) -> bool {
    matches!(compare(evidence, statement), Match::Fits)
}

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = values(evidence);
    let mut groups: BTreeMap<String, Vec<(&Statement, &Fact)>> = BTreeMap::new();
    for statement in evidence.statements.iter().filter(|statement| !is_cell_value(statement)) {
        match compare(evidence, statement) {
            Match::Unknown | Match::Fits => {}
            Match::Differs(fact) => {
                // A table is judged column by column, the text quantity by quantity.
                let group = if statement.tabled {
                    format!("table {} {}", statement.id, statement.key.statistic)
                } else {
                    format!("text {}", statement.key)
                };
                groups.entry(group).or_default().push((statement, fact));
            }
            Match::Another(fact, name) => findings.push(another(statement, fact, name)),
        }
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    findings.extend(groups.iter().map(|group| differs(evidence, group)));
    merge_medians(findings)
}

fn is_cell_value(statement: &Statement) -> bool {
    statement.tabled && statement.key.statistic == "value"
}

pub(super) fn compare<'e>(evidence: &'e Evidence, statement: &Statement) -> Match<'e> {
    let key = fact_key(evidence, statement);
    let Some(fact) = evidence.facts.get(&key) else { return Match::Unknown };
    let fits = |fact: &Fact| fits(statement, fact);
    if fits(fact) {
        return Match::Fits;
    }
    let variant = |statistic: &str| {
        evidence.facts.get(&Key { statistic: statistic.to_owned(), ..key.clone() })
    };
    // Percentiles have several definitions; a median has one.
    if variant(&format!("{}_nearest", key.statistic)).is_some_and(fits) {
        return Match::Fits;
    }
    for name in ["upper_median", "lower_median"] {
        if key.statistic == "median" && variant(name).is_some_and(fits) {
            return Match::Another(fact, name);
        }
    }
    Match::Differs(fact)
}

/// The quantity among the facts: the statement's own, unless its claim names another.
pub(super) fn fact_key(evidence: &Evidence, statement: &Statement) -> Key {
    let claim = evidence.claims.claim.iter().find(|claim| claim.id == statement.id);
    match claim.and_then(|claim| claim.fact.as_ref()).filter(|_| !statement.tabled) {
        Some(fact) => statement.key.other(fact),
        None => statement.key.clone(),
    }
}

fn fits(statement: &Statement, fact: &Fact) -> bool {
    let value = fact.value.number();
    let (Some(stated), Some(value)) = (span(statement), value) else {
        return match (&statement.value, &fact.value) {
            (StatementValue::Name(name), crate::facts::Number::Name(fact)) => name == fact,
            // A ranking is not judged here.
            _ => true,
        };
    };
    let exact = Span::exact(value);
    match statement.comparator {
        Comparator::Equal => stated.meets(exact),
        Comparator::Below | Comparator::AtMost => !stated.below(exact),
        Comparator::Above | Comparator::AtLeast => !exact.below(stated),
        Comparator::Between => {
            let high = statement.high.as_ref().map_or(stated, Span::of);
            !exact.below(stated) && !high.below(exact)
        }
        _ => true,
    }
}

/// Tables of single runs: how many of their values the data hold.
fn values(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for table in &evidence.claims.table {
        let cells = table.cells.iter().filter(|cell| is_cell_value(cell));
        let known: Vec<_> =
            cells.filter_map(|cell| Some((cell, evidence.facts.get(&cell.key)?))).collect();
        let wrong: Vec<_> = known.iter().filter(|(cell, fact)| !fits(cell, fact)).collect();
        let Some((first, fact)) = wrong.first() else { continue };
        let value = fact.value.number().unwrap_or(f64::NAN);
        let sentence = format!(
            "{} of the {} single values of this table are not what the raw data have at their \
             place; the first: {} is printed for {}, the raw run has {}",
            wrong.len(),
            known.len(),
            shown(first),
            first.key,
            computed(value, first),
        );
        findings.push(finding(Check::ValuesNotInRawData, first, fact, sentence));
    }
    findings
}

fn differs(evidence: &Evidence, group: &[(&Statement, &Fact)]) -> Finding {
    let away = |(statement, fact): &&(&Statement, &Fact)| {
        let stated = statement.value.number().map_or(f64::NAN, |printed| printed.value);
        let fact = fact.value.number().unwrap_or(f64::NAN);
        ((stated - fact) / fact.abs().max(1e-12)).abs()
    };
    let worst = group.iter().max_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(&group[0]);
    let (statement, fact) = *worst;
    let stated = match &statement.value {
        StatementValue::Name(name) => name.clone(),
        _ => shown(statement),
    };
    let value = fact.value.number().map_or(fact.value.to_string(), |v| computed(v, statement));
    let unit = evidence.unit(&statement.key.metric);
    let statements = group.iter().map(|(statement, _)| *statement);
    let others = match (group.len(), statement.tabled) {
        (1, _) => String::new(),
        (n, true) => format!("; {} more of this table differ as well", n - 1),
        (_, false) => format!("; so it is stated at {}", lines(statements)),
    };
    let sentence = format!(
        "the {} is stated as {}{stated} {unit}, the raw data give {value}{others}",
        statement.key,
        relation(statement.comparator),
    );
    let mut finding = finding(Check::NotInRawData, statement, fact, sentence.replace(" , ", ", "));
    let claim = evidence.claims.claim.iter().find(|claim| claim.id == statement.id);
    // A fact under another name supports less than the quantity itself would.
    if claim.is_some_and(|claim| claim.fact.is_some()) {
        finding.severity = Severity::Doubtful;
    }
    finding
}

fn relation(comparator: Comparator) -> &'static str {
    match comparator {
        Comparator::Below => "below ",
        Comparator::AtMost => "at most ",
        Comparator::Above => "above ",
        Comparator::AtLeast => "at least ",
        Comparator::Between => "at least ",
        _ => "",
    }
}

fn another(statement: &Statement, fact: &Fact, name: &str) -> Finding {
    let value = fact.value.number().unwrap_or(f64::NAN);
    let (check, which) = match name {
        "upper_median" => (Check::UpperMedian, "upper"),
        _ => (Check::LowerMedian, "lower"),
    };
    let sentence = format!(
        "the {} of {} is the {which} of the two values in the middle; the median is {}",
        statement.key,
        shown(statement),
        computed(value, statement),
    );
    finding(check, statement, fact, sentence)
}

/// One finding for all statements of one upper or lower median.
fn merge_medians(findings: Vec<Finding>) -> Vec<Finding> {
    let mut seen = std::collections::BTreeSet::new();
    let mut kept = findings;
    kept.retain(|finding| {
        !finding.check.ends_with("_median") || seen.insert(finding.sentence.clone())
    });
    kept
}

fn finding(check: Check, statement: &Statement, fact: &Fact, sentence: String) -> Finding {
    impossible(
        check,
        statement,
        fact.value.number(),
        sentence,
        format!("derivation `{}` of the raw data", fact.derive),
    )
    .against(Some(fact.place.clone()))
}
