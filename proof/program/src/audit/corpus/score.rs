//! Which findings are true and which labels were found.

use lab_audit::Finding;

use super::labels::{Clean, Judged, Label};

/// Lines between a finding and a label that still count as one place.
const NEAR: usize = 2;

/// What is known of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A label matches it, or it was judged so.
    True,
    /// It lies in a clean range, or was judged so.
    False,
    /// Nobody has read the place.
    Open,
}

/// What findings are held against.
pub(crate) struct Score<'a> {
    /// Of the document.
    pub(crate) labels: &'a [Label],
    pub(crate) clean: &'a Clean,
    pub(crate) judged: &'a [Judged],
}

impl Score<'_> {
    /// The verdict on each finding, and whether each label was found by a true one.
    pub(crate) fn of(
        &self,
        file: &str,
        findings: Vec<Finding>,
    ) -> (Vec<(Finding, Verdict)>, Vec<bool>) {
        let mut found = vec![false; self.labels.len()];
        let mut judged = Vec::new();
        for finding in findings {
            let verdict = self.verdict(file, &finding);
            if verdict == Verdict::True {
                for (label, found) in self.labels.iter().zip(&mut found) {
                    *found |= matches(&finding, label);
                }
            }
            judged.push((finding, verdict));
        }
        (judged, found)
    }

    /// A verdict by hand goes before a label, a label before a clean range.
    fn verdict(&self, file: &str, finding: &Finding) -> Verdict {
        let line = finding.place.line.unwrap_or(0);
        match Judged::verdict(self.judged, file, line, &finding.check) {
            Some(true) => Verdict::True,
            Some(false) => Verdict::False,
            None if self.labels.iter().any(|label| matches(finding, label)) => Verdict::True,
            None if self.clean.holds(file, line) => Verdict::False,
            None => Verdict::Open,
        }
    }
}

/// Whether a finding stands where a label does, or accuses a line that the label contradicts from
/// the label's own.
fn matches(finding: &Finding, label: &Label) -> bool {
    let Some(line) = finding.place.line else { return false };
    let against = finding.against.as_ref().and_then(|place| place.line);
    let near = |line: usize| line.abs_diff(label.line) <= NEAR;
    near(line) || label.against.contains(&line) && against.is_none_or(near)
}
