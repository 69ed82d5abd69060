//! Versions that are written in more than one place.

use toml::Table;

/// Complaints about the compiler: rustup's pin against the manifest's.
pub fn rustc(rust_toolchain: &Table, root_manifest: &Table) -> Vec<String> {
    let channel = rust_toolchain["toolchain"]["channel"].as_str().unwrap_or_default();
    let least = workspace_package(root_manifest, "rust-version");
    if channel == least || channel.starts_with(&format!("{least}.")) {
        return vec![];
    }
    vec![format!("rust-toolchain.toml pins rustc {channel}, Cargo.toml says {least}")]
}

/// Complaints about Bazel: the exact version against the major ones that ./enter and Nix take.
pub fn bazel(bazel_version: &str, enter: &str, flake: &str) -> Vec<String> {
    let major = bazel_version.split('.').next().unwrap_or_default();
    let mut complaints = Vec::new();
    if !enter.contains(&format!("\"bazel {major}.\"*")) {
        complaints.push(format!("enter does not take the Bazel {major} of .bazelversion"));
    }
    if !flake.split_whitespace().any(|word| word == format!("bazel_{major}")) {
        complaints.push(format!("flake.nix has no bazel_{major}, and .bazelversion names it"));
    }
    complaints
}

/// Complaints about what the Bazel macros repeat of the root manifest.
pub fn macros(lab_bzl: &str, root_manifest: &Table) -> Vec<String> {
    [("_EDITION", "edition"), ("_VERSION", "version")]
        .into_iter()
        .filter_map(|(constant, key)| {
            let value = workspace_package(root_manifest, key);
            let line = format!("{constant} = \"{value}\"");
            let missing = !lab_bzl.lines().any(|found| found == line);
            missing.then(|| format!("lab.bzl lacks {line}, which Cargo.toml has as {key}"))
        })
        .collect()
}

/// Complaints about inputs of flake.nix that flake.lock does not name, or names without a hash.
pub fn flake_lock(flake: &str, lock: &serde_json::Value) -> Vec<String> {
    let inputs = flake.lines().filter_map(|line| {
        line.trim().strip_prefix("inputs.")?.split(['.', ' ']).next().map(str::to_owned)
    });
    let mut complaints = Vec::new();
    let mut count = 0;
    for input in inputs {
        count += 1;
        let locked = &lock["nodes"][&input]["locked"];
        let hash = locked["narHash"].as_str().unwrap_or_default();
        let rev = locked["rev"].as_str().unwrap_or_default();
        if !lock["nodes"]["root"]["inputs"][&input].is_string() {
            complaints.push(format!("flake.lock does not name the input {input}"));
        } else if !hash.starts_with("sha256-") || rev.len() != 40 {
            complaints.push(format!("flake.lock names {input} without its revision and hash"));
        }
    }
    if count == 0 {
        complaints.push("flake.nix has no line that begins with inputs.".to_owned());
    }
    complaints
}

fn workspace_package<'a>(root_manifest: &'a Table, key: &str) -> &'a str {
    root_manifest["workspace"]["package"][key].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Table {
        let text = "[workspace.package]\nrust-version = \"1.95\"\nedition = \"2024\"\n\
                    version = \"0.1.0\"\n";
        text.parse().unwrap()
    }

    fn channel(version: &str) -> Table {
        format!("[toolchain]\nchannel = \"{version}\"").parse().unwrap()
    }

    #[test]
    fn two_compilers_are_found() {
        assert!(rustc(&channel("1.95.0"), &manifest()).is_empty());
        assert_eq!(rustc(&channel("1.96.0"), &manifest()).len(), 1);
        assert_eq!(rustc(&channel("1.950.0"), &manifest()).len(), 1);
    }

    #[test]
    fn two_bazels_are_found() {
        let enter = "[[ $v == \"bazel 7.\"* ]]";
        assert!(bazel("7.6.0\n", enter, "with pkgs; [ bazel_7 ]").is_empty());
        assert_eq!(bazel("8.0.0\n", enter, "with pkgs; [ bazel_7 ]").len(), 2);
    }

    #[test]
    fn a_macro_that_lags_behind_is_found() {
        let text = "_EDITION = \"2024\"\n_VERSION = \"0.1.0\"\n";
        assert!(macros(text, &manifest()).is_empty());
        assert_eq!(macros("_EDITION = \"2021\"\n_VERSION = \"0.1.0\"\n", &manifest()).len(), 1);
    }

    #[test]
    fn an_input_that_is_not_locked_is_found() {
        let flake = "  inputs.nixpkgs.url = \"somewhere\";\n";
        let rev = "0123456789".repeat(4);
        let lock = serde_json::json!({"nodes": {
            "nixpkgs": {"locked": {"narHash": "sha256-x", "rev": rev}},
            "root": {"inputs": {"nixpkgs": "nixpkgs"}},
        }});
        assert!(flake_lock(flake, &lock).is_empty());
        assert_eq!(flake_lock(flake, &serde_json::json!({"nodes": {}})).len(), 1);
        assert_eq!(flake_lock("no inputs", &lock).len(), 1);
    }
}
