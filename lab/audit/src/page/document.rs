//! A document's own page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Audited;
use crate::{Finding, claims::Standing, join::Outcome};

/// Findings of one check that the page shows; `findings.tsv` has all.
const SHOWN_A_CHECK: usize = 2;

/// And of all.
const SHOWN: usize = 24;

pub(super) fn page(one: &Audited) -> String {
    let document = &one.claims.document;
    let mut text = format!(
        "# {}\n\n[All documents](../report.md)\n\n*{}*, {}; source {}; licence {}; sha256 `{}`.\n",
        document.id,
        document.title,
        document.file,
        document.source,
        document.licence,
        &document.sha256[..document.sha256.len().min(12)],
    );
    text.push_str(&raw(one));
    text.push_str("\n## What cannot be true, or is doubtful\n\n");
    text.push_str(&findings(&one.findings));
    text.push_str("\n## Claims that our runs speak to\n\n");
    let speaks = |outcome: Outcome| matches!(outcome, Outcome::Reproduced | Outcome::Refuted);
    let (shown, others): (Vec<_>, Vec<_>) =
        one.judged.iter().partition(|(.., verdict)| speaks(verdict.outcome));
    if !others.is_empty() {
        let count = others.len();
        let _ = writeln!(text, "{count} more, with the reason for each: `claims.tsv`.\n");
    }
    text.push_str(
        "| line | claim | the document's own data | our runs |\n| ---: | --- | --- | --- |\n",
    );
    for (claim, standing, why, verdict) in shown {
        let own = match standing {
            Standing::Holds => format!("holds: {why}"),
            Standing::Contradicted => format!("**contradicted**: {why}"),
            Standing::StatedOtherwise => format!("**stated otherwise**: {why}"),
            Standing::Open => why.clone(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | **{}**: {} |",
            claim.line,
            cell(&claim.says),
            cell(&own),
            verdict.outcome.words(),
            cell(&verdict.why),
        );
    }
    text
}

fn raw(one: &Audited) -> String {
    if one.claims.raw.is_empty() {
        return "\nNo raw data of its authors are public, so that it is held against itself \
                alone.\n"
            .to_owned();
    }
    let mut text = "\nRaw data (facts **stored**; `lab audit --raw FOLDER` derives them again \
                    from the files):\n\n"
        .to_owned();
    for info in &one.claims.raw {
        let stored = one.facts.iter().find(|facts| facts.raw == info.name);
        let facts = match stored {
            Some(facts) => format!("{} facts of {} rows", facts.all().count(), facts.rows),
            None => "no facts stored yet".to_owned(),
        };
        let sha256 = &info.sha256[..info.sha256.len().min(12)];
        let _ = writeln!(text, "* {} (sha256 `{sha256}`, {}): {facts}", info.file, info.source);
    }
    text
}

/// The first few findings of each check, in the order they came; and how many there are.
fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "Nothing found.\n".to_owned();
    }
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    let mut text = String::new();
    let mut listed = 0;
    for finding in findings {
        let count = shown.entry(&finding.check).or_default();
        *count += 1;
        if *count > SHOWN_A_CHECK || listed == SHOWN {
            continue;
        }
        listed += 1;
        let line = finding.place.line.map_or(String::new(), |line| format!("line {line}, "));
        let severity = finding.severity.name();
        let check = finding.check.replace('_', " ");
        let _ = writeln!(text, "1. **{severity}** ({line}{check}): {}.", cell(&finding.sentence));
    }
    if findings.len() > listed {
        let more = findings.len() - listed;
        let _ = writeln!(text, "\n{more} more of such kinds stand in findings.tsv.");
    }
    text
}

/// A text as a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").trim_end_matches('.').to_owned()
}
