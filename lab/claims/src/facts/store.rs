//! Facts as a file: what was derived, of which bytes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use crate::{ClaimsError, Key, Scope};

/// The facts of one raw file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// The format's version, 1.
    pub schema: u32,
    /// The raw file's name in the claim file.
    pub raw: String,
    /// Of the raw file.
    pub sha256: String,
    /// Where it comes from.
    pub source: String,
    /// Its rows.
    pub rows: usize,
    /// One entry for each derivation, subject and scope.
    #[serde(default)]
    pub fact: Vec<Group>,
}

/// Facts of one derivation about one subject in one scope.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The derivation's id.
    pub derive: String,
    /// The metric.
    pub metric: String,
    /// The subject.
    #[serde(default)]
    pub subject: String,
    /// Levels by factor.
    #[serde(default)]
    pub scope: Scope,
    /// Values by statistic.
    pub values: BTreeMap<String, Number>,
}

/// A fact's value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// A number.
    Number(f64),
    /// A level of a factor, or another name.
    Name(String),
}

impl Facts {
    /// Reads a stored file.
    ///
    /// # Errors
    /// Names the file and the key.
    pub fn parse(file: &str, text: &str) -> Result<Self, ClaimsError> {
        let facts: Self = toml::from_str(text).map_err(|error| ClaimsError::text(file, &error))?;
        if facts.schema != 1 {
            let message = format!("this reads version 1, not {}", facts.schema);
            return Err(ClaimsError::value(file, "schema", message));
        }
        Ok(facts)
    }

    /// The file's text: one line for each group, so that a change is a line in a diff.
    pub fn text(&self) -> String {
        let mut text = String::from("# Derived from raw data by `claims --raw`; not by hand.\n");
        let Self { schema, raw, sha256, source, rows, fact } = self;
        let (raw, sha256, source) = (quoted(raw), quoted(sha256), quoted(source));
        let head = format!(
            "schema = {schema}\nraw = {raw}\nsha256 = {sha256}\nsource = {source}\nrows = {rows}\n"
        );
        text.push_str(&head);
        text.push_str("fact = [\n");
        for group in fact {
            let _ = writeln!(text, "  {},", group.text());
        }
        text.push_str("]\n");
        text
    }

    /// Every fact with its quantity.
    pub fn all(&self) -> impl Iterator<Item = (Key, &Number, &Group)> {
        self.fact.iter().flat_map(|group| {
            group.values.iter().map(move |(statistic, value)| {
                let key = Key {
                    metric: group.metric.clone(),
                    statistic: statistic.clone(),
                    subject: group.subject.clone(),
                    scope: group.scope.clone(),
                };
                (key, value, group)
            })
        })
    }

    /// Facts that are not what `other` has, one sentence each; numbers may differ in the last
    /// digits that arithmetic in another order gives.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let values = |facts: &Self| -> BTreeMap<(String, Key), Number> {
            let entry = |(key, value, group): (Key, &Number, &Group)| {
                ((group.derive.clone(), key), value.clone())
            };
            facts.all().map(entry).collect()
        };
        let (ours, theirs) = (values(self), values(other));
        let mut said = Vec::new();
        for (key, value) in &ours {
            match theirs.get(key) {
                Some(there) if value.close_to(there) => {}
                Some(there) => said.push(format!("{}: {value}, not {there}", key.1)),
                None => said.push(format!("{}: is not derived", key.1)),
            }
        }
        let new = theirs.keys().filter(|key| !ours.contains_key(*key));
        said.extend(new.map(|key| format!("{}: is not stored", key.1)));
        said
    }
}

impl Group {
    fn text(&self) -> String {
        let mut parts = vec![
            format!("derive = {}", quoted(&self.derive)),
            format!("metric = {}", quoted(&self.metric)),
        ];
        if !self.subject.is_empty() {
            parts.push(format!("subject = {}", quoted(&self.subject)));
        }
        if !self.scope.is_empty() {
            let levels = self.scope.iter();
            let levels =
                levels.map(|(factor, level)| format!("{} = {}", quoted(factor), quoted(level)));
            parts.push(format!("scope = {{ {} }}", levels.collect::<Vec<_>>().join(", ")));
        }
        let values = self.values.iter();
        let values = values.map(|(statistic, value)| match value {
            Number::Number(number) => format!("{} = {number:?}", quoted(statistic)),
            Number::Name(name) => format!("{} = {}", quoted(statistic), quoted(name)),
        });
        parts.push(format!("values = {{ {} }}", values.collect::<Vec<_>>().join(", ")));
        format!("{{ {} }}", parts.join(", "))
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

impl Number {
    /// The number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Name(_) => None,
        }
    }

    fn close_to(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => {
                (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9)
            }
            (a, b) => a == b,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}
