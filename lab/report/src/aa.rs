//! A/A: a copy of a program under a second name, which nothing should tell from the first.

use std::collections::{BTreeMap, BTreeSet};

use lab_record::{Comparison, Pairing, Scale};
use lab_stats::paired::ShiftEstimate;

use crate::data::Data;
use crate::measure::Measured;
use crate::study::{Study, show_on, show_shift_on};
use crate::tables::show_p;

/// The level of the one declared A/A test per metric. Where it fails, that metric's verdicts are
/// withheld; every other A/A difference is only printed, as the measured noise.
pub const AA_LEVEL: f64 = 0.01;

/// What the twins showed on one comparison's metric and cells.
#[derive(Debug)]
pub struct AaTest {
    /// Pairs.
    pub n: usize,
    /// `None` where so few pairs could never reach [`AA_LEVEL`].
    pub p: Option<f64>,
    /// In rounds: the sequence at [`AA_LEVEL`] excludes that they are equal.
    pub excluded: bool,
    /// Twin minus original, on the comparison's scale.
    pub shift: Option<ShiftEstimate>,
    /// The true difference that it would have found with the power that all detectable differences
    /// are stated for.
    pub detectable: Option<f64>,
}

impl AaTest {
    /// Compares one twin with its original.
    pub fn of(
        measured: &[Measured],
        comparison: &Comparison,
        pairing: Pairing,
        (twin, original): (&str, &str),
        seed: u64,
    ) -> Self {
        let data = Data::of(measured, comparison, pairing, (twin, original));
        Self {
            n: data.n(),
            excluded: false,
            p: (data.enough() && data.smallest_p() <= AA_LEVEL).then(|| data.p(seed)).flatten(),
            shift: data.shift(1.0 - AA_LEVEL, seed),
            detectable: data.detectable(AA_LEVEL, seed),
        }
    }

    /// Whether the lab told two equal programs apart.
    pub fn failed(&self) -> bool {
        self.excluded || self.p.is_some_and(|p| p <= AA_LEVEL)
    }
}

/// The A/A tests on a metric that questions rest on and no comparison is declared on.
pub(crate) struct Controls<'a> {
    /// The metric, and the scale that it has a difference on; over all cells.
    pub(crate) on: Comparison,
    /// The test of each twin.
    pub(crate) tests: Vec<(&'a str, AaTest)>,
}

/// The tests of a comparison's metric in its cells, one a twin.
pub(crate) fn aa_tests<'a>(study: &Study<'a>, comparison: &Comparison) -> Vec<(&'a str, AaTest)> {
    if let Some(trials) = study.questions.comparison(comparison) {
        let twins = study.frame.twins().into_iter().filter_map(|(twin, _)| {
            let control = trials.control().filter(|control| control.name == twin)?;
            Some((twin, control.aa()))
        });
        return twins.collect();
    }
    let pairing = study.frame.run_file.analysis.pairing;
    let twins = study.frame.twins().into_iter();
    let test = |pair: (&'a str, &'a str)| {
        (pair.0, AaTest::of(&study.all, comparison, pairing, pair, study.seed()))
    };
    twins.map(test).collect()
}

/// The tests of what contrasts and expectations rest on beside the declared comparisons, over all
/// cells that a twin shares with its original.
pub(crate) fn undeclared<'a>(study: &Study<'a>) -> Vec<Controls<'a>> {
    let file = &study.frame.run_file;
    let declared = &file.analysis.comparisons;
    let contrasts = file.analysis.contrasts.iter().map(|contrast| contrast.metric.as_str());
    let expected = file.expectations.iter().flat_map(|one| one.metrics());
    let elsewhere: BTreeSet<&str> = contrasts.chain(expected).collect();
    let undeclared = elsewhere
        .into_iter()
        .filter(|metric| !declared.iter().any(|comparison| comparison.metric == *metric));
    let controls = undeclared.map(|metric| {
        // What may be 0 or less has no logarithm, and a twin that differs by it would be missed.
        let positive =
            study.all.iter().filter_map(|one| one.value(metric)).all(|value| value > 0.0);
        let on = Comparison {
            metric: metric.to_owned(),
            cells: BTreeMap::new(),
            scale: if positive { Scale::Ratio } else { Scale::Difference },
            margin: 0.0,
            rounds: true,
        };
        let tests = aa_tests(study, &on);
        Controls { on, tests }
    });
    controls.collect()
}

/// Why verdicts on a metric are withheld, by metric.
pub(crate) fn alarms(study: &Study) -> BTreeMap<String, String> {
    let mut alarms = BTreeMap::new();
    let mut look = |metric: &str, tests: &[(&str, AaTest)]| {
        let Some((twin, test)) = tests.iter().find(|(_, test)| test.failed()) else { return };
        let p = test.p.map_or("in rounds".to_owned(), |p| format!("p {}", show_p(p)));
        alarms.entry(metric.to_owned()).or_insert(format!("A/A failed (`{twin}`, {p})"));
    };
    for comparison in &study.frame.run_file.analysis.comparisons {
        look(&comparison.metric, &aa_tests(study, comparison));
    }
    for one in &study.controls {
        look(&one.on.metric, &one.tests);
    }
    alarms
}

/// " A/A (`twin`): +1.2 % (-3 … +5), detectable ±4 %."; nothing where no twin ran.
pub(crate) fn in_words(study: &Study, on: &Comparison, tests: &[(&str, AaTest)]) -> String {
    let unit = study.unit(&on.metric);
    let one = |(twin, test): &(&str, AaTest)| {
        let detectable = test.detectable.map(|value| show_on(on.scale, unit, value));
        let detectable = detectable.map_or(String::new(), |value| {
            format!(", detectable ±{}", value.trim_start_matches('+'))
        });
        format!(" A/A (`{twin}`): {}{detectable}.", show_shift_on(on.scale, unit, test.shift))
    };
    tests.iter().map(one).collect()
}
