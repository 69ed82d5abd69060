//! What a variant's folder has to hold, and that its manifest tells the truth about the lock.

use toml::{Table, Value};

/// The files without which a folder is no variant.
pub const FILES: &[&str] = &["BUILD.bazel", "Cargo.toml", "src/main.rs"];

/// Complaints about files that a variant lacks.
pub fn files(folder: &str, present: impl Fn(&str) -> bool) -> Vec<String> {
    let missing = FILES.iter().filter(|file| !present(file));
    missing.map(|file| format!("{folder} has no {file}")).collect()
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
        assert!(files("a", |_| true).is_empty());
        assert_eq!(files("a", |file| file != "BUILD.bazel"), ["a has no BUILD.bazel"]);
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
