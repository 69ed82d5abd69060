//! What a person reads: a line a second, and the answer at the end.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use lab_console::{plain, seconds_text, streams};
use lab_stats::{
    outcome::Outcome,
    tail::{MEAN_MARGIN, SHARE_MARGIN},
};

use super::{
    commands::Command,
    metric::Metric,
    same_bytes::{ABOUT, SameBytes},
    spend::percent,
};
use crate::{CandidateState, Estimate, Missing, Settings, State, TailState};

/// Between two lines on a terminal, and in a log.
const EVERY: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];

/// The line that tells how far it is.
pub(crate) struct ProgressLine {
    terminal: bool,
    quiet: bool,
    shown: Instant,
}

impl ProgressLine {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { terminal: std::io::stderr().is_terminal(), quiet, shown: Instant::now() }
    }

    /// Whether the line is due.
    pub(crate) fn due(&self) -> bool {
        !self.quiet && self.shown.elapsed() >= EVERY[usize::from(!self.terminal)]
    }

    pub(crate) fn show(&mut self, state: &State, commands: &[Command], settings: &Settings) {
        self.tell(&progress(state, commands, settings));
    }

    /// Shows any line in its place.
    pub(crate) fn tell(&mut self, line: &str) {
        self.shown = Instant::now();
        if self.terminal {
            // Back to the line's start, and the rest of an older one away.
            let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
        } else {
            streams::tell(line);
        }
    }

    pub(crate) fn end(&self) {
        if self.terminal && !self.quiet {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// What a comparison may take, before its first round.
pub(crate) fn announcement(settings: &Settings) -> String {
    let (seconds, least, fewest) =
        (settings.budget_s, settings.least_rounds, settings.fewest_pairs());
    let longest = match least {
        0 => format!("at most {seconds} s"),
        least => format!("at most {seconds} s, or {least} rounds where these take longer"),
    };
    let mut said = match settings.most_rounds {
        // The budget ends nothing before the least rounds.
        Some(most) if most <= least => format!("at most {most} rounds"),
        Some(most) => format!("{longest}; at most {most} rounds"),
        None => longest,
    };
    if settings.most_rounds.is_some_and(|most| most < fewest) {
        said += &format!(", and no answer comes before {fewest}");
    }
    if settings.candidates > 1 {
        let (candidates, level) = (settings.candidates, percent(settings.alpha_each()));
        said += &format!("; {candidates} candidates share the error level, {level} each");
    }
    said
}

fn progress(state: &State, commands: &[Command], settings: &Settings) -> String {
    let open = state.candidates.iter().enumerate().max_by(|(_, a), (_, b)| {
        let left = |candidate: &CandidateState| candidate.seconds_to_go.unwrap_or(f64::INFINITY);
        left(a).total_cmp(&left(b))
    });
    let Some((place, candidate)) = open else { return String::new() };
    let estimate = primary(candidate).map_or("no interval yet".to_owned(), interval);
    let left = match candidate.seconds_to_go {
        Some(seconds) if state.elapsed_s + seconds <= settings.budget_s => {
            format!("about {} more", seconds_text(seconds.max(1.0)))
        }
        Some(seconds) => format!(
            "budget {}, an answer would take about {} more",
            seconds_text(settings.budget_s),
            seconds_text(seconds)
        ),
        None => format!("budget {}", seconds_text(settings.budget_s)),
    };
    let elapsed = seconds_text(state.elapsed_s);
    let name = &commands[place + 1].name;
    format!("{} rounds in {elapsed}: {name} {estimate}; {left}", state.rounds)
}

/// The end: a line a candidate and one of the control.
pub(crate) fn summary(
    state: &State,
    commands: &[Command],
    primary_metric: Metric,
    settings: &Settings,
    same: &SameBytes,
) -> Vec<String> {
    let reference = &commands[0].name;
    let spent = seconds_text(state.elapsed_s);
    let mut lines = Vec::new();
    for (number, (candidate, command)) in state.candidates.iter().zip(&commands[1..]).enumerate() {
        let estimate = primary(candidate).map_or(String::new(), |found| {
            format!(": {} {}", primary_metric.label(), interval(found))
        });
        let (name, verdict) = (&command.name, candidate.verdict);
        let rounds = candidate.rounds;
        let about = if same.is_first(number) { format!("; {ABOUT}") } else { String::new() };
        lines.push(format!(
            "{name} against {reference}: {verdict}{estimate} ({rounds} rounds, {spent}){about}"
        ));
        lines.extend(why_not(candidate, settings).map(|why| format!("  {why}")));
    }
    lines.extend(control(state, reference, settings));
    lines
}

/// What stands below the verdicts, as the items of a list in Markdown.
pub(crate) fn items(state: &State, commands: &[Command], settings: &Settings) -> Vec<String> {
    let code = |command: &Command| plain::code(&command.name);
    let candidates = state.candidates.iter().zip(&commands[1..]);
    let reasons = candidates.filter_map(|(candidate, command)| {
        Some(format!("{}: {}", code(command), why_not(candidate, settings)?))
    });
    reasons.chain(control(state, &code(&commands[0]), settings)).collect()
}

fn control(state: &State, reference: &str, settings: &Settings) -> Option<String> {
    let against = || format!("control, {reference} against a copy of its program");
    match &state.control {
        _ if !settings.control => None,
        Some(control) => Some(format!("{}: {}", against(), interval(control))),
        None => Some(format!("{}: too few rounds", against())),
    }
}

/// What stood in the way of an answer.
fn why_not(candidate: &CandidateState, settings: &Settings) -> Option<String> {
    let verdict = candidate.verdict;
    let longer = candidate.seconds_to_go.map_or(String::new(), |seconds| {
        format!("; an answer would take about {} more", seconds_text(seconds))
    });
    Some(match (verdict.outcome, verdict.missing) {
        (Outcome::CannotTell, Some(Missing::Control)) => {
            format!("it would be told, but the control's interval is too wide{longer}")
        }
        (Outcome::CannotTell, None) => {
            let seen = candidate.detectable.map_or("no difference".to_owned(), |shift| {
                let percent = 100.0 * shift.exp_m1();
                format!("a difference of {percent:.2} % with a probability of 80 %")
            });
            format!("these rounds could have shown {seen}{longer}")
        }
        (Outcome::CannotTell, Some(Missing::Tail)) => {
            open_tail(&candidate.tail, settings) + &longer
        }
        (Outcome::Withheld, _) => {
            "the place of the file matters: the first command differs from a copy of its program"
                .to_owned()
        }
        (Outcome::Slower, _) if candidate.slower_beyond_margin.is_none() => {
            format!("whether by more than {} % is open", 100.0 * settings.margin)
        }
        _ => return None,
    })
}

/// The condition on the tail that is not shown: about the slow runs' share, else about the mean.
fn open_tail(tail: &TailState, settings: &Settings) -> String {
    let between = |[low, high]: [f64; 2], margin: f64, unit: &str| {
        let [low, high, margin] = [low, high, margin].map(|part| 100.0 * part);
        format!("between {low:+.1} and {high:+.1} {unit}; within ±{margin:.0} is asked")
    };
    let is_open = |[low, high]: &[f64; 2]| *low <= -SHARE_MARGIN || SHARE_MARGIN <= *high;
    match tail.slow_share.filter(is_open) {
        Some(share) => {
            let asked = between(share, SHARE_MARGIN, "points");
            format!("share of runs above 1.25 medians: {asked}")
        }
        None => {
            let asked = between(tail.capped_mean, settings.margin.max(MEAN_MARGIN), "%");
            format!("mean of runs, each counted for 2 medians at most: {asked}")
        }
    }
}

pub(crate) fn primary(candidate: &CandidateState) -> Option<&Estimate> {
    candidate.metrics[0].estimate.as_ref()
}

/// "+1.02 % (+0.21 … +1.83)".
pub(crate) fn interval(estimate: &Estimate) -> String {
    let percent = |shift: f64| 100.0 * shift.exp_m1();
    let middle = format!("{:+.2} %", percent(estimate.shift));
    match estimate.interval {
        Some([low, high]) => format!("{middle} ({:+.2} … {:+.2})", percent(low), percent(high)),
        None => format!("{middle} (no interval yet)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_of_the_tail_that_is_open_is_named() {
        let said = |slow_share, capped_mean| {
            let tail = TailState { slow_share: Some(slow_share), capped_mean, equivalent: false };
            open_tail(&tail, &Settings::default())
        };
        assert_eq!(
            said([-0.012, 0.081], [-0.01, 0.07]),
            "share of runs above 1.25 medians: between -1.2 and +8.1 points; within ±5 is asked"
        );
        assert_eq!(
            said([-0.012, 0.021], [-0.01, 0.07]),
            "mean of runs, each counted for 2 medians at most: between -1.0 and +7.0 %; within ±5 \
             is asked"
        );
    }

    #[test]
    fn what_a_comparison_may_take_is_what_ends_it() {
        let said = |most_rounds| announcement(&Settings { most_rounds, ..Settings::default() });
        let fewest = Settings::default().fewest_pairs();
        let usual = format!("at most 60 s, or {fewest} rounds where these take longer");
        assert_eq!(said(None), usual);
        assert_eq!(said(Some(90)), usual + "; at most 90 rounds");
        let few = format!("at most 3 rounds, and no answer comes before {fewest}");
        assert_eq!(said(Some(3)), few);
        let given = |candidates| Settings { least_rounds: 0, candidates, ..Settings::default() };
        assert_eq!(announcement(&given(1)), "at most 60 s");
        let many = "at most 60 s; 39 candidates share the error level, 0.026 % each";
        assert_eq!(announcement(&given(39)), many);
    }
}
