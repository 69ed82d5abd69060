//! Where the repository is, and which files belong to it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders of families of variants.
pub const FAMILIES: &[&str] = &["runtimes", "engines", "ledgers", "schedulers", "workflows"];

/// Packages of a family that are no variants: what its variants share, its tests, a library that
/// one of them measures.
pub const NOT_VARIANTS: &[&str] = &["kit", "conformance", "adaptive", "database", "peer", "worker"];

/// The root of the repository, from any file of it that a test was given.
///
/// Under Bazel a test is given links to the real files; this follows the link of Cargo.toml, so
/// the rules see every file without each being named as an input.
///
/// # Errors
/// When there is no Cargo.toml at `start`.
pub fn root(start: &Path) -> io::Result<PathBuf> {
    let manifest = fs::canonicalize(start.join("Cargo.toml"))?;
    manifest.parent().map(Path::to_owned).ok_or_else(|| io::Error::other("Cargo.toml is a root"))
}

/// Every file below `root` that Git would keep, as paths relative to it, in order.
///
/// # Errors
/// When a folder cannot be read.
pub fn files(root: &Path) -> io::Result<Vec<String>> {
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
            } else if kind.is_file() {
                found.push(relative);
            }
        }
    }
    found.sort();
    Ok(found)
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
