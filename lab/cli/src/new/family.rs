//! `lab new family`: a family that adds numbers, whole and small, to be made one's own.

use std::{collections::BTreeMap, fs, io, path::Path};

/// What is new: where, and a text. `@NAME@` is the family's name, `@TYPE@` that of its type.
const FILES: &[(&str, &str)] = &[
    ("experiments/@NAME@.toml", include_str!("family/experiment.toml.in")),
    ("docs/families/@NAME@.md", include_str!("family/page.md.in")),
    ("@NAME@/BUILD.bazel", "load(\"//tools/bazel:lab.bzl\", \"family\")\n\nfamily()\n"),
    ("@NAME@/kit/Cargo.toml", include_str!("family/kit.toml.in")),
    ("@NAME@/kit/BUILD.bazel", include_str!("family/kit.bazel.in")),
    ("@NAME@/kit/src/lib.rs", include_str!("family/kit.rs.in")),
    ("@NAME@/floor/Cargo.toml", include_str!("family/floor.Cargo.toml.in")),
    ("@NAME@/floor/BUILD.bazel", VARIANT),
    ("@NAME@/floor/variant.toml", include_str!("family/floor.variant.toml.in")),
    ("@NAME@/floor/src/main.rs", include_str!("family/floor.rs.in")),
    ("@NAME@/halves/Cargo.toml", include_str!("family/halves.Cargo.toml.in")),
    ("@NAME@/halves/BUILD.bazel", VARIANT),
    ("@NAME@/halves/variant.toml", include_str!("family/halves.variant.toml.in")),
    ("@NAME@/halves/src/main.rs", include_str!("family/halves.rs.in")),
];

const VARIANT: &str =
    "load(\"//tools/bazel:lab.bzl\", \"variant\")\n\nvariant(family = \"@NAME@\")\n";

/// The smallest family there is; its crate is the new family's module under another name.
const SMALLEST: &str = include_str!("family/toys.rs");
const OF_SMALLEST_ALONE: [&str; 2] =
    [" It is the example of a family in docs/ADDING.md.", "#![forbid(unsafe_code)]\n\n"];

/// The files that list families: a place that each has once, and what stands there instead.
const LISTS: &[(&str, &str, &str)] = &[
    ("Cargo.toml", "members = [", "members = [\"@NAME@/*/src/..\", "),
    (
        "Cargo.toml",
        "[workspace.dependencies]\n",
        "[workspace.dependencies]\n@NAME@-kit = { path = \"@NAME@/kit\" }\n",
    ),
    ("lab/families/src/lib.rs", "\nmod plots;\n", "\nmod plots;\npub mod @NAME@;\n"),
    (
        "lab/families/src/lib.rs",
        "&[&dyn FamilyReport] = &[\n",
        "&[&dyn FamilyReport] = &[\n    &@NAME@::@TYPE@,\n",
    ),
];

/// Makes every file, then enters the family wherever families are listed; answers what was written.
/// Nothing is, where a file is there already or a list cannot be found.
pub(super) fn begin(root: &Path, name: &str) -> io::Result<Vec<String>> {
    let (files, lists) = (files(name), lists(root, name)?);
    if let Some(path) = files.keys().find(|path| root.join(path).exists()) {
        return Err(io::Error::other(format!("{path} is there already; choose another name")));
    }
    for (path, text) in files.iter().chain(&lists) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, text)?;
    }
    Ok(files.into_keys().chain(lists.into_keys()).collect())
}

fn files(name: &str) -> BTreeMap<String, String> {
    let named = |text: &str| {
        let text = text.replace("@NAME@", name).replace("@TYPE@", &type_of(name));
        text.replace("@VERSION@", env!("CARGO_PKG_VERSION"))
    };
    let files = FILES.iter().map(|(path, text)| (named(path), named(text)));
    let own = OF_SMALLEST_ALONE.iter().fold(SMALLEST.to_owned(), |own, of| own.replace(of, ""));
    let own = own.replace("toys", name);
    let own = own.replace("Toys", &type_of(name));
    files.chain([(format!("lab/families/src/{name}/mod.rs"), own)]).collect()
}

/// The name of its type: `TwoSums` for `two_sums`.
fn type_of(name: &str) -> String {
    let part = |part: &str| {
        let (first, rest) = part.split_at(1.min(part.len()));
        first.to_uppercase() + rest
    };
    name.split('_').map(part).collect()
}

fn lists(root: &Path, name: &str) -> io::Result<BTreeMap<String, String>> {
    let mut lists = BTreeMap::new();
    for &(path, place, new) in LISTS {
        let refuse = |what: &dyn std::fmt::Display| io::Error::other(format!("{path}: {what}"));
        let text = match lists.remove(path) {
            Some(text) => text,
            None => fs::read_to_string(root.join(path)).map_err(|error| refuse(&error))?,
        };
        // A second line of one name would be no TOML any more.
        let taken = new.replace("@NAME@", name);
        let taken = taken.lines().find_map(|line| line.split_once(" = { path").map(|(key, _)| key));
        let has = |key: &str| text.lines().any(|line| line.starts_with(&format!("{key} = ")));
        if let Some(key) = taken.filter(|key| path == "Cargo.toml" && has(key)) {
            return Err(refuse(&format!("has a package {key} already; choose another name")));
        }
        if text.matches(place).count() != 1 {
            let place = place.trim();
            return Err(refuse(&format!("has not one `{place}`, where the family belongs")));
        }
        let new = new.replace("@NAME@", name).replace("@TYPE@", &type_of(name));
        lists.insert(path.to_owned(), text.replacen(place, &new, 1));
    }
    Ok(lists)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_familys_module_is_the_smallest_one_under_its_name() {
        let files = files("two_sums");
        let own = &files["lab/families/src/two_sums/mod.rs"];
        assert!(own.contains("pub struct TwoSums;") && own.contains("name: \"two_sums\""), "{own}");
        assert!(!own.contains("oys") && !own.contains("is the example"), "{own}");
        assert!(files["two_sums/halves/src/main.rs"].contains("use two_sums_kit::{"));
        assert!(files.iter().all(|(path, text)| !path.contains('@') && !text.contains('@')));
    }
}
