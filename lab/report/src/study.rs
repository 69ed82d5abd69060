//! A sweep, measured and judged: what all chapters of a report read.

use std::collections::{BTreeMap, BTreeSet};

use lab_family::{Cell, Metric, Unit, text};
use lab_record::{Comparison, Contrast, Pairing, Run, Scale, VariantEntry};
use lab_stats::paired::ShiftEstimate;
use toml::Table;

use crate::FamilyReport;
use crate::aa::{AaTest, Controls, aa_tests, alarms, undeclared};
use crate::compare::{Line, takes_part};
use crate::compare::{by_pair_but, compare, in_rounds};
use crate::contrast::{self, Contrasted, contrasts};
use crate::effect::{Series, centre};
use crate::expect::{Judged, expectations};
use crate::frame::{Frame, Row, is_analysed};
use crate::frame::{is_gated, is_probe};
use crate::measure::Measured;
use crate::rounds::{Questions, more};
use crate::tables::{Entry, several, show, show_difference, show_percent, show_with_ends};

/// Positions of runs by variant and cell.
type Index<'a> = BTreeMap<&'a str, BTreeMap<Cell, Vec<usize>>>;

/// A sweep, measured and judged.
pub struct Study<'a> {
    /// The records.
    pub frame: &'a Frame,
    /// The family of the sweep's variants.
    pub family: &'a dyn FamilyReport,
    /// The family's section of the experiment, with the changes of the profile.
    pub section: Table,
    /// The level of every factor where it is not what is asked about.
    pub defaults: Cell,
    /// Every row, in the order of the plan.
    pub rows: Vec<&'a Row>,
    /// Every run of the blocks that enters the analysis.
    pub all: Vec<Measured<'a>>,
    /// Every such run of the rounds in which declared questions were asked by themselves.
    pub in_rounds: Vec<Measured<'a>>,
    /// Of the runs of the blocks, those that passed the noise gate, measured without the others.
    pub clean: Vec<Measured<'a>>,
    /// The declared comparisons.
    pub compared: Vec<Compared<'a>>,
    /// The declared contrasts.
    pub contrasted: Vec<Contrasted<'a>>,
    /// What was expected.
    pub expected: Vec<Judged<'a>>,
    pub(crate) questions: Questions,
    /// The A/A tests of metrics that no comparison is declared on.
    pub(crate) controls: Vec<Controls<'a>>,
    /// Why verdicts on a metric are withheld, by metric.
    alarms: BTreeMap<String, String>,
    index: Index<'a>,
    clean_index: Index<'a>,
}

/// One declared comparison with its verdicts.
pub struct Compared<'a> {
    /// As declared.
    pub comparison: &'a Comparison,
    /// Its metric; `None` where the family has none of this name.
    pub metric: Option<&'static Metric>,
    /// A line for each candidate.
    pub lines: Vec<Line>,
    /// The A/A test of each twin.
    pub aa: Vec<(&'a str, AaTest)>,
    /// What a family has to say about how it was measured.
    pub note: Option<String>,
}

/// Which runs are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Every run that enters the analysis.
    All,
    /// Those that passed the noise gate.
    Clean,
}

impl<'a> Study<'a> {
    /// Measures and judges a sweep.
    pub fn of(frame: &'a Frame, family: &'a dyn FamilyReport) -> Self {
        let file = &frame.run_file;
        let profile = file.profile.as_deref();
        let section = text::stored_section(&file.experiment_toml, family.definition(), profile);
        let rows = frame.in_plan_order();
        let analysed: Vec<&Row> =
            rows.iter().copied().filter(|row| is_analysed(&row.run)).collect();
        let (asked, mut analysed): (Vec<&Row>, Vec<&Row>) =
            analysed.into_iter().partition(|row| file.question_of(row.run.block).is_some());
        let in_rounds = family.measure(frame, &section, &asked);
        let all = family.measure(frame, &section, &analysed);
        analysed.retain(|row| !is_gated(&row.run));
        let clean = family.measure(frame, &section, &analysed);
        let defaults = family.stored_defaults(frame, &section);
        let mut study = Self {
            frame,
            family,
            section,
            rows,
            index: index(&all),
            clean_index: index(&clean),
            all,
            clean,
            questions: Questions::of(file, family, &defaults),
            defaults,
            in_rounds,
            compared: Vec::new(),
            contrasted: Vec::new(),
            expected: Vec::new(),
            controls: Vec::new(),
            alarms: BTreeMap::new(),
        };
        ask(&mut study);
        study.controls = undeclared(&study);
        study.alarms = alarms(&study);
        study.compared = file.analysis.comparisons.iter().map(|one| study.compare(one)).collect();
        study.contrasted = contrasts(&study);
        study.expected = expectations(&study);
        study
    }

