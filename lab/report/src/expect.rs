//! The declared expectations: bars, published statements and checks, each judged from its own
//! numbers.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::{Better, Cell, Unit};
use lab_record::{Expectation, ExpectationKind, OneOrMore, Quantity};
use lab_stats::describe::median;
use lab_stats::outcome::{Outcome, Region};

use crate::judge::{Evidence, Finding, judge};
use crate::study::Runs;
use crate::{Effect, Entry, Page, Reading, Study, Table, show, show_percent};

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

/// The level that takes all levels of a factor.
const ANY: &str = "*";

/// Block and the levels that stay free: what the two sides of a ratio share.
type Key = (u32, Vec<String>);
type Values = BTreeMap<Key, f64>;

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
    if expectation.value.is_some() {
        let measured = Measured::of(study, expectation, Runs::All);
        let clean = study.has_gated_runs().then(|| Measured::of(study, expectation, Runs::Clean));
        let outcome = |measured: &Measured| {
            let interval = measured.reading.as_ref().and_then(|reading| reading.low_high);
            region(expectation).outcome(interval)
        };
        if measured.reading.is_none() {
            evidence.missing = Some("no block has all the numbers".to_owned());
        }
        evidence.all = Some((outcome(&measured), short(&measured)));
        evidence.clean = clean.as_ref().map(outcome);
        let alarms = expectation.metrics().into_iter().filter_map(|metric| study.alarm(metric));
        evidence.doubts = alarms.map(str::to_owned).collect();
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
    Some(format!("{} blocks give no interval", reading.n))
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
    let shift = found.line.shift.map_or(String::new(), |shift| {
        let estimate = found.show(shift.estimate);
        match shift.interval {
            Some(i) => format!(" {estimate} ({} … {})", found.show(i.low), found.show(i.high)),
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
            (outcome, Some(format!("{} {outcome}", ids.join(", "))))
        }
        None if parts.is_empty() => (Outcome::NotMeasured, None),
        None => (Outcome::Holds, None),
    }
}

fn region(expectation: &Expectation) -> Region {
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
        let side = |quantity: &Quantity| Side { study, expectation, runs }.values(quantity);
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
}

fn shared<'v>(a: &'v Values, b: &'v Values) -> impl Iterator<Item = (Key, f64, f64)> + 'v {
    a.iter().filter_map(|(key, value)| Some((key.clone(), *value, *b.get(key)?)))
}

fn log_ratios(a: &Values, b: &Values) -> Vec<f64> {
    let positive = shared(a, b).filter(|(_, a, b)| *a > 0.0 && *b > 0.0);
    positive.map(|(_, a, b)| (a / b).ln()).collect()
}

/// Reads quantities of one expectation from some of the runs.
struct Side<'s, 'a> {
    study: &'s Study<'a>,
    expectation: &'s Expectation,
    runs: Runs,
}

impl Side<'_, '_> {
    fn values(&self, quantity: &Quantity) -> Values {
        let first = self.expectation.value.as_ref();
        let variants = quantity.variant.as_ref().or(first.and_then(|value| value.variant.as_ref()));
        let metric = quantity.metric.as_ref().or(first.and_then(|value| value.metric.as_ref()));
        let (Some(variants), Some(metric)) = (variants, metric) else { return Values::new() };
        let of = |(variant, at): &(&String, Quantity)| self.of_variant(variant, metric, at);
        let mut values = match candidates(variants.names(), quantity).as_slice() {
            [only] => of(only),
            several => best(self.study, metric, several.iter().map(of).collect()),
        };
        if let Some(over) = &quantity.over {
            let below = self.values(over);
            values = shared(&values, &below).map(|(key, a, b)| (key, a / b)).collect();
        }
        if let Some(minus) = &quantity.minus {
            let less = self.values(minus);
            values = shared(&values, &less).map(|(key, a, b)| (key, a - b)).collect();
        }
        let (times, power) = (quantity.times.unwrap_or(1.0), quantity.power.unwrap_or(1.0));
        values.into_iter().map(|(key, value)| (key, times * value.powf(power))).collect()
    }

    fn of_variant(&self, variant: &str, metric: &str, quantity: &Quantity) -> Values {
        let mut values = Values::new();
        for cell in self.study.cells(variant) {
            let Some(free) = self.free_levels(cell, quantity) else { continue };
            for (block, value) in self.study.series_of(self.runs, variant, cell, metric) {
                values.insert((block, free.clone()), value);
            }
        }
        values
    }

    /// The levels of a cell's factors that stay free; `None` where the cell does not take part.
    fn free_levels(&self, cell: &Cell, quantity: &Quantity) -> Option<Vec<String>> {
        let mut free = Vec::new();
        for (factor, level) in cell {
            let named = quantity.cells.get(factor).or_else(|| self.expectation.cells.get(factor));
            match named.map(OneOrMore::names) {
                Some([only]) if only != ANY => (only == level).then_some(())?,
                Some(several) => {
                    let any = several.iter().any(|name| name == ANY || name == level);
                    any.then(|| free.push(level.clone()))?;
                }
                None => match self.study.defaults.get(factor) {
                    Some(default) => (default == level).then_some(())?,
                    None => free.push(level.clone()),
                },
            }
        }
        // A factor that is asked for and that the cell does not have.
        let asked = self.expectation.cells.keys().chain(quantity.cells.keys());
        let lacks = asked.into_iter().any(|factor| !cell.contains_key(factor));
        (!lacks).then_some(free)
    }
}

/// Each variant at each level of the factors of which the best level is chosen.
fn candidates<'q>(variants: &'q [String], quantity: &Quantity) -> Vec<(&'q String, Quantity)> {
    let mut places = vec![quantity.clone()];
    for factor in &quantity.best_of {
        let levels = quantity.cells.get(factor).map_or(&[][..], OneOrMore::names);
        let at = |place: &Quantity, level: &String| {
            let mut place = place.clone();
            place.cells.insert(factor.clone(), OneOrMore::One(level.clone()));
            place
        };
        places = places.iter().flat_map(|p| levels.iter().map(move |l| at(p, l))).collect();
    }
    let at_each = |variant| places.iter().map(move |place| (variant, place.clone()));
    variants.iter().flat_map(at_each).collect()
}

