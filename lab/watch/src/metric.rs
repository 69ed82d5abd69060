//! What a rule may watch: a number of each observation, and how those of a window become one.

use std::collections::VecDeque;

use lab_stats::describe::quantile;

use crate::seen::{Call, Ending, Round, Seen};

/// One thing that rules may watch.
#[derive(Debug)]
pub struct Metric {
    /// As rules name it.
    pub name: &'static str,
    /// How it is shown.
    pub unit: Unit,
    /// What it is, in one sentence.
    pub says: &'static str,
    of: Of,
    statistic: Statistic,
}

/// How a value is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A part of one, shown in per cent.
    Share,
    /// A factor.
    Times,
    /// Seconds.
    Seconds,
    /// Tokens a second.
    TokensPerSecond,
    /// A number of things.
    Count,
}

#[derive(Debug, Clone, Copy)]
enum Statistic {
    Mean,
    Quantile(f64),
    /// Numbers above 0 since the last 0.
    InARow,
    /// Seconds since the last 0, or since the window's first number where there is none.
    SinceZeroS,
}

/// What one observation adds.
#[derive(Debug, Clone, Copy)]
enum Of {
    Calls(fn(&Call) -> Option<f64>),
    Rounds(fn(&Round) -> Option<f64>),
}

use Of::{Calls, Rounds};
use Statistic::{InARow, Mean, Quantile, SinceZeroS};

/// Everything that a rule may watch.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "efficiency_as_published",
        unit: Unit::Share,
        says: "Durations of requests made at once over N times their wall time, mean of rounds.",
        of: Rounds(Round::efficiency_as_published),
        statistic: Mean,
    },
    Metric {
        name: "efficiency_true",
        unit: Unit::Share,
        says: "Durations of the same requests alone over N times the wall time, mean of rounds.",
        of: Rounds(Round::efficiency_true),
        statistic: Mean,
    },
    Metric {
        name: "speed_up_as_published",
        unit: Unit::Times,
        says: "Durations of requests made at once over their wall time, mean of rounds.",
        of: Rounds(|round| round.times(round.efficiency_as_published())),
        statistic: Mean,
    },
    Metric {
        name: "speed_up_true",
        unit: Unit::Times,
        says: "Durations of the same requests alone over the wall time, mean of rounds.",
        of: Rounds(|round| round.times(round.efficiency_true())),
        statistic: Mean,
    },
    Metric {
        name: "contention_rate",
        unit: Unit::Share,
        says: "Rounds in which a first token came after 3 s, share of all.",
        of: Rounds(|round| Some(one_if(round.late))),
        statistic: Mean,
    },
    Metric {
        name: "error_rate",
        unit: Unit::Share,
        says: "Requests that failed, time-outs among them, share of all.",
        of: Calls(failed),
        statistic: Mean,
    },
    Metric {
        name: "failures_in_a_row",
        unit: Unit::Count,
        says: "Requests that failed since the last that was answered.",
        of: Calls(failed),
        statistic: InARow,
    },
    Metric {
        name: "unanswered_s",
        unit: Unit::Seconds,
        says: "Time since a request was answered last, or since the first one failed.",
        of: Calls(failed),
        statistic: SinceZeroS,
    },
    Metric {
        name: "empty_rate",
        unit: Unit::Share,
        says: "Requests whose reply ended well and had no token, share of all.",
        of: Calls(|call| Some(one_if(call.outcome == Ending::Empty))),
        statistic: Mean,
    },
    Metric {
        name: "timeout_rate",
        unit: Unit::Share,
        says: "Requests that took longer than they may, share of all.",
        of: Calls(|call| Some(one_if(call.outcome == Ending::TimedOut))),
        statistic: Mean,
    },
    Metric {
        name: "ttft_p50_s",
        unit: Unit::Seconds,
        says: "Time to first token, median of requests.",
        of: Calls(|call| call.first_token_s),
        statistic: Quantile(0.5),
    },
    Metric {
        name: "ttft_p95_s",
        unit: Unit::Seconds,
        says: "Time to first token, 95th percentile of requests.",
        of: Calls(|call| call.first_token_s),
        statistic: Quantile(0.95),
    },
    Metric {
        name: "ttft_p99_s",
        unit: Unit::Seconds,
        says: "Time to first token, 99th percentile of requests.",
        of: Calls(|call| call.first_token_s),
        statistic: Quantile(0.99),
    },
    Metric {
        name: "first_answer_p50_s",
        unit: Unit::Seconds,
        says: "Time to the first token after any thought, median of requests that were answered.",
        of: Calls(|call| call.first_answer_s),
        statistic: Quantile(0.5),
    },
    Metric {
        name: "first_answer_p95_s",
        unit: Unit::Seconds,
        says: "Time to the first token after any thought, 95th percentile of requests.",
        of: Calls(|call| call.first_answer_s),
        statistic: Quantile(0.95),
    },
    Metric {
        name: "answerless_rate",
        unit: Unit::Share,
        says: "Requests whose whole reply was thought, share of all that did not fail.",
        of: Calls(|call| {
            let is_answerless = call.thought && call.first_answer_s.is_none();
            (call.outcome == Ending::Answered).then(|| one_if(is_answerless))
        }),
        statistic: Mean,
    },
    Metric {
        name: "tokens_per_s",
        unit: Unit::TokensPerSecond,
        says: "Rate of a reply while it streams, median of requests.",
        of: Calls(Call::tokens_per_s),
        statistic: Quantile(0.5),
    },
];

