//! What a person reads beside the answer, and the numbers in it.

use lab_console::{plain, seconds_text};
use lab_stats::{outcome::Outcome, tail::SLOW};

use super::{commands::Command, mean, metric::Metric};
use crate::{CandidateState, Estimate, Missing, POWER, Question, Settings, State, TailSide};

/// What is said of candidates beside their state.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    pub(crate) metric: Metric,
    pub(crate) settings: &'a Settings,
    /// The ratios of means, one for each candidate.
    pub(crate) means: &'a [Option<f64>],
}

/// What is said of each candidate beside its verdict, and of the control.
pub(crate) fn notes(state: &State, commands: &[Command], words: Words<'_>) -> Vec<String> {
    let candidates = || state.candidates.iter().zip(&commands[1..]).enumerate();
    let tails = candidates().filter_map(|(_, (candidate, command))| {
        let line = tail(candidate, words.settings).filter(|_| has_tail(candidate, words))?;
        Some(format!("{}: {line}", command.name))
    });
    let means = candidates().filter_map(|(place, (candidate, command))| {
        Some((&command.name, mean_line(candidate, place, words)?))
    });
    let means: Vec<(&String, String)> = means.collect();
    let means = match &means[..] {
        [(name, line)] => Some(format!("{name}: {line}")),
        [(first, _), .., (last, _)] => Some(format!(
            "mean {} outside the interval of the typical run, which a few runs carry: {} commands, \
             {first} to {last}",
            words.metric.label(),
            means.len()
        )),
        [] => None,
    };
    let tails: Vec<String> = tails.collect();
    means
        .into_iter()
        .chain(tails)
        .chain(control(state, &commands[0].name, words.settings))
        .collect()
}

/// Whether its slow runs tell something that the typical run does not.
fn has_tail(candidate: &CandidateState, words: Words<'_>) -> bool {
    let is_asked = words.settings.question == Question::Tail;
    let some_are_slow = candidate.tail.shares.is_some_and(|shares| shares != [0.0; 2]);
    let is_told = candidate.tail.side != TailSide::Open;
    let is_typical = primary(candidate).is_some_and(|found| found.shift.abs() > SLOW.ln());
    is_asked || (some_are_slow || is_told) && !is_typical
}

/// What stands below the verdicts, as the items of a list in Markdown.
pub(crate) fn items(state: &State, commands: &[Command], words: Words<'_>) -> Vec<String> {
    let code = |command: &Command| plain::code(&command.name);
    let candidates = state.candidates.iter().zip(&commands[1..]).enumerate();
    let lines = candidates.flat_map(|(place, (candidate, command))| {
        let names = [&commands[0], command].map(code);
        let ended = candidate.endings.as_ref().map(|endings| endings.said([&names[0], &names[1]]));
        let lines = beside(candidate, place, words);
        ended.into_iter().chain(lines.map(move |line| format!("{}: {line}", code(command))))
    });
    lines.chain(control(state, &code(&commands[0]), words.settings)).collect()
}

/// What is open, where the means tell another story, and the slow runs.
fn beside(
    candidate: &CandidateState,
    place: usize,
    words: Words<'_>,
) -> impl Iterator<Item = String> {
    let open = why_not(candidate, words.settings);
    let mean = mean_line(candidate, place, words);
    open.into_iter().chain(mean).chain(tail(candidate, words.settings))
}

fn mean_line(candidate: &CandidateState, place: usize, words: Words<'_>) -> Option<String> {
    let mean = words.means.get(place).copied().flatten();
    mean::line(words.metric, primary(candidate)?, mean)
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
pub(crate) fn why_not(candidate: &CandidateState, settings: &Settings) -> Option<String> {
    if candidate.endings.is_some() {
        return None;
    }
    let verdict = candidate.verdict;
    let longer = longer(candidate);
    Some(match (verdict.outcome, verdict.missing) {
        (Outcome::CannotTell, Some(Missing::Control)) => {
            format!("it would be told, but the control's interval is too wide{longer}")
        }
        (Outcome::CannotTell, None) => {
            format!("{}{longer}", could_have_shown(candidate))
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

/// What an open comparison would have told from nothing.
pub(crate) fn could_have_shown(candidate: &CandidateState) -> String {
    let seen = candidate.detectable.map_or("no difference".to_owned(), |shift| {
        format!("a difference of {:.2} % (power {:.0} %)", percent(shift), 100.0 * POWER)
    });
    format!("these rounds could have shown {seen}")
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

/// "1 round", "2 rounds".
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("{count} {what}") } else { format!("{count} {what}s") }
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
            endings: None,
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
}
