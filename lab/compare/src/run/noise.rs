//! How much runs vary, and what that means for the question.

use lab_console::seconds_text;
use lab_stats::describe::{median, median_deviation};
use serde::Serialize;
use serde_json::{Value, json};

use super::record::Round;
use crate::{Comparison, log_ratio};

/// The standard deviation of a normal sample over its median absolute deviation.
const NORMAL_SD_PER_MAD: f64 = 1.482_6;
/// Of fewer nothing is said.
const FEWEST: usize = 3;

/// Robust spreads of the primary metric.
pub(super) struct Noise {
    /// By command: of its own runs, over their median.
    runs: Vec<Option<f64>>,
    candidates: Vec<OfPairs>,
    /// The budget, or the time that it took where that is more.
    seconds: f64,
    /// Whether --runs ends it before.
    is_counted: bool,
    in_a_row: bool,
}

/// A candidate's pairs; `null` of too few.
#[derive(Serialize)]
struct OfPairs {
    pairs_percent: Option<f64>,
    /// Of the interval to be expected after `rounds`.
    half_width_percent: Option<f64>,
    /// Those that there is time for.
    rounds: usize,
}

impl Noise {
    pub(super) fn of(comparison: &Comparison, rounds: &[Round]) -> Self {
        let settings = comparison.settings();
        let seconds = settings.budget_s.max(comparison.elapsed_s);
        let primary = |command: usize| {
            let values = rounds.iter().filter_map(move |round| round.runs[command].first());
            values.copied().collect::<Vec<f64>>()
        };
        let of_runs = |command| {
            let values = primary(command);
            let centre = median(&values).filter(|centre| *centre > 0.0)?;
            Some(100.0 * spread(&values)? / centre)
        };
        let time = seconds / comparison.elapsed_s;
        let by_time = |rounds: usize| (rounds as f64 * time) as usize;
        let most = settings.most_rounds;
        let of_pairs = |(number, candidate): (usize, &crate::comparison::Candidate)| {
            let pair = |round: &Round| {
                let (reference, own) = (round.runs[0].first()?, round.runs[number + 1].first()?);
                Some(log_ratio(*reference, *own))
            };
            let pairs: Vec<f64> = rounds.iter().filter_map(pair).collect();
            let had = candidate.rounds;
            let all = most.map_or(by_time(had), |most| most.min(by_time(had))).max(had);
            let sequence = &candidate.sequences[0];
            let half_width = sequence.half_width_after(sequence.counted() + all - had);
            let percent = |shift: f64| 100.0 * shift.exp_m1();
            OfPairs {
                pairs_percent: spread(&pairs).map(percent),
                half_width_percent: half_width.map(percent).filter(|width| width.is_finite()),
                rounds: all,
            }
        };
        Self {
            runs: (0..=settings.candidates).map(of_runs).collect(),
            candidates: comparison.candidates.iter().enumerate().map(of_pairs).collect(),
            seconds,
            is_counted: most.is_some_and(|most| most < by_time(comparison.rounds())),
            in_a_row: settings.in_a_row.is_some(),
        }
    }

    /// "runs vary by 2.1 and 2.3 %, pairs by 1.9 %: ±0.4 % in 60 s"; `None` after too few rounds.
    pub(super) fn line(&self) -> Option<String> {
        let of = |part: fn(&OfPairs) -> Option<f64>| {
            self.candidates.iter().filter_map(part).collect::<Vec<f64>>()
        };
        let runs: Vec<f64> = self.runs.iter().copied().flatten().collect();
        let runs = listed("", &runs).filter(|_| self.runs.iter().all(Option::is_some))?;
        let pairs = listed("", &of(|pairs| pairs.pairs_percent))?;
        let what = if self.in_a_row { "blocks" } else { "runs" };
        let means = listed("±", &of(|pairs| pairs.half_width_percent)).map(|width| {
            let rounds = self.candidates.iter().map(|pairs| pairs.rounds).min().unwrap_or_default();
            match self.is_counted {
                true => format!(": {width} in {rounds} rounds"),
                false => format!(": {width} in {}", seconds_text(self.seconds)),
            }
        });
        Some(format!("{what} vary by {runs}, pairs by {pairs}{}", means.unwrap_or_default()))
    }

    /// Adds it to the result for other programs.
    pub(super) fn add_to(&self, result: &mut Value) {
        result["noise"] = json!({
            "runs_percent": self.runs, "candidates": self.candidates, "seconds": self.seconds,
        });
    }
}

