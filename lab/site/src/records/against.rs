//! `lab report DIR --against OTHER`: what changed between two sweeps of the same questions.
//!
//! Nothing interleaved the two: whatever changed between them, the machine included, is in the
//! difference. By each declared ratio a variant is judged against itself, with one value a block
//! (or round): the mean logarithm over the cells that both sweeps have. Where contrasts alone are
//! declared, by the metric of each at each of its two levels.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use lab_console::Failure;
use lab_family::Better;
use lab_import::{
    Benchmark, Sample, Tool,
    judge::{self, DRIFT, Judged, Settings},
};
use lab_record::{Analysis, Comparison, Contrast, RunFile, Scale};
use lab_report::Column::{Any, Code, Words};
use lab_report::{Entry, FamilyReport, Frame, Study, Table, family_of, show, show_percent, sides};

use super::load;

/// Of the random regroupings; the answer does not depend on the day.
const SEED: u64 = 1;

/// What changed between two sweeps.
pub struct Changed {
    /// What differs besides time, a sentence each.
    pub notes: Vec<String>,
    /// A table for each declared ratio, as Markdown, and how they are to be read.
    pub tables: String,
    /// Whether a variant is worse beyond the margin.
    pub is_worse: bool,
}

/// Judges the newer of two sweeps by the older one.
///
/// # Errors
/// One cannot be read, or they have nothing in common.
pub fn changed(new: &Path, old: &Path) -> Result<Changed, Failure> {
    let (new_frame, old_frame) = (load::frame(new)?, load::frame(old)?);
    let family = family(&new_frame)?;
    let nothing = |what: &str| {
        let (new, old) = (new.display(), old.display());
        Failure::input(format!("{new} and {old} {what}: nothing can be compared"))
    };
    if self::family(&old_frame)?.name() != family.name() {
        return Err(nothing("are sweeps of different families"));
    }
    let pair = Pair {
        new: Study::of(&new_frame, family),
        old: Study::of(&old_frame, family),
        alpha: new_frame.run_file.analysis.alpha,
    };
    let declared = asked(&new_frame.run_file.analysis);
    let ratios = declared.iter().filter(|one| one.comparison.scale == Scale::Ratio);
    let judged = ratios.map(|one| (one, pair.judged(one)));
    let judged: Vec<_> = judged.filter(|(_, lines)| !lines.is_empty()).collect();
    if judged.is_empty() {
        return Err(nothing("share no variant and cell of a declared ratio"));
    }
    let table = |(Asked { comparison, .. }, lines): &(&Asked, Vec<Judged>)| {
        format!("{}\n\n{}\n", title(comparison), pair.table(lines, comparison))
    };
    let tables: String = judged.iter().map(table).collect();
    let mut lines = judged.iter().flat_map(|(_, lines)| lines);
    Ok(Changed {
        notes: differences(&new_frame.run_file, &old_frame.run_file),
        tables: format!("{tables}{DRIFT}; `lab compare --rev OLD --rev NEW` runs both in turns\n"),
        is_worse: lines.any(|line| line.slower_beyond_margin == Some(true)),
    })
}

fn family(frame: &Frame) -> Result<&'static dyn FamilyReport, Failure> {
    family_of(frame, lab_families::ALL).map_err(|error| Failure::input(error.to_string()))
}

/// A declared comparison, or a level of a contrast.
struct Asked {
    comparison: Comparison,
    contrast: Option<Contrast>,
}

impl Asked {
    fn values(&self, study: &Study, variant: &str) -> BTreeMap<(String, u32), f64> {
        match &self.contrast {
            Some(contrast) => study.values_of_level(contrast, &self.comparison, variant),
            None => study.values(&self.comparison, variant),
        }
    }
}

/// The declared comparisons; where there are none, the two levels of each contrast, each once.
fn asked(analysis: &Analysis) -> Vec<Asked> {
    if !analysis.comparisons.is_empty() {
        let whole = |one: &Comparison| Asked { comparison: one.clone(), contrast: None };
        return analysis.comparisons.iter().map(whole).collect();
    }
    let mut levels: Vec<Asked> = Vec::new();
    for contrast in &analysis.contrasts {
        for comparison in sides(contrast) {
            if levels.iter().all(|one| one.comparison != comparison) {
                levels.push(Asked { comparison, contrast: Some(contrast.clone()) });
            }
        }
    }
    levels
}

fn title(comparison: &Comparison) -> String {
    let levels =
        |(factor, levels): (&String, &Vec<String>)| format!("{factor} {}", levels.join("/"));
    let cells: Vec<String> = comparison.cells.iter().map(levels).collect();
    format!("`{}` ({})", comparison.metric, cells.join("; "))
}

