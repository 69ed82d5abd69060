//! Records in, Markdown and TSV out. Pure: a report is a function of a [`Frame`] and of nothing
//! else.
//!
//! This crate must never know a clock, an environment, a process or a network; the only disk it
//! sees is the results folder that [`Frame::load`] reads. Pictures are drawn elsewhere, by gnuplot
//! scripts that hold the look and never a statistic: every number in a picture stands in a TSV
//! file written here.

#![forbid(unsafe_code)]

mod aa;
mod answer;
mod carried;
mod chapter;
mod colours;
mod compare;
mod contrast;
mod data;
mod distribution;
mod effect;
pub mod expect;
mod fastest;
mod flat;
pub mod frame;
mod json;
mod judge;
mod measure;
mod noise;
mod opening;
mod over;
mod page;
mod quantity;
mod reading;
mod records;
mod rounds;
pub mod settings;
pub mod study;
mod tables;
mod verdicts;
mod views;
mod words;
mod working;

use std::collections::BTreeMap;

use lab_family::{Cell, Family};
use lab_record::{Comparison, Run, RunFile, Samples, VariantEntry, Verification};

pub use chapter::{Chapter, Column, Kept, number};
pub use colours::colours;
pub use compare::{Line, scaled_margin, takes_part};
pub use contrast::{Contrasted, sides};
pub use data::Data;
pub use distribution::Distribution;
pub use effect::{CONFIDENCE, Effect, Series, centre, log_ratios, minus};
pub use fastest::Fastest;
pub use flat::{Flat, flat, medians_json, openmetrics};
pub use frame::{Frame, Row, is_analysed};
pub use json::json;
pub use measure::Measured;
pub use opening::{day, question};
pub use over::{next, over, spend};
pub use page::{Page, method};
pub use reading::Reading;
pub use records::{Unbelievable, believable};
pub use rounds::{Forecast, Planned, Rounds, forecast};
pub use study::Study;
pub use tables::{Entry, Table, from_to, several, show, show_difference, show_percent};
pub use views::{Rows, metrics_by_cell, over_level, over_variant};

/// What a folder of records says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What may be said of the question, in Markdown; `None` where there is no sentence.
    pub answer: Option<String>,
    /// `report.md`: the first screen.
    pub markdown: String,
    /// Pages behind it, a chapter each, by file name, in the order of the sweep's story.
    pub details: Vec<(String, String)>,
    /// Tables by file name, tab-separated with a header line, values unrounded.
    pub tables: BTreeMap<String, String>,
    /// The pictures that the Markdown refers to.
    pub figures: Vec<Figure>,
}

impl Report {
    /// The first screen and all chapters behind it, one after the other.
    pub fn whole(&self) -> String {
        let chapters = self.details.iter().map(|(_, text)| text.as_str());
        std::iter::once(self.markdown.as_str()).chain(chapters).collect()
    }
}

/// One picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The file that the Markdown refers to, beside it, for example `efficiency.svg`.
    pub file: String,
    /// The script in `plots/` that draws it: `gnuplot -c SCRIPT TSV_FOLDER OUT_FOLDER [narrow]`.
    pub script: String,
    /// What it shows, and the time scale of its cells.
    pub caption: String,
}

impl Figure {
    /// The files that it is drawn into: as it is, and for narrow windows.
    pub fn files(&self) -> [String; 2] {
        [self.file.clone(), narrow_file(&self.file)]
    }
}

/// Where the form of a picture lies that narrow windows have room for, for example
/// `efficiency.narrow.svg`.
pub fn narrow_file(file: &str) -> String {
    format!("{}.narrow.svg", file.trim_end_matches(".svg"))
}

/// Why there is no report.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReportError {
    /// The folder holds no run at all.
    #[error("experiment {experiment}: runs.jsonl holds no run; go on with `lab run --resume`")]
    NoRuns {
        /// The experiment's name.
        experiment: String,
    },
    /// No family of this lab has the variants' name.
    #[error("experiment {experiment}: `{family}` is no family of this lab; there are: {known}")]
    UnknownFamily {
        /// The experiment's name.
        experiment: String,
        /// The family of its first variant; empty where `run.json` names no variant.
        family: String,
        /// The families there are.
        known: String,
    },
}

/// What a family adds to its reports.
pub trait FamilyReport: Family {
    /// Measures these runs, all of which enter the analysis. `section` is the family's section of
    /// the experiment.
    fn measure<'a>(
        &self,
        frame: &'a Frame,
        section: &toml::Table,
        rows: &[&'a Row],
    ) -> Vec<Measured<'a>>;

    /// The chapters that this family alone has.
    fn chapters(&self, study: &Study, page: &mut Page);

