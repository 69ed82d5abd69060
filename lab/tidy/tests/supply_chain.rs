//! Where code, tools and images come from, and the bill of materials.

use std::process::Command;

use lab_tidy::{environments, repository::Repository, supply};
use proof_kit::Attack;

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
fn every_action_of_others_is_pinned_by_its_hash() {
    let files = ours().files();
    let is_named = |path: &&String| {
        let is_yaml = path.ends_with(".yml") || path.ends_with(".yaml");
        path.starts_with(".github/") && is_yaml || path.ends_with(".md")
    };
    let named: Vec<_> = files.iter().filter(is_named).collect();
    assert!(named.iter().any(|path| path.starts_with(".github/workflows/")), "{named:?}");
    content(named.into_iter().flat_map(|path| supply::actions(path, &ours().read(path))).collect());
}

#[test]
fn an_action_that_its_owner_may_move_is_found() {
    let hash = "34e114876b0b11c390a56381ad16ebd13914f8d5";
    let complaints = |line: &str| supply::actions("a.yml", line).len();
    for line in [
        "      - uses: actions/checkout@v4",
        "      - uses: actions/checkout@main # v4.3.1",
        "        uses: actions/checkout",
        "- uses: \"actions/checkout@v4.3.1\"",
        "- uses: actions/checkout@34e1148 # v4.3.1",
        &format!("- uses: actions/checkout@{hash}"),
        &format!("- uses: actions/checkout@{hash} # pinned"),
        &format!("- uses: actions/checkout@{}g # v4.3.1", &hash[1..]),
        "- uses: docker://alpine:3 # v3",
    ] {
        let _attack = Attack::on("programs", &format!("a workflow's {}", line.trim()));
        assert_eq!(complaints(line), 1, "{line}");
    }
    for line in [
        format!("- uses: actions/checkout@{hash} # v4.3.1"),
        "- uses: ./.github/actions/compare".to_owned(),
        "        uses: OWNER/REPOSITORY/.github/actions/compare@REVISION".to_owned(),
        "  causes: many".to_owned(),
        "Nobody uses: actions/checkout@v4".to_owned(),
    ] {
        assert_eq!(complaints(&line), 0, "{line}");
    }
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
