//! Differences, ratios and percentages against their parts; equations that hold by definition.

use super::{Evidence, data, impossible, lines, shown, span};
use crate::{Against, CellValue, Comparator, Key, Relation, Statement};
use lab_audit::{
    Check, Expression, Finding,
    checks::{
        Span,
        ratios::{READINGS, Reading},
    },
};

pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let mut findings = Vec::new();
    for statement in &evidence.statements {
        let Some(reading) = reading(statement.comparator) else { continue };
        let Some(against) = &statement.against else { continue };
        findings.extend(of_parts(evidence, statement, against, reading));
        findings.extend(of_data(evidence, statement, against, reading));
    }
    for relation in &evidence.claims.relation {
        findings.extend(related(evidence, relation));
    }
    findings
}

pub(super) fn reading(comparator: Comparator) -> Option<Reading> {
    match comparator {
        Comparator::DifferenceTo => Some(Reading::Difference),
        Comparator::RatioTo => Some(Reading::Ratio),
        Comparator::PercentTo => Some(Reading::PercentChange),
        _ => None,
    }
}

/// What the document states of both sides; a number in `against` is a side of its own.
fn sides<'e>(
    evidence: &'e Evidence,
    statement: &Statement,
    against: &Against,
) -> (Vec<&'e Statement>, Vec<(Span, Option<&'e Statement>)>) {
    let own = evidence.stated(&statement.key);
    if let Some(CellValue::Number(_, printed)) = against.value.as_deref().map(CellValue::read) {
        return (own, vec![(Span::of(&printed), None)]);
    }
    let other = evidence.stated(&statement.key.other(against));
    let other = other.into_iter().filter_map(|other| Some((span(other)?, Some(other))));
    (own, other.collect())
}

/// The difference of no two values that the document states.
pub(super) fn of_parts(
    evidence: &Evidence,
    statement: &Statement,
    against: &Against,
    reading: Reading,
) -> Option<Finding> {
    let stated = span(statement)?;
    let (own, other) = sides(evidence, statement, against);
    let mut closest: Option<(Span, &Statement, Option<&Statement>)> = None;
    let away = |span: Span| (span.middle() - stated.middle()).abs();
    for new in &own {
        for (base, place) in &other {
            let Some(value) = reading.of(span(new)?, *base) else { continue };
            if value.meets(stated) {
                return None;
            }
            if closest.is_none_or(|(known, ..)| away(value) < away(known)) {
                closest = Some((value, new, *place));
            }
        }
    }
    let (value, new, base) = closest?;
    let base = base.map_or_else(
        || against.value.clone().unwrap_or_default(),
        |base| format!("{} ({})", shown(base), lines([base])),
    );
    let explained = READINGS
        .into_iter()
        .filter(|other| *other != reading)
        .find(|other| {
            own.iter().any(|new| {
                let base = |base: &Span| {
                    span(new).and_then(|new| other.of(new, *base)).is_some_and(|v| v.meets(stated))
                };
                sides(evidence, statement, against).1.iter().any(|(span, _)| base(span))
            })
        })
        .map(|other| format!("; {} would give it", other.formula()))
        .unwrap_or_default();
    let sentence = format!(
        "{} is given as {} of the {} against another, and its parts give {:.2}: {} ({}) and \
         {base}{explained}",
        shown(statement),
        name(reading),
        statement.key,
        value.middle(),
        shown(new),
        lines([new]),
    );
    let how = format!("{} of every pair of values that the document states", reading.formula());
    Some(impossible(Check::DifferenceOfParts, statement, Some(value.middle()), sentence, how))
}

/// Whether the document or its data give both sides.
pub(super) fn is_decided(evidence: &Evidence, statement: &Statement, against: &Against) -> bool {
    let (own, other) = sides(evidence, statement, against);
    let key = data::fact_key(evidence, statement);
    let known = |key: &Key| evidence.fact(key).is_some();
    let base = against.value.is_some() || known(&key.other(against));
    !own.is_empty() && !other.is_empty() || known(&key) && base
}

fn name(reading: Reading) -> &'static str {
    match reading {
        Reading::Ratio => "the ratio",
        Reading::PercentChange => "the change in percent",
        _ => "the difference",
    }
}

