//! What the tests of this folder need: the variants' programs, shapes, and what is right.
//!
//! It knows variants only as folders with a `variant.toml` and as programs; it links none of them.

mod shapes;
mod under_way;
mod verdict;

use std::path::{Path, PathBuf};

use lab_protocol::workflow::{Shape, Worker, Workload};
use lab_protocol::{PROTOCOL, RunOutcome, RunSpec, Status};

pub use lab_programs::{Finished, Manifest, Variant, run, skipped};
pub use shapes::shapes;
pub use under_way::{Sessions, UnderWay, sessions_of};
pub use verdict::{check, total};

/// Every variant of the family, by name.
///
/// # Panics
/// When a manifest cannot be read or a program was not built.
pub fn variants() -> Vec<Variant> {
    lab_programs::variants("workflows")
}

/// One of them.
///
/// # Panics
/// When it is not there.
pub fn variant(name: &str) -> Variant {
    let found = variants().into_iter().find(|variant| variant.manifest.name == name);
    found.expect("a variant of this name")
}

/// The family's folder.
///
/// # Panics
/// When neither Cargo nor Bazel started this program and `LAB_ROOT` is not set.
pub fn workflows_dir() -> std::path::PathBuf {
    lab_programs::family_dir("workflows")
}

/// The folder that has the worker in Rust, program and library; the empty text where they were not
/// built.
pub fn worker_folder() -> String {
    let beside_this = std::env::current_exe().expect("Linux knows the path of this program");
    let places = [
        std::env::var_os("LAB_BIN_DIR").map(PathBuf::from),
        Some(workflows_dir().join("worker")),
        // Cargo puts a test into target/PROFILE/deps and a program into target/PROFILE.
        beside_this.parent().and_then(Path::parent).map(Path::to_owned),
    ];
    let mut places = places.into_iter().flatten();
    let found = places.find(|folder| folder.join("workflows-worker").is_file());
    let found = found.and_then(|folder| folder.canonicalize().ok());
    found.map_or(String::new(), |folder| folder.to_string_lossy().into_owned())
}

/// A few tasks of a shape, one after the other, told of completion.
pub fn workload(shape: &Shape, folder: &Path) -> Workload {
    Workload {
        seed: 7,
        shape: shape.clone(),
        warmup_tasks: 1,
        tasks: 4,
        in_flight: 1,
        poll_ms: 0,
        workers: 2,
        processes: 0,
        worker: Worker::Native,
        worker_folder: worker_folder(),
        folder: folder.to_str().expect("a temporary folder's name is text").to_owned(),
    }
}

/// The line that a variant reads.
///
/// # Panics
/// Never: a workload has only string keys.
pub fn line(workload: &Workload) -> String {
    let spec = RunSpec { protocol: PROTOCOL, run: "test".to_owned(), workload: workload.clone() };
    format!("{}\n", serde_json::to_string(&spec).expect("a workload has only string keys"))
}

/// What a variant says of a workload, whatever that is.
///
/// # Panics
/// When it says anything else than one outcome.
pub fn outcome(variant: &Variant, workload: &Workload) -> RunOutcome {
    let finished = run(variant, &[], &line(workload));
    assert_eq!(finished.stdout.lines().count(), 1, "{}: {finished:?}", variant.manifest.name);
    serde_json::from_str(&finished.stdout).expect("an outcome")
}

/// Whether this says that the machine lacks the program that the variant measures. The test that
/// asks cannot go on, and says so.
pub fn is_missing(outcome: &RunOutcome) -> bool {
    let reason = outcome.reason.as_deref().unwrap_or_default();
    let missing = outcome.status == Status::Unsupported && reason.starts_with("there is no ");
    if missing {
        skipped(reason);
    }
    missing
}
