//! The flake, with Nix's own parser and evaluator. They are in the Debian environment; elsewhere
//! there may be none, and nixpkgs is nowhere: nix/stand-in.nix takes its place.

use std::{io::Write, process::Command};

use lab_tidy::{environments, repository::Repository};
use serde_json::Value;
use tempfile::TempDir;

fn ours() -> Repository {
    Repository::of_package(env!("CARGO_MANIFEST_DIR"))
}

/// What Nix prints, or says; `None` where there is no Nix.
fn nix(arguments: &[&str]) -> Option<Result<String, String>> {
    let home = TempDir::new().unwrap();
    let output = Command::new("nix-instantiate")
        .args(arguments)
        .current_dir(ours().root())
        .env("HOME", home.path())
        .env("NIX_STATE_DIR", home.path().join("state"))
        .env("NIX_STORE_DIR", home.path().join("store"))
        .env("NIX_LOG_DIR", home.path().join("log"))
        .output();
    match output {
        Ok(output) if output.status.success() => {
            Some(Ok(String::from_utf8(output.stdout).unwrap()))
        }
        Ok(output) => Some(Err(String::from_utf8_lossy(&output.stderr).into_owned())),
        Err(error) => {
            // As `.ci/count-tests` counts it; the harness would swallow what is printed.
            let test = std::thread::current().name().unwrap_or("main").to_owned();
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: nix-instantiate: {error}");
            None
        }
    }
}

/// The flake's outputs, where nixpkgs had these versions.
fn outputs([rustc, bazel, gnuplot, hyperfine]: [&str; 4]) -> Option<Result<Value, String>> {
    let mut arguments = vec!["--eval", "--strict", "--readonly-mode", "--json"];
    let versions =
        [("rustc", rustc), ("bazel", bazel), ("gnuplot", gnuplot), ("hyperfine", hyperfine)];
    for (name, version) in versions {
        arguments.extend(["--argstr", name, version]);
    }
    arguments.push("nix/stand-in.nix");
    Some(nix(&arguments)?.map(|text| serde_json::from_str(&text).expect("JSON")))
}

fn page() -> String {
    ours().read("docs/ENVIRONMENTS.md")
}

#[test]
fn the_flake_parses() {
    if let Some(Err(said)) = nix(&["--parse", "flake.nix"]) {
        panic!("{said}");
    }
}

#[test]
fn every_output_is_a_derivation_on_both_systems() {
    let page = page();
    let versions = environments::promised_by_nix(&page).expect("the row of nix");
    let Some(outputs) = outputs(versions) else { return };
    let outputs = outputs.unwrap_or_else(|said| panic!("{said}"));
    for system in ["x86_64-linux", "aarch64-linux"] {
        for (output, names) in [
            ("devShells", &["browser", "default", "gpu"][..]),
            ("packages", &["image", "lab"]),
            ("checks", &["image", "pins", "promises", "tools-start"]),
        ] {
            for name in names {
                let path = outputs[output][system][name].as_str().unwrap_or_default();
                assert!(path.ends_with(".drv"), "{output}.{system}.{name} is {path:?}");
            }
        }
        for name in ["lab", "tr115"] {
            assert_eq!(outputs["apps"][system][name]["type"], "app");
        }
        assert!(outputs["formatter"][system].is_string());
    }
}

#[test]
fn the_checks_refuse_versions_that_are_not_promised() {
    let page = page();
    let versions = environments::promised_by_nix(&page).expect("the row of nix");
    for (place, name) in ["rustc", "Bazel", "gnuplot", "hyperfine"].iter().enumerate() {
        let mut other = versions;
        other[place] = "99.0.0";
        let Some(outputs) = outputs(other) else { return };
        let said = outputs.expect_err(name);
        assert!(said.contains("99.0.0") && said.contains(name), "{said}");
    }
}