/// A difference that the raw data do not have.
pub(super) fn of_data(
    evidence: &Evidence,
    statement: &Statement,
    against: &Against,
    reading: Reading,
) -> Option<Finding> {
    let stated = span(statement)?;
    let key = data::fact_key(evidence, statement);
    let base = match against.value.as_deref().map(CellValue::read) {
        Some(CellValue::Number(_, printed)) => Span::of(&printed),
        _ => Span::exact(evidence.fact(&key.other(against))?),
    };
    let value = reading.of(Span::exact(evidence.fact(&key)?), base)?;
    if value.meets(stated) || of_agreeing_parts(evidence, statement, against, reading) {
        return None;
    }
    let single = single_runs(evidence, &key, against, stated, reading).unwrap_or_default();
    let sentence = format!(
        "{} is given as {} of the {} against another; the raw data give {:.2}{single}",
        shown(statement),
        name(reading),
        statement.key,
        value.middle(),
    );
    let how = format!("{} of the facts of both sides", reading.formula());
    Some(impossible(Check::DifferenceNotInRawData, statement, Some(value.middle()), sentence, how))
}

/// Whether it follows from two stated values that are both what the data give: then rounding made
/// it.
fn of_agreeing_parts(
    evidence: &Evidence,
    statement: &Statement,
    against: &Against,
    reading: Reading,
) -> bool {
    let Some(stated) = span(statement) else { return false };
    let (own, other) = sides(evidence, statement, against);
    let agreed = |part: &&&Statement| data::agrees(evidence, part);
    own.iter().filter(agreed).filter_map(|new| span(new)).any(|new| {
        let agreed =
            other.iter().filter(|(_, base)| base.is_none_or(|base| data::agrees(evidence, base)));
        agreed.clone().any(|(base, _)| reading.of(new, *base).is_some_and(|v| v.meets(stated)))
    })
}

/// Two single measurements within what is spoken of that do give the value, and stand at the same
/// place: what was taken for a difference of the whole.
fn single_runs(
    evidence: &Evidence,
    key: &Key,
    against: &Against,
    stated: Span,
    reading: Reading,
) -> Option<String> {
    // A number with few digits is the difference of many pairs by chance.
    if stated.half_width() > 0.005 * stated.middle().abs() {
        return None;
    }
    let values = |key: &Key| -> Vec<(Key, f64)> {
        let whole = Key { statistic: String::new(), ..key.clone() };
        let single = evidence.facts.iter().filter(|(fact, _)| {
            fact.statistic == "value" && fact.within(&whole) && fact.scope != key.scope
        });
        single.filter_map(|(key, fact)| Some((key.clone(), fact.value.number()?))).collect()
    };
    let others = values(&key.other(against));
    for (own, value) in values(key) {
        for (other, base) in others.iter().filter(|(other, _)| other.scope == own.scope) {
            let of = reading.of(Span::exact(value), Span::exact(*base))?;
            if of.meets(stated) {
                let place: Vec<_> =
                    own.scope.iter().map(|(f, level)| format!("{f} {level}")).collect();
                return Some(format!(
                    "; it is that of two single runs, {} with {value:.2} and {} with {base:.2} \
                     at {}",
                    own.subject,
                    other.subject,
                    place.join(", "),
                ));
            }
        }
    }
    None
}

/// An equation whose sides a section states differently.
fn related(evidence: &Evidence, relation: &Relation) -> Vec<Finding> {
    let Some(formula) = Expression::parse(&relation.formula) else { return Vec::new() };
    let mut findings: Vec<Finding> = Vec::new();
    for left in &evidence.statements {
        let about = left.key.metric == relation.metric
            && left.comparator == Comparator::Equal
            && relation.statistic.as_ref().is_none_or(|wanted| *wanted == left.key.statistic);
        let (true, Some(stated)) = (about, span(left)) else { continue };
        let part = |name: &str| {
            let (metric, statistic) = name.rsplit_once('.').unwrap_or((name, &left.key.statistic));
            let (metric, statistic) = (metric.to_owned(), statistic.to_owned());
            let key = Key { metric, statistic, ..left.key.clone() };
            // Only what stands beside it: elsewhere it may be about other measurements.
            let beside = |part: &&&Statement| part.place.section == left.place.section;
            let parts = evidence.stated(&key);
            let spans = parts.iter().filter(beside).filter_map(|part| span(part));
            // Where two are stated, either may be meant.
            spans.reduce(Span::hull)
        };
        let Some(value) = formula.value(&part) else { continue };
        if value.meets(stated) {
            continue;
        }
        let sentence = format!(
            "the {} is {}, and {} gives {:.3}: {}",
            left.key,
            shown(left),
            relation.formula,
            value.middle(),
            relation.says
        );
        let how = format!("relation `{}` with the values of the same section", relation.id);
        findings.push(impossible(Check::Relation, left, Some(value.middle()), sentence, how));
    }
    findings
}
