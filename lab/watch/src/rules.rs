//! The rules: from a file, or those that TR115 publishes.

use std::collections::BTreeSet;

use lab_family::InputError;
use serde::{Deserialize, Serialize};

use crate::{METRICS, Metric};

/// TR115's thresholds, in the form in which a user writes others.
pub const PUBLISHED: &str = include_str!("published.toml");

/// How messages name [`PUBLISHED`].
const PUBLISHED_NAME: &str = "the published rules";
/// A week: a window keeps every number within it.
const WINDOW_S_MAX: f64 = 604_800.0;

/// A threshold, and when it counts as crossed.
#[derive(Debug, Clone)]
pub struct Rule {
    /// What is watched.
    pub metric: &'static Metric,
    /// On which side of the threshold the value should not be.
    pub side: Side,
    /// The threshold itself is on the good side.
    pub threshold: f64,
    /// How far back the value reaches.
    pub window_s: f64,
    /// How long the value has to be on the wrong side, at every look.
    pub for_s: f64,
    /// With fewer numbers in the window there is no value.
    pub at_least: usize,
    /// How grave it is.
    pub severity: Severity,
    /// What to do; may be empty.
    pub action: String,
}

/// A side of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Above it.
    Over,
    /// Below it.
    Under,
}

/// How grave a crossed threshold is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Printed and exposed.
    Warning,
    /// Told to a command and to whoever reads the exit code, too.
    Alert,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    metric: String,
    over: Option<f64>,
    under: Option<f64>,
    window_s: f64,
    #[serde(default)]
    for_s: f64,
    #[serde(default = "one")]
    at_least: usize,
    #[serde(default = "alert")]
    severity: Severity,
    #[serde(default)]
    action: String,
}

fn one() -> usize {
    1
}

fn alert() -> Severity {
    Severity::Alert
}

/// TR115's rules.
pub fn published() -> Vec<Rule> {
    rules(PUBLISHED_NAME, PUBLISHED).expect("a test reads the published rules")
}

/// The rules of a file's text.
///
/// # Errors
/// Names the file and the key.
pub fn rules(file: &str, text: &str) -> Result<Vec<Rule>, InputError> {
    let written: File = toml::from_str(text).map_err(|error| InputError::text(file, &error))?;
    if written.rule.is_empty() {
        return Err(InputError::value(file, "rule", "is empty; write at least one [[rule]]"));
    }
    let mut names = BTreeSet::new();
    let mut rules = Vec::new();
    for rule in written.rule {
        let rule = rule.checked(file)?;
        if !names.insert(rule.name()) {
            let message = format!("{} stands there twice; take one out", rule.name());
            return Err(InputError::value(file, "rule", message));
        }
        rules.push(rule);
    }
    Ok(rules)
}

impl Written {
    fn checked(self, file: &str) -> Result<Rule, InputError> {
        let known = METRICS.iter().map(|metric| metric.name);
        let metric = METRICS.iter().find(|metric| metric.name == self.metric).ok_or_else(|| {
            InputError::unknown(file, "rule.metric", "metric", &self.metric, known)
        })?;
        let refuse = |key: &str, message: &str| {
            Err(InputError::value(file, &format!("rule.{}.{key}", metric.name), message))
        };
        let (side, threshold) = match (self.over, self.under) {
            (Some(threshold), None) => (Side::Over, threshold),
            (None, Some(threshold)) => (Side::Under, threshold),
            _ => return refuse("over", "give either `over` or `under`"),
        };
        if !threshold.is_finite() {
            return refuse(side.name(), "must be a number");
        }
        if !(self.window_s > 0.0 && self.window_s <= WINDOW_S_MAX) {
            return refuse("window_s", "must lie above 0 and not above 604800, a week");
        }
        if !(0.0..=WINDOW_S_MAX).contains(&self.for_s) {
            return refuse("for_s", "must lie between 0 and 604800, a week");
        }
        if self.at_least == 0 {
            return refuse("at_least", "must be 1 or more");
        }
        Ok(Rule {
            metric,
            side,
            threshold,
            window_s: self.window_s,
            for_s: self.for_s,
            at_least: self.at_least,
            severity: self.severity,
            action: self.action.trim().to_owned(),
        })
    }
}

impl Rule {
    /// Its own among the rules of a file, for example `ttft_p95_s_over_3`.
    pub fn name(&self) -> String {
        format!("{}_{}_{}", self.metric.name, self.side.name(), self.threshold)
    }

    /// Whether a value is on the wrong side.
    pub(crate) fn is_crossed(&self, value: f64) -> bool {
        match self.side {
            Side::Over => value > self.threshold,
            Side::Under => value < self.threshold,
        }
    }

    pub(crate) fn window_ns(&self) -> u64 {
        nanoseconds(self.window_s)
    }

    pub(crate) fn for_ns(&self) -> u64 {
        nanoseconds(self.for_s)
    }
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

impl Side {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Over => "over",
            Self::Under => "under",
        }
    }
}

impl Severity {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Alert => "alert",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "[[rule]]\nmetric = \"error_rate\"\nover = 0.01\nwindow_s = 60\n";

    #[test]
    fn a_short_rule_is_an_alert_at_once() {
        let read = rules("r.toml", RULE).unwrap();
        assert_eq!(read[0].name(), "error_rate_over_0.01");
        assert_eq!((read[0].for_s, read[0].at_least), (0.0, 1));
        assert_eq!(read[0].severity, Severity::Alert);
        assert!(!read[0].is_crossed(0.01) && read[0].is_crossed(0.011));
    }

    #[test]
    fn a_rule_that_cannot_be_is_refused_with_file_and_key() {
        for (from, to, expected) in [
            ("error_rate", "error_rat", "did you mean `error_rate`?"),
            ("over = 0.01", "", "key `rule.error_rate.over`: give either"),
            ("over = 0.01", "over = 1\nunder = 2", "give either"),
            ("over = 0.01", "over = nan", "must be a number"),
            ("window_s = 60", "window_s = 0", "key `rule.error_rate.window_s`"),
            ("window_s = 60", "window_s = 1\nfor_s = -1", "key `rule.error_rate.for_s`"),
            ("window_s = 60", "window_s = 1\nat_least = 0", "key `rule.error_rate.at_least`"),
            ("window_s = 60", "window_s = 1\nseverity = \"page\"", "severity"),
            ("window_s = 60", "window_s = 1\nwindow = 2", "window"),
        ] {
            let error = rules("r.toml", &RULE.replace(from, to)).unwrap_err().to_string();
            assert!(error.starts_with("r.toml") && error.contains(expected), "{to}: {error}");
        }
        let twice = rules("r.toml", &RULE.repeat(2)).unwrap_err().to_string();
        assert!(twice.contains("error_rate_over_0.01 stands there twice"), "{twice}");
        assert!(rules("r.toml", "rule = []").is_err());
    }
}
