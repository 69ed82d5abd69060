//! Links between the pages of the repository lead to files and headings that are there.

use std::path::{Component, Path, PathBuf};

use lab_tidy::repository::Repository;

/// Made from records by programs with tests of their own, and documents that tests audit.
const OTHERS: [&str; 2] = ["reports/", "lab/audit/tests/corpus/"];

/// The text without its blocks of code.
fn prose(page: &str) -> String {
    page.split("\n```").step_by(2).collect()
}

/// Targets of a page's links that lie in the repository.
fn targets(page: &str) -> Vec<String> {
    let prose = prose(page);
    let after = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let ours = after.map(|(target, _)| target).filter(|target| !target.contains("://"));
    ours.map(str::to_owned).collect()
}

/// As a link names a heading: small letters, digits, `-` and `_`, spaces as `-`.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || "-_ ".contains(*c);
    heading.trim().to_lowercase().chars().filter(kept).collect::<String>().replace(' ', "-")
}

fn anchors(page: &str) -> Vec<String> {
    let headings = prose(page);
    let headings = headings.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

/// A path without `..`, relative to the root.
fn from_root(page: &str, target: &str) -> PathBuf {
    let mut path = Path::new(page).parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}

#[test]
fn every_link_of_our_pages_leads_somewhere() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    for page in ours.files().iter().filter(|path| path.ends_with(".md")) {
        if OTHERS.iter().any(|folder| page.starts_with(folder)) {
            continue;
        }
        for target in targets(&ours.read(page)) {
            seen += 1;
            let (file, heading) = target.split_once('#').unwrap_or((target.as_str(), ""));
            let path = if file.is_empty() { page.into() } else { from_root(page, file) };
            let path = path.to_str().expect("a link is a text");
            assert!(ours.has(path), "{page} links {target}, and there is no {path}");
            let has_heading = || anchors(&ours.read(path)).iter().any(|one| one == heading);
            let is_there = heading.is_empty() || has_heading();
            assert!(is_there, "{page} links {target}, and {path} has no such heading");
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn targets_and_headings_are_read() {
    let page = "# A `[b]` c-d\n[x](y.md#z), [w](https://example.test)\n```\n[no](no.md)\n```\n";
    assert_eq!(targets(page), ["y.md#z"]);
    assert_eq!(anchors(page), ["a-b-c-d"]);
    assert_eq!(from_root("docs/A.md", "../claims/b.md"), Path::new("claims/b.md"));
}
