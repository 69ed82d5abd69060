//! The documents that a command line names: files, folders, globs, standard input.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Failure;

/// Every file that is meant, each once: `-` as it is, a folder for its Markdown files, a glob for
/// what it matches.
pub(crate) fn expanded(given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for path in given {
        let text = path.to_string_lossy();
        if path.is_dir() {
            files(path, &mut all, &|file| file.extension().is_some_and(|ending| ending == "md"))?;
        } else if text.contains('*') && !path.exists() {
            let before = all.len();
            let fixed: PathBuf = path
                .components()
                .take_while(|part| !part.as_os_str().to_string_lossy().contains('*'))
                .collect();
            let root = if fixed.as_os_str().is_empty() { Path::new(".") } else { &fixed };
            let pattern: Vec<&str> = text.trim_start_matches("./").split('/').collect();
            let wanted = |file: &Path| {
                let name = file.to_string_lossy();
                matches(&pattern, &name.trim_start_matches("./").split('/').collect::<Vec<_>>())
            };
            if root.is_dir() {
                files(root, &mut all, &wanted)?;
            }
            if all.len() == before {
                return Err(Failure::input(format!("no file matches {text}")));
            }
        } else {
            all.push(path.clone());
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|path| seen.insert(path.clone()));
    Ok(all)
}

/// The files below a folder, by name, without hidden folders.
fn files(
    folder: &Path,
    all: &mut Vec<PathBuf>,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<(), Failure> {
    let wrong = |error| Failure::input(format!("cannot read {}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(wrong)?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() && !name.starts_with('.') {
            files(&path, all, wanted)?;
        } else if path.is_file() && wanted(&path) {
            all.push(path);
        }
    }
    Ok(())
}

/// Whether a path's parts are those of a pattern: `**` is any number of parts, `*` any text.
fn matches(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**", rest @ ..], _) => {
            matches(rest, path) || !path.is_empty() && matches(pattern, &path[1..])
        }
        ([first, rest @ ..], [name, after @ ..]) => part(first, name) && matches(rest, after),
        _ => false,
    }
}

fn part(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| part(after, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn globs() {
        let fits = |pattern: &str, path: &str| {
            let [pattern, path] = [pattern, path].map(|text| text.split('/').collect::<Vec<_>>());
            matches(&pattern, &path)
        };
        assert!(fits("docs/*.md", "docs/a.md"));
        assert!(!fits("docs/*.md", "docs/x/a.md"));
        assert!(fits("docs/**/*.md", "docs/x/y/a.md"));
        assert!(fits("**/README*.md", "README.md"));
        assert!(!fits("*.md", "a.txt"));
    }
}
