//! Where the repository is, which files belong to it, and its packages.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// A checkout, or a part of one.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The one that a test of ours belongs to, by its package's folder.
    ///
    /// Under Bazel a test is given links to the real files; this follows the link of Cargo.toml, so
    /// the rules see every file without each being named as an input.
    ///
    /// # Panics
    /// When there is no Cargo.toml two folders above.
    pub fn of_package(folder: &str) -> Self {
        let manifest = fs::canonicalize(Path::new(folder).join("../../Cargo.toml"));
        let manifest = manifest.expect("Cargo.toml at the repository's root");
        Self::at(manifest.parent().expect("a file lies in a folder"))
    }

    /// The one in a folder.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The text of a file.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// A file of TOML.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn table(&self, path: &str) -> Table {
        self.read(path).parse().unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Whether a file is there.
    pub fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// Every file that Git would keep, as paths relative to the root, in order.
    ///
    /// # Panics
    /// When a folder cannot be read.
    pub fn files(&self) -> Vec<String> {
        files(&self.root).expect("the repository's files")
    }

    /// The folders of our packages, `lab/plan`, `runtimes/smol`, …
    ///
    /// # Panics
    /// When a folder cannot be read.
    pub fn packages(&self) -> Vec<String> {
        let folders = self.folders().into_iter();
        folders.filter(|folder| self.has(&format!("{folder}/Cargo.toml"))).collect()
    }

    /// The folders among which the workspace's members are: `FOLDER/*/src/..`, or a folder.
    fn folders(&self) -> Vec<String> {
        let manifest = self.table("Cargo.toml");
        let members = manifest["workspace"]["members"].as_array().into_iter().flatten();
        let inside = |member: &str| match member.strip_suffix("/*/src/..") {
            None => vec![member.to_owned()],
            Some(above) => {
                let entries = fs::read_dir(self.root.join(above)).expect("a member's folder");
                let names = entries.flatten().map(|entry| entry.file_name());
                names.map(|name| format!("{above}/{}", name.to_string_lossy())).collect()
            }
        };
        let mut folders: Vec<String> = members.filter_map(Value::as_str).flat_map(inside).collect();
        folders.sort();
        folders
    }

    /// The folders of variants, in whatever language.
    ///
    /// # Panics
    /// As [`Self::packages`].
    pub fn variants(&self) -> Vec<String> {
        self.folders().into_iter().filter(|folder| self.is_variant(folder)).collect()
    }

    /// Whether there is a variant in a folder, which its manifest makes it.
    pub fn is_variant(&self, folder: &str) -> bool {
        self.has(&format!("{folder}/variant.toml"))
    }
}

/// Every file below `root` that Git would keep, as paths relative to it, in order.
fn files(root: &Path) -> io::Result<Vec<String>> {
    let ignored = ignored(&fs::read_to_string(root.join(".gitignore"))?);
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            if relative == ".git" || ignored.iter().any(|pattern| matches(pattern, &relative)) {
                continue;
            } else if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && !is_built(root, &relative) {
                found.push(relative);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a variant's `build` made it. Where the variant went away, as by `git stash -u`, what it
/// built is left alone in its folder.
fn is_built(root: &Path, path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let [family, name, file] = parts[..] else { return false };
    let rest = file.strip_prefix(&format!("{family}-{name}"));
    let has = |file: &str| root.join(family).join(name).join(file).is_file();
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        && (has("build") || !has("variant.toml"))
}

/// The entries of .gitignore, all of which begin at the root here, without their slashes.
fn ignored(gitignore: &str) -> Vec<String> {
    gitignore.lines().map(|line| line.trim_matches('/').to_owned()).collect()
}

fn matches(pattern: &str, relative: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => relative.starts_with(beginning),
        None => relative == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_folders_are_left_out() {
        let patterns = ignored("/target/\n/bazel-*\n");
        let hit = |path: &str| patterns.iter().any(|pattern| matches(pattern, path));
        assert!(hit("target") && hit("bazel-out"));
        assert!(!hit("tools/bazel") && !hit("lab/target"));
    }
}
