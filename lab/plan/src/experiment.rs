//! `experiments/*.toml`: one question a file.

use std::collections::BTreeMap;

use lab_record::Analysis;
use serde::Deserialize;

use crate::{Cell, PlanError, agents, ledgers, offload, search, workflow};

/// The version of the experiment format.
const SCHEMA: u32 = 1;

/// An experiment, as written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The format's version, 1.
    pub schema: u32,
    /// Its name; results and reports carry it.
    pub name: String,
    /// The question, in one sentence.
    pub question: String,
    /// The family whose variants take part.
    pub family: String,
    /// The seed of order, lengths and schedules.
    pub seed: u64,
    /// Passes over all cells.
    pub blocks: u32,
    /// Who takes part.
    pub variants: Selection,
    /// Groups of factors; each contributes every combination of its levels. A group that names
    /// levels of `variant` is for these variants only.
    pub cells: Vec<BTreeMap<String, Vec<String>>>,
    /// What is compared, declared before anything runs.
    pub analysis: Analysis,
    /// The workload of the `runtimes` family.
    pub agents: Option<agents::Section>,
    /// The workload of the `ledgers` family.
    pub ledgers: Option<ledgers::Section>,
    /// The workload of the `schedulers` family.
    pub offload: Option<offload::Section>,
    /// The workload of the `engines` family.
    pub search: Option<search::Section>,
    /// The workload of the `workflows` family.
    pub workflow: Option<workflow::Section>,
    /// Named changes, for example `quick`.
    #[serde(default)]
    pub profile: BTreeMap<String, Profile>,
}

