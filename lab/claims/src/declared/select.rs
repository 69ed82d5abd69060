//! Which values a name of a declared condition stands for.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::facts::Facts;
use crate::{Comparator, Key, OneOrMore, Scope, Statement};
use lab_audit::checks::Span;
use lab_audit::{Place, Printed};

/// Which values a name stands for: all that fit every part given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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
    /// The values are whole things counted, and not rounded.
    #[serde(default)]
    pub exact: bool,
}

/// What is made of several values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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

/// A name of a condition, resolved.
pub(super) struct Value {
    /// All it can be.
    pub span: Span,
    /// What it is if printed numbers are exact.
    pub exact: Span,
    /// The single values, as they stand.
    pub shown: Vec<f64>,
    pub place: Place,
}

pub(super) type Values<'a> = BTreeMap<&'a str, Value>;

impl Select {
    pub(super) fn of_statements(&self, stated: &[Statement]) -> Option<Value> {
        let fitting: Vec<_> = stated.iter().filter(|statement| self.fits(statement)).collect();
        let numbers: Vec<_> = fitting.iter().filter_map(|one| one.value.number()).collect();
        let span = |number: &&Printed| {
            if self.exact { Span::exact(number.value) } else { Span::of(number) }
        };
        let spans: Vec<_> = numbers.iter().map(span).collect();
        let shown: Vec<f64> = numbers.iter().map(|number| number.value).collect();
        Some(Value {
            span: self.take.of(&spans)?,
            exact: self.take.of_numbers(&shown)?,
            shown,
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

    pub(super) fn of_facts(&self, facts: &Facts) -> Option<Value> {
        let fitting = facts.all().filter(|(key, ..)| self.fits_key(key));
        let numbers: Vec<f64> = fitting.filter_map(|(_, number, _)| number.number()).collect();
        let exact = self.take.of_numbers(&numbers)?;
        let place = Place { document: facts.raw.clone(), ..Place::default() };
        Some(Value { span: exact, exact, shown: numbers, place })
    }

    fn fits_key(&self, key: &Key) -> bool {
        let is = |wanted: &Option<String>, own: &str| wanted.as_deref().is_none_or(|w| w == own);
        is(&self.metric, &key.metric)
            && is(&self.statistic, &key.statistic)
            && self.subject.as_ref().is_none_or(|subject| subject.names().contains(&key.subject))
            && self.scope.iter().all(|(factor, level)| key.scope.get(factor) == Some(level))
    }
}

impl Take {
    fn of_numbers(self, numbers: &[f64]) -> Option<Span> {
        let spans: Vec<_> = numbers.iter().map(|number| Span::exact(*number)).collect();
        self.of(&spans)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

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
