//! Runs on a disk that is too small for them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use lab_protocol::RunOutcome;
use lab_protocol::workflows::Workload;

use super::{Variant, line, skipped};

/// A small disk, a run on it, more room, and the same run again:
/// `$0 MEGABYTES MOUNT SPEC BEFORE AFTER`.
const SMALL_DISK: &str = r#"
mount -t tmpfs -o size="$1"m none "$2" || exit 77
timeout 120 "$0" < "$3" > "$4"
mount -o remount,size=400m "$2" || exit 77
timeout 120 "$0" < "$3" > "$5"
"#;

/// Two runs of this workload one after the other, the first with so many megabytes in the folder
/// `disk`, which is the workload's or in it, the second with room. `None` where no disk can be
/// mounted, which the test says.
///
/// # Panics
/// When a run ends with something else than an outcome.
pub fn on_a_small_disk(
    variant: &Variant,
    workload: &Workload,
    (disk, megabytes): (&Path, u32),
) -> Option<[RunOutcome; 2]> {
    let beside = tempfile::tempdir().expect("there is a place for temporary folders");
    let at = |name: &str| beside.path().join(name);
    fs::create_dir_all(disk).expect("a folder can be made in a temporary one");
    fs::write(at("spec"), line(workload)).expect("a file can be written");
    let mut small = Command::new("unshare");
    small.args(["--mount", "sh", "-c", SMALL_DISK]).arg(&variant.program);
    small.arg(megabytes.to_string()).arg(disk).args(["spec", "before", "after"].map(at));
    let status = small.stderr(Stdio::null()).status();
    if status.is_err() || fs::metadata(at("after")).is_err() {
        skipped("a small disk cannot be mounted here");
        return None;
    }
    Some(["before", "after"].map(|name| {
        let text = fs::read_to_string(at(name)).expect("the shell made this file");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"))
    }))
}
