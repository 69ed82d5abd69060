//! Shapes as the stored experiment writes them: names of steps and what each waits for.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The steps of one shape, in order; a step waits only for steps before it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shape {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Step {
    name: String,
    after: Vec<usize>,
}

/// One shape in the experiment's text; what a step computes does not matter here.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ShapeText {
    #[serde(default)]
    steps: Vec<StepText>,
}

#[derive(Debug, Clone, Deserialize)]
struct StepText {
    name: String,
    #[serde(default)]
    after: Vec<String>,
    when: Option<WhenText>,
    parts_of: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct WhenText {
    step: String,
}

impl Shape {
    /// With indices for names; a name that is not known before it is no dependency.
    pub(super) fn of(text: &ShapeText) -> Self {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        let mut steps = Vec::new();
        for (index, step) in text.steps.iter().enumerate() {
            let when = step.when.iter().map(|when| &when.step);
            let names = step.after.iter().chain(when).chain(&step.parts_of);
            let mut after: Vec<usize> =
                names.filter_map(|name| known.get(name.as_str()).copied()).collect();
            after.sort_unstable();
            after.dedup();
            steps.push(Step { name: step.name.clone(), after });
            known.insert(&step.name, index);
        }
        Self { steps }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The step's name; its index where the experiment does not say.
    pub(super) fn name(&self, step: usize) -> String {
        self.steps.get(step).map_or_else(|| format!("step_{step}"), |step| step.name.clone())
    }

    /// What a step waits for among the steps that exist. One that a decision left out counts as
    /// done when whatever it waited for is, so its own dependencies stand in its place.
    pub(super) fn waits_for(&self, step: usize, exists: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = self.steps.get(step).map(|step| step.after.clone()).unwrap_or_default();
        while let Some(other) = open.pop() {
            if exists(other) {
                found.push(other);
            } else {
                // Indices only fall, so this ends.
                open.extend(self.steps.get(other).iter().flat_map(|step| step.after.clone()));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        [[steps]]
        name = "validate"
        operation = { constant = 500 }
        [[steps]]
        name = "decide"
        after = ["validate"]
        [[steps]]
        name = "small"
        after = ["decide"]
        when = { step = "decide", low = 0, high = 9 }
        [[steps]]
        name = "large"
        after = ["decide"]
        when = { step = "decide", low = 9, high = 99 }
        [[steps]]
        name = "end"
        after = ["small", "large"]
    "#;

    #[test]
    fn a_step_that_was_left_out_passes_its_waiting_on() {
        let shape = Shape::of(&toml::from_str(TEXT).unwrap());
        assert_eq!(shape.waits_for(4, &|_| true), [2, 3]);
        assert_eq!(shape.waits_for(4, &|step| step != 3), [1, 2]);
        assert_eq!((shape.name(4), shape.name(9)), ("end".to_owned(), "step_9".to_owned()));
    }

    #[test]
    fn a_fan_out_waits_for_what_counts_its_parts() {
        let text = r#"steps = [{ name = "a" }, { name = "b", parts_of = "a" }]"#;
        let shape = Shape::of(&toml::from_str(text).unwrap());
        assert_eq!(shape.waits_for(1, &|_| true), [0]);
        assert!(Shape::default().is_empty() && Shape::default().waits_for(3, &|_| true).is_empty());
    }
}
