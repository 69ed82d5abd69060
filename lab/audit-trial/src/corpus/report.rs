//! The figures as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write;

use lab_audit::{Finding, Severity};

use super::Audited;
use super::score::Verdict;

/// True, false and open findings.
#[derive(Default)]
struct Counts {
    is_true: usize,
    is_false: usize,
    open: usize,
}

impl Counts {
    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::True => self.is_true += 1,
            Verdict::False => self.is_false += 1,
            Verdict::Open => self.open += 1,
        }
    }

    fn row(&self) -> String {
        let judged = self.is_true + self.is_false;
        let total = judged + self.open;
        let share = share(self.is_true, judged);
        format!("{total} | {} | {} | {} | {share}", self.is_true, self.is_false, self.open)
    }
}

/// The tables of some documents.
pub(crate) fn figures(name: &str, documents: &[&Audited]) -> String {
    let mut text = format!("\n## {name}: {} documents\n", documents.len());
    let findings = || documents.iter().flat_map(|document| &document.findings);
    let mut grades: BTreeMap<Severity, Counts> = BTreeMap::new();
    let mut kinds: BTreeMap<(Severity, &str), Counts> = BTreeMap::new();
    for (finding, verdict) in findings() {
        grades.entry(finding.severity).or_default().add(*verdict);
        kinds.entry((finding.severity, &finding.check)).or_default().add(*verdict);
    }
    let head = "findings | true | false | unread | true of judged |\n";
    let _ = writeln!(text, "\n| grade | {head}| --- | ---: | ---: | ---: | ---: | ---: |");
    for (grade, counts) in &grades {
        let _ = writeln!(text, "| {} | {} |", grade.grade(), counts.row());
    }
    let _ = writeln!(
        text,
        "\n| grade | check | {head}| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    );
    for ((grade, check), counts) in &kinds {
        let _ = writeln!(text, "| {} | `{check}` | {} |", grade.grade(), counts.row());
    }
    text += &recall(documents);
    text + &exits(documents) + &coverage(documents)
}

/// Labelled contradictions found, per kind.
fn recall(documents: &[&Audited]) -> String {
    let mut kinds: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for document in documents {
        for (label, found) in &document.labels {
            let line = document.lines.get(label.line - 1).map_or("", String::as_str);
            let in_table = line.trim_start().starts_with('|') || line.contains("<td");
            let certain = if label.certain { "*certain*" } else { "*likely*" };
            let mut add = |kind: &str| {
                let entry = kinds.entry(kind.to_owned()).or_default();
                entry.0 += usize::from(*found);
                entry.1 += 1;
            };
            add("**all**");
            add(certain);
            add(&label.kind);
            if in_table {
                add("*in tables*");
            }
        }
    }
    let mut text = "\n| labelled contradictions | found | of | recall |\n".to_owned();
    text += "| --- | ---: | ---: | ---: |\n";
    for (kind, (found, of)) in kinds {
        let _ = writeln!(text, "| {kind} | {found} | {of} | {} |", share(found, of));
    }
    text
}

/// Documents on which the audit exits 1, and those of them that are clean.
fn exits(documents: &[&Audited]) -> String {
    let fails = |document: &&&Audited| {
        let impossible =
            |(finding, _): &(Finding, Verdict)| finding.severity == Severity::Impossible;
        document.findings.iter().any(impossible)
    };
    let clean = documents.iter().filter(|document| document.is_clean);
    let (clean, all) = (clean.collect::<Vec<_>>(), documents.iter().filter(fails).count());
    let wrong = clean.iter().copied().filter(fails).count();
    format!("\nExit 1: {all} documents, {wrong} of {} clean ones.\n", clean.len())
}

/// How many numbers were checked.
fn coverage(documents: &[&Audited]) -> String {
    let sum = |of: fn(&Audited) -> usize| documents.iter().map(|one| of(one)).sum::<usize>();
    let unlinked = documents.iter().filter(|one| one.coverage.checked() == 0).count();
    format!(
        "\n{} of {} numbers checked: {} agree, {} cannot be tied, {} disagree; in {unlinked} \
         documents nothing could be checked.\n",
        sum(|one| one.coverage.checked()),
        sum(|one| one.coverage.numbers),
        sum(|one| one.coverage.agree),
        sum(|one| one.coverage.untied),
        sum(|one| one.coverage.disagree)
    )
}

/// Findings that nobody has judged.
pub(crate) fn open(documents: &[&Audited]) -> String {
    let mut text = String::new();
    for document in documents {
        for (finding, verdict) in &document.findings {
            let line = finding.place.line.unwrap_or(0);
            let _ = writeln!(
                text,
                "{verdict:?}\t{}\t{line}\t{}\t{}\t{}",
                document.file,
                finding.check,
                finding.severity.grade(),
                finding.sentence
            );
        }
    }
    text
}

/// Labels that no true finding matches.
pub(crate) fn missed(documents: &[&Audited]) -> String {
    let mut text = String::new();
    for document in documents {
        for (label, _) in document.labels.iter().filter(|(_, found)| !found) {
            let _ =
                writeln!(text, "{}\t{}\t{}\t{}", document.file, label.line, label.kind, label.says);
        }
    }
    text
}

fn share(part: usize, of: usize) -> String {
    if of == 0 { "-".to_owned() } else { format!("{:.0} %", 100.0 * part as f64 / of as f64) }
}
