//! Lengths of our sources, reasons of dependencies, and words that no file may hold.

const LINES: usize = 500;
const COLUMNS: usize = 100;

/// Labels of host names that serve packages. Crates and tools come through their own clients, with
/// the user's configuration, so no file has a reason to name such a host.
const PACKAGE_HOSTS: &[&str] =
    &["crates", "deb", "index", "mirror", "mirrors", "npmjs", "proxy", "pypi", "registry"];

/// Complaints about the size of a Rust source.
pub fn lengths(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let lines = text.lines().count();
    if lines > LINES {
        complaints.push(format!("{path} has {lines} lines, and {LINES} are the most"));
    }
    for (index, line) in text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > COLUMNS {
            let number = index + 1;
            complaints.push(format!("{path}:{number} has {columns} columns, {COLUMNS} at most"));
        }
    }
    complaints
}

/// Complaints about dependencies of the root manifest that come without a reason.
pub fn reasons(root_manifest: &str) -> Vec<String> {
    root_manifest
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| line.contains(" = ") && !line.starts_with('#') && !line.contains("path = "))
        .filter(|line| line.rsplit_once(" # ").is_none_or(|(_, reason)| reason.len() < 5))
        .map(|line| format!("Cargo.toml: {line} has no reason; add one after #"))
        .collect()
}

/// Complaints about hosts that serve packages, and about paths of one machine.
pub fn places(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        for host in hosts(line) {
            if host.split('.').any(|label| PACKAGE_HOSTS.contains(&label)) {
                complaints.push(format!("{path}:{number} names the package host {host}"));
            }
        }
        if let Some(home) = machine_path(line) {
            complaints.push(format!("{path}:{number} names {home}, a path of one machine"));
        }
    }
    complaints
}

fn hosts(line: &str) -> impl Iterator<Item = &str> {
    line.split("://").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".-".contains(c)));
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// The first path below a home or work folder. Spelled in parts, so that this file passes itself.
fn machine_path(line: &str) -> Option<&str> {
    const FOLDERS: [&str; 3] =
        [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/wo", "rk/")];
    let starts_word = |at: usize| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_ascii_alphanumeric() || "_-./}".contains(c))
    };
    let found =
        |folder: &str| line.match_indices(folder).map(|(at, _)| at).find(|at| starts_word(*at));
    let at = FOLDERS.iter().find_map(|folder| found(folder))?;
    let path = line[at..].split(|c: char| c.is_whitespace() || "\"'`,;)".contains(c)).next()?;
    // An example's user.
    let example = path.split('/').nth(2) == Some("me");
    (!example).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_and_wide_lines_are_found() {
        assert!(lengths("a.rs", &"x\n".repeat(500)).is_empty());
        assert_eq!(lengths("a.rs", &"x\n".repeat(501)).len(), 1);
        assert!(lengths("a.rs", &"ä".repeat(100)).is_empty());
        assert_eq!(lengths("a.rs", &"x".repeat(101)).len(), 1);
    }

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        let table = "[workspace.dependencies]\n";
        assert!(reasons(&format!("{table}a = \"1\" # errors at the edge\n")).is_empty());
        assert!(reasons(&format!("{table}a = {{ path = \"lab/a\" }}\n[profile]\n")).is_empty());
        assert_eq!(reasons(&format!("{table}a = \"1\"\n")).len(), 1);
        assert_eq!(reasons(&format!("{table}a = \"1\" # \n")).len(), 1);
    }

    #[test]
    fn package_hosts_and_machine_paths_are_found() {
        assert!(
            places("a", "see http://127.0.0.1:11434/api, repository/home/x, /home/me/x").is_empty()
        );
        let host = ["https:/", "/static.crates.example/x"].concat();
        assert_eq!(places("a", &host).len(), 1);
        let home = ["cd /ho", "me/somebody"].concat();
        assert_eq!(places("a", &home).len(), 1);
    }
}
