//! What is said while a comparison runs: what it may take, and a line a second.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use lab_console::{seconds_text, streams};

use super::{
    commands::Command,
    metric::Metric,
    record::Round,
    so_far::SoFar,
    spend,
    text::{counted, interval, primary},
};
use crate::{CandidateState, Settings, State};

/// Between two lines on a terminal, and in a log.
const EVERY: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];

/// The line that tells how far it is.
pub(super) struct ProgressLine {
    terminal: bool,
    quiet: bool,
    shown: Instant,
}

impl ProgressLine {
    pub(super) fn new(quiet: bool) -> Self {
        Self { terminal: std::io::stderr().is_terminal(), quiet, shown: Instant::now() }
    }

    /// Whether the line is due.
    pub(super) fn due(&self) -> bool {
        !self.quiet && self.shown.elapsed() >= EVERY[usize::from(!self.terminal)]
    }

    /// Shows any line in its place.
    pub(super) fn tell(&mut self, line: &str) {
        self.shown = Instant::now();
        if self.terminal {
            // Back to the line's start, and the rest of an older one away.
            let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
        } else {
            streams::tell(line);
        }
    }

    pub(super) fn end(&self) {
        if self.terminal && !self.quiet {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// What a comparison may take, before its first round.
pub(super) fn announcement(settings: &Settings) -> String {
    let (seconds, least, fewest) =
        (settings.budget_s, settings.least_rounds, settings.fewest_pairs());
    let longest = match least {
        0 => format!("at most {seconds} s"),
        least => format!("at most {seconds} s, or {least} rounds where these take longer"),
    };
    let mut said = match settings.most_rounds {
        // The budget ends nothing before the least rounds.
        Some(most) if most <= least => format!("at most {}", counted(most, "round")),
        Some(most) => format!("{longest}; at most {}", counted(most, "round")),
        None => longest,
    };
    if settings.most_rounds.is_some_and(|most| most < fewest) {
        said += &format!(", and no answer comes before {fewest}");
    }
    if settings.candidates > 1 {
        let (candidates, level) = (settings.candidates, spend::percent(settings.alpha_each()));
        said += &format!("; {candidates} candidates share the error level, {level} each");
    }
    said
}

/// How far it is, and what the candidate that takes longest has shown.
pub(super) fn progress(
    state: &State,
    commands: &[Command],
    (metric, rounds): (Metric, &[Round]),
    settings: &Settings,
) -> String {
    let open = state.candidates.iter().enumerate().max_by(|(_, a), (_, b)| {
        let left = |candidate: &CandidateState| candidate.seconds_to_go.unwrap_or(f64::INFINITY);
        left(a).total_cmp(&left(b))
    });
    let Some((place, candidate)) = open else { return String::new() };
    let elapsed = seconds_text(state.elapsed_s);
    let (name, reference) = (&commands[place + 1].name, &commands[0].name);
    let shown = match primary(candidate).filter(|found| found.interval.is_some()) {
        Some(found) => format!("{name} {}", interval(found)),
        None if candidate.endings.is_some() => name.clone(),
        None => SoFar::of(rounds, place)
            .map_or(name.clone(), |so_far| so_far.said(metric, [reference, name])),
    };
    let answered = state.candidates.iter().filter(|candidate| candidate.answered).count();
    let answered = match state.candidates.len() {
        1 => String::new(),
        all => format!("{answered} of {all} answered, "),
    };
    let left = left(state, candidate, settings);
    format!("{} rounds in {elapsed}: {answered}{shown}; {left}", state.rounds)
}

fn left(state: &State, candidate: &CandidateState, settings: &Settings) -> String {
    let budget = seconds_text(settings.budget_s);
    match candidate.seconds_to_go {
        Some(seconds) if state.elapsed_s + seconds <= settings.budget_s => {
            format!("about {} more", seconds_text(seconds.max(1.0)))
        }
        Some(seconds) => {
            format!("budget {budget}, an answer would take about {} more", seconds_text(seconds))
        }
        None => format!("budget {budget}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_comparison_may_take_is_what_ends_it() {
        let said = |most_rounds| announcement(&Settings { most_rounds, ..Settings::default() });
        let fewest = Settings::default().fewest_pairs();
        let least = Settings::default().least_rounds;
        let usual = format!("at most 60 s, or {least} rounds where these take longer");
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
