//! Conditions that a claim file declares: what must hold between what a document states.
//!
//! A `[[relation]]` holds wherever its metrics meet; a `[[check]]` holds between the very
//! quantities it names, of several subjects, scopes, tables or facts. Every quantity stands for all
//! values that print like it, so a failed check means: no such values fulfil the condition.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::checks::Span;
use crate::claims::{ClaimsError, Comparator, OneOrMore, Scope, Statement};
use crate::facts::{Facts, formula::Formula};
use crate::{Finding, Place, Severity};

/// `[[check]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Its name.
    pub id: String,
    /// What must hold, in one sentence without its full stop.
    pub says: String,
    /// The values that the condition names.
    #[serde(rename = "let")]
    pub values: BTreeMap<String, Select>,
    /// `formula relation formula`, the relation one of `= < <= > >=`; by custom what is stated
    /// stands on the left.
    pub holds: String,
    /// The claim or table where a finding has its place; the first value on the left unless given.
    pub of: Option<String>,
    /// How sure something is wrong where it does not hold.
    #[serde(default = "impossible")]
    pub fails: Severity,
    /// What it means where it does not hold, in one sentence without its full stop.
    #[serde(default)]
    pub means: String,
}

fn impossible() -> Severity {
    Severity::Impossible
}

/// Which values a name stands for: all that fit every part given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// The id of one claim: its value, whatever it relates to.
    pub claim: Option<String>,
    /// Only cells of this table.
    pub table: Option<String>,
    /// From the facts of this raw file instead of from the document.
    pub facts: Option<String>,
    /// The metric's id.
    pub metric: Option<String>,
    /// The statistic.
    pub statistic: Option<String>,
    /// One subject, or several.
    pub subject: Option<OneOrMore>,
    /// Levels that the scope must have.
    #[serde(default)]
    pub scope: Scope,
    /// What is made of several values.
    #[serde(default)]
    pub take: Take,
}

/// What is made of several values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Take {
    /// Whatever any of them can be: the condition must fail for each.
    #[default]
    Any,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The arithmetic mean.
    Mean,
    /// The sum.
    Sum,
    /// The largest less the smallest.
    Spread,
    /// How many there are.
    Count,
}

/// Checks every condition against what the document states and what its raw data say.
///
/// # Errors
/// Names a check whose condition cannot be read, or that names what nobody states: then the claim
/// file is wrong, not the document.
pub fn findings(
    file: &str,
    checks: &[Check],
    stated: &[Statement],
    facts: &[Facts],
) -> Result<Vec<Finding>, ClaimsError> {
    let mut found = Vec::new();
    for check in checks {
        let wrong = |(key, message): (String, String)| {
            ClaimsError::value(file, &format!("check.{}.{key}", check.id), message)
        };
        let condition =
            Condition::parse(&check.holds).map_err(|message| wrong(("holds".into(), message)))?;
        // A check on facts that were not derived here waits for them.
        let Some(chosen) = choose(check, &condition, stated, facts).map_err(wrong)? else {
            continue;
        };
        let sides = condition.sides(&chosen).ok_or_else(|| {
            let message = "a side has no value: it divides by what can be zero";
            wrong(("holds".to_owned(), message.to_owned()))
        })?;
        if !condition.possible(sides) {
            let place = check.of.as_ref().and_then(|of| stated.iter().find(|one| one.id == *of));
            found.push(finding(check, &condition, &chosen, sides, place.map(|one| &one.place)));
        }
    }
    Ok(found)
}

/// A name of a condition, resolved.
struct Value {
    span: Span,
    /// The single values, as they stand.
    shown: Vec<f64>,
    place: Place,
}

type Values<'a> = BTreeMap<&'a str, Value>;

