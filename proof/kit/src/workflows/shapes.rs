//! The published shapes, and one that has everything at once.

use lab_protocol::workflows::{Operation, Shape, Step, When};

use Operation::{Constant, Pass, Square, Sum, SumRows};

/// All of them; every name is a shape of `experiments/workflow.toml`, but for `mixed`.
pub fn shapes() -> Vec<Shape> {
    let squares = |name: &str, after: &[&[u32]]| {
        made(name, after.iter().map(|after| step(after, Square)).collect())
    };
    vec![
        squares("linear", &[&[], &[0], &[1], &[2]]),
        squares("diamond", &[&[], &[0], &[0], &[1, 2]]),
        conditional(500),
        squares("complex_dag", &[&[], &[0], &[0], &[1, 2], &[1], &[2], &[3, 4, 5]]),
        squares("hierarchical_tree", &[&[], &[0], &[0], &[1], &[1], &[2], &[2], &[3, 4, 5, 6]]),
        csv_batch(),
        mixed(),
    ]
}

/// The one of this name.
///
/// # Panics
/// When there is none.
pub fn shape(name: &str) -> Shape {
    shapes().into_iter().find(|shape| shape.name == name).expect("a shape of this name")
}

/// An amount and who approves it.
fn conditional(amount: u64) -> Shape {
    let when = |low, high| Some(When { step: 1, low, high });
    made(
        "conditional",
        vec![
            step(&[], Constant(amount)),
            step(&[0], Pass),
            Step { when: when(0, 1_000), ..step(&[1], Square) },
            Step { when: when(1_000, 5_000), ..step(&[1], Square) },
            Step { when: when(5_000, 1_000_000), ..step(&[1], Square) },
            step(&[2, 3, 4], Sum),
        ],
    )
}

/// A thousand rows by five cursors; no step gives or takes an amount, so the sum is conserved.
fn csv_batch() -> Shape {
    let cursors = Step { parts_of: Some(0), ..step(&[], SumRows(200)) };
    made("csv_batch", vec![step(&[], Constant(5)), cursors, step(&[1], Sum)])
}

/// A step that waits for one that is left out because of one that is left out, a fan-out of none,
/// one that is decided about, and inputs from all of them.
fn mixed() -> Shape {
    let when = |step, low, high| Some(When { step, low, high });
    made(
        "mixed",
        vec![
            step(&[], Pass),
            step(&[], Constant(0)),
            Step { parts_of: Some(1), ..step(&[0], Pass) },
            Step { when: when(1, 1, 2), ..step(&[0], Square) },
            Step { when: when(3, 0, u64::MAX), ..step(&[0], Square) },
            step(&[0, 2], Constant(3)),
            Step { when: when(1, 0, 1), parts_of: Some(5), ..step(&[0, 3], Sum) },
            step(&[6, 0, 4, 2], Sum),
            step(&[], Pass),
        ],
    )
}

fn made(name: &str, steps: Vec<Step>) -> Shape {
    Shape { name: name.to_owned(), steps }
}

fn step(after: &[u32], operation: Operation) -> Step {
    let name = format!("{operation:?} of {after:?}");
    Step { name, after: after.to_vec(), operation, when: None, parts_of: None }
}
