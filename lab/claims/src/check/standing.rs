//! What the document's own data and its other statements make of one claim.

use serde::Serialize;

use super::{Evidence, computed, data, ranking, relative, shown, span};
use crate::{Claim, Comparator};

/// How a claim stands in its own document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Its raw data, or the values that it is made of, bear it out.
    Holds,
    /// They contradict it.
    Contradicted,
    /// The document states otherwise elsewhere; there are no data to decide.
    StatedOtherwise,
    /// Nothing in the document or its data decides it.
    Open,
}

const NO_DATA: &str = "nothing in the document or its data decides this";

impl Evidence<'_> {
    /// How a claim stands, and why in a few words.
    pub fn standing(&self, claim: &Claim) -> (Standing, String) {
        let statement = self.claims.statement(claim);
        if claim.comparator == Comparator::Says {
            return (Standing::Open, NO_DATA.into());
        }
        if ranking::wants_highest(self, &statement).is_some() {
            return match ranking::decided(self, &statement) {
                None => (Standing::Open, NO_DATA.into()),
                Some(None) => (Standing::Holds, "by its tables and data".into()),
                Some(Some(found)) => (Standing::Contradicted, found.sentence),
            };
        }
        let relation = relative::reading(statement.comparator).zip(statement.against.as_ref());
        if let Some((reading, against)) = relation {
            let found = relative::of_data(self, &statement, against, reading)
                .or_else(|| relative::of_parts(self, &statement, against, reading));
            return match found {
                Some(found) => (Standing::Contradicted, found.sentence),
                None if relative::is_decided(self, &statement, against) => {
                    (Standing::Holds, "it follows from its parts".into())
                }
                None => (Standing::Open, NO_DATA.into()),
            };
        }
        match data::compare(self, &statement) {
            data::Match::Fits => return (Standing::Holds, self.data(&statement)),
            data::Match::Differs(_) | data::Match::Another(..) => {
                return (Standing::Contradicted, self.data(&statement));
            }
            data::Match::Unknown => {}
        }
        let others = self.stated(&statement.key);
        let meets = |a, b: Option<lab_audit::checks::Span>| {
            b.is_none_or(|b: lab_audit::checks::Span| b.meets(a))
        };
        let otherwise = span(&statement)
            .and_then(|own| others.into_iter().find(|other| !meets(own, span(other))));
        match otherwise {
            Some(other) => {
                let line = other.place.line.unwrap_or(0);
                let why = format!("line {line} says {}", shown(other));
                (Standing::StatedOtherwise, why)
            }
            None => (Standing::Open, NO_DATA.into()),
        }
    }

    fn data(&self, statement: &crate::Statement) -> String {
        let key = data::fact_key(self, statement);
        let fact = self.facts.get(&key);
        let text = fact.map(|fact| match fact.value.number() {
            Some(value) => computed(value, statement),
            None => fact.value.to_string(),
        });
        format!("the raw data give {}", text.unwrap_or_default())
    }
}