fn choose<'a>(
    check: &'a Check,
    condition: &Condition,
    stated: &[Statement],
    facts: &[Facts],
) -> Result<Option<Values<'a>>, (String, String)> {
    let names: Vec<&str> =
        condition.left.names().into_iter().chain(condition.right.names()).collect();
    if let Some(missing) = names.iter().find(|name| !check.values.contains_key(**name)) {
        return Err((format!("let.{missing}"), "missing; the condition names it".to_owned()));
    }
    let mut chosen = Values::new();
    for (name, select) in &check.values {
        if !names.contains(&name.as_str()) {
            return Err((format!("let.{name}"), "the condition does not name it".to_owned()));
        }
        let value = match &select.facts {
            Some(raw) => match facts.iter().find(|facts| facts.raw == *raw) {
                Some(facts) => select.of_facts(facts),
                None => return Ok(None),
            },
            None => select.of_statements(stated),
        };
        let value =
            value.ok_or_else(|| (format!("let.{name}"), "nothing that is stated fits".to_owned()));
        chosen.insert(name, value?);
    }
    Ok(Some(chosen))
}

impl Select {
    fn of_statements(&self, stated: &[Statement]) -> Option<Value> {
        let fitting: Vec<_> = stated.iter().filter(|statement| self.fits(statement)).collect();
        let numbers: Vec<_> = fitting.iter().filter_map(|one| one.value.number()).collect();
        let spans: Vec<_> = numbers.iter().map(|number| Span::of(number)).collect();
        Some(Value {
            span: self.take.of(&spans)?,
            shown: numbers.iter().map(|number| number.value).collect(),
            place: fitting.first()?.place.clone(),
        })
    }

    fn fits(&self, statement: &Statement) -> bool {
        let stands = match &self.claim {
            Some(claim) => !statement.tabled && statement.id == *claim,
            // Ratios and bounds are no values of their quantity.
            None => statement.comparator == Comparator::Equal && statement.against.is_none(),
        };
        let table = |table: &String| statement.tabled && statement.id == *table;
        stands
            && statement.value.number().is_some()
            && self.table.as_ref().is_none_or(table)
            && self.fits_key(&statement.key)
    }

    fn of_facts(&self, facts: &Facts) -> Option<Value> {
        let fitting = facts.all().filter(|(key, ..)| self.fits_key(key));
        let numbers: Vec<f64> = fitting.filter_map(|(_, number, _)| number.number()).collect();
        let spans: Vec<_> = numbers.iter().map(|number| Span::exact(*number)).collect();
        let place = Place { document: facts.raw.clone(), ..Place::default() };
        Some(Value { span: self.take.of(&spans)?, shown: numbers, place })
    }

    fn fits_key(&self, key: &crate::claims::Key) -> bool {
        let is = |wanted: &Option<String>, own: &str| wanted.as_deref().is_none_or(|w| w == own);
        is(&self.metric, &key.metric)
            && is(&self.statistic, &key.statistic)
            && self.subject.as_ref().is_none_or(|subject| subject.names().contains(&key.subject))
            && self.scope.iter().all(|(factor, level)| key.scope.get(factor) == Some(level))
    }
}

impl Take {
    /// `None` of nothing.
    fn of(self, spans: &[Span]) -> Option<Span> {
        let least = |value: fn(&Span) -> f64| spans.iter().map(value).reduce(f64::min);
        let most = |value: fn(&Span) -> f64| spans.iter().map(value).reduce(f64::max);
        let min = Span { low: least(|span| span.low)?, high: least(|span| span.high)? };
        let max = Span { low: most(|span| span.low)?, high: most(|span| span.high)? };
        let count = spans.len() as f64;
        let sum = spans.iter().copied().reduce(Span::plus)?;
        Some(match self {
            Self::Any => spans.iter().copied().reduce(Span::hull)?,
            Self::Min => min,
            Self::Max => max,
            Self::Mean => sum.times(1.0 / count),
            Self::Sum => sum,
            Self::Spread => {
                let spread = max.minus(min);
                Span { low: spread.low.max(0.0), high: spread.high.max(0.0) }
            }
            Self::Count => Span::exact(count),
        })
    }
}

/// Two formulas and how they must relate.
struct Condition {
    left: Formula,
    sign: &'static str,
    right: Formula,
}

impl Condition {
    fn parse(text: &str) -> Result<Self, String> {
        let parts = ["<=", ">=", "<", ">", "="].into_iter().find_map(|sign| {
            let (left, right) = text.split_once(sign)?;
            Some((left, sign, right))
        });
        let Some((left, sign, right)) = parts else {
            return Err(format!("`{text}` has none of = < <= > >="));
        };
        Ok(Self { left: Formula::parse(left)?, sign, right: Formula::parse(right)? })
    }

