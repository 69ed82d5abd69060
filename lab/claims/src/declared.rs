//! Conditions that a claim file declares: what must hold between what a document states.
//!
//! A `[[relation]]` holds wherever its metrics meet; a `[[check]]` holds between the very
//! quantities it names, of several subjects, scopes, tables or facts. Every quantity stands for all
//! values that print like it, so a failed check means: no such values fulfil the condition.

mod condition;
mod select;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::facts::Facts;
use crate::{ClaimsError, Statement};
use condition::{Condition, show};
use lab_audit::checks::Span;
use lab_audit::{Expression, Finding, Place, Severity};
use select::Values;

pub use select::{Select, Take};

/// `[[check]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
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
        // A check on facts that were not derived here waits for them.
        let Some(chosen) = choose(check, stated, facts).map_err(wrong)? else { continue };
        let place = check.of.as_ref().and_then(|of| stated.iter().find(|one| one.id == *of));
        let finding = holds(check, &chosen, place.map(|one| &one.place));
        found.extend(finding.map_err(|message| wrong(("holds".to_owned(), message)))?);
    }
    Ok(found)
}

fn holds(
    check: &Check,
    values: &Values<'_>,
    of: Option<&Place>,
) -> Result<Option<Finding>, String> {
    let condition = Condition::parse(&check.holds)?;
    let names = condition.names();
    if let Some(missing) = names.iter().find(|name| !values.contains_key(**name)) {
        return Err(format!("`let.{missing}` is missing"));
    }
    if let Some(unused) = values.keys().find(|name| !names.contains(*name)) {
        return Err(format!("the condition does not name `let.{unused}`"));
    }
    let sides = condition
        .sides(values, |value| value.span)
        .ok_or("a side has no value: it divides by what can be zero")?;
    if condition.possible(sides) {
        return Ok(None);
    }
    let shown = condition.sides(values, |value| value.exact).unwrap_or(sides);
    Ok(Some(finding(check, &condition, values, shown, of)))
}

fn choose<'a>(
    check: &'a Check,
    stated: &[Statement],
    facts: &[Facts],
) -> Result<Option<Values<'a>>, (String, String)> {
    let mut chosen = Values::new();
    for (name, select) in &check.values {
        let value = match &select.facts {
            Some(raw) => match facts.iter().find(|facts| facts.raw == *raw) {
                Some(facts) => select.of_facts(facts),
                None => return Ok(None),
            },
            None => select.of_statements(stated),
        };
        let nothing = || (format!("let.{name}"), "nothing that is stated fits".to_owned());
        chosen.insert(name, value.ok_or_else(nothing)?);
    }
    Ok(Some(chosen))
}

fn finding(
    check: &Check,
    condition: &Condition,
    values: &Values<'_>,
    (left, right): (Span, Span),
    of: Option<&Place>,
) -> Finding {
    let place_of = |formula: &Expression| {
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
