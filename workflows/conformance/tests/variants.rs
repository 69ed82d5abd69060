//! Every variant through the door that the driver takes: standard input, standard output, exit
//! code.

use std::fs;

use lab_protocol::workflow::Workload;
use lab_protocol::{Identity, PROTOCOL, Status, exit};
use workflows_conformance::{
    Variant, check, is_missing, line, outcome, run, shapes, variants, workflows_dir, workload,
};

#[test]
fn a_variant_is_what_its_manifest_and_the_lock_say() {
    let lock = fs::read_to_string(workflows_dir().join("../Cargo.lock")).ok();
    for variant in variants() {
        let manifest = &variant.manifest;
        let finished = run(&variant, &["--describe"], "");
        let expected = Identity {
            protocol: PROTOCOL,
            family: manifest.family.clone(),
            variant: manifest.name.clone(),
            measures: manifest.measures.clone(),
            version: manifest.version.clone(),
            features: manifest.features.clone(),
        };
        let found: Identity = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!((found, finished.code), (expected, Some(exit::DONE)));
        let package =
            format!("name = \"{}\"\nversion = \"{}\"\n", manifest.measures, manifest.version);
        // Bazel may run this test without the lock; a database is what the machine has installed.
        let lock = lock.as_ref().filter(|_| manifest.version != "installed");
        assert!(lock.is_none_or(|lock| lock.contains(&package)), "{package}");
    }
}

#[test]
fn a_bad_spec_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let good = line(&workload(&shapes()[0], folder.path()));
    let cases: [(&[&str], String, &str); 10] = [
        (&[], String::new(), "standard input ended before a run spec"),
        (&[], good.replacen("\"run\"", "\"hurry\":1,\"run\"", 1), "unknown field `hurry`"),
        (&[], good.replace("\"seed\"", "\"colour\":1,\"seed\""), "unknown field `colour`"),
        (&[], good.replace("\"protocol\":1", "\"protocol\":9"), "protocol 9"),
        (&[], good.replace("\"tasks\":4", "\"tasks\":0"), "tasks is 0"),
        (&[], good.replace("\"in_flight\":1", "\"in_flight\":0"), "in_flight is 0"),
        (&[], good.replace("\"workers\":2", "\"workers\":0"), "workers is 0"),
        (&[], good.replacen("\"after\":[0]", "\"after\":[1]", 1), "which is not before it"),
        (&[], good.replacen("\"square\"", "{\"constant\":2305843009213693951}", 1), "2^61 - 1"),
        (&["--fast"], good.clone(), "the only arguments are --describe and --help"),
    ];
    for variant in variants() {
        for (arguments, input, sentence) in &cases {
            let finished = run(&variant, arguments, input);
            assert_eq!(finished.code, Some(exit::BAD_SPEC), "{finished:?}");
            assert_eq!(finished.stdout, "");
            assert!(finished.stderr.contains(sentence), "{}", finished.stderr);
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "something was run");
}

/// Those that are ours, which every machine of the lab has, and those that it may lack.
fn ours_and_peers() -> (Vec<Variant>, Vec<Variant>) {
    let is_peer = |variant: &Variant| variant.manifest.tags.iter().any(|tag| tag == "peer");
    variants().into_iter().partition(|variant| !is_peer(variant))
}

#[test]
fn every_shape_has_every_step_once_with_its_value() {
    every_shape(&ours_and_peers().0);
}

#[test]
fn every_shape_has_every_step_once_with_its_value_in_a_peer() {
    every_shape(&ours_and_peers().1);
}

