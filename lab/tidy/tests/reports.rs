//! What taking all sweeps anew adds to the history stays small.

use std::fs;

use lab_tidy::repository::Repository;

/// Bytes of the packed records of sweeps, of which a new sweep replaces all. 3,000,000 are meant;
/// it was 8,780,000 until 14 clients were measured at up to 10,000 streams, 13,100,000 until
/// sessions were kept, 150,000 bytes each.
const SWEEPS_MAX: u64 = 15_300_000;

#[test]
fn all_sweeps_anew_are_fit_to_commit() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let is_packed = |path: &String| path.starts_with("reports/") && path.ends_with(".pack.zst");
    let packed: Vec<String> = ours.files().into_iter().filter(is_packed).collect();
    assert!(packed.len() >= 40, "{} packed files: are they called otherwise?", packed.len());
    let bytes = |path: &String| fs::metadata(ours.root().join(path)).unwrap().len();
    let all: u64 = packed.iter().map(bytes).sum();
    assert!(all <= SWEEPS_MAX, "records have {all} bytes; {SWEEPS_MAX} at most");
}
