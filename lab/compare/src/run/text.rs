//! What a person reads: a line a second, and the answer at the end.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use lab_console::{plain, seconds_text, streams};
use lab_stats::{outcome::Outcome, tail::SLOW};

use super::{
    commands::Command,
    mean,
    metric::Metric,
    same_bytes::{ABOUT, SameBytes},
    spend,
};
use crate::{CandidateState, Estimate, Missing, POWER, Question, Settings, State, TailSide};

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
        let (candidates, level) = (settings.candidates, spend::percent(settings.alpha_each()));
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

/// What is said of candidates beside their state.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    pub(crate) metric: Metric,
    pub(crate) settings: &'a Settings,
    /// The ratios of means, one for each candidate.
    pub(crate) means: &'a [Option<f64>],
}

/// The end: a line a candidate with what is said below it, and one of the control.
pub(crate) fn summary(
    state: &State,
    commands: &[Command],
    words: Words<'_>,
    same: &SameBytes,
) -> Vec<String> {
    let Words { metric, settings, .. } = words;
    let reference = &commands[0].name;
    let spent = seconds_text(state.elapsed_s);
    let mut lines = Vec::new();
    for (place, (candidate, command)) in state.candidates.iter().zip(&commands[1..]).enumerate() {
        let estimate = primary(candidate)
            .map_or(String::new(), |found| format!(": {}", typical(metric, found, settings)));
        let (name, verdict) = (&command.name, candidate.verdict);
        let rounds = candidate.rounds;
        let about = if same.is_first(place) { format!("; {ABOUT}") } else { String::new() };
        lines.push(format!(
            "{name} against {reference}: {verdict}{estimate} ({rounds} rounds, {spent}){about}"
        ));
        lines.extend(beside(candidate, place, words).map(|line| format!("  {line}")));
    }
    lines.extend(control(state, reference, settings));
    lines
}

/// What stands below the verdicts, as the items of a list in Markdown.
pub(crate) fn items(state: &State, commands: &[Command], words: Words<'_>) -> Vec<String> {
    let code = |command: &Command| plain::code(&command.name);
    let candidates = state.candidates.iter().zip(&commands[1..]).enumerate();
    let lines = candidates.flat_map(|(place, (candidate, command))| {
        beside(candidate, place, words).map(move |line| format!("{}: {line}", code(command)))
    });
    lines.chain(control(state, &code(&commands[0]), words.settings)).collect()
}

/// What is open, where the means tell another story, and the slow runs.
fn beside(
    candidate: &CandidateState,
    place: usize,
    words: Words<'_>,
) -> impl Iterator<Item = String> {
    let mean = words.means.get(place).copied().flatten();
    let mean = primary(candidate).and_then(|found| mean::line(words.metric, found, mean));
    let open = why_not(candidate, words.settings);
    open.into_iter().chain(mean).chain(tail(candidate, words.settings))
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
    let longer = longer(candidate);
    Some(match (verdict.outcome, verdict.missing) {
        (Outcome::CannotTell, Some(Missing::Control)) => {
            format!("it would be told, but the control's interval is too wide{longer}")
        }
        (Outcome::CannotTell, None) => {
            let seen = candidate.detectable.map_or("no difference".to_owned(), |shift| {
                let percent = percent(shift);
                format!("a difference of {percent:.2} % (power {:.0} %)", 100.0 * POWER)
            });
            format!("these rounds could have shown {seen}{longer}")
        }
        (Outcome::Withheld, _) => {
            "the place of the file matters: the first command differs from a copy of its program"
                .to_owned()
        }
        _ if settings.precision.is_some() && !candidate.answered => {
            let asked = per_cent(settings.precision.unwrap_or_default());
            let known = primary(candidate).and_then(|found| found.interval);
            let known = known.map_or(f64::NAN, |[low, high]| percent((high - low) / 2.0));
            format!("known to ±{known:.2} %, and ±{asked} % is asked{longer}")
        }
        (Outcome::Faster | Outcome::Slower, _) if verdict.size.is_none() => {
            format!("whether by more than {} % is open{longer}", per_cent(settings.margin))
        }
        _ => return None,
    })
}

/// "; an answer would take about 20 s more", where one is asked for and not there.
fn longer(candidate: &CandidateState) -> String {
    let to_go = candidate.seconds_to_go.filter(|_| !candidate.answered);
    to_go.map_or(String::new(), |seconds| {
        format!("; an answer would take about {} more", seconds_text(seconds))
    })
}

