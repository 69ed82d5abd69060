//! One value that a document states, and the quantity that it states it of.

use std::fmt;

use super::{Against, Comparator, format::Scope};
use lab_audit::{Place, Printed};

/// A quantity: everything two statements must share to be about the same thing.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The metric's id.
    pub metric: String,
    /// The statistic; `value` for one measurement.
    pub statistic: String,
    /// The subject's id, empty for the whole document.
    pub subject: String,
    /// Levels by factor; empty for all measurements.
    pub scope: Scope,
}

impl Key {
    /// The same quantity with what `against` changes.
    pub fn other(&self, against: &Against) -> Self {
        let pick =
            |change: &Option<String>, own: &str| change.clone().unwrap_or_else(|| own.to_owned());
        let mut scope = against.scope.clone().unwrap_or_else(|| self.scope.clone());
        scope.extend(against.levels.clone());
        Self {
            metric: pick(&against.metric, &self.metric),
            statistic: pick(&against.statistic, &self.statistic),
            subject: pick(&against.subject, &self.subject),
            scope,
        }
    }

    /// Whether everything this speaks of is part of what `wider` speaks of (or the same).
    pub fn within(&self, wider: &Self) -> bool {
        self.metric == wider.metric
            && self.subject == wider.subject
            && wider.scope.iter().all(|(factor, level)| self.scope.get(factor) == Some(level))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.statistic, self.metric)?;
        if !self.subject.is_empty() {
            write!(f, " of {}", self.subject)?;
        }
        if !self.scope.is_empty() {
            let levels: Vec<_> =
                self.scope.iter().map(|(factor, level)| format!("{factor} {level}")).collect();
            write!(f, " at {}", levels.join(", "))?;
        }
        Ok(())
    }
}

/// What is stated.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementValue {
    /// A number with its rounding.
    Number(Printed),
    /// A level of a factor, or another name.
    Name(String),
    /// Nothing but the comparison itself (`best_of` and the like).
    None,
}

impl StatementValue {
    /// The number, where it is one.
    pub fn number(&self) -> Option<&Printed> {
        match self {
            Self::Number(printed) => Some(printed),
            Self::Name(_) | Self::None => None,
        }
    }
}

/// A value stated of a quantity, in a cell or in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The claim's or the table's id.
    pub id: String,
    /// Where it stands.
    pub place: Place,
    /// Of what.
    pub key: Key,
    /// How the value relates to the quantity.
    pub comparator: Comparator,
    /// The value.
    pub value: StatementValue,
    /// The upper end, for `between`.
    pub high: Option<Printed>,
    /// The other side of a difference, a ratio or a percentage.
    pub against: Option<Against>,
    /// For rankings: the subjects compared; all where empty.
    pub among: Vec<String>,
    /// From a table, not from the text.
    pub tabled: bool,
}
