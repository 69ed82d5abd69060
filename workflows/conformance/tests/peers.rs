//! The peers where they are not installed, or are not what they should be. Where they are, the
//! tests of every variant take them in: `tools/dbos/up`, `tools/restate/up` and `tools/tasker/up`
//! say what to put into the environment.

use std::io::Write;
use std::process::{Command, Stdio};

use lab_protocol::workflow::Workload;
use lab_protocol::{RunOutcome, Status};
use workflows_conformance::{is_missing, line, shapes, variant, workload};

const TASKER: [&str; 3] = ["tasker", "LAB_TASKER", "tools/tasker/up"];
/// Peer, its variable in the environment, what installs it.
const PEERS: [[&str; 3]; 4] = [
    ["dbos", "LAB_DBOS_PYTHON", "tools/dbos/up"],
    ["restate", "LAB_RESTATE", "tools/restate/up"],
    TASKER,
    ["dbos_sqlite", "LAB_DBOS_PYTHON", "tools/dbos/up"],
];

/// What a peer says of a workload when its variable has this value.
fn outcome([name, key, _]: [&str; 3], value: Option<&str>, workload: &Workload) -> RunOutcome {
    let mut command = Command::new(variant(name).program);
    command.env_remove(key).envs(value.map(|value| (key, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("a built program can be started");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    stdin.write_all(line(workload).as_bytes()).expect("a variant reads its spec");
    drop(stdin);
    let output = child.wait_with_output().expect("a child can be waited for");
    serde_json::from_slice(&output.stdout).expect("an outcome")
}

#[test]
fn where_a_peer_is_not_installed_the_answer_says_how_to_get_it() {
    for peer in PEERS {
        let folder = tempfile::tempdir().unwrap();
        let outcome = outcome(peer, None, &workload(&shapes()[0], folder.path()));
        assert_eq!(outcome.status, Status::Unsupported);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains(peer[1]) && reason.contains(peer[2]), "{reason}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something was started");
    }
}

#[test]
fn a_folder_that_an_earlier_run_has_used_is_left_alone() {
    for peer in PEERS {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        let outcome = outcome(peer, None, &workload(&shapes()[0], folder.path()));
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains("give an empty folder"), "{reason}");
    }
}

#[test]
fn a_peer_that_ends_or_speaks_nonsense_is_a_failure_that_says_so() {
    for (python, said) in [("true", "has ended: its log is empty"), ("echo", "said \"-c ")] {
        let folder = tempfile::tempdir().unwrap();
        let outcome = outcome(PEERS[0], Some(python), &workload(&shapes()[0], folder.path()));
        if is_missing(&outcome) {
            return;
        }
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains(said), "{reason}");
    }
}

#[test]
fn a_shape_that_tasker_has_no_terms_for_is_named_before_anything_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let mixed = shapes().into_iter().find(|shape| shape.name == "mixed").unwrap();
    let outcome = outcome(TASKER, None, &workload(&mixed, folder.path()));
    assert_eq!(outcome.status, Status::Unsupported);
    let reason = outcome.reason.unwrap();
    assert!(reason.contains("there is no mixed in tasker's terms"), "{reason}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "something was started");
}
