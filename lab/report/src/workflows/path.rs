//! The chain of steps that decided when a task was complete, and what its time went into.

use super::shape::Shape;
use super::task::{Step, Task};

/// What the parts of a makespan are called, in the order in which they first occur.
pub(super) const PARTS: [(&str, &str); 8] = [
    ("handing in", "handing_in"),
    ("waiting to be claimed", "queue"),
    ("claimed to started", "start"),
    ("work", "work"),
    ("recording", "recording"),
    ("to the next step", "next_step"),
    ("completing", "completing"),
    ("client's look", "look"),
];

/// Places in [`PARTS`].
pub(super) const HANDING_IN: usize = 0;
pub(super) const QUEUE: usize = 1;
pub(super) const START: usize = 2;
pub(super) const WORK: usize = 3;
pub(super) const RECORDING: usize = 4;
pub(super) const NEXT_STEP: usize = 5;
pub(super) const COMPLETING: usize = 6;
pub(super) const LOOK: usize = 7;

/// Nanoseconds by part; they add up to the makespan exactly.
pub(super) type Parts = [i64; PARTS.len()];

/// One stretch of a task's time on its critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) part: usize,
    pub(super) from: i64,
    pub(super) to: i64,
}

/// Indices into the task's steps, first to last: from the step that was recorded last back through
/// whichever dependency was recorded last. Where the experiment does not say what a step waits for,
/// it is the step of the task whose recording was the last before this one was enqueued.
pub(super) fn critical(task: &Task, shape: &Shape) -> Vec<usize> {
    let steps = &task.steps;
    let last = |candidates: &mut dyn Iterator<Item = usize>| {
        candidates.max_by_key(|&index| (steps[index].recorded, index))
    };
    let mut chain = Vec::new();
    let mut next = last(&mut (0..steps.len()));
    while let Some(index) = next {
        chain.push(index);
        let before = before(task, shape, &steps[index]);
        // A chain never comes back, whatever the stamps say.
        next = last(&mut before.into_iter().filter(|other| !chain.contains(other)));
    }
    chain.reverse();
    chain
}

fn before(task: &Task, shape: &Shape, step: &Step) -> Vec<usize> {
    let steps = &task.steps;
    if shape.is_empty() {
        let earlier = |index: &usize| {
            let other = &steps[*index];
            other.recorded <= step.enqueued && other.step < step.step
        };
        return (0..steps.len()).filter(earlier).collect();
    }
    let exists = |step: usize| steps.iter().any(|other| other.step == step);
    let waits_for = shape.waits_for(step.step, &exists);
    (0..steps.len()).filter(|&index| waits_for.contains(&steps[index].step)).collect()
}

/// The critical path as stretches that follow each other from hand-in to the client's knowing,
/// without gap or overlap: a stamp that lies before one already passed (two processes stamp one
/// event) adds nothing, and none lies beyond the end.
pub(super) fn stretches(task: &Task, shape: &Shape) -> Vec<Stretch> {
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
    found.push(Stretch { part: LOOK, from: now, to: task.observed });
    found
}

/// The same, summed by part.
pub(super) fn parts(task: &Task, shape: &Shape) -> Parts {
    let mut parts = Parts::default();
    for stretch in stretches(task, shape) {
        parts[stretch.part] += stretch.to - stretch.from;
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workflows::shape::ShapeText;

    fn step(step: usize, times: [i64; 5]) -> Step {
        let [enqueued, claimed, started, finished, recorded] = times;
        Step { step, part: 0, created: 0, enqueued, claimed, started, finished, recorded }
    }

    fn diamond() -> Shape {
        let text = r#"steps = [{ name = "a" }, { name = "b", after = ["a"] },
            { name = "c", after = ["a"] }, { name = "d", after = ["b", "c"] }]"#;
        Shape::of(&toml::from_str::<ShapeText>(text).unwrap())
    }

    fn task() -> Task {
        let steps = vec![
            step(0, [10, 12, 13, 14, 20]),
            step(1, [22, 23, 24, 25, 60]),
            step(2, [22, 24, 25, 26, 70]),
            step(3, [75, 80, 81, 90, 100]),
        ];
        Task { submitted: 0, accepted: 5, completed: 103, observed: 150, steps }
    }

    #[test]
    fn the_later_branch_decides() {
        assert_eq!(critical(&task(), &diamond()), [0, 2, 3]);
        assert_eq!(parts(&task(), &diamond()), [10, 9, 3, 11, 60, 7, 3, 47]);
    }

    #[test]
    fn without_a_shape_the_last_recording_before_decides() {
        assert_eq!(critical(&task(), &Shape::default()), [0, 2, 3]);
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
            let steps = stamps.into_iter().map(|(index, times)| step(index, times)).collect();
            let observed = submitted + lasts;
            let task = Task { submitted, accepted: 0, completed, observed, steps };
            for shape in [diamond(), Shape::default()] {
                let parts = parts(&task, &shape);
                prop_assert!(parts.iter().all(|part| *part >= 0), "{parts:?}");
                prop_assert_eq!(parts.iter().sum::<i64>(), task.makespan());
                let found = stretches(&task, &shape);
                prop_assert!(found.windows(2).all(|pair| pair[0].to == pair[1].from));
            }
        }
    }
}
