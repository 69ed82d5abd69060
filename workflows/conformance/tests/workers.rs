//! Workers in other languages: the right values in every language that the machine has, and a
//! clear word where one is missing or dies.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use lab_protocol::workflow::{Shape, Worker, Workload};
use lab_protocol::{RunOutcome, Status, exit};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use workflows_conformance::{
    UnderWay, Variant, check, is_missing, line, outcome, shapes, variant, variants, workload,
};

/// Back ends whose workers compute with the kit's hands.
const HANDS: [&str; 4] = ["memory", "journal", "postgres", "postgres_rabbitmq"];

fn has_hands(variant: &Variant) -> bool {
    HANDS.contains(&variant.manifest.name.as_str())
}

fn shape(name: &str) -> Shape {
    shapes().into_iter().find(|shape| shape.name == name).expect("a shape of this name")
}

/// Runs one shape with one worker, and holds the answer against the truth.
fn right(variant: &Variant, name: &str, worker: Worker) -> Option<RunOutcome> {
    let folder = tempfile::tempdir().unwrap();
    let workload = Workload { worker, ..workload(&shape(name), folder.path()) };
    let outcome = outcome(variant, &workload);
    if is_missing(&outcome) {
        return None;
    }
    check(&format!("{} {name} {worker:?}", variant.manifest.name), &workload, &outcome);
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

fn in_every_shape(worker: Worker, is_ffi: bool) {
    let memory = variant("memory");
    for shape in ["linear", "diamond", "conditional", "csv_batch", "mixed"] {
        let Some(outcome) = right(&memory, shape, worker) else { return };
        let call = outcome.counters.get("ffi_call_ns");
        assert_eq!(call.is_some(), is_ffi, "{worker:?} {call:?}");
    }
}

#[test]
fn every_back_end_with_hands_takes_them() {
    for variant in variants().into_iter().filter(has_hands) {
        for worker in [Worker::NativeProcess, Worker::PythonFfi, Worker::PythonProcess] {
            right(&variant, "diamond", worker);
        }
    }
}

#[test]
fn every_other_back_end_says_that_it_does_not() {
    for variant in variants().into_iter().filter(|variant| !has_hands(variant)) {
        for worker in [Worker::PythonFfi, Worker::PythonProcess] {
            let folder = tempfile::tempdir().unwrap();
            let workload = Workload { worker, ..workload(&shapes()[0], folder.path()) };
            let outcome = outcome(&variant, &workload);
            assert_eq!(outcome.status, Status::Unsupported, "{}", variant.manifest.name);
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
    let mut run = UnderWay::start(&variant("memory"), &line(&workload), None);
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
        (Worker::NodeFfi, "koffi", "run tools/koffi/up"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let workload = Workload { worker, ..workload(&shape("linear"), folder.path()) };
        let mut command = Command::new(&variant("memory").program);
        command.env("PATH", folder.path()).env_remove("LAB_KOFFI");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(line(&workload).as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(exit::DONE));
        let outcome: RunOutcome = serde_json::from_slice(&output.stdout).unwrap();
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
    let outcome = outcome(&variant("memory"), &workload);
    assert_eq!(outcome.status, Status::Failed);
    let reason = outcome.reason.unwrap();
    assert!(reason.contains("worker_folder is \"\""), "{reason}");
}