    /// What a reader must know before any number, in one line of the first screen.
    fn premise(&self, _study: &Study) -> Option<String> {
        None
    }

    /// What answers the experiment's question where its comparisons do not, in a sentence.
    fn answer(&self, _study: &Study) -> Option<String> {
        None
    }

    /// Further facts on what was run.
    fn run_facts(&self, _study: &Study) -> Vec<String> {
        Vec::new()
    }

    /// Further checks of the lab.
    fn lab_checks(&self, _study: &Study) -> Vec<String> {
        Vec::new()
    }

    /// A cell for people: every level that is not the default.
    fn label(&self, cell: &Cell, defaults: &Cell) -> String {
        let other = cell.iter().filter(|(factor, level)| defaults.get(*factor) != Some(level));
        let parts: Vec<String> = other.map(|(factor, level)| format!("{factor} {level}")).collect();
        if parts.is_empty() { "the default cell".to_owned() } else { parts.join(", ") }
    }

    /// Whether a variant can be compared with the reference: not one that answers another question.
    fn is_candidate(&self, _entry: &VariantEntry) -> bool {
        true
    }

    /// How far a run's answer was held against what is known.
    fn verification(&self, _entry: &VariantEntry, run: &Run) -> Verification {
        run.verification
    }

    /// Why a variant that is compared is nobody's choice, in a word or two: it is never named as an
    /// answer.
    fn no_choice(&self, _entry: &VariantEntry) -> Option<&'static str> {
        None
    }

    /// A reason of this family's to withhold a verdict.
    fn doubt(&self, _study: &Study, _comparison: &Comparison, _line: &Line) -> Option<String> {
        None
    }

    /// What must be known of how a comparison was measured.
    fn note(&self, _study: &Study, _comparison: &Comparison) -> Option<String> {
        None
    }

    /// The level of every factor where it is not what is asked about. Records of a time before a
    /// factor have no level of it.
    fn stored_defaults(&self, frame: &Frame, section: &toml::Table) -> Cell {
        let mut defaults = lab_family::text::defaults(section);
        let is_known =
            |factor: &str| frame.rows.iter().any(|row| row.run.cell.contains_key(factor));
        defaults.retain(|factor, _| is_known(factor));
        defaults
    }

    /// Which variant suits a load that somebody gives as named numbers, as text for a terminal.
    ///
    /// # Errors
    /// A sentence that names the number, or what the record lacks.
    fn choose(&self, study: &Study, _load: &BTreeMap<String, f64>) -> Result<String, String> {
        Err(format!("the family {} gives no advice by load", study.family.name()))
    }

    /// What a committed report keeps of the samples of a run of this sweep.
    fn slim(&self, _sweep: &RunFile, _run: &Run, samples: Samples) -> Samples {
        samples
    }
}

/// The family of a sweep's variants.
pub fn family_of<'f>(
    frame: &Frame,
    families: &[&'f dyn FamilyReport],
) -> Result<&'f dyn FamilyReport, ReportError> {
    let experiment = frame.run_file.experiment.clone();
    if frame.rows.is_empty() {
        return Err(ReportError::NoRuns { experiment });
    }
    let name = frame.run_file.variants.first().map_or("", |entry| entry.family.as_str());
    let found = families.iter().copied().find(|family| family.name() == name);
    found.ok_or_else(|| {
        let known: Vec<&str> = families.iter().map(|family| family.name()).collect();
        ReportError::UnknownFamily { experiment, family: name.to_owned(), known: known.join(", ") }
    })
}

/// Reports on a sweep, by the family of its variants. Variants, cells and metrics that are missing
/// are named as missing; they are no error.
///
/// # Errors
/// Where there is no run at all, or no such family.
pub fn report(frame: &Frame, families: &[&dyn FamilyReport]) -> Result<Report, ReportError> {
    let family = family_of(frame, families)?;
    let study = Study::of(frame, family);
    let mut page = Page::titled(&frame.run_file.experiment);
    colours::write(&study, &mut page);
    opening::write(&study, &mut page);
    page.end_of_first_screen();
    verdicts::write(&study, &mut page);
    contrast::write(&study, &mut page);
    expect::write(&study, &mut page);
    family.chapters(&study, &mut page);
    working::write(&study, &mut page);
    Ok(page.report())
}

/// Which variant of a sweep suits a load, by its family; the inner error says what the load or the
/// record lacks.
///
/// # Errors
/// Where there is no run at all, or no such family.
pub fn choose(
    frame: &Frame,
    families: &[&dyn FamilyReport],
    load: &BTreeMap<String, f64>,
) -> Result<Result<String, String>, ReportError> {
    let family = family_of(frame, families)?;
    Ok(family.choose(&Study::of(frame, family), load))
}
