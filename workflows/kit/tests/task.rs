//! The state of a task against the values that a shape defines, over random shapes.

use std::collections::BTreeMap;
use std::sync::Arc;

use lab_protocol::workflows::{Operation, Shape, Step, When};
use proptest::prelude::*;
use workflows_kit::{Graph, Job, MAX_PARTS, Refused, StepId, Task};

/// All steps that a task has, with their values: the definition in the protocol's words, one step
/// after the other.
fn oracle(shape: &Shape, input: u64) -> BTreeMap<StepId, u64> {
    let mut known: Vec<Vec<u64>> = Vec::new();
    for step in &shape.steps {
        let first = |index: u32| known[index as usize].first().copied();
        let exists = step.when.is_none_or(|when| {
            first(when.step).is_some_and(|value| when.low <= value && value < when.high)
        });
        let parts = match (exists, step.parts_of) {
            (false, _) => 0,
            (true, None) => 1,
            (true, Some(other)) => first(other).unwrap_or(0),
        };
        let mut taken: Vec<u64> =
            step.after.iter().flat_map(|&index| known[index as usize].clone()).collect();
        if step.after.is_empty() {
            taken.push(input);
        }
        known.push((0..parts).map(|part| step.operation.compute(&taken, part)).collect());
    }
    let mut all = BTreeMap::new();
    for (step, values) in (0..).zip(&known) {
        for (part, &value) in (0..).zip(values) {
            all.insert(StepId { step, part }, value);
        }
    }
    all
}

