//! The declared expectations: bars, published statements and checks, each judged from its own
//! numbers.

use lab_family::{Better, Unit};
use lab_record::{Expectation, ExpectationKind, OneOrMore, Quantity};
use lab_stats::outcome::{Outcome, Region};

use crate::chapter::Column::{Any, Text, Words};
use crate::chapter::number;
use crate::effect::Effect;
use crate::judge::{Evidence, Finding, judge};
use crate::page::{Page, method};
use crate::quantity::{OfStudy, Side, log_ratios, shared};
use crate::reading::Reading;
use crate::study::Runs;
use crate::study::Study;
use crate::tables::show_with_ends;
use crate::tables::{Entry, Table, several, show, show_percent};

/// An expectation with what was measured and what may be said.
pub struct Judged<'a> {
    /// As declared.
    pub expectation: &'a Expectation,
    /// What was measured.
    pub reading: Option<Reading>,
    /// Of a ratio: the smallest true change that so many blocks would have found.
    pub detectable: Option<f64>,
    /// What may be said.
    pub finding: Finding,
}

impl Judged<'_> {
    fn detectable(&self) -> Option<String> {
        self.detectable.map(|effect| show_percent(effect.exp_m1()))
    }

    fn name_and_detectable(&self) -> String {
        let detectable = self.detectable().map_or(String::new(), |size| format!(" ({size})"));
        format!("`{}`{detectable}", self.expectation.id)
    }
}

/// Judges every expectation of the experiment, in its order.
pub fn expectations<'a>(study: &Study<'a>) -> Vec<Judged<'a>> {
    let mut judged: Vec<Judged> = Vec::new();
    for expectation in &study.frame.run_file.expectations {
        let one = one(study, expectation, &judged);
        judged.push(one);
    }
    judged
}

fn one<'a>(study: &Study<'a>, expectation: &'a Expectation, before: &[Judged]) -> Judged<'a> {
    let mut evidence =
        Evidence { untestable: untestable(study, expectation), ..Evidence::default() };
    let (mut reading, mut detectable) = (None, None);
    let alarms = expectation.metrics().into_iter().filter_map(|metric| study.alarm(metric));
    evidence.doubts = alarms.map(str::to_owned).collect();
    if let Some(rounds) = study.questions.expectation(&expectation.id) {
        let found = rounds.found();
        if found.ratios == 0 {
            evidence.missing = Some("no round of it has all the numbers".to_owned());
        }
        evidence.all = Some((found.outcome, found.why));
        (reading, detectable) = (found.reading, found.detectable);
    } else if expectation.value.is_some() {
        let measured = Measured::of(study, expectation, Runs::All);
        let clean = study.has_gated_runs().then(|| Measured::of(study, expectation, Runs::Clean));
        let outcome = |measured: &Measured| {
            let interval = measured.reading.as_ref().and_then(|reading| reading.low_high);
            region(expectation).outcome(interval)
        };
        if measured.reading.is_none() {
            evidence.missing = Some("no block has all the numbers".to_owned());
        }
        let found = outcome(&measured);
        evidence.all = Some((found, short(&measured)));
        let times = measured.times_needed(region(expectation));
        let times = times.filter(|_| found == Outcome::CannotTell);
        evidence.needs = times.map(|times| study.more_blocks(times));
        evidence.clean = clean.as_ref().map(outcome);
        detectable = measured.effect.and_then(|effect| effect.detectable(study.seed()));
        reading = measured.reading;
    } else if let Some(id) = &expectation.contrast {
        of_contrast(study, expectation, id, &mut evidence);
    } else if !expectation.all_of.is_empty() {
        let named = |judged: &&Judged| expectation.all_of.contains(&judged.expectation.id);
        let parts: Vec<&Judged> = before.iter().filter(named).collect();
        evidence.all = Some(together(&parts));
    }
    Judged { expectation, reading, detectable, finding: judge(evidence) }
}

