//! How large the repository is, in what a newcomer carries: lines of Rust a room, crates, files.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt};

use crate::repository::Repository;

/// What comes right below a package's folder.
const INSIDE: [&str; 3] = ["/src/", "/tests/", "/examples/"];

/// Every size by its name. A room is the folder of a package, or of a tool.
///
/// # Panics
/// When a file cannot be read.
pub fn of(ours: &Repository) -> BTreeMap<String, usize> {
    let mut sizes = BTreeMap::new();
    let mut add = |name: &str, more: usize| *sizes.entry(name.to_owned()).or_default() += more;
    for path in ours.files() {
        add("files", 1);
        if path.starts_with("reports/") {
            add("bytes of reports", bytes(ours, &path));
        }
        if path.starts_with("tools/") && is_program(ours, &path) {
            add("programs in tools", 1);
        }
        if path.ends_with(".rs") {
            let text = ours.read(&path);
            let lines: Vec<&str> = text.lines().collect();
            add(&format!("lines of {}", room(&path)), lines.len());
            add("lines of Rust", lines.len());
            let is_test = path.contains("/tests/") || path.ends_with("/tests.rs");
            add("lines of Rust without tests", if is_test { 0 } else { without_tests(&lines) });
        }
    }
    let packages = ours.packages();
    add("packages", packages.len());
    add("packages of lab", packages.iter().filter(|folder| folder.starts_with("lab/")).count());
    sizes
}

fn bytes(ours: &Repository, path: &str) -> usize {
    let size = fs::metadata(ours.root().join(path)).expect(path).len();
    usize::try_from(size).unwrap_or(usize::MAX)
}

fn is_program(ours: &Repository, path: &str) -> bool {
    fs::metadata(ours.root().join(path)).expect(path).permissions().mode() & 0o111 != 0
}

fn room(path: &str) -> &str {
    let package = INSIDE.iter().find_map(|inside| path.find(inside)).map(|end| &path[..end]);
    package.unwrap_or_else(|| path.rsplit_once('/').map_or(path, |(folder, _)| folder))
}

/// Lines outside of items behind `#[cfg(test)]`. rustfmt ends an item on its first line, or with a
/// bracket as far in as the item begins.
fn without_tests(lines: &[&str]) -> usize {
    let (mut kept, mut at) = (0, 0);
    while at < lines.len() {
        let indent = lines[at].len() - lines[at].trim_start().len();
        if lines[at].trim() != "#[cfg(test)]" {
            kept += 1;
        } else if let Some(length) = lines[at + 1..].iter().position(|line| is_end(line, indent)) {
            at += 1 + length;
        }
        at += 1;
    }
    kept
}

/// Whether an item that begins so far in ends with this line.
fn is_end(line: &str, indent: usize) -> bool {
    let inside = line.len() - line.trim_start().len() > indent;
    !inside && !line.trim_start().starts_with('#') && line.ends_with([';', '}', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_do_not_count() {
        let text = "use a;\n#[cfg(test)]\nmod tests;\n\nfn f() {\n    1\n}\n\n#[cfg(test)]\n\
                    #[allow(x)]\nmod tests {\n    #[test]\n    fn g() {\n    }\n}\n";
        assert_eq!(without_tests(&text.lines().collect::<Vec<_>>()), 6);
    }

    #[test]
    fn a_room_is_the_folder_of_a_package_or_a_tool() {
        let rooms = ["lab/cli/src/compare/run.rs", "proof/kit/tests/a.rs", "tools/trust/try.rs"];
        assert_eq!(rooms.map(room), ["lab/cli", "proof/kit", "tools/trust"]);
    }
}
