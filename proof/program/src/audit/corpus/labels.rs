//! What is known of the documents: contradictions, clean ranges, verdicts by hand.

use anyhow::{Context, Result, bail};

/// A contradiction that close reading found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Label {
    pub(crate) file: String,
    pub(crate) line: usize,
    /// The lines that it contradicts.
    pub(crate) against: Vec<usize>,
    pub(crate) kind: String,
    /// No natural reading saves it.
    pub(crate) certain: bool,
    pub(crate) says: String,
}

impl Label {
    /// Reads labels.tsv.
    pub(crate) fn parse(text: &str) -> Result<Vec<Self>> {
        text.lines().skip(1).enumerate().map(|(row, line)| Self::row(line, row + 2)).collect()
    }

    fn row(line: &str, row: usize) -> Result<Self> {
        let cells: Vec<&str> = line.split('\t').collect();
        let [file, at, against, kind, certainty, says, ..] = cells[..] else {
            bail!("labels.tsv, line {row}: too few columns")
        };
        let number = |text: &str| {
            text.trim().parse().with_context(|| format!("labels.tsv, line {row}: {text}"))
        };
        let against = against.split(',').filter(|text| !text.trim().is_empty());
        Ok(Self {
            file: file.to_owned(),
            line: number(at)?,
            against: against.map(number).collect::<Result<_>>()?,
            kind: kind.to_owned(),
            certain: certainty == "certain",
            says: says.to_owned(),
        })
    }
}

/// Documents and ranges of lines that were read in full and hold no contradiction.
#[derive(Debug, Default)]
pub(crate) struct Clean {
    whole: Vec<String>,
    ranges: Vec<(String, usize, usize)>,
}

impl Clean {
    /// Reads clean.txt: `file` or `file:from-to` a line.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut clean = Self::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match line.rsplit_once(':') {
                Some((file, range)) => {
                    let (from, to) = range.split_once('-').context("clean.txt: from-to")?;
                    clean.ranges.push((file.to_owned(), from.parse()?, to.parse()?));
                }
                None => clean.whole.push(line.to_owned()),
            }
        }
        Ok(clean)
    }

    pub(crate) fn is_whole(&self, file: &str) -> bool {
        self.whole.iter().any(|known| known == file)
    }

    pub(crate) fn holds(&self, file: &str, line: usize) -> bool {
        let within = |(known, from, to): &(String, usize, usize)| {
            known == file && (*from..=*to).contains(&line)
        };
        self.is_whole(file) || self.ranges.iter().any(within)
    }
}

/// A verdict by hand on a finding.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Judged {
    file: String,
    line: usize,
    check: String,
    is_true: bool,
}

impl Judged {
    /// Reads judged.tsv: file, line, check, `true` or `false`, reason.
    pub(crate) fn parse(text: &str) -> Result<Vec<Self>> {
        let rows = text.lines().skip(1).filter(|line| !line.is_empty());
        rows.map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let [file, at, check, verdict, _reason] = cells[..] else {
                bail!("judged.tsv: five columns are needed: {line}")
            };
            let is_true = verdict.parse().with_context(|| format!("judged.tsv: {line}"))?;
            Ok(Self { file: file.to_owned(), line: at.parse()?, check: check.to_owned(), is_true })
        })
        .collect()
    }

    /// The verdict on a finding, if there is one.
    pub(crate) fn verdict(all: &[Self], file: &str, line: usize, check: &str) -> Option<bool> {
        let of = |one: &&Self| one.file == file && one.line == line && one.check == check;
        all.iter().find(of).map(|one| one.is_true)
    }
}
