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

/// One table of what matters, a column for each part.
pub(crate) fn summary(parts: &[(&str, Vec<&Audited>)]) -> String {
    let mut text = "\n| |".to_owned();
    parts.iter().for_each(|(name, _)| text += &format!(" {name} |"));
    text += "\n| --- |";
    parts.iter().for_each(|_| text += " ---: |");
    let mut row = |name: &str, of: &dyn Fn(&[&Audited]) -> String| {
        text += &format!("\n| {name} |");
        parts.iter().for_each(|(_, documents)| text += &format!(" {} |", of(documents)));
    };
    for grade in [Severity::Impossible, Severity::Inconsistent] {
        let name = format!("{}, true of judged", grade.grade());
        row(&name, &|documents| {
            let mut counts = Counts::default();
            let findings = documents.iter().flat_map(|document| &document.findings);
            findings.filter(|(one, _)| one.severity == grade).for_each(|(_, v)| counts.add(*v));
            let judged = counts.is_true + counts.is_false;
            format!("{} of {judged}, {} unread", counts.is_true, counts.open)
        });
    }
    row("labelled contradictions found", &|documents| found_of(documents, "**all**"));
    row("of those in tables", &|documents| found_of(documents, "*in tables*"));
    row("exit code 1 on sound documents", &|documents| {
        let clean: Vec<_> = documents.iter().filter(|document| document.is_clean).collect();
        let wrong = clean.iter().filter(|document| fails(document)).count();
        format!("{wrong} of {}", clean.len())
    });
    text + "\n"
}

fn found_of(documents: &[&Audited], kind: &str) -> String {
    let (found, of) = kinds(documents).get(kind).copied().unwrap_or_default();
    format!("{found} of {of} ({})", share(found, of))
}

/// What was found in some documents, by grade; [`rows`] has it by check and by kind.
pub(crate) fn figures(name: &str, documents: &[&Audited]) -> String {
    let mut text = format!("\n## {name}: {} documents\n", documents.len());
    let mut grades: BTreeMap<Severity, Counts> = BTreeMap::new();
    for (finding, verdict) in documents.iter().flat_map(|document| &document.findings) {
        grades.entry(finding.severity).or_default().add(*verdict);
    }
    text += "\n| grade | findings | true | false | unread | true of judged |\n";
    text += "| --- | ---: | ---: | ---: | ---: | ---: |\n";
    for (grade, counts) in &grades {
        let _ = writeln!(text, "| {} | {} |", grade.grade(), counts.row());
    }
    text + &exits(documents) + &coverage(documents)
}

/// The head of [`rows`].
pub(crate) const COLUMNS: &str = "part\tgrade\tcheck\tfindings\ttrue\tfalse\tunread\t\
                                  contradictions\tfound\tof\n";

/// Findings by check and labelled contradictions by kind, a row each, separated by tabs.
pub(crate) fn rows(part: &str, documents: &[&Audited]) -> String {
    let mut checks: BTreeMap<(Severity, &str), Counts> = BTreeMap::new();
    for (finding, verdict) in documents.iter().flat_map(|document| &document.findings) {
        checks.entry((finding.severity, &finding.check)).or_default().add(*verdict);
    }
    let mut text = String::new();
    for ((grade, check), Counts { is_true, is_false, open }) in checks {
        let (grade, all) = (grade.grade(), is_true + is_false + open);
        let _ =
            writeln!(text, "{part}\t{grade}\t{check}\t{all}\t{is_true}\t{is_false}\t{open}\t\t\t");
    }
    for (kind, (found, of)) in kinds(documents) {
        let kind = kind.trim_matches('*');
        let _ = writeln!(text, "{part}\t\t\t\t\t\t\t{kind}\t{found}\t{of}");
    }
    text
}

/// Labelled contradictions found, and how many there are, per kind.
fn kinds(documents: &[&Audited]) -> BTreeMap<String, (usize, usize)> {
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
    kinds
}

fn fails(document: &Audited) -> bool {
    let impossible = |(finding, _): &(Finding, Verdict)| finding.severity == Severity::Impossible;
    document.findings.iter().any(impossible)
}

/// Documents on which the audit exits 1, and those of them that are clean.
fn exits(documents: &[&Audited]) -> String {
    let clean: Vec<_> = documents.iter().filter(|document| document.is_clean).collect();
    let all = documents.iter().filter(|document| fails(document)).count();
    let wrong = clean.iter().filter(|document| fails(document)).count();
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
