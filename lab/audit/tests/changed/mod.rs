//! Documents that are sound until one thing in them is changed.

use lab_audit::{Document, Mapping, Severity, audit_document};

/// Checks and lines of the findings of the two upper grades.
pub fn found(text: &str) -> Vec<(String, usize)> {
    let document = Document::parse("r.md", text);
    let audit = audit_document(&document, &[], &Mapping::default());
    let graver = audit.findings.into_iter().filter(|one| one.severity < Severity::Doubtful);
    let mut all: Vec<(String, usize)> =
        graver.map(|one| (one.check, one.place.line.unwrap_or(0))).collect();
    all.sort_by_key(|(_, line)| *line);
    all
}

/// The text as it stands is sound; with `from` replaced by `to`, `check` is found at the lines.
pub fn only_when_changed(text: &str, (from, to): (&str, &str), check: &str, lines: &[usize]) {
    assert!(text.contains(from), "{from} is not in the text");
    assert_eq!(found(text), [], "{text}");
    let changed = text.replace(from, to);
    let wanted: Vec<(String, usize)> = lines.iter().map(|line| (check.to_owned(), *line)).collect();
    assert_eq!(found(&changed), wanted, "{changed}");
}
