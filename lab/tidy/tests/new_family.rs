//! `lab new family` in a copy of what a family is entered in: the rules of the repository hold for
//! what it makes. `tools/proof stranger` builds and runs it.

mod program;

use std::{fs, process::Command};

use lab_tidy::{packages, repository::Repository};
use tempfile::TempDir;

use program::lab;

/// A checkout of our manifests, rules, pages and sources of families.
fn checkout() -> TempDir {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let dir = TempDir::new().unwrap();
    let is_wanted = |path: &String| {
        let file = path.rsplit('/').next().unwrap_or(path);
        ["Cargo.toml", "Cargo.lock", "BUILD.bazel", "variant.toml"].contains(&file)
            || path == "docs/ADDING.md"
            || path.ends_with("/src/main.rs")
            || path.ends_with("/src/lib.rs")
    };
    for path in ours.files().iter().filter(|path| is_wanted(path)) {
        let to = dir.path().join(path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(ours.root().join(path), to).unwrap();
    }
    for folder in ["experiments", "plots"] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
    }
    dir
}

/// The files of our own that name a family, but for the lock.
fn ours_that_name(made: &Repository, family: &str) -> Vec<String> {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let files = ours.files().into_iter().filter(|path| made.has(path) && path != "Cargo.lock");
    files.filter(|path| made.read(path).contains(family)).collect()
}

#[test]
fn a_new_family_keeps_the_rules_and_stands_in_every_list() {
    let checkout = checkout();
    let mut new = Command::new(lab());
    new.args(["new", "family", "two_sums"]).current_dir(checkout.path());
    new.env_remove("BUILD_WORKSPACE_DIRECTORY").env_remove("BUILD_WORKING_DIRECTORY");
    let output = new.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{said}");
    let made = Repository::at(checkout.path());
    let packages = made.packages();
    for own in ["two_sums/kit", "two_sums/floor", "two_sums/halves"] {
        assert!(packages.iter().any(|package| package == own), "{own} in {packages:?}");
    }
    // Cargo enters its packages into the lock when it builds them.
    let lock = made.read("Cargo.lock");
    let entry = |name| format!("\n[[package]]\nname = \"two_sums-{name}\"\nversion = \"0.1.0\"\n");
    let lock = lock + &entry("floor") + &entry("halves");
    fs::write(checkout.path().join("Cargo.lock"), lock).unwrap();
    for complaints in
        [packages::arrows(&made), packages::build_files(&made), packages::variants(&made)]
    {
        let complaints: Vec<_> = complaints.iter().filter(|one| one.contains("two_sums")).collect();
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
    assert!(made.read("lab/families/src/lib.rs").contains("&two_sums::TwoSums,"));
    let lists = ["Cargo.toml", "lab/families/src/lib.rs"];
    assert_eq!(ours_that_name(&made, "two_sums"), lists);
    assert!(made.read("experiments/two_sums.toml").contains("[two_sums.defaults]"));
}
