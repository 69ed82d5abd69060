//! Servers that are kept up: runs one after the other have one and the same, each finds it empty,
//! and it ends with the program that has it, however that ends.

use std::path::Path;

use lab_protocol::workflows::Workload;
use lab_protocol::{Status, exit};
use nix::sys::signal::{Signal, kill};
use proof_kit::workflows::{
    FAMILY, Kept, UnderWay, Variant, batches, check, gone, is_missing, outcome, run, sessions_of,
    shape, shapes, skipped, variants, whole, workload,
};

/// Those that name a server: ours, or peers.
fn keeping(peers: bool) -> Vec<Variant> {
    let keeps = |variant: &Variant| !variant.keep_up.is_empty() && variant.is("peer") == peers;
    let found: Vec<_> = variants(FAMILY).into_iter().filter(keeps).collect();
    if found.is_empty() {
        skipped("no variant names a server");
    }
    found
}

/// With all servers that it names; they end with the second.
fn offered(variant: Variant, folder: &Path) -> Option<(Variant, Vec<Kept>)> {
    let servers = Kept::all(&variant, folder)?;
    let variant = servers.iter().fold(variant, |variant, server| server.offered_to(variant));
    Some((variant, servers))
}

#[test]
fn runs_of_every_shape_have_one_server() {
    every_shape(keeping(false));
}

#[test]
fn runs_of_every_shape_of_a_peer_have_one_server() {
    every_shape(keeping(true));
}

fn every_shape(variants: Vec<Variant>) {
    for variant in variants {
        let place = tempfile::tempdir().unwrap();
        let Some((variant, servers)) = offered(variant, place.path()) else { continue };
        let before: Vec<_> = servers.iter().map(Kept::server).collect();
        let idle: usize = servers.iter().map(|server| server.processes().len()).sum();
        for shape in shapes() {
            let folder = tempfile::tempdir().unwrap();
            let workload = workload(&shape, folder.path());
            let outcome = outcome(&variant, &workload);
            if is_missing(&outcome) {
                break;
            }
            let who = format!("{} {}", variant.name, shape.name);
            check(&who, &workload, &outcome);
            assert!(!folder.path().join("data").exists(), "{who}: it has started its own");
            // The server that it has not started does its work. Without its server no variant has
            // as many processes as an idle one.
            let processes = outcome.counters["all_processes"];
            assert!(processes > idle as u64, "{who}: {processes}, and {idle} of idle servers");
        }
        let after: Vec<_> = servers.iter().map(Kept::server).collect();
        assert_eq!(before, after, "{}", variant.name);
    }
}

#[test]
fn processes_of_a_run_find_the_server() {
    for variant in keeping(false).into_iter().filter(|variant| variant.is("processes")) {
        let place = tempfile::tempdir().unwrap();
        let Some((variant, _servers)) = offered(variant, place.path()) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let linear = workload(&shape("linear"), folder.path());
        let workload = Workload { processes: 4, workers: 4, in_flight: 2, ..linear };
        check(&variant.name, &workload, &outcome(&variant, &workload));
    }
}

#[test]
fn a_run_finds_nothing_of_one_that_was_killed() {
    for variant in keeping(false) {
        let place = tempfile::tempdir().unwrap();
        let Some((variant, servers)) = offered(variant, place.path()) else { continue };
        let data = place.path().join("postgresql");
        for seed in 0..3 {
            let folder = tempfile::tempdir().unwrap();
            let other = batches(folder.path(), 10 + seed);
            let mut killed = UnderWay::start(&variant, &Workload { tasks: 100_000, ..other }, None);
            let is_at_work = || sessions_of(&data).is_some_and(|run| run.sessions.len() > 2);
            assert!(killed.until(is_at_work), "{} has ended", variant.name);
            killed.kill();
            let folder = tempfile::tempdir().unwrap();
            let workload = batches(folder.path(), seed);
            whole(&variant.name, &workload, &outcome(&variant, &workload));
        }
        let ended: Vec<_> = servers.into_iter().map(|server| server.end().code).collect();
        assert!(ended.iter().all(|code| *code == Some(exit::DONE)), "{ended:?}");
    }
}

