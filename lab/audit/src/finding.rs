//! What a check found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Check;

/// How sure a finding is that something is wrong.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Cannot be true, whatever was measured: arithmetic or the document's own data exclude it
    /// under every reading of names, units and rounding.
    Impossible,
    /// Two places disagree under the plain reading of their words.
    Inconsistent,
    /// Can be true and would be a rare accident, or does not support what is said of it.
    Doubtful,
    /// Worth knowing; nothing is wrong by itself.
    Note,
}

impl Severity {
    /// Its name in reports on claims.
    pub fn name(self) -> &'static str {
        match self {
            Self::Impossible => "impossible",
            Self::Inconsistent => "inconsistent",
            Self::Doubtful => "doubtful",
            Self::Note => "note",
        }
    }

    /// The grade of a finding in a document; both lower severities are worth a look.
    pub fn grade(self) -> &'static str {
        if self < Self::Doubtful { self.name() } else { "worth a look" }
    }
}

/// Where it stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The document or raw file, as the caller named it.
    pub document: String,
    /// 1-based line, where it has one.
    pub line: Option<usize>,
    /// The headings above it, outermost first, joined by ` > `.
    pub section: String,
    /// The row's name within its table, where there is one.
    pub row: Option<String>,
    /// The column's name.
    pub column: Option<String>,
}

/// One finding: the place, the two values, and how the second was computed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The check that made it, for example `mean_of_rows`.
    pub check: String,
    /// How sure.
    pub severity: Severity,
    /// Where the first value stands.
    pub place: Place,
    /// Where the second value stands or comes from, where it has a place of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Place>,
    /// What is stated.
    pub stated: Option<f64>,
    /// What the check computed, or what the other place states.
    pub computed: Option<f64>,
    /// One sentence for people: what is stated, what follows instead.
    pub sentence: String,
    /// How the second value was computed, so that a reader can do it again.
    pub how: String,
}

impl Finding {
    /// A finding of a check, without numbers and without another place.
    pub fn new(
        check: Check,
        severity: Severity,
        place: Place,
        sentence: String,
        how: impl Into<String>,
    ) -> Self {
        Self {
            check: check.name().to_owned(),
            severity,
            place,
            against: None,
            stated: None,
            computed: None,
            sentence,
            how: how.into(),
        }
    }

    /// The same with what it contradicts.
    #[must_use]
    pub fn against(self, against: impl Into<Option<Place>>) -> Self {
        Self { against: against.into(), ..self }
    }

    /// The same with what is stated and what was computed.
    #[must_use]
    pub fn values(self, stated: Option<f64>, computed: Option<f64>) -> Self {
        Self { stated, computed, ..self }
    }
}
