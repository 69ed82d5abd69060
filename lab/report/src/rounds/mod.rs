//! The declared questions of a sweep that were measured by themselves, in rounds of adjacent runs:
//! what may be said after each, and so when to stop. The same code answers while a sweep runs and
//! when its records are read again.

pub(crate) mod carry;
mod expected;
mod forecast;
mod trial;

use std::collections::BTreeSet;

use lab_family::{Better, Cell, Referee, text};
use lab_record::{Comparison, Question, Run, RunFile, Samples};

use crate::FamilyReport;
use crate::frame::{Frame, Row, is_analysed};
use crate::measure::Measured;

pub(crate) use expected::Expected;
pub use forecast::{Forecast, Planned, forecast};
pub(crate) use trial::Trials;
use trial::{Asked, Open};

const NS_PER_MINUTE: f64 = 60e9;

/// Beyond this a number of minutes says no more.
const MINUTES_MAX: f64 = 24.0 * 60.0;

/// "300 more rounds, 4 min", of rounds or blocks, if they take as long as those so far and the
/// difference is what is estimated now.
pub(crate) fn more(what: &str, count: f64, so_far: usize, spent_ns: u64) -> String {
    // What is open needs one at least, however few the estimate asks for.
    let count = count.max(1.0).round();
    let minutes = count * spent_ns as f64 / so_far.max(1) as f64 / NS_PER_MINUTE;
    let plural = if count > 1.0 { "s" } else { "" };
    match minutes {
        ..=MINUTES_MAX => format!("{count} more {what}{plural}, {:.0} min", minutes.max(1.0)),
        _ => format!("more than a day of {what}s"),
    }
}

/// All questions of a sweep that are asked in rounds.
pub struct Rounds {
    frame: Frame,
    family: &'static dyn FamilyReport,
    section: toml::Table,
    questions: Questions,
    /// The runs of the blocks, until a choice was made by them.
    map: Vec<Row>,
}

impl Rounds {
    /// Before the first run of a sweep.
    pub fn before(run_file: &RunFile, family: &'static dyn FamilyReport) -> Self {
        let profile = run_file.profile.as_deref();
        let definition = family.definition();
        let section = text::stored_section(&run_file.experiment_toml, definition, profile);
        let defaults = text::defaults(&section);
        let run_file = run_file.clone();
        let frame = Frame { run_file, sessions: Vec::new(), rows: Vec::new(), head: None };
        let questions = Questions::of(&frame.run_file, family, &defaults);
        Self { questions, frame, family, section, map: Vec::new() }
    }
}

impl Referee for Rounds {
    fn map(&mut self, run: &Run, samples: &Samples) {
        if is_analysed(run) {
            self.questions.expect_control(run);
        }
        if !self.questions.expected.is_empty() && is_analysed(run) {
            self.map.push(Row { run: run.clone(), samples: samples.clone() });
        }
    }

    fn mapped(&mut self) {
        let map = std::mem::take(&mut self.map);
        let rows: Vec<&Row> = map.iter().collect();
        let measured = self.family.measure(&self.frame, &self.section, &rows);
        self.questions.choose(&measured.iter().collect::<Vec<_>>());
    }

    fn wants(&self, question: usize, variant: &str, cell: &Cell) -> bool {
        self.questions.wants(question, variant, cell)
    }

    fn take(&mut self, question: usize, rows: Vec<(Run, Samples)>) {
        let rows: Vec<Row> = rows.into_iter().map(|(run, samples)| Row { run, samples }).collect();
        let all: Vec<&Run> = rows.iter().map(|row| &row.run).collect();
        let analysed: Vec<&Row> = rows.iter().filter(|row| is_analysed(&row.run)).collect();
        let measured = self.family.measure(&self.frame, &self.section, &analysed);
        let measured: Vec<&Measured> = measured.iter().collect();
        self.questions.take(question, &all, &measured);
    }
}

/// Every question with its trials.
pub(crate) struct Questions {
    /// One for each comparison or contrast, by question.
    trials: Vec<Vec<Trials>>,
    /// By question, after those of the trials.
    pub(crate) expected: Vec<Expected>,
    /// Who can be compared with the reference.
    candidates: BTreeSet<String>,
    /// The reference and its twin.
    around: BTreeSet<String>,
}