/// The section that an experiment's family wants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Section<'a> {
    /// Of `runtimes`.
    Agents(&'a agents::Section),
    /// Of `ledgers`.
    Ledgers(&'a ledgers::Section),
    /// Of `schedulers`.
    Offload(&'a offload::Section),
    /// Of `engines`.
    Search(&'a search::Section),
    /// Of `workflows`.
    Workflow(&'a workflow::Section),
}

/// Which variants of the family take part.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// All variants that have every one of these tags.
    pub tags: Vec<String>,
    /// Where not empty: of those, only these.
    #[serde(default)]
    pub names: Vec<String>,
    /// The variant that runs twice, the second time under another name (the A/A control).
    pub twin: Option<String>,
}

/// What a profile changes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Passes over all cells.
    pub blocks: Option<u32>,
    /// Levels that stay, by factor.
    #[serde(default)]
    pub only: BTreeMap<String, Vec<String>>,
    /// Variants that stay.
    #[serde(default)]
    pub names: Vec<String>,
    /// Levels of factors that a group of cells does not name, in place of the section's own.
    #[serde(default)]
    pub defaults: Cell,
    /// 1.0 for real time.
    pub time_scale: Option<f64>,
    /// As in `[ledgers]`, `[offload]` or `[workflow]`.
    pub divide_by: Option<u64>,
    /// Whether the report may give verdicts; a smoke test's may not.
    pub verdicts: bool,
}

impl Experiment {
    /// Reads and checks an experiment.
    ///
    /// # Errors
    /// Names the file and the key.
    pub fn parse(file: &str, text: &str) -> Result<Self, PlanError> {
        let experiment: Self =
            toml::from_str(text).map_err(|error| PlanError::text(file, &error))?;
        experiment.check(file)?;
        Ok(experiment)
    }

    /// The experiment with a profile's changes.
    ///
    /// # Errors
    /// Where there is no such profile; the message lists those there are.
    pub fn with_profile(mut self, file: &str, name: &str) -> Result<Self, PlanError> {
        let Some(profile) = self.profile.get(name).cloned() else {
            let known: Vec<_> = self.profile.keys().cloned().collect();
            let message =
                format!("there is no profile `{name}`; this file has: {}", known.join(", "));
            return Err(PlanError::value(file, "profile", message));
        };
        self.blocks = profile.blocks.unwrap_or(self.blocks);
        if !profile.names.is_empty() {
            self.variants.names = profile.names;
        }
        for (factor, levels) in profile.only {
            for group in &mut self.cells {
                if let Some(present) = group.get_mut(&factor) {
                    present.retain(|level| levels.contains(level));
                }
            }
        }
        // A group that lost all levels of a factor has no cells left.
        self.cells.retain(|group| group.values().all(|levels| !levels.is_empty()));
        if let (Some(agents), Some(scale)) = (&mut self.agents, profile.time_scale) {
            agents.time_scale = scale;
        }
        if let (Some(ledgers), Some(divisor)) = (&mut self.ledgers, profile.divide_by) {
            ledgers.divide_by = divisor;
        }
        if let (Some(offload), Some(divisor)) = (&mut self.offload, profile.divide_by) {
            offload.divide_by = divisor;
        }
        if let (Some(workflow), Some(divisor)) = (&mut self.workflow, profile.divide_by) {
            workflow.divide_by = divisor;
        }
        let defaults = [
            self.ledgers.as_mut().map(|ledgers| &mut ledgers.defaults),
            self.offload.as_mut().map(|offload| &mut offload.defaults),
            self.search.as_mut().map(|search| &mut search.defaults),
            self.workflow.as_mut().map(|workflow| &mut workflow.defaults),
        ];
        for defaults in defaults.into_iter().flatten() {
            defaults.extend(profile.defaults.clone());
        }
        if !profile.verdicts {
            self.analysis.comparisons.clear();
            self.analysis.contrasts.clear();
        }
        self.check(file)?;
        Ok(self)
    }

    fn check(&self, file: &str) -> Result<(), PlanError> {
        let error = |key: &str, message: &str| Err(PlanError::value(file, key, message));
        if self.schema != SCHEMA {
            return error("schema", &format!("is {}, this lab reads {SCHEMA}", self.schema));
        }
        if self.blocks == 0 {
            return error("blocks", "must be at least 1");
        }
        if self.cells.is_empty() {
            return error("cells", "no cell is left: name at least one level of every factor");
        }
        for (factor, levels) in self.cells.iter().flatten() {
            if levels.is_empty() {
                return error(&format!("cells.{factor}"), "has no level");
            }
        }
        if !(0.0..1.0).contains(&self.analysis.alpha) || self.analysis.alpha == 0.0 {
            return error("analysis.alpha", "must lie between 0 and 1, for example 0.05");
        }
        let comparisons = self.analysis.comparisons.iter().map(|one| ("comparisons", one.margin));
        let contrasts = self.analysis.contrasts.iter().map(|one| ("contrasts", one.margin));
        for (kind, margin) in comparisons.chain(contrasts) {
            if !(margin > 0.0 && margin.is_finite()) {
                return error(&format!("analysis.{kind}.margin"), "must be above 0");
            }
        }
        match self.section(file)? {
            Section::Agents(agents) => agents.check(file),
            Section::Ledgers(ledgers) => ledgers.check(file),
            Section::Offload(offload) => offload.check(file),
            Section::Search(search) => search.check(file),
            Section::Workflow(workflow) => workflow.check(file),
        }
    }

    /// The section with the family's workload.
    ///
    /// # Errors
    /// Where it is missing, or the family is none that this lab knows; never after
    /// [`Self::parse`].
    pub fn section(&self, file: &str) -> Result<Section<'_>, PlanError> {
        let section = match self.family.as_str() {
            "runtimes" => self.agents.as_ref().map(Section::Agents).ok_or("agents"),
            "ledgers" => self.ledgers.as_ref().map(Section::Ledgers).ok_or("ledgers"),
            "schedulers" => self.offload.as_ref().map(Section::Offload).ok_or("offload"),
            "engines" => self.search.as_ref().map(Section::Search).ok_or("search"),
            "workflows" => self.workflow.as_ref().map(Section::Workflow).ok_or("workflow"),
            other => {
                let message = format!(
                    "`{other}` is no family; there are: runtimes, ledgers, schedulers, \
                     engines, workflows"
                );
                return Err(PlanError::value(file, "family", message));
            }
        };
        section.map_err(|key| {
            let message = "the section with the family's workload is missing";
            PlanError::value(file, key, message)
        })
    }

    /// A file that the experiment names, relative to its folder, and the name it has in records.
    pub fn attachment(&self) -> Option<(&'static str, &str)> {
        let servers = self.agents.as_ref().map(|agents| (agents::TABLE, agents.table.as_str()));
        let offload = self.offload.as_ref();
        servers.or_else(|| offload.map(|offload| (offload::TABLE, offload.recorded.as_str())))
    }
}