/// The slow runs of both, and where their difference lies; `None` before one could be told.
fn tail(candidate: &CandidateState, settings: &Settings) -> Option<String> {
    let [reference, share] = candidate.tail.shares?.map(|share| 100.0 * share);
    let [low, high] = candidate.tail.slow_share.map(|end| 100.0 * end);
    let points = per_cent(settings.tail);
    let side = match candidate.tail.side {
        TailSide::Within => format!("within ±{points} points"),
        TailSide::More => format!("more by {points} points at least"),
        TailSide::Fewer => format!("fewer by {points} points at least"),
        TailSide::Open => format!("±{points} points are open"),
    };
    let longer = Some(longer(candidate)).filter(|_| settings.question == Question::Tail);
    Some(format!(
        "runs above {SLOW} medians: {share:.1} % against {reference:.1} %, {side} ({low:+.1} … \
         {high:+.1}, {} each end){}",
        confidence(settings),
        longer.unwrap_or_default()
    ))
}

pub(crate) fn primary(candidate: &CandidateState) -> Option<&Estimate> {
    candidate.metrics[0].estimate.as_ref()
}

/// "a typical run's wall time +1.02 % (+0.21 … +1.83, 99 %)".
pub(crate) fn typical(metric: Metric, estimate: &Estimate, settings: &Settings) -> String {
    let level = format!(", {}", confidence(settings));
    format!("a typical run's {} {}", metric.label(), with_ends(estimate, &level))
}

/// "+1.02 % (+0.21 … +1.83)".
pub(crate) fn interval(estimate: &Estimate) -> String {
    with_ends(estimate, "")
}

fn with_ends(estimate: &Estimate, level: &str) -> String {
    let middle = format!("{:+.2} %", percent(estimate.shift));
    match estimate.interval {
        Some([low, high]) => {
            format!("{middle} ({:+.2} … {:+.2}{level})", percent(low), percent(high))
        }
        None => format!("{middle} (no interval yet)"),
    }
}

/// As it was given: 0.07 is 7, and not 7.000000000000001.
fn per_cent(share: f64) -> f64 {
    (1e10 * share).round() / 1e8
}

/// Of a difference of logarithms.
pub(crate) fn percent(shift: f64) -> f64 {
    100.0 * shift.exp_m1()
}

/// "99 %", with as many digits as tell it from 100.
pub(crate) fn confidence(settings: &Settings) -> String {
    let digits = 1.0 - (100.0 * settings.alpha).log10().floor();
    let scale = 10_f64.powf(digits.max(0.0));
    format!("{} %", (100.0 * (1.0 - settings.alpha) * scale).round() / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(side: TailSide) -> CandidateState {
        let estimate = Estimate { shift: 0.02, interval: Some([0.005, 0.035]), pairs: 40 };
        CandidateState {
            rounds: 40,
            verdict: crate::Verdict::of(Outcome::Slower),
            metrics: vec![crate::MetricState { metric: String::new(), estimate: Some(estimate) }],
            slower_beyond_margin: None,
            tail: crate::TailState {
                pairs: 30,
                shares: Some([0.01, 0.031]),
                slow_share: [-0.012, 0.081],
                side,
            },
            more_slow_runs: None,
            answered: false,
            detectable: None,
            seconds_to_go: Some(20.0),
        }
    }

    #[test]
    fn slow_runs_are_told_with_their_difference_and_its_side() {
        let said = |side, question| {
            let settings = Settings { question, ..Settings::default() };
            tail(&candidate(side), &settings).unwrap()
        };
        assert_eq!(
            said(TailSide::Open, Question::Tail),
            "runs above 1.25 medians: 3.1 % against 1.0 %, ±5 points are open (-1.2 … +8.1, 99 % \
             each end); an answer would take about 20 s more"
        );
        let more = said(TailSide::More, Question::Size);
        assert!(more.contains(", more by 5 points at least (") && more.ends_with("end)"), "{more}");
        assert!(said(TailSide::Within, Question::Size).contains("within ±5 points"));
        assert!(said(TailSide::Fewer, Question::Size).contains("fewer by 5 points at least"));
    }

    #[test]
    fn what_is_open_of_a_size_is_said() {
        let open = |precision, answered| {
            let settings = Settings { precision, question: Question::Size, ..Settings::default() };
            why_not(&CandidateState { answered, ..candidate(TailSide::Open) }, &settings)
        };
        let longer = "; an answer would take about 20 s more";
        assert_eq!(open(None, false), Some(format!("whether by more than 1 % is open{longer}")));
        assert_eq!(open(None, true).as_deref(), Some("whether by more than 1 % is open"));
        let known = format!("known to ±1.51 %, and ±0.5 % is asked{longer}");
        assert_eq!(open(Some(0.005), false), Some(known));
        assert_eq!([0.07, 0.000_001, 0.3].map(per_cent), [7.0, 0.000_1, 30.0]);
    }

    #[test]
    fn a_level_has_the_digits_that_tell_it_from_100() {
        let said = |alpha| confidence(&Settings { alpha, ..Settings::default() });
        assert_eq!([0.01, 0.05, 0.025, 0.005].map(said), ["99 %", "95 %", "97.5 %", "99.5 %"]);
        assert_eq!([0.006_079, 0.000_121_5, 0.4].map(said), ["99.39 %", "99.988 %", "60 %"]);
    }

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
