//! What the tests of this folder need: the variants' programs, shapes, and what is right.
//!
//! It knows variants only as folders with a `variant.toml` and as programs; it links none of them.

mod batches;
mod kept;
mod shapes;
mod small_disk;
mod under_way;
mod verdict;

use std::env;
use std::path::{Path, PathBuf};

use lab_protocol::workflows::{Beside, Shape, Wire, Worker, Workload};

pub use crate::programs::*;
pub use batches::{batches, draw, kills, whole};
pub use kept::{Kept, gone};
pub use shapes::{shape, shapes};
pub use small_disk::on_a_small_disk;
pub use under_way::{Connections, Sessions, UnderWay, sessions_of};
pub use verdict::check;

/// The family's folder.
pub const FAMILY: &str = "workflows";

/// The folder that has the worker in Rust, program and library; the empty text where they were not
/// built.
pub fn worker_folder() -> String {
    let beside_this = env::current_exe().expect("Linux knows the path of this program");
    let places = [
        env::var_os("LAB_BIN_DIR").map(PathBuf::from),
        Some(family_dir(FAMILY).join("worker")),
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
        wire: Wire::Pipe,
        fallback_ms: 0,
        beside: Beside::Nothing,
        worker: Worker::Native,
        worker_folder: worker_folder(),
        folder: folder.to_str().expect("a temporary folder's name is text").to_owned(),
    }
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
