//! Findings as text, JSON, SARIF, GitHub's annotations and Markdown.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::suppress::fingerprint;
use crate::{Audit, Document, Finding, Raw, Severity};

/// How findings are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A line each.
    Text,
    /// One object.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// Workflow commands.
    Github,
    /// A table.
    Markdown,
}

/// A document with what is printed of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Audited {
    /// As the caller named it.
    pub name: String,
    /// Number of its tables.
    pub tables: usize,
    /// Its raw files: name, rows and columns.
    pub raw: Vec<(String, usize, Vec<String>)>,
    /// What came of it, without what is suppressed or known.
    pub audit: Audit,
    /// Findings that a comment or a baseline covers.
    pub hidden: usize,
    /// What could not be read or linked.
    pub warnings: Vec<String>,
}

impl Audited {
    /// Puts a document's outcome together; `hide` says which findings are not to be reported.
    pub fn new(
        document: &Document,
        raws: &[Raw],
        mut audit: Audit,
        hide: impl Fn(&Finding) -> bool,
    ) -> Self {
        let before = audit.findings.len();
        audit.findings.retain(|finding| !hide(finding));
        let mut warnings: Vec<String> =
            document.unread.iter().map(|(line, why)| format!("line {line}: {why}")).collect();
        if audit.coverage.checked() == 0 {
            let tables = document.tables.len();
            warnings.push(format!(
                "nothing could be checked: no number of {tables} tables and the text follows from \
                 others by its name"
            ));
        }
        let untied = audit.untied.iter();
        warnings.extend(
            untied.map(|file| format!("{file}: nothing in it could be tied to this document")),
        );
        let raw = |raw: &Raw| (raw.name.clone(), raw.rows, raw.order.clone());
        Self {
            name: document.name.clone(),
            tables: document.tables.len(),
            raw: raws.iter().map(raw).collect(),
            hidden: before - audit.findings.len(),
            audit,
            warnings,
        }
    }

    fn count(&self, wanted: &str) -> usize {
        self.audit.findings.iter().filter(|one| one.severity.grade() == wanted).count()
    }

    fn counts(&self) -> String {
        let [impossible, inconsistent, look] =
            ["impossible", "inconsistent", "worth a look"].map(|grade| self.count(grade));
        format!("{impossible} impossible, {inconsistent} inconsistent, {look} worth a look")
    }

    fn coverage(&self) -> String {
        let coverage = self.audit.coverage;
        format!(
            "{} of {} numbers checked: {} agree, {} cannot be tied, {} disagree",
            coverage.checked(),
            coverage.numbers,
            coverage.agree,
            coverage.untied,
            coverage.disagree
        )
    }
}