fn untestable(study: &Study, expectation: &Expectation) -> Option<String> {
    let cpus = study.cpus();
    let few = expectation.needs_cpus.filter(|needed| *needed > cpus);
    let few = few.map(|needed| format!("needs {needed} CPUs, this machine has {cpus}"));
    expectation.not_testable.clone().or(few)
}

fn short(measured: &Measured) -> Option<String> {
    let reading = measured.reading.as_ref().filter(|reading| reading.low_high.is_none())?;
    let gives = if reading.n == 1 { "gives" } else { "give" };
    Some(format!("{} {gives} no interval", several(reading.n, "block")))
}

fn of_contrast(study: &Study, expectation: &Expectation, id: &str, evidence: &mut Evidence) {
    let Some(found) = study.contrasted.iter().find(|one| one.contrast.id == id) else {
        evidence.missing = Some(format!("the contrast `{id}` was not run"));
        return;
    };
    let finding = &found.line.finding;
    let wanted = expectation.is.iter().flat_map(OneOrMore::names);
    let is_it = wanted.into_iter().any(|word| finding.outcome.word() == word);
    let outcome = match finding.outcome {
        _ if is_it => Outcome::Holds,
        Outcome::Faster | Outcome::Slower | Outcome::Equivalent => Outcome::Fails,
        Outcome::Withheld => {
            evidence.doubts.extend(finding.why.clone());
            Outcome::Withheld
        }
        other => other,
    };
    if outcome == Outcome::NotMeasured {
        evidence.missing.clone_from(&finding.why);
    }
    evidence.needs.clone_from(&finding.needs);
    let shift = found.line.shift.map_or(String::new(), |shift| {
        let estimate = found.show(shift.estimate);
        match shift.interval {
            Some(i) => {
                let ends = [i.low, i.high].map(|end| found.show(end));
                format!(" {}", show_with_ends(&estimate, [&ends[0], &ends[1]]))
            }
            None => format!(" {estimate}"),
        }
    });
    evidence.all = Some((outcome, Some(format!("`{id}`{shift}: {}", finding.outcome))));
}

/// All parts must hold: one that fails refutes all, and one that is not known leaves all unknown.
fn together(parts: &[&Judged]) -> (Outcome, Option<String>) {
    let decisive = [
        Outcome::Fails,
        Outcome::Withheld,
        Outcome::NotTestable,
        Outcome::NotMeasured,
        Outcome::CannotTell,
    ];
    let is = |part: &&&Judged, outcome| part.finding.outcome == outcome;
    match decisive.into_iter().find(|outcome| parts.iter().any(|part| is(&part, *outcome))) {
        Some(outcome) => {
            let those = parts.iter().filter(|part| is(part, outcome));
            let ids: Vec<String> = those.map(|part| format!("`{}`", part.expectation.id)).collect();
            (outcome, Some(ids.join(", ")))
        }
        None if parts.is_empty() => (Outcome::NotMeasured, None),
        None => (Outcome::Holds, None),
    }
}

pub(crate) fn region(expectation: &Expectation) -> Region {
    Region {
        low: expectation.at_least.unwrap_or(f64::NEG_INFINITY),
        high: expectation.at_most.unwrap_or(f64::INFINITY),
    }
}

/// What one set of runs gives for an expectation.
struct Measured {
    reading: Option<Reading>,
    effect: Option<Effect>,
}

impl Measured {
    fn of(study: &Study, expectation: &Expectation, runs: Runs) -> Self {
        let source = OfStudy { study, runs };
        let higher = |metric: &str| {
            study.metric(metric).is_some_and(|metric| metric.better == Better::Higher)
        };
        let side = |quantity: &Quantity| {
            Side { source: &source, expectation, defaults: &study.defaults, higher: &higher }
                .values(quantity)
        };
        let value = expectation.value.as_ref().map(side).unwrap_or_default();
        if let Some(over) = &expectation.over {
            let effect = Effect::of(log_ratios(&value, &side(over)));
            let reading = effect.as_ref().map(Reading::of_ratio);
            return Self { reading, effect };
        }
        let value = match expectation.minus.as_ref().map(side) {
            None => value,
            Some(minus) => shared(&value, &minus).map(|(key, a, b)| (key, a - b)).collect(),
        };
        let metric = expectation.metrics().first().copied().unwrap_or_default();
        let values: Vec<f64> = value.into_values().collect();
        Self { reading: Reading::of_values(&values, study.unit(metric)), effect: None }
    }

