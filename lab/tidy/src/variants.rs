//! What a variant's folder has to hold, and that its manifest tells the truth about the lock.

use toml::{Table, Value};

/// Complaints about files that a variant lacks. In a language that Cargo does not build its program
/// lies in the folder, or a script `build` makes it.
pub fn files(folder: &str, present: impl Fn(&str) -> bool) -> Vec<String> {
    let program = folder.replace('/', "-");
    let of_language: &str = match (present("Cargo.toml"), present("src"), present("build")) {
        (true, ..) => "src/main.rs",
        (false, true, _) => "Cargo.toml",
        (false, false, true) => "build",
        (false, false, false) => &program,
    };
    let missing = ["BUILD.bazel", of_language].into_iter().filter(|file| !present(file));
    missing.map(|file| format!("{folder} has no {file}")).collect()
}

/// Complaints about a program that is a text: its first line starts what its manifest names, whose
/// version the records keep.
pub fn interpreter(folder: &str, manifest: &Table, program: &str) -> Vec<String> {
    let Some(command) = program.lines().next().and_then(|line| line.strip_prefix("#!")) else {
        return vec![format!("{folder}: its program does not begin with `#!`")];
    };
    let started = command.rsplit(['/', ' ']).next().unwrap_or_default();
    let named = manifest.get("interpreter").and_then(Value::as_str).unwrap_or_default();
    let complaint = || {
        format!("{folder}: interpreter is \"{named}\", but its program begins with `#!{command}`")
    };
    (started != named).then(complaint).into_iter().collect()
}

/// Complaints about a manifest: its name and family are the folders', and the version that it
/// reports is the one in the lock.
pub fn manifest(family: &str, name: &str, manifest: &Table, lock: &Table) -> Vec<String> {
    let text = |key: &str| manifest.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut complaints = Vec::new();
    for (key, folder) in [("family", family), ("name", name)] {
        if text(key) != folder {
            let found = text(key);
            complaints.push(format!("{family}/{name}: {key} is \"{found}\", the folder {folder}"));
        }
    }
    let (measures, version) = (text("measures"), text("version"));
    // Somebody else's program, as the machine has it; the records name its version.
    if version == "installed" {
        return complaints;
    }
    let locked = versions(lock, measures);
    if !locked.contains(&version) {
        complaints.push(format!(
            "{family}/{name}: variant.toml says {measures} {version}, Cargo.lock has {locked:?}"
        ));
    }
    complaints
}

/// Complaints about tags that the page of tags does not explain: a misspelt tag would leave a
/// variant out of an experiment, or of a test, without a word.
pub fn tags(folder: &str, manifest: &Table, page: &str) -> Vec<String> {
    let tags = manifest.get("tags").and_then(Value::as_array).into_iter().flatten();
    let unknown = tags.filter_map(Value::as_str).filter(|tag| !page.contains(&format!("`{tag}`")));
    unknown.map(|tag| format!("{folder}: docs/ADDING.md does not explain the tag {tag}")).collect()
}

fn versions<'a>(lock: &'a Table, package: &str) -> Vec<&'a str> {
    let packages = lock.get("package").and_then(Value::as_array);
    packages
        .into_iter()
        .flatten()
        .filter(|found| found.get("name").and_then(Value::as_str) == Some(package))
        .filter_map(|found| found.get("version")?.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_found() {
        assert!(files("f/a", |_| true).is_empty());
        assert_eq!(files("f/a", |file| file != "BUILD.bazel"), ["f/a has no BUILD.bazel"]);
        assert_eq!(files("f/a", |file| file != "Cargo.toml"), ["f/a has no Cargo.toml"]);
        let has = |present: &[&str]| files("f/a", |file| present.contains(&file));
        assert!(has(&["BUILD.bazel", "f-a"]).is_empty());
        assert!(has(&["BUILD.bazel", "build"]).is_empty());
        assert_eq!(has(&["BUILD.bazel"]), ["f/a has no f-a"]);
    }

    #[test]
    fn a_program_that_starts_something_else_than_its_manifest_says_is_found() {
        let says = |text: &str, program: &str| interpreter("f/a", &text.parse().unwrap(), program);
        let python = "interpreter = \"python3\"";
        assert!(says(python, "#!/usr/bin/env python3\nprint()\n").is_empty());
        assert!(says("interpreter = \"sh\"", "#!/bin/sh\n").is_empty());
        assert_eq!(says(python, "#!/usr/bin/env python\n").len(), 1);
        assert_eq!(says("", "#!/usr/bin/env python3\n").len(), 1);
        assert_eq!(says(python, "print()\n").len(), 1);
    }

    #[test]
    fn a_tag_that_nobody_explains_is_found() {
        let manifest = "tags = [\"search\", \"serach\"]".parse().unwrap();
        let complaint = "a: docs/ADDING.md does not explain the tag serach";
        assert_eq!(tags("a", &manifest, "| `search` | takes part |"), [complaint]);
    }

    #[test]
    fn a_version_that_the_lock_does_not_have_is_found() {
        let lock = "[[package]]\nname = \"smol\"\nversion = \"2.0.2\"\n".parse().unwrap();
        let says = |name: &str, version: &str| {
            let text = format!(
                "name = \"{name}\"\nfamily = \"runtimes\"\nmeasures = \"smol\"\n\
                 version = \"{version}\"\n"
            );
            manifest("runtimes", "smol", &text.parse().unwrap(), &lock)
        };
        assert!(says("smol", "2.0.2").is_empty());
        assert_eq!(says("smol", "2.0.1").len(), 1);
        assert_eq!(says("other", "2.0.2").len(), 1);
    }
}
