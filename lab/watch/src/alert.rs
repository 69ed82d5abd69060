//! From nothing over pending and firing to resolved, and what is said at each change.

use std::fmt;

use serde::Serialize;

use crate::{Rule, SCHEMA, Severity, Side};

/// How a rule stands with a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// Its threshold is not crossed.
    #[default]
    Inactive,
    /// It has been crossed since this moment, in nanoseconds, and not for long enough.
    Pending(u64),
    /// It was crossed for as long as the rule says.
    Firing,
}

/// A change that is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The threshold was crossed.
    Pending,
    /// It was for as long as the rule says.
    Firing,
    /// It is no longer, after it fired.
    Resolved,
}

impl State {
    /// The next state, and what changed. `crossed` is `None` where the window has no value, which
    /// changes nothing: silence is neither trouble nor recovery.
    pub(crate) fn next(
        self,
        crossed: Option<bool>,
        now_ns: u64,
        for_ns: u64,
    ) -> (Self, Option<Change>) {
        match (self, crossed) {
            (_, None) | (Self::Firing, Some(true)) => (self, None),
            (Self::Firing, Some(false)) => (Self::Inactive, Some(Change::Resolved)),
            (_, Some(false)) => (Self::Inactive, None),
            (Self::Inactive, Some(true)) if for_ns > 0 => {
                (Self::Pending(now_ns), Some(Change::Pending))
            }
            (Self::Pending(since), Some(true)) if now_ns.saturating_sub(since) < for_ns => {
                (self, None)
            }
            (_, Some(true)) => (Self::Firing, Some(Change::Firing)),
        }
    }

    /// As the metric `lab_watch_alert` has it.
    pub fn level(self) -> i64 {
        match self {
            Self::Inactive => 0,
            Self::Pending(_) => 1,
            Self::Firing => 2,
        }
    }
}

impl Change {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Firing => "firing",
            Self::Resolved => "resolved",
        }
    }
}

/// A change of one rule on one subject, with all that a reader needs to judge it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What changed.
    pub state: Change,
    /// The rule's name.
    pub rule: String,
    /// How grave it is.
    pub severity: Severity,
    /// A server, `all` of them, or a variant of a record.
    pub subject: String,
    /// What is watched.
    pub metric: &'static str,
    /// The window's value.
    pub value: f64,
    /// On which side of the threshold it should not be.
    pub side: Side,
    /// The threshold.
    pub threshold: f64,
    /// How far back the value reaches.
    pub window_s: f64,
    /// How long it has to be crossed.
    pub for_s: f64,
    /// Seconds since the watch, or the record, began.
    pub at_s: f64,
    /// What to do.
    pub action: String,
    /// The line for people.
    #[serde(skip)]
    line: String,
}

impl Event {
    pub(crate) fn of(
        rule: &Rule,
        subject: &str,
        state: Change,
        (at_ns, value): (u64, f64),
    ) -> Self {
        let at_s = at_ns as f64 / 1e9;
        Self {
            schema: SCHEMA,
            state,
            rule: rule.name(),
            severity: rule.severity,
            subject: subject.to_owned(),
            metric: rule.metric.name,
            value,
            side: rule.side,
            threshold: rule.threshold,
            window_s: rule.window_s,
            for_s: rule.for_s,
            at_s,
            action: rule.action.clone(),
            line: line(rule, subject, state, (at_s, value)),
        }
    }
}

fn line(rule: &Rule, subject: &str, state: Change, (at_s, value): (f64, f64)) -> String {
    let (unit, name) = (rule.metric.unit, rule.metric.name);
    let place = match state {
        Change::Resolved => "no longer ",
        Change::Pending | Change::Firing => "",
    };
    let (side, window_s, for_s) = (rule.side.name(), rule.window_s, rule.for_s);
    let mut line = format!(
        "+{at_s:.1} s {} {}: {name} of {subject} is {}, {place}{side} {} (window {window_s} s, for \
         {for_s} s)",
        state.name(),
        rule.severity.name(),
        unit.show(value),
        unit.show_all(rule.threshold),
    );
    if state == Change::Firing && !rule.action.is_empty() {
        line.push_str(": ");
        line.push_str(&rule.action);
    }
    line
}

impl fmt::Display for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.line)
    }
}
