//! Shapes as an experiment writes them: steps that name each other.

use std::collections::BTreeMap;

use lab_family::InputError;
use lab_protocol::workflows::{Operation, Shape, Step, When};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Table;

/// The shapes of a stored section by name; those that cannot be read are not there.
pub(crate) fn stored(section: &Table) -> BTreeMap<String, Shape> {
    let table = section.get("shape").cloned().and_then(|table| table.try_into().ok());
    let shapes: BTreeMap<String, ShapeSection> = table.unwrap_or_default();
    let resolved = |(name, shape): (String, ShapeSection)| {
        let shape = shape.resolve("the record", &name).ok()?;
        Some((name, shape))
    };
    shapes.into_iter().filter_map(resolved).collect()
}

/// A task's steps, in an order in which every step comes after those that it names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShapeSection {
    steps: Vec<Named>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    #[serde(default)]
    after: Vec<String>,
    #[schemars(with = "serde_json::Value")]
    operation: Operation,
    when: Option<NamedWhen>,
    parts_of: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NamedWhen {
    step: String,
    low: u64,
    high: u64,
}

impl ShapeSection {
    /// With indices for names.
    pub(crate) fn resolve(&self, file: &str, shape: &str) -> Result<Shape, InputError> {
        let refuse = |step: &str, message: String| {
            InputError::value(file, &format!("workflows.shape.{shape}"), {
                format!("step `{step}` {message}")
            })
        };
        let mut known = BTreeMap::new();
        let mut steps = Vec::new();
        for named in &self.steps {
            let index = |other: &String| {
                known.get(other).copied().ok_or_else(|| {
                    refuse(&named.name, format!("waits for `{other}`, which is not before it"))
                })
            };
            let when = named
                .when
                .as_ref()
                .map(|when| Ok(When { step: index(&when.step)?, low: when.low, high: when.high }));
            steps.push(Step {
                name: named.name.clone(),
                after: named.after.iter().map(index).collect::<Result<_, _>>()?,
                operation: named.operation,
                when: when.transpose()?,
                parts_of: named.parts_of.as_ref().map(index).transpose()?,
            });
            if known.insert(named.name.clone(), steps.len() as u32 - 1).is_some() {
                return Err(refuse(&named.name, "is there twice".to_owned()));
            }
        }
        match steps.last() {
            None => {
                let message = "has no step";
                Err(InputError::value(file, &format!("workflows.shape.{shape}"), message))
            }
            Some(Step { when: Some(_), name, .. } | Step { parts_of: Some(_), name, .. }) => {
                let message = "is the last: it gives the result, and must always be one step";
                Err(refuse(name, message.to_owned()))
            }
            Some(_) => Ok(Shape { name: shape.to_owned(), steps }),
        }
    }
}