impl Metric {
    /// What one observation adds.
    pub(crate) fn of(&self, seen: &Seen) -> Option<f64> {
        match (self.of, seen) {
            (Calls(of), Seen::Call(call)) => of(call),
            (Rounds(of), Seen::Round(round)) => of(round),
            _ => None,
        }
    }

    /// What its numbers are of, in the plural.
    pub fn counts(&self) -> &'static str {
        match self.of {
            Calls(_) => "requests",
            Rounds(_) => "rounds",
        }
    }

    /// The value of a window's moments, in nanoseconds, and numbers.
    pub(crate) fn value(&self, window: &VecDeque<(u64, f64)>, now_ns: u64) -> Option<f64> {
        let (first_ns, _) = window.front()?;
        let last_zero = window.iter().rposition(|(_, number)| *number == 0.0);
        let mut numbers: Vec<f64> = window.iter().map(|(_, number)| *number).collect();
        Some(match self.statistic {
            Mean => numbers.iter().sum::<f64>() / numbers.len() as f64,
            Quantile(p) => {
                numbers.sort_by(f64::total_cmp);
                return quantile(&numbers, p);
            }
            InARow => (window.len() - last_zero.map_or(0, |place| place + 1)) as f64,
            SinceZeroS => {
                let since_ns = last_zero.map_or(*first_ns, |place| window[place].0);
                now_ns.saturating_sub(since_ns) as f64 / 1e9
            }
        })
    }
}

impl Unit {
    /// A value for people.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Share => format!("{:.1} %", 100.0 * value),
            Self::Times => format!("{value:.2}"),
            Self::Seconds => format!("{value:.3} s"),
            Self::TokensPerSecond => format!("{value:.1} tokens/s"),
            Self::Count => format!("{value}"),
        }
    }

    /// A threshold for people, with all its digits: a rounded one would be another.
    pub(crate) fn show_all(self, threshold: f64) -> String {
        match self {
            // A hundredfold share has a last digit that nobody wrote.
            Self::Share => format!("{} %", (1e11 * threshold).round() / 1e9),
            Self::Times | Self::Count => format!("{threshold}"),
            Self::Seconds => format!("{threshold} s"),
            Self::TokensPerSecond => format!("{threshold} tokens/s"),
        }
    }
}

fn failed(call: &Call) -> Option<f64> {
    Some(one_if(call.outcome != Ending::Answered))
}

fn one_if(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}
