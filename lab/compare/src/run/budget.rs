//! What a budget has room for: said after the first round, and held to from there on.

use lab_console::seconds_text;

use super::record::Round;
use crate::{RoundPlan, Settings, schedule::CONTROLS};

/// Where the first answer may come sooner, it has come before it is read when.
const READ_S: f64 = 1.0;
/// What is advised over what the rounds so far make likely: later ones may take longer.
const SLACK: f64 = 1.1;

/// What there is to say once a round's time is known.
#[derive(Debug, PartialEq)]
pub(super) enum Said {
    /// It may be known within the budget.
    Within(String),
    /// Nobody gave a budget, and the usual one is too short for an answer.
    Longer(String),
    /// The budget that was given has no room for an answer.
    NoRoom(String),
}

/// A comparison's time, and what its rounds take of it.
pub(super) struct Budget {
    seconds: f64,
    /// Rounds of each candidate before which it ends nothing; 0 of one that somebody gave, beyond
    /// which nothing is measured.
    least: usize,
    /// Rounds of all questions until there can be an answer, or those of --runs where these are
    /// fewer and there can be none.
    rounds: usize,
    can_answer: bool,
    /// Rounds of all questions until it ends in any case where nobody gave a budget.
    most: usize,
    /// Whether rounds are of several questions, and most of them are washed.
    is_mixed: bool,
    typical_s: Option<f64>,
    longest_s: f64,
    longest_wash_s: f64,
    is_told: bool,
}

impl Budget {
    /// With rounds that were recorded before, whose time counts.
    pub(super) fn new(settings: &Settings, recorded: &[Round]) -> Self {
        let design = settings.design();
        let fewest = settings.fewest_pairs();
        let each = settings.most_rounds.map_or(fewest, |most| most.min(fewest));
        let controls = CONTROLS as usize;
        let of_all = |each: usize| match (each * design.questions.len(), design.control) {
            (rounds, Some(_)) => (rounds * controls).div_ceil(controls - 1),
            (rounds, None) => rounds,
        };
        let most = settings.least_rounds.max(each);
        let is_mixed = design.questions.len() > 1 || design.control.is_some();
        let ends = || recorded.iter().map(|round| round.elapsed_s);
        let begins = [0.0].into_iter().chain(ends());
        let longest_s = ends().zip(begins).map(|(end, begin)| end - begin).fold(0.0, f64::max);
        Self {
            seconds: settings.budget_s,
            least: settings.least_rounds,
            rounds: of_all(each),
            can_answer: each == fewest,
            most: of_all(settings.most_rounds.map_or(most, |asked| asked.min(most))),
            is_mixed,
            typical_s: recorded.last().map(|last| last.elapsed_s / recorded.len() as f64),
            longest_s,
            // A wash is one run of the round, or both of a duet.
            longest_wash_s: longest_s,
            is_told: false,
        }
    }

    /// Takes the seconds of a round, of which so many were its wash.
    pub(super) fn took(&mut self, seconds: f64, wash_s: f64) {
        self.typical_s.get_or_insert(if self.is_mixed { seconds } else { seconds - wash_s });
        self.longest_s = self.longest_s.max(seconds - wash_s);
        self.longest_wash_s = self.longest_wash_s.max(wash_s);
    }

    /// What there is to say after so many rounds, once.
    pub(super) fn said(&mut self, rounds: usize, elapsed_s: f64) -> Option<Said> {
        let round_s = self.typical_s?;
        let left = self.rounds.saturating_sub(rounds);
        let until_s = elapsed_s + left as f64 * round_s;
        if std::mem::replace(&mut self.is_told, true) || left == 0 || until_s < READ_S {
            return None;
        }
        let [round, until] = [round_s, until_s].map(seconds_text);
        let (count, seconds) = (self.rounds, self.seconds);
        let sentence = match self.can_answer {
            true => {
                format!("a round takes {round}; no answer comes before {count} rounds, {until}")
            }
            false => format!("a round takes {round}; {count} rounds take {until}"),
        };
        Some(if until_s <= seconds {
            Said::Within(sentence)
        } else if self.least > 0 {
            let most_s = elapsed_s + self.most.saturating_sub(rounds) as f64 * round_s;
            Said::Longer(format!(
                "{sentence}, which is longer than the usual {seconds} s; it ends after {} rounds, \
                 {}; Ctrl-C ends it and keeps what was measured",
                self.most,
                seconds_text(most_s)
            ))
        } else if self.can_answer {
            let enough = rounded_up(SLACK * until_s);
            Said::NoRoom(format!(
                "{sentence}, for which --budget {seconds} has no room, so it ends here; give \
                 --budget {enough}"
            ))
        } else {
            Said::Within(sentence)
        })
    }

    /// Whether the next round may begin, where the candidate that had the fewest had so many: it
    /// would end in time if it took as long as the longest so far.
    pub(super) fn has_room(&self, rounds: usize, elapsed_s: f64, plan: &RoundPlan) -> bool {
        let wash_s = if plan.wash.is_empty() { 0.0 } else { self.longest_wash_s };
        rounds < self.least || elapsed_s + wash_s + self.longest_s <= self.seconds
    }
}

