//! Whether later sessions found what earlier ones said: the check of the model on records that it
//! did not see.

use std::collections::BTreeMap;

use lab_record::Scale;
use lab_stats::outcome::Outcome;

use super::{Line, Question, questions};
use crate::chapter::Column::Words;
use crate::compare::Line as Judged;
use crate::study::Study;
use crate::tables::Table;

/// A difference beyond it must keep its verdict, as a logarithm: 10 %.
const LARGE: f64 = 0.095_310_179_804_324_87;

/// How often a rule's word held.
#[derive(Default)]
struct Held {
    /// Verdicts that the earlier gave, and of these contradicted ones.
    given: usize,
    contradicted: usize,
    /// Verdicts on differences beyond 10 %, and of these such as the later gave again.
    large: usize,
    kept: usize,
    /// Estimates of later sessions, and of these such as lie in the earlier interval.
    estimates: usize,
    inside: usize,
}

/// What earlier sessions said, beside what later ones of the same experiment found, as Markdown;
/// today's rule for one session, every earlier session against every later one, stands beside it.
/// `None` where no declared question was measured in two sessions of both.
pub fn next(earlier: &[Study], later: &[Study]) -> Option<String> {
    let mut over = Held::default();
    let mut against = Vec::new();
    for (before, after) in questions(earlier).iter().zip(&questions(later)) {
        for line in before.lines.iter().filter(|line| !line.is_control) {
            let Some(again) = after.lines.iter().find(|one| one.name == line.name) else {
                continue;
            };
            let estimate = line.over.over.as_ref().map(|over| over.estimate);
            if over.judge((line.outcome, again.outcome), large(before, estimate)) {
                against.push(sentence(before, line, again));
            }
            let [low, high] = line.over.over.as_ref().map_or([f64::NAN; 2], |over| over.prediction);
            over.look([low, high], again.over.each.iter().map(|session| session.value));
        }
    }
    if over.estimates == 0 {
        return None;
    }
    let mut alone = Held::default();
    for (one, other) in earlier.iter().flat_map(|one| later.iter().map(move |other| (one, other))) {
        alone.of_one(one, other);
    }
    let against: String = against.iter().map(|line| format!("\n* {line}")).collect();
    let against =
        if against.is_empty() { against } else { format!("\nContradicted:\n{against}\n") };
    Some(format!("{}{against}", table(&over, &alone)))
}

fn large(question: &Question, estimate: Option<f64>) -> bool {
    question.asked.scale == Scale::Ratio && estimate.is_some_and(|it| it.abs() > LARGE)
}

fn is_verdict(outcome: Outcome) -> bool {
    is_difference(outcome) || outcome == Outcome::Equivalent
}

fn is_difference(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Faster | Outcome::Slower)
}

fn sentence(question: &Question, before: &Line, after: &Line) -> String {
    let shown = |line: &Line| match &line.over.over {
        Some(over) => format!("{} ({})", line.outcome, question.ends(over.estimate, over.interval)),
        None => line.outcome.to_string(),
    };
    format!("`{}`, {}: {}, then {}", before.name, question.title, shown(before), shown(after))
}

impl Held {
    /// Counts a pair of verdicts, and says whether the later contradicts the earlier.
    fn judge(&mut self, (before, after): (Outcome, Outcome), is_large: bool) -> bool {
        let contradicts = is_verdict(before) && is_verdict(after) && before != after;
        self.given += usize::from(is_verdict(before));
        self.contradicted += usize::from(contradicts);
        let is_large = is_large && is_difference(before);
        self.large += usize::from(is_large);
        self.kept += usize::from(is_large && before == after);
        contradicts
    }

    fn look(&mut self, [low, high]: [f64; 2], estimates: impl Iterator<Item = f64>) {
        for estimate in estimates.filter(|_| !low.is_nan()) {
            self.estimates += 1;
            self.inside += usize::from(low <= estimate && estimate <= high);
        }
    }

    /// One session by its own report against one other.
    fn of_one(&mut self, one: &Study, other: &Study) {
        let later = told(other);
        for (key, (scale, before)) in told(one) {
            let Some((_, after)) = later.get(&key) else { continue };
            let is_large =
                scale == Scale::Ratio && before.estimate().is_some_and(|it| it.abs() > LARGE);
            self.judge((before.finding.outcome, after.finding.outcome), is_large);
            if let Some(interval) = before.shift.and_then(|shift| shift.interval) {
                self.look([interval.low, interval.high], after.estimate().into_iter());
            }
        }
    }
}

/// What a session's own report says, by the place of the question and the candidate.
fn told<'s>(study: &'s Study) -> BTreeMap<(usize, &'s str), (Scale, &'s Judged)> {
    let compared = study.compared.iter().enumerate().flat_map(|(place, it)| {
        it.lines.iter().map(move |line| ((place, &*line.variant), (it.comparison.scale, line)))
    });
    let contrasted = study.contrasted.iter().enumerate().map(|(place, it)| {
        ((study.compared.len() + place, &*it.line.variant), (it.contrast.scale, &it.line))
    });
    compared.chain(contrasted).collect()
}

fn table(over: &Held, alone: &Held) -> String {
    let part = |some: usize, all: usize| match all {
        0 => "0 of 0".to_owned(),
        all => format!("{some} of {all} ({:.1} %)", 100.0 * some as f64 / all as f64),
    };
    type Shown<'a> = &'a dyn Fn(&Held) -> String;
    let rows: [(&str, Shown); 4] = [
        ("verdicts given", &|held| held.given.to_string()),
        ("of them contradicted later", &|held| part(held.contradicted, held.given)),
        ("verdicts on more than 10 % that were given again", &|held| part(held.kept, held.large)),
        ("later estimates inside the interval", &|held| part(held.inside, held.estimates)),
    ];
    let table = Table::over(
        &rows,
        &[
            Words("how often", "", &|(name, _)| (*name).to_owned()),
            Words("over the earlier sessions", "", &|(_, shown)| shown(over)),
            Words("one session alone", "", &|(_, shown)| shown(alone)),
        ],
    );
    table.markdown()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_verdicts_and_equal_against_different_contradict() {
        use Outcome::{CannotTell, Equivalent, Faster, Slower, Withheld};
        let mut held = Held::default();
        for (before, after, contradicts) in [
            (Faster, Slower, true),
            (Equivalent, Faster, true),
            (Slower, Equivalent, true),
            (Slower, Slower, false),
            (Slower, CannotTell, false),
            (CannotTell, Slower, false),
            (Withheld, Slower, false),
        ] {
            assert_eq!(held.judge((before, after), true), contradicts, "{before} {after}");
        }
        assert_eq!((held.given, held.contradicted), (5, 3));
        assert_eq!((held.large, held.kept), (4, 1), "an equivalent one is not large");
    }

    #[test]
    fn estimates_are_counted_where_there_was_an_interval() {
        let mut held = Held::default();
        held.look([-0.1, 0.1], [0.0, 0.1, 0.2].into_iter());
        held.look([f64::NAN; 2], [0.0].into_iter());
        assert_eq!((held.estimates, held.inside), (3, 2));
    }
}