fn every_shape(variants: &[Variant]) {
    for shape in shapes() {
        for variant in variants {
            let folder = tempfile::tempdir().unwrap();
            let workload = workload(&shape, folder.path());
            let outcome = outcome(variant, &workload);
            if is_missing(&outcome) {
                continue;
            }
            let who = format!("{} {}", variant.manifest.name, shape.name);
            check(&who, &workload, &outcome);
            for key in ["rss_high_water_bytes", "cpu_total_ns", "all_pss_bytes"] {
                assert!(outcome.counters[key] > 0, "{who}: {key}");
            }
            // Its servers and workers are counted; one that computes in threads is alone.
            let is_alone = ["memory", "journal"].contains(&&*variant.manifest.name);
            assert_eq!(outcome.counters["all_processes"] == 1, is_alone, "{who}");
            let count = |key: &str| outcome.counters.get(key).copied();
            let steps = outcome.samples["step"].len() as u64;
            match variant.manifest.name.as_str() {
                "memory" => assert_eq!([count("syncs"), count("commits")], [None; 2], "{who}"),
                "journal" => {
                    // Transitions may share a sync, but one task's acceptance and its longest path
                    // cannot.
                    let syncs = count("syncs").unwrap();
                    assert!((8..=steps + 4).contains(&syncs), "{who}: {syncs} syncs");
                    assert!(count("bare_sync_ns").unwrap() > 0, "{who}");
                }
                "postgres" => {
                    // A commit accepts, and one records each step; idle workers claim in others.
                    let (commits, statements) = (count("commits"), count("statements"));
                    assert!(commits.unwrap() >= steps + 4 && statements >= commits, "{who}");
                    assert!(commits.unwrap() <= 2 * steps + 4, "{who}: {commits:?} commits");
                    assert!(count("bare_commit_ns").unwrap() > 0, "{who}");
                    assert_eq!(count("reconnections"), Some(0), "{who}");
                }
                "dbos" => {
                    // A transaction accepts, one records each step, and one the result.
                    let (commits, statements) = (count("commits"), count("statements"));
                    assert!(commits.unwrap() >= steps + 8 && statements >= commits, "{who}");
                    assert!(count("bare_commit_ns").unwrap() > 0, "{who}");
                }
                "postgres_rabbitmq" => {
                    // A commit accepts, and one records each step; a message gives a worker each
                    // step, and one tells the client of each task.
                    let expected = Some(steps + 4);
                    assert_eq!([count("commits"), count("messages")], [expected; 2], "{who}");
                    assert_eq!(count("statements"), expected, "{who}");
                    assert!(count("bare_commit_ns").unwrap() > 0, "{who}");
                    assert_eq!(count("reconnections"), Some(0), "{who}");
                }
                "tasker" => {
                    // Four transitions of each step and a message each way; more of the task's own.
                    let (commits, messages) = (count("commits"), count("messages"));
                    assert!(commits.unwrap() >= 4 * steps, "{who}: {commits:?} commits");
                    assert!(messages.unwrap() >= 2 * steps, "{who}: {messages:?} messages");
                    assert!(count("bare_commit_ns").unwrap() > 0, "{who}");
                }
                // They keep what they do to themselves.
                "dbos_sqlite" => assert!(count("statements").unwrap() > steps, "{who}"),
                "restate" => assert_eq!([count("syncs"), count("commits")], [None; 2], "{who}"),
                other => panic!("nobody has said what {other} counts"),
            }
        }
    }
}

#[test]
fn a_client_that_looks_sees_completion_only_when_it_looks() {
    looks(&ours_and_peers().0);
}

#[test]
fn a_client_that_looks_sees_completion_of_a_peer_only_when_it_looks() {
    looks(&ours_and_peers().1);
}

fn looks(variants: &[Variant]) {
    for variant in variants {
        let folder = tempfile::tempdir().unwrap();
        let workload =
            Workload { poll_ms: 20, in_flight: 2, ..workload(&shapes()[0], folder.path()) };
        let outcome = outcome(variant, &workload);
        if is_missing(&outcome) {
            continue;
        }
        check(&variant.manifest.name, &workload, &outcome);
        // A look comes after a whole interval, whenever the task was complete.
        let submitted = &outcome.samples["task_submitted_ns"];
        let times = submitted.iter().zip(&outcome.samples["task_observed_ns"]);
        assert!(times.clone().all(|(early, late)| late - early >= 20_000_000), "{times:?}");
        // Two in flight: the second is handed in before the first is seen.
        assert!(submitted[1] < outcome.samples["task_observed_ns"][0]);
    }
}

#[test]
fn many_tasks_at_once_with_more_workers_than_steps_are_right() {
    many_at_once(&ours_and_peers().0);
}

#[test]
fn many_tasks_at_once_are_right_in_a_peer() {
    many_at_once(&ours_and_peers().1);
}

fn many_at_once(variants: &[Variant]) {
    for variant in variants {
        let folder = tempfile::tempdir().unwrap();
        let shape = shapes().into_iter().find(|shape| shape.name == "mixed").unwrap();
        let workload =
            Workload { tasks: 40, in_flight: 16, workers: 6, ..workload(&shape, folder.path()) };
        let outcome = outcome(variant, &workload);
        if !is_missing(&outcome) {
            check(&variant.manifest.name, &workload, &outcome);
        }
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    for variant in variants().into_iter().filter(|variant| variant.manifest.name != "memory") {
        let folder = tempfile::tempdir().unwrap().path().join("gone");
        let outcome = outcome(&variant, &workload(&shapes()[0], &folder));
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains("gone") && reason.contains("a folder that is there"), "{reason}");
    }
}