/// By key the value of the variant that is best in all other blocks (leave one out), so that no
/// block judges the choice that it helped to make.
fn best(study: &Study, metric: &str, variants: Vec<Values>) -> Values {
    let higher = study.metric(metric).is_some_and(|metric| metric.better == Better::Higher);
    let keys: BTreeSet<&Key> = variants.iter().flat_map(BTreeMap::keys).collect();
    let chosen = |key: &Key| {
        let elsewhere = |values: &Values| {
            let others = values.iter().filter(|((block, _), _)| *block != key.0);
            let middle = median(&others.map(|(_, value)| *value).collect::<Vec<_>>())?;
            Some(if higher { -middle } else { middle })
        };
        let ranked = variants.iter().filter_map(|values| Some((elsewhere(values)?, values)));
        let (_, best) = ranked.min_by(|a, b| a.0.total_cmp(&b.0))?;
        best.get(key).copied()
    };
    keys.into_iter().filter_map(|key| Some((key.clone(), chosen(key)?))).collect()
}

/// (kind, heading, what it is).
const KINDS: [(ExpectationKind, &str, &str); 3] = [
    (
        ExpectationKind::Published,
        "What the published report says",
        "Statements of the published report, each held against runs of this machine.",
    ),
    (ExpectationKind::Bar, "Bars", "Goals that were set for this repository's own programs."),
    (ExpectationKind::Check, "Checks", "Properties that a usable variant must have."),
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
        page.paragraph(what);
        page.markdown_table(&for_people(&of_kind));
    }
    page.paragraph(
        "An expectation holds where the whole interval (95 %, over blocks) lies where it is \
         expected, and fails where none of it does. Ratios are paired by block, by Hodges and \
         Lehmann on logarithms; other numbers are medians with an interval by order statistics. Of \
         several variants the best is chosen by all other blocks. \"Detectable\" is the change \
         that \
         so many blocks would have found with a power of 80 %. Unrounded: `expectations.tsv`.",
    );
    if study.expected.iter().any(|judged| judged.expectation.declared_after_run) {
        page.paragraph(
            "**Declared after the run**: these expectations were added to the record when the \
             lab began to store them, so they could have been chosen by its results.",
        );
    }
    page.data("expectations", &numbers(study));
}

fn for_people(judged: &[&Judged]) -> Table {
    let says = |one: &Judged| {
        let notes = [&one.expectation.published, &one.expectation.note].into_iter().flatten();
        let parts: Vec<&str> =
            std::iter::once(&one.expectation.says).chain(notes).map(String::as_str).collect();
        parts.join("; ")
    };
    let detectable = |one: &Judged| one.detectable.map(|effect| show_percent(effect.exp_m1()));
    Table::of(
        judged,
        &[
            ("expected", "says", &|one| Entry::text(says(one))),
            ("bound", "bound", &|one| Entry::text(bound(one))),
            ("measured", "measured", &|one| Entry::optional(one.reading.map(|r| r.text()))),
            ("detectable", "detectable", &|one| Entry::optional(detectable(one))),
            ("outcome", "outcome", &|one| one.finding.word()),
            ("why", "why", &|one| one.finding.reason()),
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
    let number = |value: Option<f64>| Entry::value(value, Unit::Count);
    let kind = |one: &Judged| match one.expectation.kind {
        ExpectationKind::Bar => "bar",
        ExpectationKind::Published => "published",
        ExpectationKind::Check => "check",
    };
    let declared = |one: &Judged| match one.expectation.declared_after_run {
        true => "after the run",
        false => "before",
    };
    let published = |one: &Judged| one.expectation.published.clone().unwrap_or_default();
    let low_high = |one: &Judged| one.reading.and_then(|reading| reading.low_high);
    Table::of(
        &study.expected,
        &[
            ("id", "id", &|one| Entry::text(&one.expectation.id)),
            ("kind", "kind", &|one| Entry::text(kind(one))),
            ("says", "says", &|one| Entry::text(&one.expectation.says)),
            ("published", "published", &|one| Entry::text(published(one))),
            ("measured", "measured", &|one| number(one.reading.map(|reading| reading.estimate))),
            ("low", "low", &|one| number(low_high(one).map(|(low, _)| low))),
            ("high", "high", &|one| number(low_high(one).map(|(_, high)| high))),
            ("n", "n", &|one| number(one.reading.map(|reading| reading.n as f64))),
            ("at_least", "at_least", &|one| number(one.expectation.at_least)),
            ("at_most", "at_most", &|one| number(one.expectation.at_most)),
            ("detectable_log", "detectable_log", &|one| number(one.detectable)),
            ("declared", "declared", &|one| Entry::text(declared(one))),
            ("outcome", "outcome", &|one| one.finding.word()),
            ("why", "why", &|one| one.finding.reason()),
        ],
    )
}
