//! The chain of steps that decided when a task was complete, and what its time went into.

use std::collections::BTreeSet;

use lab_protocol::workflows::Shape;
use lab_record::Samples;

use crate::workflows::task::{PATH_PARTS, Step, Task};

/// The parts of a makespan as (title, column), in the order in which they first occur.
pub(crate) const PARTS: [(&str, &str); 8] = [
    ("submission", "handing_in"),
    ("waiting to be claimed", "queue"),
    ("claimed to started", "start"),
    ("work", "work"),
    ("recording", "recording"),
    ("to the next step", "next_step"),
    ("completion", "completing"),
    ("notification", "notification"),
];

/// Places in [`PARTS`].
pub(crate) const HANDING_IN: usize = 0;
pub(crate) const QUEUE: usize = 1;
pub(crate) const START: usize = 2;
pub(crate) const WORK: usize = 3;
pub(crate) const RECORDING: usize = 4;
pub(crate) const NEXT_STEP: usize = 5;
pub(crate) const COMPLETING: usize = 6;
pub(crate) const NOTIFICATION: usize = 7;

/// Nanoseconds by part; they add up to the makespan exactly.
pub(crate) type Parts = [i64; PARTS.len()];

/// One stretch of a task's time on its critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) part: usize,
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// Indices into the task's steps, first to last: from the step that was recorded last back through
/// whichever dependency was recorded last.
pub(crate) fn critical(task: &Task, shape: &Shape) -> Vec<usize> {
    let steps = &task.steps;
    let last = |candidates: &mut dyn Iterator<Item = usize>| {
        candidates.max_by_key(|&index| (steps[index].recorded, index))
    };
    let mut chain = Vec::new();
    let mut next = last(&mut (0..steps.len()));
    while let Some(index) = next {
        chain.push(index);
        let before = waits_for(shape, steps[index].step, steps);
        let is_before = |other: &usize| before.contains(&steps[*other].step);
        // A chain never comes back, whatever the stamps say.
        next =
            last(&mut (0..steps.len()).filter(|other| is_before(other) && !chain.contains(other)));
    }
    chain.reverse();
    chain
}

/// What a step of the shape waits for among the steps that exist. One that a decision left out
/// counts as done when whatever it waited for is, so its own dependencies stand in its place.
fn waits_for(shape: &Shape, step: usize, existing: &[Step]) -> BTreeSet<usize> {
    let after = |step: usize| -> Vec<usize> {
        let step = shape.steps.get(step).into_iter();
        let named = step.flat_map(|step| {
            let when = step.when.iter().map(|when| &when.step);
            step.after.iter().chain(when).chain(&step.parts_of)
        });
        named.map(|&index| index as usize).collect()
    };
    let mut found = BTreeSet::new();
    let mut open = after(step);
    while let Some(other) = open.pop() {
        if existing.iter().any(|step| step.step == other) {
            found.insert(other);
        } else {
            // Indices only fall, so this ends.
            open.extend(after(other));
        }
    }
    found
}

/// The critical path as stretches that follow each other from submission to the client's knowing,
/// without gap or overlap: a stamp that lies before one already passed (two processes stamp one
/// event) adds nothing, and none lies beyond the end.
pub(crate) fn stretches(task: &Task, shape: &Shape) -> Vec<Stretch> {
    let mut ends = Vec::new();
    for (position, index) in critical(task, shape).into_iter().enumerate() {
        let step = &task.steps[index];
        let arriving = if position == 0 { HANDING_IN } else { NEXT_STEP };
        ends.extend([
            (arriving, step.enqueued),
            (QUEUE, step.claimed),
            (START, step.started),
            (WORK, step.finished),
            (RECORDING, step.recorded),
        ]);
    }
    ends.push((COMPLETING, task.completed));
    let mut now = task.submitted;
    let mut found = Vec::new();
    for (part, end) in ends {
        let to = end.min(task.observed).max(now);
        found.push(Stretch { part, from: now, to });
        now = to;
    }
    found.push(Stretch { part: NOTIFICATION, from: now, to: task.observed });
    found
}

/// The same, summed by part.
pub(crate) fn parts(task: &Task, shape: &Shape) -> Parts {
    let mut parts = Parts::default();
    for stretch in stretches(task, shape) {
        parts[stretch.part] += stretch.to - stretch.from;
    }
    parts
}

