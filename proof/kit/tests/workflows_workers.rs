//! Workers in other languages: the right values in every language that the machine has, and a
//! clear word where one is missing or dies.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use lab_protocol::workflows::{Worker, Workload};
use lab_protocol::{RunOutcome, Status, exit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use proof_kit::workflows::{
    FAMILY, UnderWay, Variant, check, is_missing, outcome, shape, shapes, tagged, variants,
    workload,
};

/// The floor, which has nothing but its workers.
fn floor() -> Variant {
    tagged(FAMILY, "floor").remove(0)
}

/// Runs one shape with one worker, and holds the answer against the truth.
fn right(variant: &Variant, name: &str, worker: Worker) -> Option<RunOutcome> {
    let folder = tempfile::tempdir().unwrap();
    let workload = Workload { worker, ..workload(&shape(name), folder.path()) };
    let outcome = outcome(variant, &workload);
    if is_missing(&outcome) {
        return None;
    }
    check(&format!("{} {name} {worker:?}", variant.name), &workload, &outcome);
    Some(outcome)
}

#[test]
fn a_process_in_rust_computes_what_a_thread_computes() {
    in_every_shape(Worker::NativeProcess, false);
}

#[test]
fn python_computes_what_rust_computes() {
    in_every_shape(Worker::PythonFfi, true);
    in_every_shape(Worker::PythonProcess, false);
}

#[test]
fn ruby_computes_what_rust_computes() {
    in_every_shape(Worker::RubyFfi, true);
    in_every_shape(Worker::RubyProcess, false);
}

#[test]
fn node_computes_what_rust_computes() {
    in_every_shape(Worker::NodeProcess, false);
}

#[test]
fn node_with_the_worker_in_rust_behind_it_computes_what_rust_computes() {
    in_every_shape(Worker::NodeFfi, true);
}

#[test]
fn typescript_computes_what_rust_computes() {
    in_every_shape(Worker::TypescriptProcess, false);
}

#[test]
fn typescript_with_the_worker_in_rust_behind_it_computes_what_rust_computes() {
    in_every_shape(Worker::TypescriptFfi, true);
}

/// Types are erased by Node.js, where it can, or by amaro.
#[test]
fn without_what_erases_types_a_worker_in_typescript_is_unsupported() {
    let folder = tempfile::tempdir().unwrap();
    let worker = Worker::TypescriptProcess;
    let workload = Workload { worker, ..workload(&shape("linear"), folder.path()) };
    let outcome = outcome(&floor().with("LAB_AMARO", None), &workload);
    match outcome.status {
        Status::Ok => check("typescript", &workload, &outcome),
        _ => {
            let reason = outcome.reason.clone().unwrap();
            let told = "there is no TypeScript in node: run tools/peer amaro up";
            // Not `is_missing`, which would count the test as skipped.
            assert_eq!(outcome.status, Status::Unsupported, "{reason}");
            assert!(reason.starts_with(told) || reason.contains("PATH"), "{reason}");
        }
    }
}

fn in_every_shape(worker: Worker, is_ffi: bool) {
    let floor = floor();
    for shape in ["linear", "diamond", "conditional", "csv_batch", "mixed"] {
        let Some(outcome) = right(&floor, shape, worker) else { return };
        let call = outcome.counters.get("ffi_call_ns");
        assert_eq!(call.is_some(), is_ffi, "{worker:?} {call:?}");
    }
}

#[test]
fn every_back_end_that_takes_workers_has_them_compute() {
    for variant in tagged(FAMILY, "workers") {
        for worker in [
            Worker::NativeProcess,
            Worker::PythonFfi,
            Worker::PythonProcess,
            Worker::RubyFfi,
            Worker::RubyProcess,
            Worker::NodeFfi,
            Worker::NodeProcess,
            Worker::TypescriptFfi,
            Worker::TypescriptProcess,
            Worker::FourLanguages,
        ] {
            right(&variant, "diamond", worker);
        }
    }
}

#[test]
fn every_other_back_end_says_that_it_does_not() {
    for variant in variants(FAMILY).into_iter().filter(|variant| !variant.is("workers")) {
        let own = variant.is("own_worker").then_some(Worker::PythonFfi);
        let others = [Worker::PythonFfi, Worker::PythonProcess];
        for worker in others.into_iter().filter(|worker| Some(*worker) != own) {
            let folder = tempfile::tempdir().unwrap();
            let workload = Workload { worker, ..workload(&shapes()[0], folder.path()) };
            let outcome = outcome(&variant, &workload);
            assert_eq!(outcome.status, Status::Unsupported, "{}", variant.name);
            assert!(outcome.samples.is_empty() && outcome.counters.is_empty());
            let reason = outcome.reason.unwrap();
            assert!(reason.contains("set worker to native"), "{reason}");
        }
    }
}

#[test]
fn a_worker_that_is_killed_fails_the_run_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let linear = workload(&shape("linear"), folder.path());
    // A name of its own, by which the workers of this run and of no other are found.
    let program = folder.path().join("workflows-worker");
    symlink(Path::new(&linear.worker_folder).join("workflows-worker"), &program).unwrap();
    let worker_folder = folder.path().to_str().unwrap().to_owned();
    let worker = Worker::NativeProcess;
    let workload = Workload { worker, worker_folder, tasks: 500_000, ..linear };
    let mut run = UnderWay::start(&floor(), &workload, None);
    let mut workers = Vec::new();
    // One is asked first, and is gone when there are as many as the workload says.
    let there = run.until(|| {
        workers = processes(&program);
        workers.len() == 2
    });
    assert!(there, "the run has ended before its workers were seen");
    for worker in workers {
        let _ = kill(worker, Signal::SIGKILL);
    }
    let finished = run.finish();
    assert_eq!(finished.code, Some(exit::FAILED), "{finished:?}");
    let outcome: RunOutcome = serde_json::from_str(&finished.stdout).unwrap();
    let reason = outcome.reason.unwrap();
    assert!(reason.contains("worker") && reason.contains("ended"), "{reason}");
    assert!(reason.contains("workflows-worker"), "{reason}");
}