fn step(index: u32) -> impl Strategy<Value = Step> {
    let earlier = 0..index.max(1);
    let after = prop::collection::btree_set(earlier.clone(), 0..=index.min(3) as usize);
    // Small numbers, so that decisions fall both ways and fan-outs have few steps.
    let operation = prop_oneof![
        Just(Operation::Pass),
        Just(Operation::Sum),
        Just(Operation::Square),
        (0..6u64).prop_map(Operation::Constant),
        (1..4u64).prop_map(Operation::SumRows),
    ];
    let when =
        (earlier.clone(), 0..4u64, 0..8u64).prop_map(|(step, low, high)| When { step, low, high });
    let kind = (prop::option::weighted(0.3, when), prop::option::weighted(0.2, earlier));
    (after, operation, kind).prop_map(move |(after, operation, (when, parts_of))| Step {
        name: format!("step_{index}"),
        after: after.into_iter().collect(),
        operation,
        when: when.filter(|_| index > 0),
        parts_of: parts_of.filter(|_| index > 0),
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    (1..12u32).prop_flat_map(|steps| {
        let each: Vec<_> = (0..steps).map(step).collect();
        each.prop_map(|mut steps| {
            let last = steps.last_mut().unwrap();
            (last.when, last.parts_of) = (None, None);
            Shape { name: "random".to_owned(), steps }
        })
    })
}

/// Whether some fan-out of the shape is larger than any back end makes.
fn too_large(shape: &Shape, values: &BTreeMap<StepId, u64>) -> bool {
    let says = |step: u32| values.get(&StepId { step, part: 0 }).copied().unwrap_or(0);
    shape.steps.iter().filter_map(|step| step.parts_of).any(|step| says(step) > 20)
}

proptest! {
    #[test]
    fn any_order_of_completion_gives_every_step_once_with_its_value(
        shape in shape(),
        input in 0..6u64,
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
    ) {
        // A step after a fan-out that is undecidably large is looked at below.
        let limited = limit_fan_outs(&shape);
        let truth = oracle(&limited, input);
        prop_assume!(truth.len() < 400 && !too_large(&limited, &truth));
        let graph = Arc::new(Graph::new(&limited));
        let (mut task, first) = Task::new(&graph, input);
        let mut created: Vec<u32> = first.created;
        let mut ready: Vec<Job> = first.ready;
        let mut done: BTreeMap<StepId, u64> = BTreeMap::new();
        let mut turns = order.iter().cycle();
        while !ready.is_empty() {
            prop_assert!(!task.is_complete());
            let job = ready.swap_remove(turns.next().unwrap().index(ready.len()));
            prop_assert!(created.contains(&job.id.step), "{:?} is ready and not created", job.id);
            for &other in graph.waits_for(job.id.step) {
                let all = truth.keys().filter(|id| id.step == other);
                for id in all {
                    prop_assert!(done.contains_key(id), "{:?} did not wait for {id:?}", job.id);
                }
            }
            let value = job.compute();
            let progress = task.record(job.id, value).unwrap();
            prop_assert_eq!(done.insert(job.id, value), None, "twice");
            prop_assert_eq!(task.record(job.id, value), Err(Refused::Twice(job.id)));
            prop_assert_eq!(progress.complete, done.len() == truth.len());
            created.extend(progress.created);
            ready.extend(progress.ready);
        }
        prop_assert!(task.is_complete());
        prop_assert_eq!(&done, &truth);
        let steps: std::collections::BTreeSet<u32> = truth.keys().map(|id| id.step).collect();
        created.sort_unstable();
        prop_assert_eq!(created, steps.into_iter().collect::<Vec<_>>(), "created once");
    }
}

/// The same shape with fan-outs only of constants and of the input, which are small.
fn limit_fan_outs(shape: &Shape) -> Shape {
    let mut limited = shape.clone();
    for index in 0..limited.steps.len() {
        let small = limited.steps[index].parts_of.is_none_or(|other| {
            let other = &limited.steps[other as usize];
            matches!(other.operation, Operation::Constant(_)) || other.after.is_empty()
        });
        if !small {
            limited.steps[index].parts_of = None;
        }
    }
    limited
}

fn plain(name: &str, after: &[u32], operation: Operation) -> Step {
    let (name, after) = (name.to_owned(), after.to_vec());
    Step { name, after, operation, when: None, parts_of: None }
}

#[test]
fn a_step_that_is_not_ready_is_refused_and_nothing_changes() {
    let steps = vec![plain("a", &[], Operation::Pass), plain("b", &[0], Operation::Square)];
    let graph = Arc::new(Graph::new(&Shape { name: "two".to_owned(), steps }));
    let (mut task, _) = Task::new(&graph, 3);
    let id = |step, part| StepId { step, part };
    for early in [id(1, 0), id(0, 1), id(2, 0)] {
        assert_eq!(task.record(early, 9), Err(Refused::NotReady(early)));
    }
    let progress = task.record(id(0, 0), 3).unwrap();
    assert_eq!(progress.ready[0].compute(), 9);
    assert!(task.record(id(1, 0), 9).unwrap().complete);
}

#[test]
fn a_fan_out_beyond_the_limit_is_refused() {
    let fan = Step { parts_of: Some(0), ..plain("fan", &[], Operation::Pass) };
    let steps = vec![
        plain("count", &[], Operation::Constant(MAX_PARTS + 1)),
        fan,
        plain("sum", &[1], Operation::Sum),
    ];
    let graph = Arc::new(Graph::new(&Shape { name: "large".to_owned(), steps }));
    let (mut task, first) = Task::new(&graph, 3);
    let job = &first.ready[0];
    let refused = task.record(job.id, job.compute()).unwrap_err();
    assert_eq!(refused, Refused::TooManyParts(MAX_PARTS + 1));
}

#[test]
fn a_fan_out_of_none_and_what_a_left_out_step_decides_count_as_done() {
    let when = |step| Some(When { step, low: 1, high: 2 });
    let steps = vec![
        plain("zero", &[], Operation::Constant(0)),
        Step { parts_of: Some(0), ..plain("none", &[], Operation::Pass) },
        Step { when: when(0), ..plain("left_out", &[], Operation::Pass) },
        Step { when: when(2), ..plain("left_out_too", &[], Operation::Pass) },
        plain("sum", &[1, 2, 3], Operation::Sum),
    ];
    let graph = Arc::new(Graph::new(&Shape { name: "empty".to_owned(), steps }));
    let (mut task, first) = Task::new(&graph, 3);
    assert_eq!(first.ready.len(), 1);
    let progress = task.record(StepId { step: 0, part: 0 }, 0).unwrap();
    assert!(progress.created.is_empty());
    let ids: Vec<StepId> = progress.ready.iter().map(|job| job.id).collect();
    assert_eq!(ids, [StepId { step: 4, part: 0 }]);
}
