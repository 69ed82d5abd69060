//! What a rule may watch: a number of each observation, and how those of a window become one.

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
    of: fn(&Seen) -> Option<f64>,
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
}

#[derive(Debug, Clone, Copy)]
enum Statistic {
    Mean,
    Quantile(f64),
}

use Statistic::{Mean, Quantile};

/// Everything that a rule may watch.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "efficiency_as_published",
        unit: Unit::Share,
        says: "Durations of requests made at once over N times their wall time, mean of rounds.",
        of: |seen| round(seen)?.efficiency_as_published(),
        statistic: Mean,
    },
    Metric {
        name: "efficiency_true",
        unit: Unit::Share,
        says: "Durations of the same requests alone over N times the wall time, mean of rounds.",
        of: |seen| round(seen)?.efficiency_true(),
        statistic: Mean,
    },
    Metric {
        name: "speed_up_as_published",
        unit: Unit::Times,
        says: "Durations of requests made at once over their wall time, mean of rounds.",
        of: |seen| round(seen).and_then(|round| round.times(round.efficiency_as_published())),
        statistic: Mean,
    },
    Metric {
        name: "speed_up_true",
        unit: Unit::Times,
        says: "Durations of the same requests alone over the wall time, mean of rounds.",
        of: |seen| round(seen).and_then(|round| round.times(round.efficiency_true())),
        statistic: Mean,
    },
    Metric {
        name: "contention_rate",
        unit: Unit::Share,
        says: "Rounds in which a first token came after 3 s, share of all.",
        of: |seen| Some(one_if(round(seen)?.late)),
        statistic: Mean,
    },
    Metric {
        name: "error_rate",
        unit: Unit::Share,
        says: "Requests that failed, time-outs among them, share of all.",
        of: |seen| Some(one_if(call(seen)?.outcome != Ending::Answered)),
        statistic: Mean,
    },
    Metric {
        name: "timeout_rate",
        unit: Unit::Share,
        says: "Requests that took longer than they may, share of all.",
        of: |seen| Some(one_if(call(seen)?.outcome == Ending::TimedOut)),
        statistic: Mean,
    },
    Metric {
        name: "ttft_p50_s",
        unit: Unit::Seconds,
        says: "Time to first token, median of requests.",
        of: |seen| call(seen)?.first_token_s,
        statistic: Quantile(0.5),
    },
    Metric {
        name: "ttft_p95_s",
        unit: Unit::Seconds,
        says: "Time to first token, 95th percentile of requests.",
        of: |seen| call(seen)?.first_token_s,
        statistic: Quantile(0.95),
    },
    Metric {
        name: "ttft_p99_s",
        unit: Unit::Seconds,
        says: "Time to first token, 99th percentile of requests.",
        of: |seen| call(seen)?.first_token_s,
        statistic: Quantile(0.99),
    },
    Metric {
        name: "first_answer_p50_s",
        unit: Unit::Seconds,
        says: "Time to the first token after any thought, median of requests that were answered.",
        of: |seen| call(seen)?.first_answer_s,
        statistic: Quantile(0.5),
    },
    Metric {
        name: "first_answer_p95_s",
        unit: Unit::Seconds,
        says: "Time to the first token after any thought, 95th percentile of requests.",
        of: |seen| call(seen)?.first_answer_s,
        statistic: Quantile(0.95),
    },
    Metric {
        name: "answerless_rate",
        unit: Unit::Share,
        says: "Requests whose whole reply was thought, share of all that did not fail.",
        of: |seen| {
            let call = call(seen).filter(|call| call.outcome == Ending::Answered)?;
            Some(one_if(call.thought && call.first_answer_s.is_none()))
        },
        statistic: Mean,
    },
    Metric {
        name: "tokens_per_s",
        unit: Unit::TokensPerSecond,
        says: "Rate of a reply while it streams, median of requests.",
        of: |seen| call(seen)?.tokens_per_s(),
        statistic: Quantile(0.5),
    },
];

impl Metric {
    /// What one observation adds.
    pub(crate) fn of(&self, seen: &Seen) -> Option<f64> {
        (self.of)(seen)
    }

    /// The value of a window's numbers.
    pub(crate) fn value(&self, mut numbers: Vec<f64>) -> Option<f64> {
        match self.statistic {
            Mean => {
                let sum: f64 = numbers.iter().sum();
                (!numbers.is_empty()).then(|| sum / numbers.len() as f64)
            }
            Quantile(p) => {
                numbers.sort_by(f64::total_cmp);
                quantile(&numbers, p)
            }
        }
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
        }
    }

    /// A threshold for people, with all its digits: a rounded one would be another.
    pub(crate) fn show_all(self, threshold: f64) -> String {
        match self {
            // A hundredfold share has a last digit that nobody wrote.
            Self::Share => format!("{} %", (1e11 * threshold).round() / 1e9),
            Self::Times => format!("{threshold}"),
            Self::Seconds => format!("{threshold} s"),
            Self::TokensPerSecond => format!("{threshold} tokens/s"),
        }
    }
}

fn round(seen: &Seen) -> Option<&Round> {
    match seen {
        Seen::Round(round) => Some(round),
        Seen::Call(_) => None,
    }
}

fn call(seen: &Seen) -> Option<&Call> {
    match seen {
        Seen::Call(call) => Some(call),
        Seen::Round(_) => None,
    }
}

fn one_if(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}
