//! The rules, applied to the files of this repository.

use std::fs;

use lab_tidy::{arrows, flags, packages, pins, repository::Repository, text};

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

#[track_caller]
fn content(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn arrows_point_one_way() {
    content(packages::arrows(&ours()));
}

#[test]
fn bazel_runs_the_tests_that_cargo_runs() {
    // Cargo takes tests/NAME.rs and tests/NAME/main.rs; the second kind was once forgotten.
    let macros = ours().read("tools/bazel/lab.bzl");
    assert!(macros.contains(r#"native.glob(["tests/*.rs", "tests/*/main.rs"]"#));
    let is_root = |path: &&String| path.contains("/tests/") && path.ends_with("/main.rs");
    let roots: Vec<_> = ours().files().into_iter().filter(|path| is_root(&path)).collect();
    for root in &roots {
        let package = root.split("/tests/").next().unwrap_or_default();
        assert!(ours().read(&format!("{package}/BUILD.bazel")).contains("load(\"//tools/bazel"));
    }
    assert!(roots.len() >= 4, "{roots:?}");
    content(packages::unit_tests(&ours()));
}

#[test]
fn pure_crates_name_nothing_impure() {
    let pure = |path: &&String| {
        path.ends_with(".rs")
            && arrows::PURE.iter().any(|folder| path.starts_with(&format!("{folder}/src/")))
    };
    let check = |path: &String| arrows::impurities(path, &ours().read(path));
    content(ours().files().iter().filter(pure).flat_map(check).collect());
}

#[test]
fn a_family_knows_no_other() {
    let (ours, files) = (ours(), ours().files());
    let of_families = files.iter().filter(|path| path.starts_with("lab/families/src/"));
    content(of_families.filter_map(|path| arrows::of_another(path, &ours.read(path))).collect());
}

#[test]
fn sources_are_short_and_narrow() {
    let files = ours().files();
    let sources: Vec<_> = files.iter().filter(|path| path.ends_with(".rs")).collect();
    assert!(sources.len() > 20, "only {} sources were found", sources.len());
    content(sources.into_iter().flat_map(|path| text::lengths(path, &ours().read(path))).collect());
}

#[test]
fn every_dependency_has_a_reason() {
    content(text::reasons(&ours().read("Cargo.toml")));
}

#[test]
fn no_file_names_a_package_host_or_a_path_of_one_machine() {
    let check = |path: &String| {
        // What is not UTF-8 is no text.
        let text = fs::read_to_string(ours().root().join(path)).unwrap_or_default();
        text::places(path, &text)
    };
    content(ours().files().iter().flat_map(check).collect());
}

#[test]
fn versions_agree_wherever_they_are_written() {
    let ours = ours();
    let root_manifest = ours.table("Cargo.toml");
    let flake = ours.read("flake.nix");
    let lock = serde_json::from_str(&ours.read("flake.lock")).expect("flake.lock is JSON");
    content(pins::rustc(&ours.table("rust-toolchain.toml"), &root_manifest));
    content(pins::bazel(&ours.read(".bazelversion"), &ours.read("enter"), &flake));
    content(pins::macros(&ours.read("tools/bazel/lab.bzl"), &root_manifest));
    content(pins::flake_lock(&flake, &lock));
}

#[test]
fn cargo_and_bazel_compile_with_the_same_flags() {
    let ours = ours();
    content(flags::differences(&ours.table("Cargo.toml"), &ours.read(".bazelrc")));
    let is_rule = |path: &&String| path.ends_with(".bzl") || path.ends_with("BUILD.bazel");
    let files = ours.files();
    let rules: Vec<_> = files.iter().filter(is_rule).collect();
    assert!(rules.len() > 20, "only {} rules were found", rules.len());
    let settings = files.iter().filter(|path| path.starts_with(".cargo/"));
    let check = |path: &String| flags::set_elsewhere(path, &ours.read(path));
    content(rules.into_iter().chain(settings).flat_map(check).collect());
}

#[test]
fn what_is_timed_is_optimised_under_bazel() {
    let listed = flags::unoptimised(&ours().read("tools/bazel/lab.bzl"));
    assert!(listed.len() > 5, "{listed:?}");
    content(packages::unoptimised(&ours()));
}

#[test]
fn every_variant_is_whole_and_tells_its_version() {
    for folder in ["runtimes/floor", "runtimes/python_asyncio"] {
        assert!(ours().variants().iter().any(|variant| variant == folder), "{folder}");
    }
    content(packages::variants(&ours()));
}

#[test]
fn bazel_and_cargo_name_the_same_dependencies() {
    content(packages::build_files(&ours()));
}

#[test]
fn the_versions_experiment_runs_one_program_on_two_versions() {
    let today = ours().read("engines/tokio/src/main.rs");
    let copy = ours().read("engines/tokio_1_50/crate/src/main.rs");
    // The manifest lies one folder higher from there.
    assert_eq!(copy.replace("\"../../variant.toml\"", "\"../variant.toml\""), today);
}

#[test]
fn what_a_variant_built_is_no_file_of_the_repository_with_it_or_without() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    };
    write(".gitignore");
    // A variant that is compiled, one that is a text, and one that was put away.
    for path in ["f/c/variant.toml", "f/c/build", "f/c/f-c", "f/c/f-c.exe"] {
        write(path);
    }
    for path in ["f/text/variant.toml", "f/text/f-text", "f/gone/f-gone"] {
        write(path);
    }
    let kept = [".gitignore", "f/c/build", "f/c/variant.toml", "f/text/f-text"];
    let kept = [&kept[..], &["f/text/variant.toml"]].concat();
    assert_eq!(Repository::at(folder.path()).files(), kept);
}