    /// How many times as many blocks should decide it: half of the interval, which narrows with the
    /// root of their number, reaches no further than from the estimate to the nearest bound.
    fn times_needed(&self, region: Region) -> Option<f64> {
        let reading = self.reading?;
        let (low, high) = reading.low_high?;
        let scaled = |value: f64| if self.effect.is_some() { value.ln() } else { value };
        let away = |bound: f64| (scaled(bound) - scaled(reading.estimate)).abs();
        let bounds = [region.low, region.high].map(away).into_iter();
        let nearest = bounds.filter(|away| away.is_finite()).reduce(f64::min)?;
        let half_width = (scaled(high) - scaled(low)) / 2.0;
        (nearest > 0.0).then(|| (half_width / nearest).powi(2))
    }
}

/// Of more rows, those that cannot tell are named alone.
const SHOWN_WHOLE: usize = 8;

/// (kind, heading, what it is where the heading does not say it).
const KINDS: [(ExpectationKind, &str, &str); 3] = [
    (ExpectationKind::Published, "What the published report says", ""),
    (ExpectationKind::Bar, "Bars", ""),
    (ExpectationKind::Check, "Checks", "What a usable variant must meet."),
];

/// A table for each kind, and all of them together as `expectations.tsv`.
pub fn write(study: &Study, page: &mut Page) {
    if study.expected.is_empty() {
        return;
    }
    for (kind, heading, what) in KINDS {
        let of_kind: Vec<&Judged> =
            study.expected.iter().filter(|judged| judged.expectation.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        page.heading(heading);
        if !what.is_empty() {
            page.paragraph(what);
        }
        of_one_kind(study, &of_kind, page);
    }
    page.paragraph(&format!("{}: `expectations.tsv`.", method("Expectations")));
    if study.expected.iter().any(|judged| judged.expectation.declared_after_run) {
        page.paragraph("**Declared after the run.**");
    }
    page.data("expectations", &numbers(study));
}

/// What was measured as rows; parts that hold are counted, and what no number was looked for is
/// listed.
fn of_one_kind(study: &Study, judged: &[&Judged], page: &mut Page) {
    let is_part = |one: &Judged| {
        study.expected.iter().any(|all| all.expectation.all_of.contains(&one.expectation.id))
    };
    let is_counted = |one: &Judged| {
        let is_minor = one.expectation.kind == ExpectationKind::Check || is_part(one);
        is_minor && one.finding.outcome == Outcome::Holds
    };
    let (counted, shown): (Vec<&Judged>, Vec<&Judged>) =
        judged.iter().partition(|one| is_counted(one));
    let has_number = |one: &&Judged| match one.finding.outcome {
        Outcome::NotTestable | Outcome::NotMeasured => false,
        _ => one.expectation.all_of.is_empty(),
    };
    let (rows, listed): (Vec<&Judged>, Vec<&Judged>) = shown.into_iter().partition(has_number);
    let is_long = rows.len() > SHOWN_WHOLE;
    let is_open = |one: &&Judged| is_long && one.finding.outcome == Outcome::CannotTell;
    let (open, rows): (Vec<&Judged>, Vec<&Judged>) = rows.into_iter().partition(is_open);
    if !rows.is_empty() {
        page.markdown_table(&for_people(&rows));
    }
    if !open.is_empty() {
        let named: Vec<String> = open.iter().map(|one| one.name_and_detectable()).collect();
        page.item(&format!("*cannot tell* (detectable): {}.", named.join(", ")));
    }
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    for one in listed {
        let of_parts = matches!(one.finding.outcome, Outcome::Holds | Outcome::Fails);
        let what = match of_parts {
            true => format!("\"{}\"", one.expectation.says),
            false => format!("`{}`", one.expectation.id),
        };
        let reason = one.finding.text();
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, those)) => those.push(what),
            None => by_reason.push((reason, vec![what])),
        }
    }
    page.items(by_reason.iter().map(|(reason, what)| format!("{}: *{reason}*.", what.join("; "))));
    if !counted.is_empty() {
        page.item(&format!("{} further hold: `expectations.tsv`.", counted.len()));
    }
    if !page.markdown.ends_with("\n\n") {
        page.markdown.push('\n');
    }
}

