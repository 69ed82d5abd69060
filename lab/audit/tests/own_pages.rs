//! The pages of this repository: what we publish agrees with itself.

use std::fs;
use std::path::{Path, PathBuf};

use lab_audit::{Document, Mapping, Severity, audit_document};

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

#[test]
fn our_own_pages_hold_no_contradiction() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    pages(&root.join("reports"), &mut all);
    pages(&root.join("docs"), &mut all);
    all.push(root.join("README.md"));
    assert!(all.len() > 15, "{all:?}");
    let mut wrong = String::new();
    for path in all {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).unwrap();
        let audit = audit_document(&Document::parse(&name, &text), &[], &Mapping::default());
        let bad = |severity| severity < Severity::Doubtful;
        for finding in audit.findings.iter().filter(|finding| bad(finding.severity)) {
            let line = finding.place.line.unwrap_or_default();
            wrong += &format!("{name}:{line}: {} [{}]\n", finding.sentence, finding.check);
        }
    }
    // The README shows a table with two errors.
    let wrong: Vec<&str> = wrong.lines().filter(|line| !line.contains("README.md:")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
