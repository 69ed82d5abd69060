//! Where code, tools and images come from, and the bill of materials.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use lab_tidy::{environments, repository, supply};
use toml::Table;

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    repository::root(&package.join("../..")).expect("Cargo.toml at the repository's root")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn table(path: &str) -> Table {
    read(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[track_caller]
fn content(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_crate_has_an_allowed_licence_and_one_source() {
    let licences = read("third_party/licences.tsv");
    content(supply::crates(&table("Cargo.lock"), &table("deny.toml"), &licences));
}

#[test]
fn no_dependency_takes_any_version() {
    let files = repository::files(&root()).expect("the repository's files");
    let manifests = files.iter().filter(|path| path.ends_with("Cargo.toml"));
    content(manifests.flat_map(|path| supply::wildcards(path, &table(path))).collect());
}

#[test]
fn every_image_is_pinned_by_digest() {
    let files = repository::files(&root()).expect("the repository's files");
    let named: Vec<_> = files
        .iter()
        .filter(|path| path.ends_with("Containerfile") || path.ends_with("compose.yaml"))
        .collect();
    assert!(named.len() >= 3, "only {named:?}");
    content(named.into_iter().flat_map(|path| supply::images(path, &read(path))).collect());
}

#[test]
fn environments_agree_in_their_versions() {
    let toolchain = table("rust-toolchain.toml");
    let rustc = toolchain["toolchain"]["channel"].as_str().expect("a channel");
    let (page, packages) = (read("docs/ENVIRONMENTS.md"), read("containers/lab/packages.tsv"));
    content(environments::versions(&page, rustc, &read(".bazelversion"), &packages));
    content(environments::recorded(&read("enter"), &packages));
    content(environments::flake(&read("flake.nix")));
    content(environments::in_the_flake(&read("enter"), &read("flake.nix")));
}

fn bill() -> Vec<u8> {
    let output = Command::new("python3").arg(root().join("tools/sbom/generate")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn the_bill_of_materials_is_whole_and_the_same_twice() {
    let first = bill();
    assert_eq!(first, bill());
    let bill: serde_json::Value = serde_json::from_slice(&first).expect("JSON");
    assert_eq!(bill["spdxVersion"], "SPDX-2.3");
    let listed = bill["packages"].as_array().expect("packages");
    let lock = table("Cargo.lock");
    let crates = lock["package"].as_array().expect("packages in the lock");
    let crates = crates.iter().filter(|package| package.get("source").is_some()).count();
    let packages = read("containers/lab/packages.tsv");
    assert_eq!(listed.len(), crates + supply::rows(&packages).count());
    for one in listed {
        let sum = one["checksums"][0]["checksumValue"].as_str().unwrap_or_default();
        let right = sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(right, "{} has no SHA-256", one["SPDXID"]);
    }
    let mut ids: Vec<_> = listed.iter().map(|one| one["SPDXID"].as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), listed.len(), "two packages have one identifier");
}
