//! A document's own page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{Audited, differences};
use crate::{
    Claim, Standing,
    join::{Outcome, Verdict},
};
use lab_audit::Finding;

/// Findings of one check that the page shows; `findings.tsv` has all.
const SHOWN_A_CHECK: usize = 1;

/// And of all.
const SHOWN: usize = 3;

/// Of the claims that one result decides, those in words; the others by their lines.
const CLAIMS_SHOWN: usize = 1;

/// Results that refute most claims, in words; `claims.tsv` has all.
const RESULTS_SHOWN: usize = 3;

/// A reason of several numbers ends with the first that begins after so many bytes.
const REASON_BYTES: usize = 160;

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
    let silent = one.judged.iter().filter(|(.., verdict)| !speaks(verdict.outcome)).count();
    let of = |outcome: Outcome| {
        one.judged.iter().filter(move |(.., verdict)| verdict.outcome == outcome)
    };
    text.push_str("Refuted, by what our runs show, with line and standing in their own data:\n\n");
    let mut refuted = by_reason(of(Outcome::Refuted));
    // The sort is stable: of equals the first in the document comes first.
    refuted.sort_by_key(|same| std::cmp::Reverse(same.len()));
    for same in refuted.iter().take(RESULTS_SHOWN) {
        let why = cell(&begun(&same[0].3.why));
        let _ = writeln!(text, "* **{why}**: {}", named(same));
    }
    let others = refuted.len().saturating_sub(RESULTS_SHOWN);
    if others > 0 {
        let rest = refuted.iter().skip(RESULTS_SHOWN).map(Vec::len).sum::<usize>();
        let _ = writeln!(text, "* By {others} other results: {rest} claims.");
    }
    text.push_str(&differing(one));
    let reproduced: Vec<&Judged> = of(Outcome::Reproduced).collect();
    if !reproduced.is_empty() {
        let _ = writeln!(text, "\nReproduced: {} claims.", reproduced.len());
    }
    let _ = writeln!(text, "\n{silent} more claims, and every reason: `claims.tsv`.");
    text
}

/// How the runs that refute claims differ from what the document measured, report by report.
fn differing(one: &Audited) -> String {
    let refuted = one.judged.iter().filter(|(.., verdict)| verdict.outcome == Outcome::Refuted);
    let reports: BTreeMap<_, _> =
        refuted.flat_map(|(claim, ..)| differences(one.claims, claim)).collect();
    let mut text = String::new();
    for (report, says) in reports {
        let _ = writeln!(text, "* {report}: {}.", cell(says.unwrap_or_default()));
    }
    match text.is_empty() {
        true => text,
        false => format!("\nWhere our runs differ from what it measured:\n\n{text}"),
    }
}

type Judged<'a> = (&'a Claim, Standing, String, Verdict);

/// Claims that the same numbers of ours decide.
fn by_reason<'j, 'a>(judged: impl Iterator<Item = &'j Judged<'a>>) -> Vec<Vec<&'j Judged<'a>>> {
    let mut groups: Vec<Vec<&Judged>> = Vec::new();
    for one in judged {
        match groups.iter_mut().find(|group| group[0].3.why == one.3.why) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// The first numbers of a reason that has many; `claims.tsv` has all.
fn begun(why: &str) -> String {
    match why.match_indices("; ").find(|(at, _)| *at >= REASON_BYTES) {
        Some((at, _)) => format!("{}; …", &why[..at]),
        None => why.to_owned(),
    }
}

/// "steel needs two seconds (3, 9, contradicted); …", at most a few of them.
fn named(claims: &[&Judged]) -> String {
    let one = |(claim, standing, ..): &&Judged| {
        let own = match standing {
            Standing::Holds => ", holds",
            Standing::Contradicted => ", contradicted",
            Standing::StatedOtherwise => ", stated otherwise",
            Standing::Open => "",
        };
        format!("{} ({}{own})", cell(&claim.says), claim.line)
    };
    let mut shown: Vec<String> = claims.iter().take(CLAIMS_SHOWN).map(one).collect();
    if let Some(more) = claims.get(CLAIMS_SHOWN..).filter(|more| !more.is_empty()) {
        shown.push(format!("lines {}", lines(more)));
    }
    shown.join("; ") + "."
}

/// The lines of some claims, each once and in order.
fn lines(claims: &[&Judged]) -> String {
    let lines: BTreeSet<usize> = claims.iter().map(|(claim, ..)| claim.line).collect();
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn raw(one: &Audited) -> String {
    if one.claims.raw.is_empty() {
        return "\nNo raw data are public: it is held against itself alone.\n".to_owned();
    }
    let mut text =
        "\nRaw data (facts **stored**; `claims --raw FOLDER` derives them again):\n\n".to_owned();
    let mut files: Vec<&str> = one.claims.raw.iter().map(|info| info.file.as_str()).collect();
    files.dedup();
    for file in files {
        let of_file = || one.claims.raw.iter().filter(|info| info.file == file);
        let stored = |name: &str| one.facts.iter().find(|facts| facts.raw == name);
        let facts = of_file().filter_map(|info| Some(stored(&info.name)?.all().count()));
        let Some(info) = of_file().next() else { continue };
        let sha256 = &info.sha256[..info.sha256.len().min(12)];
        let facts: usize = facts.sum();
        let _ = writeln!(text, "* {file} (sha256 `{sha256}`, {}): {facts} facts", info.source);
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
        let _ = writeln!(text, "\n{more} more: `findings.tsv`.");
    }
    text
}

/// A text as a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::begun;

    #[test]
    fn a_long_reason_ends_with_a_whole_number() {
        let short = "one; two; three";
        assert_eq!(begun(short), short);
        let first = "a wall time against another: 0.5 (report/table)".repeat(4);
        assert_eq!(begun(&format!("{first}; b: 2; c: 3")), format!("{first}; …"));
    }
}
