//! The rules, applied to the files of this repository.

use std::fs;
use std::path::{Path, PathBuf};

use lab_tidy::{arrows, build_files, pins, repository, text, variants};
use toml::Table;

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    repository::root(&package.join("../..")).expect("Cargo.toml at the repository's root")
}

fn files() -> Vec<String> {
    repository::files(&root()).expect("the repository's files")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn table(path: &str) -> Table {
    read(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The folders of our packages: `lab/plan`, `runtimes/smol`, …
fn packages() -> Vec<String> {
    let manifest = |path: &String| {
        let folder = path.strip_suffix("/Cargo.toml")?;
        let (family, name) = folder.split_once('/')?;
        let ours = family == "lab" || repository::FAMILIES.contains(&family);
        (ours && !name.contains('/')).then(|| folder.to_owned())
    };
    files().iter().filter_map(manifest).collect()
}

fn variant_folders() -> Vec<String> {
    let is_variant = |folder: &String| {
        let (family, name) = folder.split_once('/').unwrap_or_default();
        family != "lab" && !repository::NOT_VARIANTS.contains(&name)
    };
    packages().into_iter().filter(is_variant).collect()
}

#[track_caller]
fn content(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn arrows_point_one_way() {
    let family = |folder: &str| folder.split('/').next().unwrap_or_default().to_owned();
    let check = |folder: &String| {
        arrows::complaints(&family(folder), &table(&format!("{folder}/Cargo.toml")))
    };
    content(packages().iter().flat_map(check).collect());
}

#[test]
fn pure_crates_name_nothing_impure() {
    let pure = |path: &&String| {
        path.ends_with(".rs")
            && arrows::PURE.iter().any(|folder| path.starts_with(&format!("{folder}/src/")))
    };
    let check = |path: &String| arrows::impurities(path, &read(path));
    content(files().iter().filter(pure).flat_map(check).collect());
}

#[test]
fn sources_are_short_and_narrow() {
    let files = files();
    let sources: Vec<_> = files.iter().filter(|path| path.ends_with(".rs")).collect();
    assert!(sources.len() > 20, "only {} sources were found", sources.len());
    content(sources.into_iter().flat_map(|path| text::lengths(path, &read(path))).collect());
}

#[test]
fn every_dependency_has_a_reason() {
    content(text::reasons(&read("Cargo.toml")));
}

#[test]
fn no_file_names_a_package_host_or_a_path_of_one_machine() {
    let check = |path: &String| {
        // What is not UTF-8 is no text.
        let text = fs::read_to_string(root().join(path)).unwrap_or_default();
        text::places(path, &text)
    };
    content(files().iter().flat_map(check).collect());
}

#[test]
fn versions_agree_wherever_they_are_written() {
    let root_manifest = table("Cargo.toml");
    let flake = read("flake.nix");
    let lock = serde_json::from_str(&read("flake.lock")).expect("flake.lock is JSON");
    content(pins::rustc(&table("rust-toolchain.toml"), &root_manifest));
    content(pins::bazel(&read(".bazelversion"), &read("enter"), &flake));
    content(pins::macros(&read("tools/bazel/lab.bzl"), &root_manifest));
    content(pins::flake_lock(&flake, &lock));
}

#[test]
fn every_variant_is_whole_and_tells_its_version() {
    let lock = table("Cargo.lock");
    let folders = variant_folders();
    assert!(folders.iter().any(|folder| folder == "runtimes/floor"), "found {folders:?}");
    for folder in folders {
        content(variants::files(&folder, |file| root().join(&folder).join(file).exists()));
        let (family, name) = folder.split_once('/').expect("FAMILY/NAME");
        let manifest = table(&format!("{folder}/variant.toml"));
        content(variants::manifest(family, name, &manifest, &lock));
    }
}

#[test]
fn bazel_and_cargo_name_the_same_dependencies() {
    let check = |folder: &String| {
        let build_file = read(&format!("{folder}/BUILD.bazel"));
        build_files::complaints(folder, &build_file, &table(&format!("{folder}/Cargo.toml")))
    };
    content(packages().iter().flat_map(check).collect());
}

#[test]
fn every_locked_crate_has_a_build_file() {
    let lock = table("Cargo.lock");
    let packages = lock["package"].as_array().expect("packages in Cargo.lock");
    let missing = |package: &toml::Value| {
        package.get("source")?;
        let crate_name = format!("{}-{}", package["name"].as_str()?, package["version"].as_str()?);
        // The generator writes the + of a version as it can stand in the name of a target.
        let known = [crate_name.clone(), crate_name.replace('+', "-")]
            .iter()
            .any(|name| root().join(format!("third_party/crates/BUILD.{name}.bazel")).exists());
        (!known)
            .then(|| format!("third_party/crates lacks {crate_name}; regenerate-crates adds it"))
    };
    content(packages.iter().filter_map(missing).collect());
}
