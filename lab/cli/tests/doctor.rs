//! What `lab doctor` says, in a checkout and outside of one.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use assert_cmd::assert::OutputAssertExt;
use predicates::{prelude::PredicateBooleanExt, str::contains};
use serde_json::Value;

fn lab(dir: &Path, args: &[&str]) -> Command {
    let lab = std::env::current_dir().unwrap().join(env!("CARGO_BIN_EXE_lab"));
    let mut lab = Command::new(lab);
    lab.args(args).current_dir(dir).env_remove("BUILD_WORKSPACE_DIRECTORY");
    lab
}

/// A checkout with two families that this lab has never heard of, one of them not built.
fn checkout(root: &Path) {
    for folder in ["experiments", "plots", "docs", "fruit/kit"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for (family, name, built) in
        [("fruit", "apple", true), ("fruit", "pear", true), ("toys", "top", false)]
    {
        let folder = root.join(family).join(name);
        fs::create_dir_all(&folder).unwrap();
        let manifest = format!(
            "name = \"{name}\"\nfamily = \"{family}\"\ntags = []\nsentence = \"A test's.\"\n\
             measures = \"m\"\nversion = \"1\"\nfeatures = []\n"
        );
        fs::write(folder.join("variant.toml"), manifest).unwrap();
        if built {
            let program = folder.join(format!("{family}-{name}"));
            fs::write(&program, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}

fn json(dir: &Path, code: i32) -> Value {
    let output = lab(dir, &["doctor", "--json"]).assert().code(code).get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

#[test]
fn programs_of_every_family_are_looked_for() {
    let root = tempfile::tempdir().unwrap();
    checkout(root.path());
    let missing = contains("1 of 1 variants in toys/ are not built: toys-top")
        .and(contains("cargo build"))
        .and(contains("fruit").not());
    lab(root.path(), &["doctor"]).assert().code(1).stdout(missing);
    let values = json(root.path(), 1);
    assert_eq!(values["programs_missing"], serde_json::json!(["toys-top"]));
    assert_eq!(values["left_out"], serde_json::json!([]));
    let findings = values["findings"].as_array().unwrap();
    let programs: Vec<&Value> =
        findings.iter().filter(|one| one["subject"] == "programs").collect();
    assert_eq!(programs.len(), 1);
    assert!(programs[0]["remedy"].as_str().unwrap().contains("cargo build"));
}

#[test]
fn it_says_what_could_be_detected_today() {
    let dir = tempfile::tempdir().unwrap();
    let values = json(dir.path(), 0);
    let pilot = &values["pilot"];
    assert!(pilot["robust_sd"].as_f64().unwrap() > 0.0);
    let found: Vec<f64> = pilot["detectable"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["relative_difference"].as_f64().unwrap())
        .collect();
    assert!(found.is_sorted_by(|few, many| few > many) && found.len() == 3, "{found:?}");
    assert!(pilot["noise"]["capacity_ns"].is_u64());
    for key in ["machine", "environment", "floors", "tools", "load_1min"] {
        assert!(!values[key].is_null(), "{key}");
    }
}

#[test]
fn outside_a_checkout_it_leaves_programs_out_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let said = contains("Detectable today").and(contains("Programs of variants: not checked"));
    let said = said.and(contains("\nPictures: gnuplot is "));
    lab(dir.path(), &["doctor"]).assert().code(0).stdout(said);
    assert!(json(dir.path(), 0)["programs_missing"].is_null());
}

#[test]
fn tools_that_are_not_installed_are_findings() {
    let dir = tempfile::tempdir().unwrap();
    let mut doctor = lab(dir.path(), &["doctor"]);
    let said = contains("gnuplot is not installed: reports have tables and no pictures")
        .and(contains("hyperfine is not installed"));
    doctor.env("PATH", dir.path()).assert().code(0).stdout(said);
}
