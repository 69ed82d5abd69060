//! The Python process of this back end, where it ends or speaks nonsense.

use std::path::Path;

use proof_kit::workflows::{Status, is_missing, outcome, shapes, variant, workload};

#[test]
fn a_host_that_ends_or_speaks_nonsense_is_a_failure_that_says_so() {
    let dbos = variant(Path::new(env!("CARGO_MANIFEST_DIR")));
    for (python, said) in [("true", "has ended: its log is empty"), ("echo", "said \"-c ")] {
        let folder = tempfile::tempdir().unwrap();
        let dbos = dbos.clone().with("LAB_DBOS_PYTHON", Some(python));
        let outcome = outcome(&dbos, &workload(&shapes()[0], folder.path()));
        if is_missing(&outcome) {
            return;
        }
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains(said), "{reason}");
    }
}
