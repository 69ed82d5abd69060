//! `unsafe` stands in few crates, and rustc refuses it in all others.

use lab_tidy::{repository::Repository, unsafety};

#[test]
fn every_crate_forbids_unsafe_code_or_is_listed_with_its_reason() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let complaints = unsafety::complaints(&ours);
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    let roots = unsafety::all_roots(&ours);
    for kind in ["lab/tidy/src/lib.rs", "lab/cli/src/main.rs", "proof/kit/src/bin/toys.rs"] {
        assert!(roots.contains(kind), "{kind} in {roots:?}");
    }
}