/// Two digits, and whole seconds.
fn rounded_up(seconds: f64) -> f64 {
    let unit = 10_f64.powf(seconds.log10().floor() - 1.0).max(1.0);
    (seconds / unit).ceil() * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;

    /// Of somebody who gave a budget, or of nobody.
    fn settings(given: Option<f64>) -> Settings {
        let usual = Settings::default();
        match given {
            Some(budget_s) => Settings { budget_s, least_rounds: 0, ..usual },
            None => usual,
        }
    }

    /// After a first round of so many seconds, half of them for the run that washed it.
    fn after_first(settings: &Settings, seconds: f64) -> (Budget, Option<Said>) {
        let mut budget = Budget::new(settings, &[]);
        assert_eq!(budget.said(0, 0.0), None, "nothing is known before the first round");
        budget.took(seconds, seconds / 2.0);
        let said = budget.said(1, seconds);
        assert_eq!(budget.said(2, 2.0 * seconds), None, "it is said once");
        (budget, said)
    }

    /// As many more rounds as there is room for, of so many seconds each.
    fn more_rounds(budget: &mut Budget, from_s: f64, round_s: f64) -> (usize, f64) {
        let plan = RoundPlan { wash: Vec::new(), order: vec![0, 1], layout: Layout::default() };
        let (mut rounds, mut elapsed_s) = (1, from_s);
        while budget.has_room(rounds, elapsed_s, &plan) {
            elapsed_s += round_s;
            budget.took(round_s, 0.0);
            rounds += 1;
        }
        (rounds, elapsed_s)
    }

    #[test]
    fn the_first_answer_is_foretold_and_what_is_over_soon_is_not() {
        let fewest = settings(None).fewest_pairs();
        let (_, said) = after_first(&settings(None), 4.0);
        let until = seconds_text(4.0 + 2.0 * (fewest - 1) as f64);
        assert_eq!(
            said,
            Some(Said::Within(format!(
                "a round takes 2.0 s; no answer comes before {fewest} rounds, {until}"
            )))
        );
        assert_eq!(after_first(&settings(None), 0.01).1, None);
        assert_eq!(after_first(&settings(Some(1.0)), 0.01).1, None);
    }

    #[test]
    fn a_command_of_twenty_minutes_is_announced_with_hours() {
        let (mut budget, said) = after_first(&settings(None), 4_800.0);
        let Some(Said::Longer(sentence)) = said else { panic!("{said:?}") };
        assert!(
            sentence.starts_with("a round takes 40 min; no answer comes before "),
            "{sentence}"
        );
        assert!(sentence.contains(" h, which is longer than the usual 60 s; it ends after "));
        // It takes what an answer needs, and no round more.
        let (rounds, _) = more_rounds(&mut budget, 4_800.0, 2_400.0);
        assert_eq!(rounds, settings(None).rounds_for_an_answer());
    }

    #[test]
    fn a_budget_without_room_for_an_answer_ends_at_once_with_one_that_has() {
        let fewest = settings(None).fewest_pairs();
        let (_, said) = after_first(&settings(Some(60.0)), 30.0);
        let Some(Said::NoRoom(sentence)) = said else { panic!("{said:?}") };
        assert!(sentence.contains("for which --budget 60 has no room, so it ends here; give "));
        let enough: f64 = sentence.rsplit(' ').next().unwrap().parse().unwrap();
        let needed = 30.0 + 15.0 * (fewest - 1) as f64;
        assert!(needed < enough && enough < 1.3 * needed, "{sentence}");
        // With that one there is room.
        let (mut budget, said) = after_first(&settings(Some(enough)), 30.0);
        assert!(matches!(said, Some(Said::Within(_))), "{said:?}");
        assert!(more_rounds(&mut budget, 30.0, 15.0).0 >= fewest);
    }

    #[test]
    fn nothing_is_measured_beyond_a_budget_that_was_given() {
        for (round_s, rounds) in [(1.0, 59), (0.7, 84), (7.0, 9)] {
            let (mut budget, _) = after_first(&settings(Some(60.0)), 2.0);
            let (found, elapsed_s) = more_rounds(&mut budget, 2.0, round_s);
            assert!(elapsed_s <= 60.0 && found.abs_diff(rounds) <= 1, "{found} {elapsed_s}");
        }
    }

    #[test]
    fn fewer_rounds_than_an_answer_needs_are_run_as_they_were_asked_for() {
        let few = |given| Settings { most_rounds: Some(3), ..settings(given) };
        let said = |given| after_first(&few(given), 40.0).1;
        let sentence = "a round takes 20 s; 3 rounds take 80 s";
        assert_eq!(said(Some(30.0)), Some(Said::Within(sentence.to_owned())));
        assert!(matches!(said(None), Some(Said::Longer(longer)) if longer.starts_with(sentence)));
    }

    #[test]
    fn the_time_of_recorded_rounds_counts() {
        let round = |elapsed_s| Round {
            elapsed_s,
            wash: Vec::new(),
            order: vec![0, 1],
            session: 0,
            layout: Layout::default(),
            runs: Vec::new(),
            statuses: Vec::new(),
            in_a_row: Vec::new(),
        };
        let recorded = [10.0, 25.0, 30.0].map(round);
        let mut budget = Budget::new(&settings(Some(50.0)), &recorded);
        assert!(matches!(budget.said(3, 30.0), Some(Said::NoRoom(_))));
        let plan = |wash| RoundPlan { wash, order: vec![0, 1], layout: Layout::default() };
        // 15 s were the longest, and a wash may take as long.
        let has_room = |elapsed_s, wash| budget.has_room(3, elapsed_s, &plan(wash));
        assert!(has_room(35.0, vec![]) && !has_room(36.0, vec![]));
        assert!(has_room(20.0, vec![1]) && !has_room(21.0, vec![1]));
    }

    #[test]
    fn rounds_of_several_questions_are_counted_together() {
        let rounds = |apart, control| {
            let settings = Settings { candidates: 4, apart, control, ..settings(None) };
            let budget = Budget::new(&settings, &[]);
            budget.rounds as f64 / settings.fewest_pairs() as f64
        };
        assert_eq!([rounds(false, false), rounds(true, false)], [1.0, 4.0]);
        assert!((rounds(false, true) - 1.5).abs() < 0.1);
        assert!((rounds(true, true) - 6.0).abs() < 0.1);
    }
}
