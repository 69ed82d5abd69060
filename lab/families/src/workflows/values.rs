//! What the steps of a task compute, for whoever checks a back end.

use lab_protocol::workflows::Shape;

/// A step that a task has, and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Value {
    /// The step, by index.
    pub(crate) step: u32,
    /// Which of a fan-out's steps; 0 for any other.
    pub(crate) part: u32,
    /// Its value.
    pub(crate) value: u64,
}

/// All steps that a task with this input has, in order; steps that a decision left out are not
/// among them.
pub(crate) fn values(shape: &Shape, input: u64) -> Vec<Value> {
    let mut known: Vec<Vec<u64>> = Vec::new();
    for step in &shape.steps {
        let first = |index: u32| known[index as usize].first().copied();
        let exists = step.when.is_none_or(|when| {
            first(when.step).is_some_and(|value| (when.low..when.high).contains(&value))
        });
        let parts = match step.parts_of {
            _ if !exists => 0,
            Some(index) => first(index).unwrap_or(0),
            None => 1,
        };
        let mut taken: Vec<u64> =
            step.after.iter().flat_map(|&index| known[index as usize].iter().copied()).collect();
        if step.after.is_empty() {
            taken.push(input);
        }
        known.push((0..parts).map(|part| step.operation.compute(&taken, part)).collect());
    }
    let steps = known.iter().enumerate();
    let of = |(step, values): (usize, &Vec<u64>)| {
        let parts = values.iter().enumerate();
        parts
            .map(|(part, &value)| Value { step: step as u32, part: part as u32, value })
            .collect::<Vec<_>>()
    };
    steps.flat_map(of).collect()
}
