//! `lab audit`: what cannot be true in a benchmark report.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use lab_audit::{Document, Finding, Mapping, Raw, Severity, audit_document};
use serde_json::json;

use crate::Failure;

#[derive(Args)]
pub(crate) struct AuditArgs {
    /// Markdown report or claim file (TOML) [default: the claims in claims/]
    pub(crate) document: Option<PathBuf>,
    /// Raw runs of the report: CSV, JSON, JSON Lines, a hyperfine or Criterion export
    #[arg(long, value_name = "FILE")]
    pub(crate) raw: Vec<PathBuf>,
    /// Meaning of columns whose names do not show it (TOML)
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Print one JSON object with all findings
    #[arg(long)]
    pub(crate) json: bool,
    /// Without a document: store the facts of --raw, or rewrite reports/claims
    #[arg(long)]
    pub(crate) write: bool,
    /// Without a document: fail if reports/claims differs from what claims/ and reports/ give
    #[arg(long, conflicts_with_all = ["write", "raw"])]
    pub(crate) check: bool,
    /// Number of findings to print
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
}

pub(crate) fn audit(args: &AuditArgs) -> Result<ExitCode, Failure> {
    let Some(document) = &args.document else {
        return Err(Failure::input("name a Markdown report: lab audit report.md"));
    };
    if document.extension().is_some_and(|ending| ending == "toml") {
        return crate::claims::one(document, args);
    }
    let name = document.display().to_string();
    let document = Document::parse(&name, &text(document)?);
    let mut raws = Vec::new();
    for path in &args.raw {
        let name = path.display().to_string();
        let tables = Raw::tables(&name, &text(path)?);
        raws.extend(tables.map_err(|error| Failure::input(error.to_string()))?);
    }
    let mapping = match &args.mapping {
        Some(path) => Mapping::parse(&path.display().to_string(), &text(path)?)
            .map_err(|error| Failure::input(error.to_string()))?,
        None => Mapping::default(),
    };
    let audit = audit_document(&document, &raws, &mapping);
    let findings = audit.findings;
    if args.json {
        println!("{}", as_json(&document, &raws, &findings));
    } else {
        print!("{}", as_text(&document, &raws, &findings, args.top));
    }
    let impossible = findings.iter().any(|finding| finding.severity == Severity::Impossible);
    Ok(ExitCode::from(u8::from(impossible)))
}

/// A file's text. Bytes that are no UTF-8 become replacement characters: a report with one broken
/// letter can still be audited.
fn text(path: &Path) -> Result<String, Failure> {
    let bytes = fs::read(path)
        .map_err(|error| Failure::input(format!("cannot read {}: {error}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn as_json(document: &Document, raws: &[Raw], findings: &[Finding]) -> serde_json::Value {
    let raw = |raw: &Raw| json!({ "name": raw.name, "rows": raw.rows, "columns": raw.order });
    json!({
        "document": document.name,
        "tables": document.tables.len(),
        "raw": raws.iter().map(raw).collect::<Vec<_>>(),
        "impossible": count(findings, Severity::Impossible),
        "doubtful": count(findings, Severity::Doubtful),
        "notes": count(findings, Severity::Note),
        "findings": findings,
    })
}

fn as_text(document: &Document, raws: &[Raw], findings: &[Finding], top: usize) -> String {
    let rows: usize = raws.iter().map(|raw| raw.rows).sum();
    let text = format!(
        "{}: {} tables, {rows} raw rows; {} impossible, {} doubtful, {} notes\n",
        document.name,
        document.tables.len(),
        count(findings, Severity::Impossible),
        count(findings, Severity::Doubtful),
        count(findings, Severity::Note),
    );
    text + &listed(findings, top)
}

/// The first findings, a line each.
pub(crate) fn listed(findings: &[Finding], top: usize) -> String {
    let mut text = String::new();
    for finding in findings.iter().take(top) {
        let word = match finding.severity {
            Severity::Impossible => "impossible",
            Severity::Doubtful => "doubtful",
            Severity::Note => "note",
        };
        let at = match finding.place.line {
            Some(line) => format!("{}:{line}", finding.place.document),
            None => finding.place.document.clone(),
        };
        text += &format!("{at}: {word}: {} [{}]\n", finding.sentence, finding.check);
    }
    if findings.len() > top {
        text += &format!("… and {} more (--top N, --json)\n", findings.len() - top);
    }
    text
}

fn count(findings: &[Finding], severity: Severity) -> usize {
    findings.iter().filter(|finding| finding.severity == severity).count()
}
