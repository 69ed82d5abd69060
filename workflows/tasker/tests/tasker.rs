//! What this peer alone promises: its transitions are counted, and a shape that it has no terms for
//! is named.

use std::fs;
use std::path::Path;

use lab_protocol::workflows::{Worker, Workload};
use proof_kit::workflows::{
    Status, Variant, check, is_missing, outcome, shape, shapes, variant, workload,
};

fn tasker() -> Variant {
    variant(Path::new(env!("CARGO_MANIFEST_DIR")))
}

#[test]
fn a_step_has_four_transitions_and_a_message_each_way() {
    for shape in shapes() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = outcome(&tasker(), &workload(&shape, folder.path()));
        if is_missing(&outcome) {
            continue;
        }
        let steps = outcome.samples["step"].len() as u64;
        assert!(outcome.counters["commits"] >= 4 * steps, "{}: {outcome:?}", shape.name);
        assert!(outcome.counters["messages"] >= 2 * steps, "{}: {outcome:?}", shape.name);
    }
}

/// Decisions and fan-outs included: what they say goes through tasker's library.
#[test]
fn its_worker_in_python_computes_what_the_one_in_rust_computes() {
    for shape in shapes() {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload { worker: Worker::PythonFfi, ..workload(&shape, folder.path()) };
        let outcome = outcome(&tasker(), &workload);
        if is_missing(&outcome) || outcome.status == Status::Unsupported {
            continue;
        }
        check(&format!("tasker {} in Python", shape.name), &workload, &outcome);
    }
}

#[test]
fn a_shape_that_tasker_has_no_terms_for_is_named_before_anything_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let tasker = tasker().with("LAB_TASKER", None);
    let outcome = outcome(&tasker, &workload(&shape("mixed"), folder.path()));
    assert_eq!(outcome.status, Status::Unsupported);
    let reason = outcome.reason.unwrap();
    assert!(reason.contains("there is no mixed in tasker's terms"), "{reason}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "something was started");
}
