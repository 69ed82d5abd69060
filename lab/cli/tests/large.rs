//! The sweep that is meant for a large machine runs on this one too, with less work, so that it
//! cannot be broken unseen.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use assert_cmd::assert::OutputAssertExt;
use lab_record::{Results, VariantEntry, Verification};

fn names<'r>(entries: &[&'r VariantEntry]) -> BTreeSet<&'r str> {
    entries.iter().map(|entry| entry.variant.as_str()).collect()
}

#[test]
fn the_sweep_for_64_cpus_runs_here_and_reports() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("r");
    let mut lab = Command::new(env!("CARGO_BIN_EXE_lab"));
    lab.env_remove("BUILD_WORKSPACE_DIRECTORY").arg("--root").arg(&root);
    lab.args(["run", "experiments/threads-64.toml", "--quick", "--out"]).arg(&out);
    lab.assert().success();
    let results = Results::load(&out).unwrap();
    let verified_as = |verification| -> BTreeSet<&str> {
        let done = results.runs.iter().filter(|run| run.verification == verification);
        done.map(|run| run.variant.as_str()).collect()
    };
    // A harness has times alone.
    let is_harness = |tags: &[String]| tags.iter().any(|tag| tag == "harness");
    let (harness, stores): (Vec<_>, Vec<_>) =
        results.run_file.variants.iter().partition(|entry| is_harness(&entry.tags));
    assert_eq!(verified_as(Verification::Verified), names(&stores));
    assert_eq!(verified_as(Verification::Checked), names(&harness));
    assert!(fs::read_to_string(out.join("report.md")).unwrap().contains("threads-64"));
}
