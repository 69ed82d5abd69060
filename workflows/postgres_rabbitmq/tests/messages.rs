//! What this back end alone promises: a commit and a message for each transition, and no other.

use std::path::Path;

use workflows_conformance::{is_missing, outcome, shapes, variant, workload};

#[test]
fn a_message_gives_a_worker_each_step_and_one_tells_of_each_task() {
    let variant = variant(Path::new(env!("CARGO_MANIFEST_DIR")));
    for shape in shapes() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = outcome(&variant, &workload(&shape, folder.path()));
        if is_missing(&outcome) {
            return;
        }
        let steps = outcome.samples["step"].len() as u64;
        for counter in ["commits", "messages", "statements"] {
            assert_eq!(outcome.counters[counter], steps + 4, "{}: {counter}", shape.name);
        }
    }
}
