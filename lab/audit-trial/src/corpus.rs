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

/// One half of the repositories: checks are tuned on one and judged by the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Half {
    /// Looked at while the checks were written.
    Tuned,
    /// Looked at when they were done.
    Held,
}

impl Half {
    /// The half of a document named `owner+repository__path`, by the first byte of the SHA-256 of
    /// what stands before the path. A name without a path stands for itself.
    pub(crate) fn of(file: &str) -> Self {
        let repository = file.split("__").next().unwrap_or(file).trim_end_matches(".md");
        let first = lab_audit::sha256(repository.as_bytes());
        let even = u8::from_str_radix(&first[..2], 16).is_ok_and(|byte| byte % 2 == 0);
        if even { Self::Tuned } else { Self::Held }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Tuned => "tuned",
            Self::Held => "held",
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

    /// The figures of some halves, and of all documents, as Markdown.
    pub(crate) fn report(&self, halves: &[Half], open: bool, missed: bool) -> String {
        let mut text = String::new();
        for half in halves {
            let of: Vec<&Audited> =
                self.documents.iter().filter(|one| Half::of(&one.file) == *half).collect();
            text += &report::figures(half.name(), &of);
            if open {
                text += &report::open(&of);
            }
            if missed {
                text += &report::missed(&of);
            }
        }
        if halves.len() > 1 {
            text += &report::figures("all", &self.documents.iter().collect::<Vec<_>>());
        }
        text
    }
}
