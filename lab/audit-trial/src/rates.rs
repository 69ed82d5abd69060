//! False alarms on clean reports and detections of planted errors, counted.

use std::collections::BTreeMap;
use std::fmt::Write;

use lab_audit::{Finding, Severity};
use statrs::distribution::{Beta, ContinuousCDF};

use crate::{KINDS, Kind, Report, clean, planted};

/// A count of trials with an exact interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Trials in which it happened.
    pub hits: usize,
    /// Trials.
    pub of: usize,
}

/// How often one kind of error is found.
#[derive(Debug, Clone, PartialEq)]
pub struct Detection {
    /// The kind.
    pub kind: Kind,
    /// Reports in which a finding says so.
    pub found: Share,
    /// Reports in which that finding is called impossible.
    pub impossible: Share,
    /// The checks that fired, with their counts, the most frequent first.
    pub checks: Vec<(String, usize)>,
}

/// What the audit gets right and wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// The seed of the first report.
    pub seed: u64,
    /// Clean reports in which something is called impossible.
    pub impossible: Share,
    /// Clean reports in which something is called doubtful.
    pub doubtful: Share,
    /// The false alarms by check, with the seed of a report that has it.
    pub alarms: BTreeMap<String, (usize, u64)>,
    /// By kind of planted error.
    pub detections: Vec<Detection>,
}

/// Audits `reports` clean reports and `reports` / 10, but at least 4, with each kind of error.
pub fn rates(seed: u64, reports: usize) -> Rates {
    let seeds = (0..reports as u64).map(|index| seed.wrapping_add(index));
    let mut rates = Rates {
        seed,
        impossible: Share { hits: 0, of: reports },
        doubtful: Share { hits: 0, of: reports },
        alarms: BTreeMap::new(),
        detections: Vec::new(),
    };
    for seed in seeds {
        rates.count(&clean(seed).audit(), seed);
    }
    let each = (reports / 10).max(4);
    rates.detections = KINDS.iter().map(|&kind| detection(seed, kind, each)).collect();
    rates
}

impl Share {
    /// The exact 95 % interval of the rate, as shares. Source: Clopper and Pearson (1934),
    /// Biometrika 26(4), pp. 404-413.
    pub fn interval(self) -> (f64, f64) {
        let (hits, of) = (self.hits as f64, self.of as f64);
        let quantile =
            |a: f64, b: f64, p: f64| Beta::new(a, b).map_or(0.0, |beta| beta.inverse_cdf(p));
        let low = if self.hits == 0 { 0.0 } else { quantile(hits, of - hits + 1.0, 0.025) };
        let high = if self.hits >= self.of { 1.0 } else { quantile(hits + 1.0, of - hits, 0.975) };
        (low, high)
    }

    fn text(self) -> String {
        let (low, high) = self.interval();
        let rate = 100.0 * self.hits as f64 / self.of.max(1) as f64;
        format!("{rate:.1} % ({:.1} to {:.1} %)", 100.0 * low, 100.0 * high)
    }
}

impl Rates {
    /// Two tables.
    pub fn markdown(&self) -> String {
        let mut text =
            "| Clean reports with a finding that is | Reports | Rate (95 % interval) |\n\
                        |---|---|---|\n"
                .to_owned();
        for (name, share) in [("impossible", self.impossible), ("doubtful", self.doubtful)] {
            let _ =
                writeln!(text, "| {name} | {} of {} | {} |", share.hits, share.of, share.text());
        }
        text += "\n| Planted error | Found | Rate (95 % interval) | Called impossible | By |\n\
                 |---|---|---|---|---|\n";
        for found in &self.detections {
            let by: Vec<&str> =
                found.checks.iter().take(3).map(|(name, _)| name.as_str()).collect();
            let _ = writeln!(
                text,
                "| {} | {} of {} | {} | {} | {} |",
                found.kind.name(),
                found.found.hits,
                found.found.of,
                found.found.text(),
                found.impossible.hits,
                by.join(", ")
            );
        }
        for (check, (count, seed)) in &self.alarms {
            let _ = writeln!(
                text,
                "\nFalse alarm `{check}` in {count} reports, first with seed {seed}."
            );
        }
        text
    }

    fn count(&mut self, findings: &[Finding], seed: u64) {
        let any = |severity| findings.iter().any(|finding| finding.severity == severity);
        self.impossible.hits += usize::from(any(Severity::Impossible));
        self.doubtful.hits += usize::from(any(Severity::Doubtful));
        let mut names: Vec<&str> = findings
            .iter()
            .filter(|finding| finding.severity != Severity::Note)
            .map(|finding| finding.check.as_str())
            .collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            self.alarms.entry(name.to_owned()).or_insert((0, seed)).0 += 1;
        }
    }
}

fn detection(seed: u64, kind: Kind, trials: usize) -> Detection {
    let mut checks: BTreeMap<String, usize> = BTreeMap::new();
    let (mut hits, mut impossible) = (0, 0);
    for index in 0..trials as u64 {
        let (report, twin) = planted(seed.wrapping_add(index), kind);
        let found = new_findings(&report, &twin, kind);
        hits += usize::from(!found.is_empty());
        impossible +=
            usize::from(found.iter().any(|finding| finding.severity == Severity::Impossible));
        if let Some(first) = found.first() {
            *checks.entry(first.check.clone()).or_default() += 1;
        }
    }
    let mut checks: Vec<(String, usize)> = checks.into_iter().collect();
    checks.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let share = |hits| Share { hits, of: trials };
    Detection { kind, found: share(hits), impossible: share(impossible), checks }
}

/// Findings that say what was planted: those that the sound twin does not have.
fn new_findings(report: &Report, twin: &Report, kind: Kind) -> Vec<Finding> {
    let wanted = kind.checks();
    let known = twin.audit();
    let same = |a: &Finding, b: &Finding| a.check == b.check && a.place == b.place;
    let is_new = |finding: &Finding| !known.iter().any(|known| same(known, finding));
    let says_so = |finding: &Finding| {
        if wanted.is_empty() {
            finding.severity != Severity::Note
        } else {
            wanted.contains(&finding.check.as_str())
        }
    };
    let found = report.audit();
    found.into_iter().filter(|finding| says_so(finding) && is_new(finding)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R: binom.test(3, 100)$conf.int and binom.test(0, 1000)$conf.int.
    #[test]
    fn exact_intervals() {
        let (low, high) = Share { hits: 3, of: 100 }.interval();
        assert!((low - 0.006_229_97).abs() < 1e-6 && (high - 0.085_176_05).abs() < 1e-6);
        let (low, high) = Share { hits: 0, of: 1_000 }.interval();
        assert!(low == 0.0 && (high - 0.003_682_08).abs() < 1e-6);
    }
}
