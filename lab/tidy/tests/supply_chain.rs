//! Where code, tools and images come from, and the bill of materials.

use std::process::Command;

use lab_tidy::{environments, repository::Repository, supply};

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn content(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_crate_has_an_allowed_licence_and_one_source() {
    let licences = ours().read("third_party/licences.tsv");
    content(supply::crates(&ours().table("Cargo.lock"), &ours().table("deny.toml"), &licences));
}

#[test]
fn no_dependency_takes_any_version() {
    let files = ours().files();
    let manifests = files.iter().filter(|path| path.ends_with("Cargo.toml"));
    content(manifests.flat_map(|path| supply::wildcards(path, &ours().table(path))).collect());
}

#[test]
fn every_image_is_pinned_by_digest() {
    let files = ours().files();
    let named: Vec<_> = files
        .iter()
        .filter(|path| path.ends_with("Containerfile") || path.ends_with("compose.yaml"))
        .collect();
    assert!(named.len() >= 3, "only {named:?}");
    content(named.into_iter().flat_map(|path| supply::images(path, &ours().read(path))).collect());
}

#[test]
fn environments_agree_in_their_versions() {
    let toolchain = ours().table("rust-toolchain.toml");
    let rustc = toolchain["toolchain"]["channel"].as_str().expect("a channel");
    let (page, packages) =
        (ours().read("docs/ENVIRONMENTS.md"), ours().read("containers/lab/packages.tsv"));
    content(environments::versions(&page, rustc, &ours().read(".bazelversion"), &packages));
    content(environments::recorded(&ours().read("enter"), &packages));
    content(environments::flake(&ours().read("flake.nix")));
    content(environments::in_the_flake(&ours().read("enter"), &ours().read("flake.nix")));
}

fn bill() -> Vec<u8> {
    let output =
        Command::new("python3").arg(ours().root().join("tools/sbom/generate")).output().unwrap();
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
    let lock = ours().table("Cargo.lock");
    let crates = lock["package"].as_array().expect("packages in the lock");
    let crates = crates.iter().filter(|package| package.get("source").is_some()).count();
    let packages = ours().read("containers/lab/packages.tsv");
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
