//! The peers where they are not installed, or find a folder that is not empty. Where they are
//! installed, the tests of every variant take them in: `tools/peer NAME up` says what to put into
//! the environment.

use std::env;
use std::fs;

use lab_protocol::Status;
use proof_kit::workflows::{FAMILY, Variant, outcome, shapes, tagged, workload};

/// The peers, started without what the environment says of this lab.
fn peers() -> Vec<Variant> {
    let ours = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let ours: Vec<String> = ours.filter(|name| name.starts_with("LAB_")).collect();
    let bare = |peer| ours.iter().fold(peer, |peer: Variant, name| peer.with(name, None));
    tagged(FAMILY, "peer").into_iter().map(bare).collect()
}

#[test]
fn where_a_peer_is_not_installed_the_answer_says_how_to_get_it() {
    for peer in peers() {
        let folder = tempfile::tempdir().unwrap();
        let outcome = outcome(&peer, &workload(&shapes()[0], folder.path()));
        assert_eq!(outcome.status, Status::Unsupported, "{}", peer.name);
        let reason = outcome.reason.unwrap();
        for part in ["there is no ", "tools/peer ", " up", "LAB_"] {
            assert!(reason.contains(part), "{}: {reason}", peer.name);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "something was started");
    }
}

#[test]
fn a_folder_that_an_earlier_run_has_used_is_left_alone() {
    for peer in peers() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        let outcome = outcome(&peer, &workload(&shapes()[0], folder.path()));
        assert_eq!(outcome.status, Status::Failed, "{}", peer.name);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains("give an empty folder"), "{}: {reason}", peer.name);
    }
}