/// Of a task's path, up to each step's start: from its dependencies' ends, in the queue, and from
/// claim to start.
pub(crate) fn dispatch(parts: &Parts) -> i64 {
    [QUEUE, START, NEXT_STEP].map(|part| parts[part]).iter().sum()
}

/// The parts of all of a run's tasks together, as the record keeps them or from their steps; `None`
/// where it has neither.
pub(crate) fn of_run(samples: &Samples, tasks: &[Task], shape: &Shape) -> Option<Parts> {
    if let Some(kept) = samples.raw(PATH_PARTS) {
        return kept.try_into().ok();
    }
    if tasks.iter().all(|task| task.steps.is_empty()) {
        return None;
    }
    let mut sums = Parts::default();
    tasks.iter().for_each(|task| add(&mut sums, &parts(task, shape)));
    Some(sums)
}

pub(crate) fn add(sums: &mut Parts, more: &Parts) {
    sums.iter_mut().zip(more).for_each(|(sum, part)| *sum += part);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workflows::shape;

    fn step(step: usize, times: [i64; 5]) -> Step {
        let [enqueued, claimed, started, finished, recorded] = times;
        Step { step, part: 0, created: 0, enqueued, claimed, started, finished, recorded }
    }

    fn shape(steps: &str) -> Shape {
        let section = format!("[shape.one]\nsteps = [{steps}]").parse().unwrap();
        shape::stored(&section).remove("one").expect("a shape")
    }

    fn diamond() -> Shape {
        shape(
            r#"{ name = "a", operation = "square" },
               { name = "b", after = ["a"], operation = "square" },
               { name = "c", after = ["a"], operation = "square" },
               { name = "d", after = ["b", "c"], operation = "square" }"#,
        )
    }

    fn task() -> Task {
        let steps = vec![
            step(0, [10, 12, 13, 14, 20]),
            step(1, [22, 23, 24, 25, 60]),
            step(2, [22, 24, 25, 26, 70]),
            step(3, [75, 80, 81, 90, 100]),
        ];
        Task { submitted: 0, completed: 103, observed: 150, step_count: steps.len(), steps }
    }

    #[test]
    fn the_later_branch_decides() {
        assert_eq!(critical(&task(), &diamond()), [0, 2, 3]);
        assert_eq!(parts(&task(), &diamond()), [10, 9, 3, 11, 60, 7, 3, 47]);
    }

    #[test]
    fn a_step_that_was_left_out_passes_its_waiting_on() {
        let shape = shape(
            r#"{ name = "decide", operation = "square" },
               { name = "small", after = ["decide"], operation = "square",
                 when = { step = "decide", low = 0, high = 9 } },
               { name = "large", after = ["decide"], operation = "square",
                 when = { step = "decide", low = 9, high = 99 } },
               { name = "count", after = ["small", "large"], operation = { constant = 2 } },
               { name = "parts", operation = "square", parts_of = "count" },
               { name = "end", after = ["parts"], operation = "sum" }"#,
        );
        let existing = [0, 1, 3, 4, 5].map(|index| step(index, [0; 5]));
        let waits_for = |index: usize| waits_for(&shape, index, &existing);
        let expected = ([0, 1].into(), [3].into(), [4].into());
        assert_eq!((waits_for(3), waits_for(4), waits_for(5)), expected);
    }

    proptest! {
        #[test]
        fn parts_are_never_negative_and_add_up(
            submitted in -1_000..1_000_i64,
            lasts in 0..10_000_i64,
            completed in -2_000..12_000_i64,
            stamps in prop::collection::vec(
                (0..4_usize, prop::array::uniform5(-2_000..12_000_i64)),
                0..9,
            ),
        ) {
            let steps: Vec<Step> =
                stamps.into_iter().map(|(index, times)| step(index, times)).collect();
            let (observed, step_count) = (submitted + lasts, steps.len());
            let task = Task { submitted, completed, observed, step_count, steps };
            let shape = diamond();
            let parts = parts(&task, &shape);
            prop_assert!(parts.iter().all(|part| *part >= 0), "{parts:?}");
            prop_assert_eq!(parts.iter().sum::<i64>(), task.makespan());
            let found = stretches(&task, &shape);
            prop_assert!(found.windows(2).all(|pair| pair[0].to == pair[1].from));
        }
    }
}
