//! A corpus of documents with labels, and what the audit makes of it.

mod labels;
mod report;
mod score;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use lab_audit::{Coverage, Document, Finding, Mapping};

use labels::{Clean, Judged, Label};
use score::{Score, Verdict};

/// One part of the repositories: checks are tuned on one and judged by the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Looked at while the checks were written.
    Tuned,
    /// Looked at when those were done, before others were written.
    Later,
    /// Its labels were never looked at.
    Blind,
}

/// Which repositories of the other half were looked at later, and why.
const SPLIT: &str = include_str!("split.tsv");

impl Part {
    /// Every part, in the order in which they were looked at.
    pub(crate) const ALL: [Self; 3] = [Self::Tuned, Self::Later, Self::Blind];

    /// The part of a document named `owner+repository__path`. The first byte of the SHA-256 of what
    /// stands before the path says whether it was tuned on; of the rest, a list says what was
    /// looked at later. A name without a path stands for itself.
    pub(crate) fn of(file: &str) -> Self {
        let repository = file.split("__").next().unwrap_or(file).trim_end_matches(".md");
        let first = lab_audit::sha256(repository.as_bytes());
        if u8::from_str_radix(&first[..2], 16).is_ok_and(|byte| byte % 2 == 0) {
            return Self::Tuned;
        }
        let mut rows = SPLIT.lines().skip(1).map(|row| row.split('\t'));
        let later =
            rows.any(|mut row| row.next() == Some(repository) && row.next() == Some("later"));
        if later { Self::Later } else { Self::Blind }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tuned => "tuned",
            Self::Later => "looked at later",
            Self::Blind => "blind",
        }
    }
}

/// A document with what is known of it and what was found.
pub(crate) struct Audited {
    pub(crate) file: String,
    pub(crate) lines: Vec<String>,
    pub(crate) coverage: Coverage,
    pub(crate) findings: Vec<(Finding, Verdict)>,
    pub(crate) labels: Vec<(Label, bool)>,
    /// Read in full and found clean.
    pub(crate) is_clean: bool,
}

/// Every document, audited.
pub(crate) struct Corpus {
    documents: Vec<Audited>,
}

impl Corpus {
    /// Audits the documents of `dir`; `judged` are verdicts by hand.
    pub(crate) fn read(dir: &Path, judged: &str) -> Result<Self> {
        let text = |name: &str| {
            fs::read_to_string(dir.join(name)).with_context(|| format!("cannot read {name}"))
        };
        let labels = Label::parse(&text("labels.tsv")?)?;
        let clean = Clean::parse(&text("clean.txt")?)?;
        let judged = Judged::parse(judged)?;
        let mut names: Vec<String> = fs::read_dir(dir.join("docs"))
            .context("cannot read docs")?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        let mut documents = Vec::new();
        for file in names {
            let bytes = fs::read(dir.join("docs").join(&file))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let document = Document::parse(&file, &text);
            let audit = lab_audit::audit_document(&document, &[], &Mapping::default());
            let own: Vec<Label> = labels.iter().filter(|l| l.file == file).cloned().collect();
            let score = Score { labels: &own, clean: &clean, judged: &judged };
            let (findings, found) = score.of(&file, audit.findings);
            documents.push(Audited {
                lines: text.lines().map(str::to_owned).collect(),
                coverage: audit.coverage,
                findings,
                labels: own.into_iter().zip(found).collect(),
                is_clean: clean.is_whole(&file),
                file,
            });
        }
        Ok(Self { documents })
    }

    /// The figures of some parts, and of all documents, as Markdown.
    pub(crate) fn report(&self, parts: &[Part], open: bool, missed: bool) -> String {
        let mut text = String::new();
        let of = |part: Part| -> Vec<&Audited> {
            self.documents.iter().filter(|one| Part::of(&one.file) == part).collect()
        };
        if parts.len() > 1 {
            let columns: Vec<(&str, Vec<&Audited>)> =
                parts.iter().map(|part| (part.name(), of(*part))).collect();
            text += &report::summary(&columns);
        }
        for part in parts {
            let of = of(*part);
            text += &report::figures(part.name(), &of);
            if open {
                text += &report::open(&of);
            }
            if missed {
                text += &report::missed(&of);
            }
        }
        if parts.len() > 1 {
            text += &report::figures("all", &self.documents.iter().collect::<Vec<_>>());
        }
        text
    }

    /// Findings by check and contradictions by kind, of some parts, separated by tabs.
    pub(crate) fn rows(&self, parts: &[Part]) -> String {
        let of = |part: Part| -> Vec<&Audited> {
            self.documents.iter().filter(|one| Part::of(&one.file) == part).collect()
        };
        let rows = parts.iter().map(|part| report::rows(part.name(), &of(*part)));
        report::COLUMNS.to_owned() + &rows.collect::<String>()
    }
}