impl Questions {
    pub(crate) fn of(run_file: &RunFile, family: &dyn FamilyReport, defaults: &Cell) -> Self {
        let analysis = &run_file.analysis;
        let entries = &run_file.variants;
        let twin = entries.iter().find(|one| one.twin_of.as_ref() == Some(&analysis.reference));
        let twin = twin.map(|entry| entry.variant.clone());
        let trials = |(asked, metric): (Asked, &str)| {
            let better = family.metric(metric).map_or(Better::Lower, |metric| metric.better);
            Trials::new(asked, better, analysis.alpha)
        };
        let of_comparison = |place: &usize| {
            let comparison = analysis.comparisons[*place].clone();
            let (reference, twin) = (analysis.reference.clone(), twin.clone());
            let asked = Asked::Comparison { comparison, reference, twin };
            trials((asked, &analysis.comparisons[*place].metric))
        };
        let one = |question: &Question<'_>| match question {
            Question::Expectation(_) => None,
            Question::Comparisons(places) => Some(places.iter().map(of_comparison).collect()),
            Question::Contrast(contrast) => {
                let side = Comparison {
                    metric: contrast.metric.clone(),
                    cells: contrast.cells.clone(),
                    scale: contrast.scale,
                    margin: contrast.margin,
                    rounds: contrast.rounds,
                };
                let of = analysis.contrasts.len();
                let asked = Asked::Contrast { contrast: (*contrast).clone(), side, of };
                Some(vec![trials((asked, &contrast.metric))])
            }
        };
        let higher = |metric: &str| {
            family.metric(metric).is_some_and(|metric| metric.better == Better::Higher)
        };
        let expected = |question: &Question<'_>| match question {
            Question::Expectation(one) => {
                let known: Vec<&str> = one.metrics();
                let higher = known.into_iter().filter(|metric| higher(metric));
                Expected::new(one, defaults, higher, run_file.machine.cpus)
            }
            _ => None,
        };
        let questions = analysis.questions(&run_file.expectations);
        let is_candidate = |entry: &&lab_record::VariantEntry| {
            entry.twin_of.is_none()
                && entry.variant != analysis.reference
                && family.is_candidate(entry)
        };
        Self {
            trials: questions.iter().filter_map(one).collect(),
            expected: questions.iter().filter_map(expected).collect(),
            candidates: entries
                .iter()
                .filter(is_candidate)
                .map(|entry| entry.variant.clone())
                .collect(),
            around: std::iter::once(analysis.reference.clone()).chain(twin).collect(),
        }
    }

    /// Chooses the best of several, where an expectation asks for it, by the runs of the blocks.
    pub(crate) fn choose(&mut self, map: &[&Measured]) {
        self.expected.iter_mut().for_each(|one| one.choose(map));
    }

    /// Takes a run of the blocks: controls are asked wherever the twin ran.
    pub(crate) fn expect_control(&mut self, run: &Run) {
        self.trials.iter_mut().flatten().for_each(|trials| trials.expect_control(run));
    }

    fn expected_mut(&mut self, question: usize) -> Option<&mut Expected> {
        self.expected.get_mut(question.checked_sub(self.trials.len())?)
    }

    fn wants(&self, question: usize, variant: &str, cell: &Cell) -> bool {
        if let Some(place) = question.checked_sub(self.trials.len()) {
            return self.expected.get(place).is_some_and(|one| one.wants(variant, cell));
        }
        let is_around = self.around.contains(variant);
        self.trials[question].iter().any(|trials| match trials.open() {
            Open::All => is_around || self.candidates.contains(variant),
            Open::Lines(lines) if lines.is_empty() => false,
            Open::Lines(lines) => is_around || lines.contains(&variant),
            Open::Pair(open) => open,
        })
    }

    pub(crate) fn take(&mut self, question: usize, rows: &[&Run], measured: &[&Measured]) {
        if let Some(expected) = self.expected_mut(question) {
            return expected.take(rows, measured);
        }
        for trials in self.trials.get_mut(question).into_iter().flatten() {
            trials.take(&self.candidates, rows, measured);
        }
    }

    /// The trials of a declared comparison.
    pub(crate) fn comparison(&self, wanted: &Comparison) -> Option<&Trials> {
        self.trials.iter().flatten().find(|trials| trials.is_about(wanted))
    }

    /// The question that a declared comparison belongs to.
    pub(crate) fn place(&self, wanted: &Comparison) -> Option<usize> {
        self.trials.iter().position(|those| those.iter().any(|trials| trials.is_about(wanted)))
    }

    /// The trials of a declared contrast.
    pub(crate) fn contrast(&self, id: &str) -> Option<&Trials> {
        self.trials.iter().flatten().find(|trials| trials.is_contrast(id))
    }

    /// The question that a declared contrast is.
    pub(crate) fn place_of_contrast(&self, id: &str) -> Option<usize> {
        self.trials.iter().position(|those| those.iter().any(|trials| trials.is_contrast(id)))
    }

    /// The rounds of an expectation.
    pub(crate) fn expectation(&self, id: &str) -> Option<&Expected> {
        self.expected.iter().find(|one| one.id() == id)
    }
}