#[test]
fn a_run_waits_for_a_server_that_restarts_its_processes() {
    for variant in keeping(false) {
        let place = tempfile::tempdir().unwrap();
        let database = variant.keep_up.iter().position(|name| name == "postgresql");
        let Some((variant, servers)) = offered(variant, place.path()) else { continue };
        let processes = servers[database.expect("all of ours keep state there")].processes();
        // With one of its processes the server ends all, and replays its log.
        kill(processes[1], Signal::SIGKILL).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let linear = workload(&shape("linear"), folder.path());
        check(&variant.name, &linear, &outcome(&variant, &linear));
    }
}

#[test]
fn a_run_that_loses_its_server_does_not_say_that_anything_is_left() {
    for variant in keeping(false) {
        let place = tempfile::tempdir().unwrap();
        let Some((variant, _servers)) = offered(variant, place.path()) else { continue };
        let data = place.path().join("postgresql");
        let folder = tempfile::tempdir().unwrap();
        let many = Workload { tasks: 100_000, ..batches(folder.path(), 20) };
        let mut run = UnderWay::start(&variant, &many, None);
        let mut found = None;
        let is_at_work = run.until(|| {
            found = sessions_of(&data).filter(|found| found.sessions.len() > 2);
            found.is_some()
        });
        assert!(is_at_work, "{} has ended", variant.name);
        found.unwrap().kill_server();
        let outcome = run.outcome();
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains("the database is lost"), "{reason}");
        assert!(!reason.contains("start again"), "{reason}");
    }
}

#[test]
fn a_folder_with_an_earlier_run_is_gone_on_with() {
    for variant in keeping(false) {
        let place = tempfile::tempdir().unwrap();
        let Some((offered, _servers)) = offered(variant.clone(), place.path()) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let first = workload(&shape("linear"), folder.path());
        check(&variant.name, &first, &outcome(&variant, &first));
        let second = outcome(&offered, &Workload { seed: 8, ..first });
        let reason = second.reason.unwrap();
        assert_eq!(second.status, Status::Failed);
        assert!(reason.contains("the tasks of another workload"), "{reason}");
    }
}

#[test]
fn a_server_ends_with_who_keeps_it_and_the_other_way_round() {
    for variant in keeping(false) {
        for name in &variant.keep_up {
            let start = || {
                let place = tempfile::tempdir().unwrap();
                let server = Kept::start(&variant, name, place.path())?;
                Some((place, server.server(), server))
            };
            let Some((_place, process, server)) = start() else { continue };
            assert_eq!(server.end().code, Some(exit::DONE), "{name}");
            gone(process);
            let Some((_place, process, server)) = start() else { continue };
            server.kill();
            gone(process);
            let Some((_place, process, server)) = start() else { continue };
            kill(process, Signal::SIGKILL).unwrap();
            let finished = server.finish();
            assert_eq!(finished.code, Some(exit::FAILED), "{finished:?}");
            assert_eq!(finished.stderr, format!("{name} has ended\n"));
        }
    }
}

#[test]
fn a_run_whose_server_has_ended_says_so() {
    for variant in keeping(false) {
        let place = tempfile::tempdir().unwrap();
        let Some((variant, servers)) = offered(variant, place.path()) else { continue };
        drop(servers);
        let folder = tempfile::tempdir().unwrap();
        let outcome = outcome(&variant, &workload(&shape("linear"), folder.path()));
        assert_eq!(outcome.status, Status::Failed);
        let reason = outcome.reason.unwrap();
        assert!(reason.contains("that is kept up"), "{reason}");
    }
}

#[test]
fn a_server_that_nobody_has_is_refused() {
    for variant in keeping(false) {
        let finished = run(&variant, &["--keep-up", "nothing"], "");
        assert_eq!(finished.code, Some(exit::BAD_SPEC), "{finished:?}");
        assert!(finished.stderr.starts_with("nothing cannot be kept up here; there are: "));
    }
}
