//! `lab audit`: what cannot be true in a benchmark report.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use lab_audit::{
    Document, Finding, Mapping, Raw, Severity, audit_document, decode,
    output::{self, Audited},
    suppress,
};
use lab_record::Bounded;

use crate::{Exit, Failure, streams};

/// A report or raw file larger than this is refused, unless --max-bytes allows it.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Args)]
pub(crate) struct AuditArgs {
    /// Markdown reports, folders, globs, or `-` for standard input
    #[arg(value_name = "DOCUMENT", required = true)]
    documents: Vec<PathBuf>,
    /// Raw runs or results: CSV, JSON, JSON Lines, Markdown, or what a benchmark tool prints
    #[arg(long, visible_alias = "against", value_name = "FILE")]
    raw: Vec<PathBuf>,
    /// Meaning of columns whose names do not show it (TOML)
    #[arg(long, value_name = "FILE")]
    mapping: Option<PathBuf>,
    /// Format of the findings [default: text]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Lowest grade that makes the exit code 1
    #[arg(long, value_enum, default_value_t = FailOn::Impossible)]
    fail_on: FailOn,
    /// Findings to leave out, one fingerprint a line
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings as a baseline
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
    /// Number of findings to print of each document
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Sarif,
    Github,
    Markdown,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Impossible,
    Inconsistent,
    Look,
    Never,
}

impl FailOn {
    /// Whether a finding of this severity makes the exit code 1.
    pub(crate) fn fails(self, severity: Severity) -> bool {
        match self {
            Self::Impossible => severity == Severity::Impossible,
            Self::Inconsistent => severity < Severity::Doubtful,
            Self::Look => true,
            Self::Never => false,
        }
    }
}

pub(crate) fn audit(args: &AuditArgs) -> Result<Exit, Failure> {
    let is_claims = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "toml");
    if let Some(claims) = args.documents.iter().find(is_claims) {
        let sentence = "is a claim file, which `cargo run -p lab-claims` audits; give a report";
        return Err(Failure::input(format!("{} {sentence}", claims.display())));
    }
    let mapping = match &args.mapping {
        Some(path) => Mapping::parse(&path.display().to_string(), &text(path)?)
            .map_err(|error| Failure::input(error.to_string()))?,
        None => Mapping::default(),
    };
    let raws = raws(&args.raw)?;
    let baseline = args.baseline.as_deref().map(text).transpose()?.unwrap_or_default();
    let known = suppress::known(&baseline);
    let mut all = Vec::new();
    for path in crate::documents::expanded(&args.documents)? {
        all.push(one(&path, &raws, &mapping, &known)?);
    }
    let findings: Vec<&Finding> = all.iter().flat_map(|one| &one.audit.findings).collect();
    if let Some(path) = &args.write_baseline {
        fs::write(path, suppress::baseline(&findings))
            .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
        let line = format!("{}: {} findings\n", path.display(), findings.len());
        streams::print(line.as_bytes())?;
        return Ok(Exit::Success);
    }
    let format = match args.format {
        _ if args.json => output::Format::Json,
        None | Some(Format::Text) => output::Format::Text,
        Some(Format::Json) => output::Format::Json,
        Some(Format::Sarif) => output::Format::Sarif,
        Some(Format::Github) => output::Format::Github,
        Some(Format::Markdown) => output::Format::Markdown,
    };
    streams::print(output::print(&all, format, args.top).as_bytes())?;
    let fails = findings.iter().any(|finding| args.fail_on.fails(finding.severity));
    Ok(Exit::failed_if(fails))
}

fn one(path: &Path, raws: &[Raw], mapping: &Mapping, known: &[&str]) -> Result<Audited, Failure> {
    let text = text(path)?;
    let name = if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() };
    let document = Document::parse(&name, &text);
    let audit = audit_document(&document, raws, mapping);
    let suppressions = suppress::suppressions(&document, &text);
    let hide = |finding: &Finding| {
        suppressions.iter().any(|one| one.covers(finding))
            || known.contains(&suppress::fingerprint(finding).as_str())
    };
    let mut audited = Audited::new(&document, raws, audit, hide);
    let silent = suppressions.iter().filter(|one| one.reason.is_empty());
    audited.warnings.extend(
        silent.map(|one| format!("line {}: a suppression without a reason is ignored", one.line)),
    );
    audited.warnings.extend(mapping.unused(&document, raws));
    Ok(audited)
}

fn raws(paths: &[PathBuf]) -> Result<Vec<Raw>, Failure> {
    let mut raws = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let tables = Raw::tables(&name, &text(path)?);
        raws.extend(tables.map_err(|error| Failure::input(error.to_string()))?);
    }
    Ok(raws)
}

/// The text of a file, or of standard input for `-`.
fn text(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let wrong = |error: std::io::Error| Failure::input(format!("cannot read {name}: {error}"));
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin())
    } else {
        Box::new(fs::File::open(path).map_err(wrong)?)
    };
    let bytes = Bounded::of(source, MOST_BYTES).all().map_err(wrong)?;
    decode(&bytes).map_err(|error| Failure::input(format!("{name} {error}")))
}