fn for_people(judged: &[&Judged]) -> Table {
    let blocks = |one: &Judged| one.reading.map_or(Entry::Missing, |r| Entry::count(r.n));
    // Where the number settles it, its interval says more than what could have been detected.
    let is_open = |one: &Judged| one.finding.outcome == Outcome::CannotTell;
    let detectable = |one: &Judged| one.detectable().filter(|_| is_open(one));
    Table::over(
        judged,
        &[
            Text("expected", "", &|one| &one.expectation.says),
            Words("bound", "", &|one| bound(one)),
            Any("measured", "", &|one| Reading::in_short(one.reading)),
            Any("n", "", &|one| blocks(one)),
            Any("detectable", "", &|one| Entry::optional(detectable(one))),
            Any("outcome", "outcome", &|one| one.finding.word()),
            Any("why", "", &|one| one.finding.reason()),
        ],
    )
}

/// What is expected, for people.
pub fn bound(judged: &Judged) -> String {
    let expectation = judged.expectation;
    let unit = judged.reading.as_ref().map_or(Unit::Times, |reading| reading.unit);
    let unit = if expectation.over.is_some() { Unit::Times } else { unit };
    let shown = |value: f64| show(value, unit);
    match (expectation.at_least, expectation.at_most) {
        (Some(low), Some(high)) => format!("{} to {}", shown(low), shown(high)),
        (Some(low), None) => format!("at least {}", shown(low)),
        (None, Some(high)) => format!("at most {}", shown(high)),
        (None, None) => match &expectation.is {
            Some(words) => words.names().join(" or "),
            None if expectation.all_of.is_empty() => String::new(),
            None => "all parts hold".to_owned(),
        },
    }
}

fn numbers(study: &Study) -> Table {
    let kind = |one: &Judged| match one.expectation.kind {
        ExpectationKind::Bar => "bar",
        ExpectationKind::Published => "published",
        ExpectationKind::Check => "check",
    };
    let declared = |one: &Judged| match one.expectation.declared_after_run {
        true => "after the run",
        false => "before",
    };
    let low_high = |one: &Judged| one.reading.and_then(|reading| reading.low_high);
    Table::over(
        &study.expected,
        &[
            Text("", "id", &|one| &one.expectation.id),
            Text("", "kind", &|one| kind(one)),
            Text("", "says", &|one| &one.expectation.says),
            Words("", "published", &|one| one.expectation.published.clone().unwrap_or_default()),
            number("measured", &|one| Some(one.reading?.estimate)),
            number("low", &|one| Some(low_high(one)?.0)),
            number("high", &|one| Some(low_high(one)?.1)),
            number("n", &|one| Some(one.reading?.n as f64)),
            number("at_least", &|one| one.expectation.at_least),
            number("at_most", &|one| one.expectation.at_most),
            number("detectable_log", &|one| one.detectable),
            Text("", "declared", &|one| declared(one)),
            Any("", "outcome", &|one| one.finding.word()),
            Any("", "why", &|one| one.finding.reason()),
            Words("", "note", &|one| one.expectation.note.clone().unwrap_or_default()),
        ],
    )
}