    /// Whether the noise gate left runs out.
    pub fn has_gated_runs(&self) -> bool {
        self.all.len() != self.clean.len()
    }

    /// Why no verdict on a metric may be given: two equal programs were told apart by it.
    pub fn alarm(&self, metric: &str) -> Option<&str> {
        self.alarms.get(metric).map(String::as_str)
    }

    /// The metric of a name.
    pub fn metric(&self, name: &str) -> Option<&'static Metric> {
        self.family.metric(name)
    }

    /// The unit in which a metric is shown.
    pub fn unit(&self, metric: &str) -> Unit {
        self.metric(metric).map_or(Unit::Count, |metric| metric.unit)
    }

    /// Logical CPUs of the machine.
    pub fn cpus(&self) -> u32 {
        self.frame.run_file.machine.cpus
    }

    /// "40 more blocks, 30 min", where `times` as many as there are should be enough.
    pub(crate) fn more_blocks(&self, times: f64) -> String {
        let blocks = self.frame.run_file.blocks;
        let spent_ns = self.all.iter().map(|one| one.row.run.process_ns).sum();
        more("block", f64::from(blocks) * (times - 1.0), blocks as usize, spent_ns)
    }

    /// How the cells of a picture were run, for its caption.
    pub fn how_run(&self) -> String {
        let file = &self.frame.run_file;
        let profile = file.profile.iter().map(|name| format!("; profile {name}"));
        let blocks = several(file.blocks as usize, "block");
        let cpus = several(self.cpus() as usize, "CPU");
        format!("{blocks} on {cpus}{}", profile.collect::<String>())
    }

    /// The seed of every resampling.
    pub fn seed(&self) -> u64 {
        self.frame.run_file.seed
    }

    /// The variant that others are compared with.
    pub fn reference(&self) -> &'a str {
        &self.frame.run_file.analysis.reference
    }

    /// The variant that does the least a machine must do.
    pub fn floor(&self) -> Option<&'a str> {
        self.frame.run_file.analysis.floor.as_deref()
    }

    /// The variants that have at least one analysed run, in the order of the sweep.
    pub fn measured_variants(&self) -> Vec<&'a str> {
        let has_run = |variant: &&str| self.index.contains_key(variant);
        self.frame.variants().into_iter().filter(has_run).collect()
    }

    /// Of those, all but twins.
    pub fn variants(&self) -> Vec<&'a str> {
        let variants = self.measured_variants().into_iter();
        variants.filter(|name| !self.frame.is_twin(name)).collect()
    }

    /// Whether the sweep has no variant to compare: nobody but the reference takes part.
    pub fn has_only_reference(&self) -> bool {
        let entries = self.frame.run_file.variants.iter();
        entries.filter(|entry| entry.twin_of.is_none()).all(|one| one.variant == self.reference())
    }

    /// What `run.json` says of a variant.
    pub fn entry(&self, variant: &str) -> Option<&'a VariantEntry> {
        self.frame.run_file.variants.iter().find(|entry| entry.variant == variant)
    }

    /// Whether a variant's manifest has a tag.
    pub fn is_tagged(&self, variant: &str, tag: &str) -> bool {
        self.entry(variant).is_some_and(|entry| entry.tags.iter().any(|known| known == tag))
    }

    /// The variants that a comparison can judge: neither the reference nor a twin.
    pub fn candidates(&self) -> Vec<&'a str> {
        let entries = self.frame.run_file.variants.iter();
        let candidates = entries.filter(|entry| {
            entry.twin_of.is_none()
                && entry.variant != self.reference()
                && self.family.is_candidate(entry)
        });
        candidates.map(|entry| entry.variant.as_str()).collect()
    }

    /// The cells in which a variant ran, in the order of tables.
    pub fn cells(&self, variant: &str) -> Vec<&Cell> {
        let own = self.index.get(variant).into_iter().flatten();
        let mut cells: Vec<&Cell> = own.map(|(cell, _)| cell).collect();
        cells.sort_by_cached_key(|cell| self.rank(cell));
        cells
    }

    /// The cells in which any variant ran, in the order of tables.
    pub fn all_cells(&self) -> Vec<&Cell> {
        let cells: BTreeSet<&Cell> = self.index.values().flat_map(BTreeMap::keys).collect();
        let mut cells: Vec<&Cell> = cells.into_iter().collect();
        cells.sort_by_cached_key(|cell| self.rank(cell));
        cells
    }

    /// These variants, each in every cell in which it ran.
    pub fn places<'s>(&'s self, variants: &[&'s str]) -> Vec<(&'s str, &'s Cell)> {
        let places = |variant: &&'s str| {
            let variant = *variant;
            self.cells(variant).into_iter().map(move |cell| (variant, cell))
        };
        variants.iter().flat_map(places).collect()
    }

    /// The runs of a variant in a cell, in the order of the plan.
    pub fn runs(&self, variant: &str, cell: &Cell) -> Vec<&Measured<'a>> {
        let positions = self.index.get(variant).and_then(|cells| cells.get(cell));
        positions.into_iter().flatten().map(|&position| &self.all[position]).collect()
    }

    /// What a comparison's verdicts are computed from, by cell and block, on its scale (logarithms
    /// for ratios): what its rounds gave where it is asked in rounds.
    pub fn values(&self, comparison: &Comparison, variant: &str) -> BTreeMap<(String, u32), f64> {
        self.values_of(self.questions.place(comparison), comparison, variant, "")
    }

    /// The same of a level of a contrast, as [`contrast::sides`] has it, by cell less its factor.
    pub fn values_of_level(
        &self,
        contrast: &Contrast,
        level: &Comparison,
        variant: &str,
    ) -> BTreeMap<(String, u32), f64> {
        let question = self.questions.place_of_contrast(&contrast.id);
        self.values_of(question, level, variant, &contrast.factor)
    }

    fn values_of(
        &self,
        question: Option<usize>,
        comparison: &Comparison,
        variant: &str,
        factor: &str,
    ) -> BTreeMap<(String, u32), f64> {
        let measured = if question.is_some() { &self.in_rounds } else { &self.all };
        let mut values = by_pair_but(measured, comparison, variant, factor);
        values.retain(|(_, block), _| self.frame.run_file.question_of(*block) == question);
        values
    }

    /// A metric by block; where a run was repeated, the mean of both.
    pub fn series(&self, variant: &str, cell: &Cell, metric: &str) -> Series {
        self.series_of(Runs::All, variant, cell, metric)
    }

    /// The same, of some of the runs.
    pub fn series_of(&self, runs: Runs, variant: &str, cell: &Cell, metric: &str) -> Series {
        let (index, measured) = match runs {
            Runs::All => (&self.index, &self.all),
            Runs::Clean => (&self.clean_index, &self.clean),
        };
        let positions = index.get(variant).and_then(|cells| cells.get(cell));
        let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for one in positions.into_iter().flatten().map(|&position| &measured[position]) {
            if let Some(value) = one.value(metric) {
                let (sum, count) = sums.entry(one.row.run.block).or_default();
                *sum += value;
                *count += 1.0;
            }
        }
        sums.into_iter().map(|(block, (sum, count))| (block, sum / count)).collect()
    }

    /// The median over blocks.
    pub fn median(&self, variant: &str, cell: &Cell, metric: &str) -> Option<f64> {
        centre(&self.series(variant, cell, metric))
    }

    /// The same, as a table has it.
    pub fn middle(&self, variant: &str, cell: &Cell, metric: &str) -> Entry {
        Entry::value(self.median(variant, cell, metric), self.unit(metric))
    }

    /// The levels of one factor by everything else, wherever a variant ran, in the order of tables.
    pub fn along(&self, variant: &str, factor: &str) -> Vec<(Cell, Vec<String>)> {
        let mut groups: BTreeMap<Cell, BTreeSet<String>> = BTreeMap::new();
        for cell in self.cells(variant) {
            let Some(level) = cell.get(factor) else { continue };
            groups.entry(without(cell, factor)).or_default().insert(level.clone());
        }
        let sorted = |(rest, levels): (Cell, BTreeSet<String>)| {
            let mut levels: Vec<String> = levels.into_iter().collect();
            levels.sort_by_cached_key(|level| self.level_rank(factor, level));
            (rest, levels)
        };
        let mut curves: Vec<(Cell, Vec<String>)> = groups.into_iter().map(sorted).collect();
        curves.sort_by_cached_key(|(rest, _)| self.rank(rest));
        curves
    }

    /// Whether a cell has the default level of every factor but these.
    pub fn is_default_but(&self, cell: &Cell, free: &[&str]) -> bool {
        let same = |(factor, level): (&String, &String)| {
            free.contains(&factor.as_str()) || cell.get(factor) == Some(level)
        };
        self.defaults.iter().all(same)
    }

    /// Whether a declared comparison or contrast reads a cell, or a metric there.
    pub fn is_asked(&self, cell: &Cell, metric: Option<&str>) -> bool {
        let analysis = &self.frame.run_file.analysis;
        let sides = analysis.contrasts.iter().flat_map(contrast::sides);
        let mut asked = analysis.comparisons.iter().cloned().chain(sides);
        asked.any(|one| takes_part(&one, cell) && metric.is_none_or(|name| name == one.metric))
    }

    /// Where a level of a factor stands in tables.
    pub fn level_rank(&self, factor: &str, level: &str) -> (u64, usize, String) {
        let known = self.family.factors().iter().find(|one| one.name == factor);
        known.copied().unwrap_or(lab_family::Factor::new("")).rank(level)
    }

    /// A cell for people, as the family names it.
    pub fn label(&self, cell: &Cell) -> String {
        self.family.label(cell, &self.defaults)
    }

    fn rank(&self, cell: &Cell) -> Vec<(u64, usize, String)> {
        let factors = self.family.factors();
        let level = |name: &str| cell.get(name).map(|level| self.level_rank(name, level));
        let known = factors.iter().map(|factor| level(factor.name).unwrap_or_default());
        let other = cell.iter().filter(|(name, _)| !factors.iter().any(|f| f.name == *name));
        known.chain(other.map(|(name, level)| self.level_rank(name, level))).collect()
    }

    /// Twins are never candidates: they say whether the lab works.
    fn compare(&self, comparison: &'a Comparison) -> Compared<'a> {
        let ran = |name: &&str| {
            self.index
                .get(name)
                .is_some_and(|cells| cells.keys().any(|cell| takes_part(comparison, cell)))
        };
        let candidates: Vec<&str> = self.candidates().into_iter().filter(ran).collect();
        Compared {
            comparison,
            metric: self.metric(&comparison.metric),
            lines: match self.questions.comparison(comparison) {
                Some(trials) => in_rounds(self, comparison, trials),
                None => compare(self, comparison, &candidates),
            },
            aa: aa_tests(self, comparison),
            note: self.family.note(self, comparison),
        }
    }
}