    fn sides(&self, values: &Values<'_>) -> Option<(Span, Span)> {
        let of = |name: &str| values.get(name).map(|value| value.span);
        Some((self.left.value(&of)?, self.right.value(&of)?))
    }

    /// Whether some pair of values relates like this.
    fn possible(&self, (left, right): (Span, Span)) -> bool {
        match self.sign {
            "<=" => !right.below(left),
            ">=" => !left.below(right),
            "<" => left.low < right.high,
            ">" => left.high > right.low,
            _ => left.meets(right),
        }
    }
}

fn finding(
    check: &Check,
    condition: &Condition,
    values: &Values<'_>,
    (left, right): (Span, Span),
    of: Option<&Place>,
) -> Finding {
    let place_of = |formula: &Formula| {
        formula.names().into_iter().find_map(|name| Some(values.get(name)?.place.clone()))
    };
    let (first, second) = (place_of(&condition.left), place_of(&condition.right));
    let place = of.cloned().or(first).or_else(|| second.clone()).unwrap_or_default();
    let means = if check.means.is_empty() { String::new() } else { format!(": {}", check.means) };
    Finding {
        check: check.id.clone(),
        severity: check.fails,
        against: second.filter(|second| *second != place),
        place,
        stated: Some(left.middle()),
        computed: Some(right.middle()),
        sentence: format!("{}; yet {} against {}{means}", check.says, show(left), show(right)),
        how: how(check, values),
    }
}

/// The condition, and what its names stand for.
fn how(check: &Check, values: &Values<'_>) -> String {
    let names = values.iter().map(|(name, value)| {
        let take = match check.values[*name].take {
            Take::Any => "",
            Take::Min => "smallest of ",
            Take::Max => "largest of ",
            Take::Mean => "mean of ",
            Take::Sum => "sum of ",
            Take::Spread => "spread of ",
            Take::Count => "number of ",
        };
        let shown: Vec<_> = value.shown.iter().map(f64::to_string).collect();
        let line = value.place.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        format!("{name} = {take}{}{line}", shown.join(", "))
    });
    format!("{}, with {}", check.holds, names.collect::<Vec<_>>().join("; "))
}

/// A span for people: its middle, with the digits that its width leaves.
fn show(span: Span) -> String {
    let middle = span.middle();
    let width = (span.high - span.low).max(middle.abs() * 1e-4).max(1e-9);
    let decimals = (1.0 - width.log10()).ceil().clamp(0.0, 9.0) as usize;
    format!("{middle:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn possible(text: &str) -> bool {
        let condition = Condition::parse(text).unwrap();
        let value =
            Value { span: Span::between(1.0, 2.0), shown: vec![1.5], place: Place::default() };
        let values = Values::from([("x", value)]);
        condition.possible(condition.sides(&values).unwrap())
    }

    #[test]
    fn a_condition_fails_only_where_no_value_fulfils_it() {
        assert!(possible("x = 2") && possible("x <= 1") && possible("x >= 2"));
        assert!(possible("x < 1.5") && possible("x > 1.5"));
        assert!(!possible("x = 3") && !possible("x <= 0.5") && !possible("x >= 2.5"));
        assert!(!possible("x < 1") && !possible("x > 2"));
        assert!(Condition::parse("x + 1").is_err());
    }

    #[test]
    fn several_values_become_one() {
        let spans = [Span::between(1.0, 2.0), Span::between(4.0, 5.0)];
        let of = |take: Take| take.of(&spans).map(|span| (span.low, span.high));
        assert_eq!(of(Take::Any), Some((1.0, 5.0)));
        assert_eq!(of(Take::Min), Some((1.0, 2.0)));
        assert_eq!(of(Take::Max), Some((4.0, 5.0)));
        assert_eq!(of(Take::Mean), Some((2.5, 3.5)));
        assert_eq!(of(Take::Sum), Some((5.0, 7.0)));
        assert_eq!(of(Take::Spread), Some((2.0, 4.0)));
        assert_eq!(of(Take::Count), Some((2.0, 2.0)));
        assert_eq!(Take::Sum.of(&[]), None);
    }
}
