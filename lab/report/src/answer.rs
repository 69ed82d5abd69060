//! The answer to a sweep's first question, in a few sentences.

use lab_stats::outcome::Outcome;

use crate::{Line, Study, contrast::Contrasted, study::Compared, words::Words};

/// So many that are better are named with their sizes, others are counted.
const NAMED_BETTER: usize = 4;

/// "`b` takes 12.0 % (9.0 … 15.0) less wall time than `a`. No difference was shown for `c`; one of
/// 9.0 % or more would have been seen."
///
/// `None` where no run answers the first question, or none is declared.
pub(crate) fn answer(study: &Study) -> Option<String> {
    if study.has_only_reference() {
        return of_levels(study, study.contrasted.first()?);
    }
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
    let about = About { words: compared.words(), noun, reference, is_named: false };
    Some(about.sentences(compared, &lines))
}

/// What the sentences are about; the first one names it.
struct About {
    words: Words,
    noun: String,
    reference: String,
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
        let mut sentences = Vec::new();
        sentences.extend(self.better(&better));
        if better.is_empty() && !worse.is_empty() {
            sentences.push(self.none_better(&worse));
        }
        sentences.extend(self.worse(&worse));
        sentences.extend(self.equal(&equal, &compared.show_margin()));
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
        let mut named: Vec<String> = others.iter().take(NAMED_BETTER).map(size).collect();
        match others.len().saturating_sub(NAMED_BETTER) {
            0 => {}
            1 => named.push("one other".to_owned()),
            more => named.push(format!("{more} others")),
        }
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

    /// "Nothing is shown to take less wall time than `a`."
    fn none_better(&mut self, worse: &[&Line]) -> String {
        let opposite = -worse.first().and_then(|line| line.estimate()).unwrap_or_default();
        self.is_named = true;
        format!(
            "Nothing is shown to {} {} {} than {}.",
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
    Some(match one.line.finding.outcome {
        Outcome::Faster | Outcome::Slower => {
            let than = words.against(&shift, &noun, &format!("with {other}"));
            format!("With {level} `{variant}` {} {than}.", words.verb(true))
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
