//! BUILD.bazel beside Cargo.toml: both have to name the same dependencies.

use std::collections::BTreeSet;

use toml::Table;

use crate::arrows::dependencies;

/// Complaints about the lists of a BUILD file that calls one of the macros of `lab.bzl`.
///
/// `folder` is the package's path, `path_of` the one of a crate of ours. The macro `variant` names
/// the family's kit by itself.
pub fn complaints(
    folder: &str,
    build_file: &str,
    manifest: &Table,
    path_of: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let family = folder.split('/').next().unwrap_or_default();
    let mut complaints = Vec::new();
    for (table, theirs, ours) in
        [("dependencies", "crates", "deps"), ("dev-dependencies", "test_crates", "test_deps")]
    {
        let (mut labels, mut crates) = (BTreeSet::new(), BTreeSet::new());
        for dependency in dependencies(manifest, table) {
            match path_of(dependency) {
                Some(path) => labels.insert(format!("//{path}")),
                None => crates.insert(dependency.clone()),
            };
        }
        if build_file.contains("\nvariant(") {
            labels.remove(&format!("//{family}/kit"));
        }
        for (list, wanted) in [(theirs, crates), (ours, labels)] {
            let found = entries(build_file, list);
            let missing = wanted.difference(&found).map(|name| format!("lacks {name}"));
            let spare = found.difference(&wanted).map(|name| format!("has {name} too many"));
            complaints.extend(
                missing
                    .chain(spare)
                    .map(|what| format!("{folder}/BUILD.bazel: {list} {what}, see Cargo.toml")),
            );
        }
    }
    complaints
}

/// The strings of an attribute's list.
fn entries(build_file: &str, attribute: &str) -> BTreeSet<String> {
    let Some((_, rest)) = build_file.split_once(&format!("\n    {attribute} = [")) else {
        return BTreeSet::new();
    };
    let list = rest.split(']').next().unwrap_or_default();
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// A complaint about a BUILD file by which Bazel leaves the unit tests of a package out, or makes a
/// test of none. `has` says whether its sources have any.
pub fn unit_tests(package: &str, build_file: &str, has: bool) -> Option<String> {
    let said = |value: &str| build_file.contains(&format!("    unit_tests = {value},"));
    // As the macros of lab.bzl do unasked.
    let is_variant = |line: &str| line.starts_with("variant(") || line.starts_with("variants(");
    let is_variant = build_file.lines().any(is_variant);
    let runs = if is_variant { said("True") } else { !said("False") };
    let value = if has { "True" } else { "False" };
    (runs != has).then(|| format!("{package}/BUILD.bazel lacks `unit_tests = {value}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(name: &str) -> Option<String> {
        let (folder, name) = name.split_once('-')?;
        ["lab", "runtimes"].contains(&folder).then(|| format!("{folder}/{name}"))
    }

    fn check(build_file: &str) -> Vec<String> {
        let manifest = "[dependencies]\nlab-record.workspace = true\nserde.workspace = true\n\
                        toml.workspace = true\n[dev-dependencies]\ntempfile.workspace = true\n";
        complaints("lab/driver", build_file, &manifest.parse().unwrap(), path_of)
    }

    #[test]
    fn lists_that_differ_are_found() {
        let same = concat!(
            "lab_library(\n    crates = [\n        \"serde\",\n        \"toml\",\n    ],\n",
            "    test_crates = [\"tempfile\"],\n    deps = [\"//lab/record\"],\n)\n",
        );
        assert_eq!(check(same), [""; 0]);
        assert_eq!(check(&same.replace("\"toml\"", "\"tokio\"")).len(), 2);
        assert_eq!(check(&same.replace("//lab/record", "//lab/plan")).len(), 2);
        assert_eq!(check(&same.replace("test_crates", "other")).len(), 1);
    }

    #[test]
    fn a_variant_names_no_kit() {
        let manifest = "[dependencies]\nruntimes-kit.workspace = true\nmio.workspace = true\n";
        let build_file = "\nvariant(\n    crates = [\"mio\"],\n    family = \"runtimes\",\n)\n";
        let found = complaints("runtimes/floor", build_file, &manifest.parse().unwrap(), path_of);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn unit_tests_are_run_where_there_are_any() {
        let of = |text: &str, has| unit_tests("a", text, has);
        for (bare, usual) in [("variant(\n", false), ("lab_library(\n", true)] {
            let other = if usual { "False" } else { "True" };
            assert_eq!(of(bare, usual), None);
            assert!(of(bare, !usual).is_some_and(|said| said.contains(other)));
            let told = format!("{bare}    unit_tests = {other},\n");
            assert_eq!(of(&told, !usual), None);
            assert!(of(&told, usual).is_some());
        }
    }
}
