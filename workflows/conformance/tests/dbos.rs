//! The peer DBOS where it is not installed, or is not what it should be. Where it is, the tests of
//! every variant take it in: `tools/dbos/up` says what to put into the environment.

use std::io::Write;
use std::process::{Command, Stdio};

use lab_protocol::workflow::Workload;
use lab_protocol::{RunOutcome, Status};
use workflows_conformance::{is_missing, line, shapes, variant, workload};

/// What the variant says of a workload when this is its Python.
fn outcome(python: Option<&str>, workload: &Workload) -> RunOutcome {
    let mut command = Command::new(variant("dbos").program);
    command.env_remove("LAB_DBOS_PYTHON");
    command.envs(python.map(|python| ("LAB_DBOS_PYTHON", python)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("a built program can be started");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    stdin.write_all(line(workload).as_bytes()).expect("a variant reads its spec");
    drop(stdin);
    let output = child.wait_with_output().expect("a child can be waited for");
    serde_json::from_slice(&output.stdout).expect("an outcome")
}

#[test]
fn without_a_python_that_has_it_the_answer_says_how_to_get_one() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = outcome(None, &workload(&shapes()[0], folder.path()));
    assert_eq!(outcome.status, Status::Unsupported);
    let reason = outcome.reason.unwrap();
    assert!(reason.contains("tools/dbos/up") && reason.contains("LAB_DBOS_PYTHON"), "{reason}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something was started");
}

#[test]
fn a_folder_that_an_earlier_run_has_used_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let outcome = outcome(Some("true"), &workload(&shapes()[0], folder.path()));
    assert_eq!(outcome.status, Status::Failed);
    let reason = outcome.reason.unwrap();
    assert!(reason.contains("give an empty folder"), "{reason}");
}

#[test]
fn a_peer_that_ends_or_speaks_nonsense_is_a_failure_that_says_so() {
    for (python, said) in [("true", "has ended: its log is empty"), ("echo", "said \"-c ")] {
        let folder = tempfile::tempdir().unwrap();
        let outcome = outcome(Some(python), &workload(&shapes()[0], folder.path()));
        if is_missing(&outcome) {
            return;
        }
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains(said), "{reason}");
    }
}