/// The outcome of several documents; `top` findings of each in text.
pub fn print(all: &[Audited], format: Format, top: usize) -> String {
    match format {
        Format::Text => all.iter().map(|one| text(one, top)).collect(),
        Format::Json => pretty(&to_json(all)),
        Format::Sarif => pretty(&sarif(all)),
        Format::Github => all.iter().map(github).collect(),
        Format::Markdown => all.iter().map(markdown).collect(),
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn text(one: &Audited, top: usize) -> String {
    let rows: usize = one.raw.iter().map(|(_, rows, _)| rows).sum();
    let mut text =
        format!("{}: {} tables, {rows} raw rows; {}\n", one.name, one.tables, one.counts());
    text += &listed(&one.audit.findings, top);
    let hidden = if one.hidden > 0 { format!("; {} hidden", one.hidden) } else { String::new() };
    let _ = writeln!(text, "{}: {}{hidden}", one.name, one.coverage());
    for warning in &one.warnings {
        let _ = writeln!(text, "{}: warning: {warning}", one.name);
    }
    text
}

/// The first findings, a line each.
pub fn listed(findings: &[Finding], top: usize) -> String {
    let mut text = String::new();
    for finding in findings.iter().take(top) {
        let at = match finding.place.line {
            Some(line) => format!("{}:{line}", finding.place.document),
            None => finding.place.document.clone(),
        };
        let (grade, check) = (finding.severity.grade(), &finding.check);
        let _ = writeln!(text, "{at}: {grade}: {} [{check}]", finding.sentence);
    }
    if findings.len() > top {
        let _ = writeln!(text, "… and {} more (--top N, --format json)", findings.len() - top);
    }
    text
}

fn raw_json((name, rows, columns): &(String, usize, Vec<String>)) -> Value {
    json!({ "name": name, "rows": rows, "columns": columns })
}

fn to_json(all: &[Audited]) -> Value {
    let document = |one: &Audited| {
        let raw = one.raw.iter().map(raw_json);
        json!({
            "document": one.name,
            "tables": one.tables,
            "raw": raw.collect::<Vec<_>>(),
            "impossible": one.count("impossible"),
            "inconsistent": one.count("inconsistent"),
            "worth_a_look": one.count("worth a look"),
            "hidden": one.hidden,
            "coverage": one.audit.coverage,
            "warnings": one.warnings,
            "findings": one.audit.findings,
        })
    };
    match all {
        [one] => document(one),
        all => json!({ "documents": all.iter().map(document).collect::<Vec<_>>() }),
    }
}

/// SARIF 2.1.0 (OASIS standard of 27 March 2020), sections 3.14, 3.27 and 3.28.
fn sarif(all: &[Audited]) -> Value {
    let findings = || all.iter().flat_map(|one| &one.audit.findings);
    let mut checks: Vec<&str> = findings().map(|finding| finding.check.as_str()).collect();
    checks.sort_unstable();
    checks.dedup();
    let result = |finding: &Finding| {
        let region = json!({ "startLine": finding.place.line.unwrap_or(1) });
        let location = json!({
            "physicalLocation": {
                "artifactLocation": { "uri": finding.place.document },
                "region": region,
            }
        });
        json!({
            "ruleId": finding.check,
            "level": match finding.severity {
                Severity::Impossible => "error",
                Severity::Inconsistent => "warning",
                _ => "note",
            },
            "message": { "text": format!("{}: {}", finding.severity.grade(), finding.sentence) },
            "locations": [location],
            "partialFingerprints": { "labAudit/v1": fingerprint(finding) },
        })
    };
    let rules: Vec<Value> = checks.iter().map(|check| json!({ "id": check })).collect();
    json!({
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "lab audit", "rules": rules } },
            "results": findings().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn github(one: &Audited) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut text = String::new();
    for finding in &one.audit.findings {
        let level = match finding.severity {
            Severity::Impossible => "error",
            Severity::Inconsistent => "warning",
            _ => "notice",
        };
        let title = format!("{} ({})", finding.severity.grade(), finding.check);
        let _ = writeln!(
            text,
            "::{level} file={},line={},title={}::{}",
            property(&finding.place.document),
            finding.place.line.unwrap_or(1),
            property(&title),
            data(&finding.sentence)
        );
    }
    for warning in &one.warnings {
        let _ = writeln!(text, "::notice file={}::{}", property(&one.name), data(warning));
    }
    let _ = writeln!(text, "{}: {}; {}", one.name, one.counts(), one.coverage());
    text
}

fn markdown(one: &Audited) -> String {
    let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
    let mut text = format!("### {}\n\n{}. {}.\n", one.name, one.counts(), one.coverage());
    if !one.audit.findings.is_empty() {
        text += "\n| line | grade | finding | check |\n| ---: | --- | --- | --- |\n";
    }
    for finding in &one.audit.findings {
        let line = finding.place.line.map_or(String::new(), |line| line.to_string());
        let _ = writeln!(
            text,
            "| {line} | {} | {} | `{}` |",
            finding.severity.grade(),
            cell(&finding.sentence),
            finding.check
        );
    }
    for warning in &one.warnings {
        let _ = writeln!(text, "\nWarning: {warning}.");
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mapping, audit_document};

    fn one() -> Audited {
        let text = "| x | mean | min | max |\n|-|-|-|-|\n| a, b | 9.0 | 1.0 | 5.0 |\n";
        let document = Document::parse("r.md", text);
        let audit = audit_document(&document, &[], &Mapping::default());
        Audited::new(&document, &[], audit, |_| false)
    }

    #[test]
    fn every_format_has_line_grade_and_check() {
        let all = [one()];
        for format in [Format::Text, Format::Github, Format::Markdown, Format::Json, Format::Sarif]
        {
            let text = print(&all, format, 20);
            for wanted in ["impossible", "outside_of_extremes", "9.0", "r.md"] {
                assert!(text.contains(wanted), "{format:?} without {wanted}: {text}");
            }
        }
        let sarif: Value = serde_json::from_str(&print(&all, Format::Sarif, 0)).unwrap();
        let result = &sarif["runs"][0]["results"][0];
        assert_eq!(result["level"], "error");
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(region["startLine"], 3);
        let github = print(&all, Format::Github, 0);
        assert!(
            github.starts_with("::error file=r.md,line=3,title=impossible (outside"),
            "{github}"
        );
    }

    #[test]
    fn a_document_without_ties_is_warned_of() {
        let document = Document::parse("r.md", "| a | b |\n|-|-|\n| x | 3 |\n");
        let audit = audit_document(&document, &[], &Mapping::default());
        let text = print(&[Audited::new(&document, &[], audit, |_| false)], Format::Text, 20);
        assert!(text.contains("r.md: warning: nothing could be checked"), "{text}");
        assert!(text.contains("0 of 1 numbers checked"), "{text}");
    }
}
