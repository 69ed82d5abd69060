//! The answer to a sweep's first question, in a few sentences.

use lab_stats::{interval::Interval, outcome::Outcome};

use crate::compare::Line;
use crate::contrast::Contrasted;
use crate::opening::question;
use crate::study::{Compared, Study};
use crate::words::Words;

/// So many beside the first are named with their sizes, others are counted.
const NAMED: usize = 4;

/// "`b` takes 12.0 % (9.0 … 15.0) less wall time than `a`. No difference was shown for `c`; one of
/// 9.0 % or more would have been seen."
///
/// `None` where no run answers the first question, or none is declared.
pub(crate) fn answer(study: &Study) -> Option<String> {
    if study.has_only_reference() {
        return of_levels(study, study.contrasted.first()?);
    }
    let sentences = [of_factor_asked(study), of_variants(study)];
    let sentences: Vec<String> = sentences.into_iter().flatten().collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The first contrast of a factor that the question names; where nothing else is declared, of any.
fn of_factor_asked(study: &Study) -> Option<String> {
    let question = question(&study.frame.run_file).to_lowercase();
    let words: Vec<&str> = question.split(|c: char| !c.is_alphanumeric()).collect();
    let is_asked = |factor: &str| {
        let one = factor.trim_end_matches('s');
        words.iter().any(|word| word.trim_end_matches('s') == one)
    };
    let is_asked = |one: &&Contrasted| is_asked(&one.contrast.factor);
    let any = study.contrasted.first().filter(|_| study.compared.is_empty());
    of_levels(study, study.contrasted.iter().find(is_asked).or(any)?)
}

fn of_variants(study: &Study) -> Option<String> {
    let compared = study.compared.first()?;
    let measured: Vec<&Line> = compared.lines.iter().filter(|line| line.n > 0).collect();
    let is_choice = |line: &&Line| study.no_choice(&line.variant).is_none();
    let lines: Vec<&Line> = measured.iter().copied().filter(is_choice).collect();
    let reference = format!("`{}`", study.reference());
    if lines.is_empty() {
        let nothing = format!("Nothing that one could choose was compared with {reference}.");
        return (!measured.is_empty()).then_some(nothing);
    }
    let noun = study.noun(&compared.comparison.metric);
    let is_better = |line: &&Line| line.finding.outcome == Outcome::Faster;
    let limit_is_better = measured.iter().any(|line| is_better(line) && !is_choice(line));
    let words = compared.words();
    let about = About { words, noun, reference, limit_is_better, is_named: false };
    Some(format!("{}{}", about.sentences(compared, &lines), asked_at(compared)))
}

/// " Asked at contention hot, workers 2." and " Asked at 6 levels of shape."
fn asked_at(compared: &Compared) -> String {
    let told = compared.comparison.cells.iter().map(|(factor, levels)| match &levels[..] {
        [level] => format!("{factor} {level}"),
        all => format!("{} levels of {factor}", all.len()),
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { told.concat() } else { format!(" Asked at {}.", told.join(", ")) }
}

/// What the sentences are about; the first one names it.
struct About {
    words: Words,
    noun: String,
    reference: String,
    /// Whether one that is nobody's choice is shown to be better.
    limit_is_better: bool,
    is_named: bool,
}

impl About {
    fn sentences(mut self, compared: &Compared, lines: &[&Line]) -> String {
        let [better, worse, equal, open, withheld] = [
            Outcome::Faster,
            Outcome::Slower,
            Outcome::Equivalent,
            Outcome::CannotTell,
            Outcome::Withheld,
        ]
        .map(|outcome| with(lines, outcome));
        let (unsure, open): (Vec<&Line>, Vec<&Line>) =
            open.into_iter().partition(|line| is_unsure(line));
        let mut sentences = Vec::new();
        sentences.extend(self.better(&better));
        if better.is_empty() && !worse.is_empty() {
            sentences.push(self.none_better(&worse));
        }
        sentences.extend(self.worse(&worse));
        sentences.extend(self.equal(&equal, &compared.show_margin()));
        sentences.extend(self.unsure(&unsure));
        sentences.extend(self.open(&open));
        sentences.extend(self.withheld(&withheld));
        sentences.join(" ")
    }

    /// "`b` takes 12.0 % (9.0 … 15.0) less wall time than `a`, followed by `c` (8.0 %)."
    fn better(&mut self, lines: &[&Line]) -> Option<String> {
        let (first, others) = lines.split_first()?;
        let shift = first.shift?;
        let size = |line: &&Line| {
            let size = line.estimate().map(|value| format!(" ({})", self.words.size(value)));
            format!("`{}`{}", line.variant, size.unwrap_or_default())
        };
        let mut named: Vec<String> = others.iter().take(NAMED).map(size).collect();
        named.extend(unnamed(others));
        let behind = if named.is_empty() { String::new() } else { ", followed by ".to_owned() };
        self.is_named = true;
        Some(format!(
            "`{}` {} {}{behind}{}.",
            first.variant,
            self.words.verb(true),
            self.words.against(&shift, &self.noun, &self.reference),
            listed(&named),
        ))
    }

    /// "Nothing is shown to take less wall time than `a`.", or nothing that one could choose.
    fn none_better(&mut self, worse: &[&Line]) -> String {
        let opposite = -worse.first().and_then(|line| line.estimate()).unwrap_or_default();
        self.is_named = true;
        let among = if self.limit_is_better { " that one could choose" } else { "" };
        format!(
            "Nothing{among} is shown to {} {} {} than {}.",
            self.words.verb(false),
            self.words.comparative(opposite),
            self.noun,
            self.reference
        )
    }

    /// "`d` takes 9.0 % (3.0 … 12.0) more." or "`d` and `e` take 2.0 to 9.0 % more."
    fn worse(&self, lines: &[&Line]) -> Option<String> {
        let (largest, smallest) = (lines.first()?, lines.last()?);
        if lines.len() == 1 {
            let shift = largest.shift?;
            let (verb, size) = (self.words.verb(true), self.words.alone(&shift));
            return Some(format!("`{}` {verb} {size}.", largest.variant));
        }
        let most = largest.estimate()?;
        let (range, than) = (self.words.range([smallest.estimate()?, most]), self.words.than(most));
        Some(format!("{} {} {range} {than}.", names(lines), self.words.verb(false)))
    }

    /// "`f` differs from `a` by less than 5 % in wall time."
    fn equal(&mut self, lines: &[&Line], margin: &str) -> Option<String> {
        let verb = if lines.len() == 1 { "differs" } else { "differ" };
        let names = (!lines.is_empty()).then(|| names(lines))?;
        let (from, of) = self.context(" in ");
        Some(format!("{names} {verb}{from} by less than {}{of}.", margin.trim_start_matches('±')))
    }

    /// "`g` takes 9.8 % (2.8 … 16.2) more and `h` 5.1 % less, but this is not sure: the control is
    /// not known well enough.", a sentence for each reason.
    fn unsure(&mut self, lines: &[&Line]) -> Vec<String> {
        let mut by_reason: Vec<(&str, Vec<&Line>)> = Vec::new();
        for &line in lines {
            let why = doubt(line);
            match by_reason.iter_mut().find(|(known, _)| *known == why) {
                Some((_, those)) => those.push(line),
                None => by_reason.push((why, vec![line])),
            }
        }
        by_reason.iter().filter_map(|(why, those)| self.unsure_because(why, those)).collect()
    }

    fn unsure_because(&mut self, why: &str, lines: &[&Line]) -> Option<String> {
        let (first, others) = lines.split_first()?;
        let shift = first.shift?;
        let size = match std::mem::replace(&mut self.is_named, true) {
            true => self.words.alone(&shift),
            false => self.words.against(&shift, &self.noun, &self.reference),
        };
        let mut named = vec![format!("`{}` {} {size}", first.variant, self.words.verb(true))];
        named.extend(others.iter().take(NAMED).filter_map(|line| {
            let estimate = line.estimate()?;
            let (size, than) = (self.words.size(estimate), self.words.than(estimate));
            Some(format!("`{}` {size} {than}", line.variant))
        }));
        named.extend(unnamed(others).map(|others| format!("{others} likewise")));
        Some(format!("{}, but this is not sure: {why}.", listed(&named)))
    }

    /// With what could have been detected, without which "no difference" says nothing.
    fn open(&mut self, lines: &[&Line]) -> Option<String> {
        let names = (!lines.is_empty()).then(|| names(lines))?;
        let sizes: Option<Vec<f64>> = lines.iter().map(|line| line.detectable).collect();
        let seen = seen(self.words, sizes.unwrap_or_default());
        let (from, of) = self.context(" in ");
        Some(format!("No difference{of}{from} was shown for {names}{seen}."))
    }

    fn withheld(&mut self, lines: &[&Line]) -> Option<String> {
        let names = (!lines.is_empty()).then(|| names(lines))?;
        let (from, of) = self.context(" on ");
        let from = from.replace(" from ", " against ");
        Some(format!("Withheld is what could be said{of}{from} of {names}."))
    }

    /// " from `a`" and " in wall time", unless a sentence before said it.
    fn context(&mut self, before: &str) -> (String, String) {
        match std::mem::replace(&mut self.is_named, true) {
            true => (String::new(), String::new()),
            false => (format!(" from {}", self.reference), format!("{before}{}", self.noun)),
        }
    }
}

/// Of a sweep of one variant: "With servers 2 `a` takes 40.0 % (38.0 … 41.0) less wall time than
/// with servers 1."
fn of_levels(study: &Study, one: &Contrasted) -> Option<String> {
    let words = one.words(study);
    let noun = study.noun(&one.contrast.metric);
    let (factor, variant) = (&one.contrast.factor, &one.contrast.variant);
    let [level, other] =
        [&one.contrast.level, &one.contrast.reference].map(|level| format!("{factor} {level}"));
    let shift = one.line.shift?;
    let than = words.against(&shift, &noun, &format!("with {other}"));
    let differs = format!("With {level} `{variant}` {} {than}", words.verb(true));
    Some(match one.line.finding.outcome {
        Outcome::Faster | Outcome::Slower => format!("{differs}."),
        Outcome::CannotTell if is_unsure(&one.line) => {
            format!("{differs}, but this is not sure: {}.", doubt(&one.line))
        }
        Outcome::CannotTell => {
            let seen = seen(words, one.line.detectable.into_iter().collect());
            format!(
                "No difference in {noun} was shown for `{variant}` between {level} and \
                 {other}{seen}."
            )
        }
        outcome => format!("`{variant}`, {noun} with {level} against {other}: {outcome}."),
    })
}

/// Whether a line that cannot tell has a difference all the same: its interval excludes 0, and
/// something else stands against it.
fn is_unsure(line: &Line) -> bool {
    let excludes_0 = |ends: Interval| ends.low > 0.0 || ends.high < 0.0;
    line.interval().is_some_and(excludes_0) && !line.finding.is_typically_equivalent()
}

/// What stands against it. An interval is of one line; the test is corrected for all of them.
fn doubt(line: &Line) -> &str {
    line.finding.why.as_deref().unwrap_or("the corrected test does not show it")
}

/// Those after the named ones.
fn unnamed(others: &[&Line]) -> Option<String> {
    match others.len().saturating_sub(NAMED) {
        0 => None,
        1 => Some("one other".to_owned()),
        more => Some(format!("{more} others")),
    }
}

/// "; one of 9.0 % or more would have been seen", from the largest of these.
fn seen(words: Words, sizes: Vec<f64>) -> String {
    let most = sizes.into_iter().max_by(f64::total_cmp);
    most.map_or(String::new(), |most| {
        format!("; one of {} or more would have been seen", words.percent(most))
    })
}

/// Lines of one outcome, the largest difference first.
fn with<'a>(lines: &[&'a Line], outcome: Outcome) -> Vec<&'a Line> {
    let mut found: Vec<&Line> =
        lines.iter().copied().filter(|line| line.finding.outcome == outcome).collect();
    let size = |line: &Line| line.estimate().unwrap_or(0.0).abs();
    found.sort_by(|a, b| size(b).total_cmp(&size(a)));
    found
}

