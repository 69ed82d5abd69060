//! What is said of what a run leaves to the next.

use lab_stats::after_itself::AfterItself;
use serde_json::{Value, json};

use super::{commands::Command, record::Round};
use crate::{Ran, Settings, after_themselves};

/// How sure it is that runs after themselves differ, before it is said: as of a verdict.
const CONFIDENCE: f64 = 0.99;

/// Runs right after their own command against runs right after another.
pub(super) struct CarryOver {
    /// By command.
    each: Vec<Option<AfterItself>>,
    all: Option<AfterItself>,
}

impl CarryOver {
    /// Of rounds of one metric, the first. Where commands run at once, or several times in a row,
    /// or each pair apart, there is nothing to tell.
    pub(super) fn of(rounds: &[Round], commands: &[Command], settings: &Settings) -> Self {
        let told = !settings.duet && settings.in_a_row.is_none();
        let rounds = rounds.iter().filter(|_| told);
        let ran = rounds.map(|round| Ran {
            wash: &round.wash,
            order: &round.order,
            times: round.order.iter().map(|command| round.runs[*command][0]).collect(),
        });
        // The control's copy is a command of its own, of which nothing is said.
        let mut each = after_themselves(&ran.collect::<Vec<_>>(), settings.commands());
        each.truncate(commands.len());
        let found: Vec<AfterItself> = each.iter().flatten().copied().collect();
        Self { each, all: AfterItself::pooled(&found) }
    }

    /// A line for each command that is told apart, or for all together.
    pub(super) fn lines(&self, commands: &[Command]) -> Vec<String> {
        let of_one = |(command, found): (&Command, &Option<AfterItself>)| {
            Some(format!("{} {}", command.name, said(found.as_ref()?)?))
        };
        let mut lines: Vec<String> = commands.iter().zip(&self.each).filter_map(of_one).collect();
        if lines.is_empty() {
            let all = self.all.as_ref().and_then(said);
            lines.extend(all.map(|said| format!("a command {said}")));
        }
        if !lines.is_empty() {
            lines.push(
                "the verdict is about a machine that runs all in turns; --order blocks:N asks of \
                 each by itself"
                    .to_owned(),
            );
        }
        lines
    }

    /// Adds it to the result for other programs.
    pub(super) fn add_to(&self, result: &mut Value) {
        let value = |found: &Option<AfterItself>| {
            found.as_ref().map(|found| {
                json!({
                    "shift": found.shift, "interval": found.interval(CONFIDENCE),
                    "after_itself": found.own, "after_another": found.other,
                })
            })
        };
        let each: Vec<Value> = self.each.iter().map(|found| json!(value(found))).collect();
        result["after_itself"] = json!({ "all": value(&self.all), "each": each });
    }
}

/// "right after itself: -2.10 % (-3.00 … -1.20) against after another".
fn said(found: &AfterItself) -> Option<String> {
    let [low, high] = found.interval(CONFIDENCE).filter(|_| found.differs(CONFIDENCE))?;
    let percent = |shift: f64| 100.0 * shift.exp_m1();
    Some(format!(
        "right after itself: {:+.2} % ({:+.2} … {:+.2}) against after another",
        percent(found.shift),
        percent(low),
        percent(high)
    ))
}