/// The processes that were started by this path.
fn processes(program: &Path) -> Vec<Pid> {
    let wanted = format!("{}\0", program.display());
    let numbers = fs::read_dir("/proc").unwrap();
    let numbers = numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_one = |number: &i32| {
        fs::read_to_string(format!("/proc/{number}/cmdline")).is_ok_and(|line| line == wanted)
    };
    numbers.filter(is_one).map(Pid::from_raw).collect()
}

#[test]
fn a_language_that_is_not_installed_is_unsupported() {
    for (worker, program, what_to_do) in [
        (Worker::PythonProcess, "python3", "install it"),
        (Worker::RubyFfi, "ruby", "install it"),
        (Worker::NodeFfi, "koffi", "run tools/peer koffi up"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload { worker, ..workload(&shape("linear"), folder.path()) };
        let nowhere = folder.path().to_str().unwrap();
        let floor = floor().with("PATH", Some(nowhere)).with("LAB_KOFFI", None);
        let outcome = outcome(&floor, &workload);
        assert_eq!(outcome.status, Status::Unsupported);
        let reason = outcome.reason.unwrap();
        assert!(reason.starts_with(&format!("there is no {program} ")), "{reason}");
        assert!(reason.contains(what_to_do), "{reason}");
    }
}

#[test]
fn a_worker_that_was_not_built_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let worker = Worker::NativeProcess;
    let linear = workload(&shape("linear"), folder.path());
    let workload = Workload { worker, worker_folder: String::new(), ..linear };
    let outcome = outcome(&floor(), &workload);
    assert_eq!(outcome.status, Status::Failed);
    let reason = outcome.reason.unwrap();
    assert!(reason.contains("worker_folder is \"\""), "{reason}");
}
