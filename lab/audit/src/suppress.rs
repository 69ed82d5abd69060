//! What the author of a document says not to report, and which findings are known.

use std::sync::LazyLock;

use regex::Regex;

use crate::{Document, Finding, sha256};

/// `<!-- lab-audit: ignore CHECK: reason -->` in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppression {
    /// 1-based line of the comment.
    pub line: usize,
    /// The check's name, or `*`.
    pub check: String,
    /// Why; empty where the comment gives no reason, and then it suppresses nothing.
    pub reason: String,
    /// The lines that it is about: its own, the next one with text, or the table that begins there.
    pub lines: (usize, usize),
}

static COMMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"<!--\s*lab-audit:\s*ignore\s+([a-z_]+|\*)\s*(?::\s*(.*?))?\s*-->").ok()
});

/// The suppressions of a document's text.
pub fn suppressions(document: &Document, text: &str) -> Vec<Suppression> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        for groups in COMMENT.iter().flat_map(|regex| regex.captures_iter(line)) {
            let alone = line.trim().starts_with("<!--") && line.trim().ends_with("-->");
            let next = (index + 1..lines.len()).find(|next| !lines[*next].trim().is_empty());
            let about = if alone { next.map_or(index + 1, |next| next + 1) } else { index + 1 };
            let table = document.tables.iter().find(|table| table.line == about);
            let last = table.and_then(|table| table.rows.last()).map_or(about, |row| row.line);
            found.push(Suppression {
                line: index + 1,
                check: groups[1].to_owned(),
                reason: groups.get(2).map_or("", |reason| reason.as_str()).trim().to_owned(),
                lines: (about.min(index + 1), last),
            });
        }
    }
    found
}

impl Suppression {
    /// Whether it is about a finding and gives a reason.
    pub fn covers(&self, finding: &Finding) -> bool {
        let check = self.check == "*" || self.check == finding.check;
        let within = |line: usize| (self.lines.0..=self.lines.1).contains(&line);
        check && !self.reason.is_empty() && finding.place.line.is_some_and(within)
    }
}

/// What stays the same of a finding while lines move: check, document, row, column and value.
pub fn fingerprint(finding: &Finding) -> String {
    let place = &finding.place;
    let value = finding.stated.map_or(String::new(), |value| value.to_string());
    let parts = [
        finding.check.as_str(),
        &place.document,
        place.row.as_deref().unwrap_or_default(),
        place.column.as_deref().unwrap_or_default(),
        &value,
    ];
    sha256(parts.join("\n").as_bytes())[..16].to_owned()
}

/// A baseline: a line each, the fingerprint first and then where it stands, for readers.
pub fn baseline(findings: &[&Finding]) -> String {
    let line = |finding: &&Finding| {
        let place = &finding.place;
        format!("{}  {}: {}\n", fingerprint(finding), place.document, finding.sentence)
    };
    let mut lines: Vec<String> = findings.iter().map(line).collect();
    lines.sort();
    lines.dedup();
    lines.concat()
}

/// The fingerprints of a baseline; what stands behind them is for readers.
pub fn known(baseline: &str) -> Vec<&str> {
    baseline.lines().filter_map(|line| line.split_whitespace().next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mapping, audit_document};

    const TABLE: &str = "| x | mean | min | max |\n|-|-|-|-|\n| a | 9.0 | 1.0 | 5.0 |\n";

    fn left(comment: &str) -> usize {
        let text = format!("{comment}\n\n{TABLE}");
        let document = Document::parse("r.md", &text);
        let all = suppressions(&document, &text);
        let findings = audit_document(&document, &[], &Mapping::default()).findings;
        findings.iter().filter(|one| !all.iter().any(|known| known.covers(one))).count()
    }

    #[test]
    fn a_comment_with_a_reason_covers_the_table_below() {
        assert_eq!(left(""), 1);
        assert_eq!(left("<!-- lab-audit: ignore outside_of_extremes: of another run -->"), 0);
        assert_eq!(left("<!-- lab-audit: ignore *: of another run -->"), 0);
        assert_eq!(left("<!-- lab-audit: ignore outside_of_extremes -->"), 1);
        assert_eq!(left("<!-- lab-audit: ignore ratio: of another run -->"), 1);
    }

    #[test]
    fn a_baseline_holds_while_lines_move() {
        let audit = |text: &str| {
            let document = Document::parse("r.md", text);
            audit_document(&document, &[], &Mapping::default()).findings
        };
        let (before, after) = (audit(TABLE), audit(&format!("More.\n\n{TABLE}")));
        let stored = baseline(&before.iter().collect::<Vec<_>>());
        assert!(known(&stored).contains(&fingerprint(&after[0]).as_str()));
        let other = audit(&TABLE.replace("9.0", "8.0"));
        assert!(!known(&stored).contains(&fingerprint(&other[0]).as_str()));
    }
}