impl Compared<'_> {
    /// How its values are shown.
    pub fn unit(&self) -> Unit {
        self.metric.map_or(Unit::Count, |metric| metric.unit)
    }

    /// A difference on the comparison's scale, for people.
    pub fn show(&self, difference: f64) -> String {
        show_on(self.comparison.scale, self.unit(), difference)
    }

    /// The margin, for people.
    pub fn show_margin(&self) -> String {
        let margin = self.comparison.margin;
        match (self.comparison.scale, self.unit()) {
            (Scale::Ratio, _) => format!("±{} %", 100.0 * margin),
            (Scale::Difference, Unit::Share) => format!("±{} pp", 100.0 * margin),
            (Scale::Difference, unit) => format!("±{}", show(margin, unit)),
        }
    }
}

/// The cell at another level of one factor.
pub fn with(cell: &Cell, factor: &str, level: &str) -> Cell {
    let mut cell = cell.clone();
    cell.insert(factor.to_owned(), level.to_owned());
    cell
}

/// The cell without one of its factors.
pub fn without(cell: &Cell, factor: &str) -> Cell {
    let mut cell = cell.clone();
    cell.remove(factor);
    cell
}

/// A difference on a scale, for people: percent for ratios, the metric's unit otherwise.
pub fn show_on(scale: Scale, unit: Unit, difference: f64) -> String {
    match scale {
        Scale::Ratio => show_percent(difference.exp_m1()),
        Scale::Difference => show_difference(difference, unit),
    }
}