/// In the unit of the values; `None` of too few.
fn spread(values: &[f64]) -> Option<f64> {
    let deviation = median_deviation(values).filter(|_| values.len() >= FEWEST)?;
    Some(NORMAL_SD_PER_MAD * deviation)
}

/// "2.1 %", "2.1 and 2.3 %", or of more the least and the most: "0.5 to 2.3 %".
fn listed(sign: &str, values: &[f64]) -> Option<String> {
    let one = |value: f64| format!("{sign}{}", digits(value));
    let [least, most] = [f64::min, f64::max].map(|end| values.iter().copied().reduce(end));
    let (least, most) = (one(least?), one(most?));
    Some(match values {
        [value] => format!("{} %", one(*value)),
        [first, second] => format!("{} and {} %", one(*first), one(*second)),
        _ => format!("{least} to {most} %"),
    })
}

fn digits(percent: f64) -> String {
    match percent {
        ..0.1 => format!("{percent:.2}"),
        ..10.0 => format!("{percent:.1}"),
        _ => format!("{percent:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layout, Settings, run::session};

    /// Rounds of a second: the reference takes 100 ± 1, candidates `factors` of 100 and of it.
    fn compared(settings: Settings, factors: &[f64], rounds: usize) -> (Comparison, Vec<Round>) {
        let mut comparison = Comparison::new(settings, &["wall"]).unwrap();
        let mut all = Vec::new();
        for number in 0..rounds {
            let off = [-1.0, 0.0, 1.0][number % 3];
            let runs = factors.iter().map(|factor| factor * 100.0 + off);
            let runs: Vec<Vec<f64>> =
                [100.0 + off].into_iter().chain(runs).map(|run| vec![run]).collect();
            let round = Round {
                elapsed_s: (number + 1) as f64,
                wash: Vec::new(),
                order: (0..runs.len()).collect(),
                session: 0,
                layout: Layout::default(),
                statuses: vec![0; runs.len()],
                runs,
                in_a_row: Vec::new(),
            };
            session::add(&mut comparison, &round).unwrap();
            all.push(round);
        }
        (comparison, all)
    }

    #[test]
    fn spreads_are_robust_and_relative() {
        let (comparison, rounds) = compared(Settings::default(), &[2.0], 30);
        let noise = Noise::of(&comparison, &rounds);
        let line = noise.line().unwrap();
        // 1.4826 of 100 and of 200; a pair's ratio moves by half of that.
        assert!(line.starts_with("runs vary by 1.5 and 0.7 %, pairs by 0.7 %"), "{line}");
        let mut result = json!({});
        noise.add_to(&mut result);
        let runs = result["noise"]["runs_percent"][0].as_f64().unwrap();
        assert!((runs - 1.4826).abs() < 1e-9, "{runs}");
        assert_eq!(result["noise"]["seconds"], 60.0);
        assert_eq!(result["noise"]["candidates"][0]["rounds"], 60);
    }

    #[test]
    fn what_the_rest_of_the_time_can_tell_is_told() {
        let line = |settings: Settings| {
            let (comparison, rounds) = compared(settings, &[2.0], 40);
            Noise::of(&comparison, &rounds).line().unwrap()
        };
        let usual = Settings::default();
        let (short, long) =
            (line(usual.clone()), line(Settings { budget_s: 6e3, ..usual.clone() }));
        let width = |line: &str| -> f64 {
            let rest = line.split('±').nth(1).unwrap();
            rest.split(' ').next().unwrap().parse().unwrap()
        };
        assert!(short.ends_with(" % in 60 s") && long.ends_with(" % in 100 min"), "{short} {long}");
        assert!(width(&long) < width(&short) / 3.0, "{short} {long}");
        let counted = line(Settings { most_rounds: Some(50), ..usual.clone() });
        assert!(counted.ends_with(" % in 50 rounds"), "{counted}");
        // It took longer than the budget.
        let longer = line(Settings { budget_s: 5.0, ..usual });
        assert!(longer.ends_with(" % in 40 s"), "{longer}");
    }

    #[test]
    fn many_commands_take_one_line_and_too_few_rounds_none() {
        let three = Settings { candidates: 3, ..Settings::default() };
        let (comparison, rounds) = compared(three.clone(), &[1.0, 2.0, 4.0], 40);
        let line = Noise::of(&comparison, &rounds).line().unwrap();
        assert!(line.starts_with("runs vary by 0.4 to 1.5 %, pairs by 0.00 to "), "{line}");
        let (comparison, rounds) = compared(three, &[1.0, 2.0, 4.0], 2);
        assert_eq!(Noise::of(&comparison, &rounds).line(), None);
    }
}