/// What differs between the two besides time.
fn differences(new: &RunFile, old: &RunFile) -> Vec<String> {
    let mut lines = Vec::new();
    let commit =
        |file: &RunFile| file.git.as_ref().map_or("none".to_owned(), |it| it.commit.clone());
    let (then, now) = (commit(old), commit(new));
    if then != now {
        lines.push(format!("commits: {then} then, {now} now"));
    }
    if old.machine != new.machine {
        lines.push("the machines or their kernels differ: a difference may be theirs".to_owned());
    }
    if old.experiment_sha256 != new.experiment_sha256 {
        lines.push("the experiment files differ: cells of one name may hold other work".to_owned());
    }
    let is_same = |name: &str, hash: &str| {
        old.variants.iter().any(|one| one.variant == name && one.binary_sha256 == hash)
    };
    let same = new.variants.iter().filter(|one| is_same(&one.variant, &one.binary_sha256));
    let same: Vec<&str> = same.map(|one| one.variant.as_str()).collect();
    if !same.is_empty() {
        lines.push(format!("the same bytes ran both times: {}", same.join(", ")));
    }
    lines
}

/// Two sweeps of one family.
struct Pair<'a> {
    new: Study<'a>,
    old: Study<'a>,
    alpha: f64,
}

impl Pair<'_> {
    /// A line for each variant that both have; the error level is for them together.
    fn judged(&self, asked: &Asked) -> Vec<Judged> {
        let comparison = &asked.comparison;
        let mut old = Vec::new();
        let mut new = Vec::new();
        for variant in self.new.variants() {
            let values = [&self.old, &self.new].map(|study| asked.values(study, variant));
            let cells = values.each_ref().map(|values| {
                values.keys().map(|(cell, _)| cell.clone()).collect::<BTreeSet<String>>()
            });
            let shared: BTreeSet<String> = cells[0].intersection(&cells[1]).cloned().collect();
            if !shared.is_empty() {
                let [then, now] = values.map(|values| self.by_block(&values, &shared, comparison));
                old.push(benchmark(variant, then));
                new.push(benchmark(variant, now));
            }
        }
        let settings = Settings { alpha: self.alpha, margin: comparison.margin, seed: SEED };
        judge::against(&old, &new, &settings).unwrap_or_default()
    }

    /// The mean over the shared cells, of blocks that have them all. What is better when it is
    /// higher is turned over, so that slower means worse.
    fn by_block(
        &self,
        values: &BTreeMap<(String, u32), f64>,
        shared: &BTreeSet<String>,
        comparison: &Comparison,
    ) -> Vec<f64> {
        let mut blocks: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for ((_, block), value) in values.iter().filter(|((cell, _), _)| shared.contains(cell)) {
            blocks.entry(*block).or_default().push(*value);
        }
        let whole = blocks.into_values().filter(|values| values.len() == shared.len());
        let mean = whole.map(|values| values.iter().sum::<f64>() / shared.len() as f64);
        mean.map(|log| self.turned(log, comparison).exp()).collect()
    }

    fn turned(&self, log: f64, comparison: &Comparison) -> f64 {
        let metric = self.new.family.metrics().iter().find(|one| one.name == comparison.metric);
        match metric.map(|metric| metric.better) {
            Some(Better::Higher) => -log,
            _ => log,
        }
    }

    fn table(&self, judged: &[Judged], comparison: &Comparison) -> String {
        let metric = self.new.family.metrics().iter().find(|one| one.name == comparison.metric);
        let level = |value: Option<f64>| {
            let value = value.map(|value| self.turned(value.ln(), comparison).exp());
            let shown = value.zip(metric).map(|(value, metric)| show(value, metric.unit));
            Entry::optional(shown)
        };
        let change = |log: f64| show_percent(self.turned(log, comparison).exp_m1());
        let interval = |[low, high]: [f64; 2]| match self.turned(1.0, comparison) > 0.0 {
            true => format!("{} … {}", change(low), change(high)),
            false => format!("{} … {}", change(high), change(low)),
        };
        let table = Table::over(
            judged,
            &[
                Code("variant", "", &|one| &one.benchmark),
                Any("then", "", &|one| level(one.median_ns[0])),
                Any("now", "", &|one| level(one.median_ns[1])),
                Any("change", "", &|one| Entry::optional(one.shift.map(change))),
                Any("interval", "", &|one| Entry::optional(one.interval.map(interval))),
                Words("n", "", &|one| format!("{} and {}", one.samples[0], one.samples[1])),
                Words("outcome", "", &|one| one.outcome.to_string()),
            ],
        );
        table.markdown()
    }
}

fn benchmark(variant: &str, values: Vec<f64>) -> Benchmark {
    let samples = values.into_iter().map(|value| Sample { ns: value, fork: None }).collect();
    Benchmark::new(Tool::Hyperfine, "", variant, samples)
}