/// "+0.1 % (-0.3 … +0.5)".
pub(crate) fn show_shift_on(scale: Scale, unit: Unit, shift: Option<ShiftEstimate>) -> String {
    let Some(shift) = shift else { return "no pair".to_owned() };
    let show = |difference: f64| show_on(scale, unit, difference);
    match shift.interval {
        Some(i) => show_with_ends(&show(shift.estimate), [&show(i.low), &show(i.high)]),
        None => format!("{} (no interval)", show(shift.estimate)),
    }
}

/// Whether the analysis compares independent samples.
pub fn is_unpaired(frame: &Frame) -> bool {
    frame.run_file.analysis.pairing == Pairing::Unpaired
}

fn index<'a>(measured: &[Measured<'a>]) -> Index<'a> {
    let mut index: Index = BTreeMap::new();
    for (position, one) in measured.iter().enumerate() {
        let cells = index.entry(&one.row.run.variant).or_default();
        cells.entry(one.row.run.cell.clone()).or_default().push(position);
    }
    index
}

/// Takes all rounds in their order.
fn ask(study: &mut Study) {
    let file = &study.frame.run_file;
    let mut rounds: BTreeMap<u32, (Vec<&Run>, Vec<&Measured>)> = BTreeMap::new();
    for row in study.rows.iter().filter(|row| !row.run.warmup && !is_probe(&row.run)) {
        rounds.entry(row.run.block).or_default().0.push(&row.run);
    }
    for one in &study.in_rounds {
        rounds.entry(one.row.run.block).or_default().1.push(one);
    }
    study.all.iter().for_each(|one| study.questions.expect_control(&one.row.run));
    study.questions.choose(&study.all.iter().collect::<Vec<_>>());
    for (block, (runs, measured)) in &rounds {
        if let Some(question) = file.question_of(*block) {
            study.questions.take(question, runs, measured);
        }
    }
}
