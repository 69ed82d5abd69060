//! Every variant through the handle that the driver takes: standard input, standard output, exit
//! code.

use std::fs;

use lab_protocol::Status;
use lab_protocol::workflows::{Beside, Workload};
use proof_kit::workflows::{
    FAMILY, Variant, check, check_identities, check_refusals, is_missing, line, outcome, shape,
    shapes, variants, workload,
};

#[test]
fn a_variant_is_what_its_manifest_and_the_lock_say() {
    check_identities(FAMILY);
}

#[test]
fn a_bad_spec_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let workload = workload(&shapes()[0], folder.path());
    let good = line(&workload);
    let cases = [
        (good.replace("\"seed\"", "\"colour\":1,\"seed\""), "unknown field `colour`"),
        (good.replace("\"tasks\":4", "\"tasks\":0"), "tasks is 0"),
        (good.replace("\"in_flight\":1", "\"in_flight\":0"), "in_flight is 0"),
        (good.replace("\"workers\":2", "\"workers\":0"), "workers is 0"),
        (line(&Workload { processes: 3, ..workload }), "an even number"),
        (good.replacen("\"after\":[0]", "\"after\":[1]", 1), "which is not before it"),
        (good.replacen("\"square\"", "{\"constant\":2305843009213693951}", 1), "2^61 - 1"),
    ];
    check_refusals(FAMILY, &good, &cases);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "something was run");
}

/// Those that are ours, which every machine of the lab has, and those that it may lack.
fn ours_and_peers() -> (Vec<Variant>, Vec<Variant>) {
    variants(FAMILY).into_iter().partition(|variant| !variant.is("peer"))
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
            let who = format!("{} {}", variant.name, shape.name);
            check(&who, &workload, &outcome);
            for key in ["rss_high_water_bytes", "cpu_total_ns", "all_pss_bytes"] {
                assert!(outcome.counters[key] > 0, "{who}: {key}");
            }
            // The processes of a program that the machine has installed are counted; a variant that
            // computes in threads is alone.
            let is_alone = outcome.counters["all_processes"] == 1;
            if variant.identity.version == "installed" {
                assert!(!is_alone || !variant.is("peer"), "{who}");
            } else {
                assert!(is_alone, "{who}");
            }
            let count = |key: &str| outcome.counters.get(key).copied();
            // What is durable is written when a task is accepted and for each step.
            let is_durable = count("syncs").or(count("commits")).is_some();
            assert!(!is_durable || !variant.is("floor"), "{who}");
            if let Some(syncs) = count("syncs") {
                // Steps may share a sync; a task's acceptance and its longest path cannot.
                assert!(syncs >= 8 && count("bare_sync_ns") > Some(0), "{who}: {syncs} syncs");
            }
            if let Some(commits) = count("commits") {
                // So with commits.
                assert!(commits >= 8 && count("bare_commit_ns") > Some(0), "{who}: {commits}");
                assert!(count("statements").is_none_or(|all| all >= commits), "{who}");
            }
            assert!(count("statements").is_none_or(|all| all >= 8), "{who}");
            assert!(count("reconnections").is_none_or(|lost| lost == 0), "{who}");
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
        check(&variant.name, &workload, &outcome);
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
        let shape = shape("mixed");
        let workload =
            Workload { tasks: 40, in_flight: 16, workers: 6, ..workload(&shape, folder.path()) };
        let outcome = outcome(variant, &workload);
        if !is_missing(&outcome) {
            check(&variant.name, &workload, &outcome);
        }
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    for variant in variants(FAMILY).into_iter().filter(|variant| !variant.is("floor")) {
        let folder = tempfile::tempdir().unwrap().path().join("gone");
        let outcome = outcome(&variant, &workload(&shapes()[0], &folder));
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains("gone") && reason.contains("a folder that is there"), "{reason}");
    }
}

#[test]
fn what_a_back_end_does_not_take_is_unsupported_with_a_reason() {
    for variant in variants(FAMILY) {
        for (fallback_ms, beside, said) in
            [(20, Beside::Nothing, "set fallback_ms to 0"), (0, Beside::LockedMap, "set beside to")]
        {
            let folder = tempfile::tempdir().unwrap();
            let workload = workload(&shapes()[0], folder.path());
            let outcome = outcome(&variant, &Workload { fallback_ms, beside, ..workload });
            if outcome.status == Status::Ok {
                continue;
            }
            assert_eq!(outcome.status, Status::Unsupported, "{}", variant.name);
            let reason = outcome.reason.unwrap();
            assert!(reason.contains(said) || reason.starts_with("there is no "), "{reason}");
        }
    }
}

#[test]
fn a_back_end_that_is_one_process_says_so() {
    for variant in variants(FAMILY).into_iter().filter(|variant| !variant.is("processes")) {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload { processes: 4, ..workload(&shapes()[0], folder.path()) };
        let outcome = outcome(&variant, &workload);
        assert_eq!(outcome.status, Status::Unsupported, "{}", variant.name);
        assert!(outcome.samples.is_empty(), "{}", variant.name);
    }
}
