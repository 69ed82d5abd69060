//! Whether a document's statements agree with each other, with its own tables of single runs, and
//! with facts derived from its raw data.

mod data;
mod design;
mod extremes;
mod lattices;
mod ranking;
mod relative;
mod runs;
mod standing;
mod twice;

pub use standing::Standing;

use std::collections::BTreeMap;

use super::{Claims, ClaimsError, Comparator, Key, Statement};
use crate::facts::Facts;
use lab_audit::{Check, Finding, Place, Severity, checks::Span};

/// A document with everything known about it.
#[derive(Debug)]
pub struct Evidence<'a> {
    pub(crate) claims: &'a Claims,
    pub(crate) statements: Vec<Statement>,
    pub(crate) facts: BTreeMap<Key, Fact>,
    raw: Vec<Facts>,
}

/// A fact's value and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fact {
    pub value: crate::facts::Number,
    pub place: Place,
    pub derive: String,
}

impl<'a> Evidence<'a> {
    /// Brings a document's statements and the facts of its raw files together.
    pub fn new(claims: &'a Claims, facts: &[Facts]) -> Self {
        let mut known = BTreeMap::new();
        let ours = |facts: &&Facts| claims.raw.iter().any(|raw| raw.name == facts.raw);
        for facts in facts.iter().filter(ours) {
            for (key, value, group) in facts.all() {
                let place = Place { document: facts.raw.clone(), ..Place::default() };
                let fact = Fact { value: value.clone(), place, derive: group.derive.clone() };
                // Where two derivations give one quantity, the first one declared stands.
                known.entry(key).or_insert(fact);
            }
        }
        Self { claims, statements: claims.statements(), facts: known, raw: facts.to_vec() }
    }

    /// Everything that does not fit together, the gravest first.
    ///
    /// # Errors
    /// A declared check that names what is not there; the message names the file and the key.
    pub fn findings(&self) -> Result<Vec<Finding>, ClaimsError> {
        let file = format!("{}.toml", self.claims.document.id);
        let checks = &self.claims.check;
        let mut findings = crate::declared::findings(&file, checks, &self.statements, &self.raw)?;
        findings.extend(twice::check(self));
        findings.extend(extremes::check(self));
        findings.extend(runs::check(self));
        findings.extend(data::check(self));
        findings.extend(ranking::check(self));
        findings.extend(relative::check(self));
        findings.extend(design::check(self));
        findings.extend(lattices::check(self));
        // Within a check, what it put first stays first.
        findings.sort_by_key(|finding| (finding.severity, weight(&finding.check)));
        Ok(findings)
    }

    /// Statements that give a number for exactly this quantity.
    pub(crate) fn stated(&self, key: &Key) -> Vec<&Statement> {
        let of = |statement: &&Statement| {
            statement.key == *key
                && statement.comparator == Comparator::Equal
                && statement.value.number().is_some()
        };
        self.statements.iter().filter(of).collect()
    }

    pub(crate) fn fact(&self, key: &Key) -> Option<f64> {
        self.facts.get(key)?.value.number()
    }

    pub(crate) fn unit(&self, metric: &str) -> &str {
        let known = self.claims.metric.iter().find(|known| known.id == metric);
        known.map_or("", |metric| match metric.unit.as_str() {
            "1" => "",
            unit => unit,
        })
    }
}

/// What to read first among equally grave findings: what decides over the document as a whole.
fn weight(check: &str) -> usize {
    const ORDER: [Check; 12] = [
        Check::ValuesNotInRawData,
        Check::StatedTwice,
        Check::NotInRawData,
        Check::RankingReversed,
        Check::RankingsDiffer,
        Check::PrintedRuns,
        Check::DifferenceOfParts,
        Check::DifferenceNotInRawData,
        Check::OutsideItsExtremes,
        Check::UpperMedian,
        Check::IntervalExcludes,
        Check::MetricIsIdentity,
    ];
    ORDER.iter().position(|known| known.name() == check).unwrap_or(ORDER.len())
}

/// A finding that what is stated cannot be true.
pub(crate) fn impossible(
    check: Check,
    of: &Statement,
    computed: Option<f64>,
    sentence: String,
    how: impl Into<String>,
) -> Finding {
    let stated = of.value.number().map(|printed| printed.value);
    Finding::new(check, Severity::Impossible, of.place.clone(), sentence, how)
        .values(stated, computed)
}

pub(crate) fn span(statement: &Statement) -> Option<Span> {
    statement.value.number().map(Span::of)
}

/// `line 30, 292 and 958`: where statements stand, in the order of the document.
pub(crate) fn lines<'s>(statements: impl IntoIterator<Item = &'s Statement>) -> String {
    let mut lines: Vec<usize> =
        statements.into_iter().filter_map(|statement| statement.place.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let texts: Vec<String> = lines.iter().map(ToString::to_string).collect();
    match texts.as_slice() {
        [] => String::new(),
        [one] => format!("line {one}"),
        [all @ .., last] => format!("lines {} and {last}", all.join(", ")),
    }
}

/// A number with the digits it was printed with, or as many as matter.
pub(crate) fn shown(statement: &Statement) -> String {
    statement.value.number().map_or_else(String::new, |printed| {
        format!("{:.*}", usize::try_from(printed.decimals).unwrap_or(0), printed.value)
    })
}

/// A computed value with one digit more than a stated one that it is compared with.
pub(crate) fn computed(value: f64, beside: &Statement) -> String {
    let decimals = beside.value.number().map_or(2, |printed| printed.decimals);
    format!("{value:.*}", usize::try_from(decimals + 1).unwrap_or(0).min(9))
}