fn names(lines: &[&Line]) -> String {
    let mut variants: Vec<&str> = lines.iter().map(|line| line.variant.as_str()).collect();
    variants.sort_unstable();
    listed(&variants.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>())
}

/// "a, b and c".
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use lab_family::{Metric, Unit, lower};
    use lab_record::Scale;
    use lab_stats::paired::ShiftEstimate;

    use super::*;
    use crate::judge::{Finding, TYPICAL};

    const TIME: &Metric = &lower(("a_ns", "time"), Unit::Ns, "");

    fn about() -> About {
        About {
            words: Words::of(Some(TIME), Scale::Difference),
            noun: "time".to_owned(),
            reference: "`a`".to_owned(),
            limit_is_better: false,
            is_named: false,
        }
    }

    /// A line that cannot tell, with an interval 10 ns around its estimate.
    fn line(variant: &str, estimate: f64, why: Option<&str>) -> Line {
        let (low, high) = (estimate - 10.0, estimate + 10.0);
        let interval = Some(Interval { low, high, confidence: 0.95 });
        let why = why.map(str::to_owned);
        Line {
            n: 9,
            shift: Some(ShiftEstimate { estimate, interval }),
            finding: Finding { outcome: Outcome::CannotTell, why, needs: None },
            ..Line::not_measured(variant)
        }
    }

    #[test]
    fn what_excludes_0_and_is_not_shown_is_said_with_its_reason() {
        let control = Some("the control is not known well enough");
        let lines = [line("b", 50.0, control), line("c", -40.0, None), line("d", -30.0, control)];
        let lines: Vec<&Line> = lines.iter().collect();
        let mut about = about();
        let expected = [
            "`b` takes 50 ns (40 … 60) more time than `a` and `d` 30 ns less, but this is not \
             sure: the control is not known well enough.",
            "`c` takes 40 ns (30 … 50) less, but this is not sure: the corrected test does not \
             show it.",
        ];
        assert_eq!(about.unsure(&lines), expected);
        assert_eq!(about.unsure(&[]), Vec::<String>::new());
    }

    #[test]
    fn of_many_that_are_not_sure_some_are_counted() {
        let lines: Vec<Line> = (0..7).map(|at| line("b", 100.0 - f64::from(at), None)).collect();
        let said = about().unsure(&lines.iter().collect::<Vec<_>>());
        assert!(said[0].contains("`b` 96 ns more and 2 others likewise, but"), "{said:?}");
    }

    #[test]
    fn an_interval_with_0_or_a_typical_run_that_is_equivalent_is_open() {
        assert!(is_unsure(&line("b", 11.0, None)) && is_unsure(&line("b", -11.0, None)));
        assert!(!is_unsure(&line("b", 9.0, None)));
        let typical = format!("{TYPICAL}tail unknown");
        assert!(!is_unsure(&line("b", 11.0, Some(&typical))));
    }
}
