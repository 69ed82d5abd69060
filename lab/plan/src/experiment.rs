//! `experiments/*.toml`: one question a file.

use std::collections::BTreeMap;

use lab_family::{Cell, Family, InputError, Needs, Section, text};
use lab_record::{Analysis, Contrast, Expectation, Nuisance, Rounds, SessionOf};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::{Table, Value};

use crate::contrasts;
use crate::declared;

/// The version of the experiment format.
const SCHEMA: u32 = 1;

/// At one second a run, three hours for one variant in one cell.
const BLOCKS_MAX: u32 = 10_000;
/// More can be written in a line or two, and held in no memory.
const CELLS_MAX: usize = 10_000;
/// Of a session; one block alone tells nothing of its noise.
const LEAST_BLOCKS: u32 = 2;
/// A verdict about fewer sessions is none.
const SESSIONS_MIN: u32 = 6;
const SESSIONS_MAX: u32 = 64;

/// An experiment, read and checked.
#[derive(Debug)]
pub struct Experiment {
    /// The file, as the caller named it.
    pub file: String,
    /// The family whose variants take part.
    pub family: &'static dyn Family,
    /// Everything but the family's section.
    pub written: Written,
    /// The family's section.
    pub section: Box<dyn Section>,
    /// The whole file, with the changes of the profile.
    pub(crate) table: Table,
    /// Which session it is, where orders and lengths were drawn anew.
    pub session: Option<SessionOf>,
}

/// Who starts the programs of an experiment's runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Starter {
    /// The lab.
    #[default]
    Lab,
    /// hyperfine, as the published measurement did whose question is asked again.
    Hyperfine,
}

/// What every experiment says, whatever its family.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// The format's version, 1.
    pub schema: u32,
    /// Its name; results and reports carry it.
    pub name: String,
    /// The question, in one sentence.
    pub question: String,
    /// The family whose variants take part.
    pub family: String,
    /// Who starts the programs of its runs.
    #[serde(default)]
    pub starter: Starter,
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
    /// What is expected of the results.
    #[serde(default)]
    pub expect: Vec<Expectation>,
    /// Named changes, for example `quick`.
    #[serde(default)]
    pub profile: BTreeMap<String, Profile>,
}

/// Which variants of the family take part.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
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
    /// In place of the section's own: 1.0 for real time.
    pub time_scale: Option<f64>,
    /// In place of the section's own.
    pub divide_by: Option<u64>,
    /// Seconds for declared questions in rounds; 0 has them judged by the blocks.
    pub budget_s: Option<u32>,
    /// Whether the report may give verdicts; a smoke test's may not.
    pub verdicts: bool,
}

impl Experiment {
    /// Reads and checks an experiment of one of these families.
    ///
    /// # Errors
    /// Names the file and the key.
    pub fn parse(
        file: &str,
        text: &str,
        families: &[&'static dyn Family],
    ) -> Result<Self, InputError> {
        let table: Table = toml::from_str(text).map_err(|error| InputError::text(file, &error))?;
        Self::of_table(file, table, families)
    }

    fn of_table(
        file: &str,
        table: Table,
        families: &[&'static dyn Family],
    ) -> Result<Self, InputError> {
        let name = table.get("family").and_then(Value::as_str).unwrap_or_default();
        let known = || families.iter().map(|family| family.name());
        let found = families.iter().copied().find(|family| family.name() == name);
        let family =
            found.ok_or_else(|| InputError::unknown(file, "family", "family", name, known()))?;
        let mut rest = table.clone();
        let section = rest.remove(name).and_then(|section| section.as_table().cloned());
        let section = section.ok_or_else(|| {
            InputError::value(file, name, "the section with the family's workload is missing")
        })?;
        let section = family.section(file, &section)?;
        let contrasts = take_contrasts(file, &mut rest, section.as_ref())?;
        let mut written: Written =
            rest.try_into().map_err(|error| InputError::text(file, &error))?;
        written.analysis.contrasts = contrasts;
        let session = None;
        let experiment = Self { file: file.to_owned(), family, written, section, table, session };
        experiment.check()?;
        declared::check(&experiment)?;
        Ok(experiment)
    }

    /// One session of the experiment: orders, lengths and schedules of its own, drawn anew, and its
    /// part of the time where sessions share it. Two blocks tell a session's own noise, one does
    /// not.
    #[must_use]
    pub fn of_session(mut self, session: SessionOf) -> Self {
        let written = &mut self.written;
        if session.draws(Nuisance::Order) {
            written.seed = written.seed.wrapping_add(u64::from(session.number.saturating_sub(1)));
        }
        let sharing = session.sharing.max(1);
        written.blocks = written.blocks.div_ceil(sharing).max(written.blocks.min(LEAST_BLOCKS));
        if let Some(rounds) = &mut written.analysis.rounds {
            rounds.budget_s = rounds.budget_s.div_ceil(sharing);
        }
        self.session = Some(session);
        self
    }

    /// The experiment with a profile's changes.
    ///
    /// # Errors
    /// Where there is no such profile; the message lists those there are.
    pub fn with_profile(mut self, name: &str) -> Result<Self, InputError> {
        let Some(profile) = self.written.profile.get(name).cloned() else {
            let known = self.written.profile.keys().map(String::as_str);
            return Err(InputError::unknown(&self.file, "profile", "profile", name, known));
        };
        let changes = self.table["profile"][name].as_table().cloned().unwrap_or_default();
        self.change_section(|section| text::change_section(section, &changes))?;
        let written = &mut self.written;
        // Completed anew: the profile may have changed the default levels.
        written.analysis.contrasts =
            take_contrasts(&self.file, &mut self.table.clone(), self.section.as_ref())?;
        written.blocks = profile.blocks.unwrap_or(written.blocks);
        if let Some(budget_s) = profile.budget_s {
            let rounds = written.analysis.rounds.filter(|_| budget_s > 0);
            written.analysis.rounds = rounds.map(|rounds| Rounds { budget_s, ..rounds });
        }
        if !profile.names.is_empty() {
            written.variants.names = profile.names;
        }
        for (factor, levels) in profile.only {
            for group in &mut written.cells {
                if let Some(present) = group.get_mut(&factor) {
                    present.retain(|level| levels.contains(level));
                }
            }
        }
        // A group that lost all levels of a factor has no cells left.
        written.cells.retain(|group| group.values().all(|levels| !levels.is_empty()));
        if !profile.verdicts {
            written.analysis.comparisons.clear();
            written.analysis.contrasts.clear();
            written.analysis.sessions = None;
            written.expect.clear();
        }
        self.check()?;
        Ok(self)
    }

    /// The experiment with another value of one key of the family's section.
    ///
    /// # Errors
    /// Where the section has no such key.
    pub fn with_section_key(mut self, key: &str, value: &str) -> Result<Self, InputError> {
        self.change_section(|section| {
            section.insert(key.to_owned(), Value::String(value.to_owned()));
        })?;
        Ok(self)
    }

    /// What the experiment needs around its runs.
    pub fn needs(&self) -> Needs {
        let cells: Vec<Cell> = self.written.cells.iter().flat_map(crate::cells::product).collect();
        self.section.needs(&cells)
    }

    /// [`lab_family::Section::lightest`] of all cells.
    pub fn lightest(&self) -> Cell {
        let cells: Vec<Cell> = self.written.cells.iter().flat_map(crate::cells::product).collect();
        self.section.lightest(&cells)
    }

    fn change_section(&mut self, change: impl FnOnce(&mut Table)) -> Result<(), InputError> {
        let name = self.family.name();
        if let Some(Value::Table(section)) = self.table.get_mut(name) {
            change(section);
            self.section = self.family.section(&self.file, section)?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), InputError> {
        let error = |key: &str, message: &str| Err(InputError::value(&self.file, key, message));
        let written = &self.written;
        if written.schema != SCHEMA {
            return error("schema", &format!("is {}, this lab reads {SCHEMA}", written.schema));
        }
        if written.blocks == 0 || written.blocks > BLOCKS_MAX {
            return error("blocks", &format!("must lie between 1 and {BLOCKS_MAX}"));
        }
        if let Some(sessions) = written.analysis.sessions
            && !(SESSIONS_MIN..=SESSIONS_MAX).contains(&sessions.least)
        {
            let said = format!("must lie between {SESSIONS_MIN} and {SESSIONS_MAX}");
            return error("analysis.sessions.least", &said);
        }
        if written.cells.is_empty() {
            return error("cells", "no cell is left: name at least one level of every factor");
        }
        for (factor, levels) in written.cells.iter().flatten() {
            if levels.is_empty() {
                return error(&format!("cells.{factor}"), "has no level");
            }
        }
        let cells = |group: &BTreeMap<_, Vec<_>>| {
            group.values().fold(1_usize, |cells, levels| cells.saturating_mul(levels.len()))
        };
        if written.cells.iter().map(cells).fold(0, usize::saturating_add) > CELLS_MAX {
            return error("cells", &format!("make more than {CELLS_MAX}; name fewer levels"));
        }
        let analysis = &written.analysis;
        if !(0.0..1.0).contains(&analysis.alpha) || analysis.alpha == 0.0 {
            return error("analysis.alpha", "must lie between 0 and 1, for example 0.05");
        }
        let comparisons = analysis.comparisons.iter().map(|one| ("comparisons", one.margin));
        let contrasts = analysis.contrasts.iter().map(|one| ("contrasts", one.margin));
        for (kind, margin) in comparisons.chain(contrasts) {
            if !(margin > 0.0 && margin.is_finite()) {
                return error(&format!("analysis.{kind}.margin"), "must be above 0");
            }
        }
        Ok(())
    }
}

/// The contrasts of an experiment's text, completed; the rest of `analysis` stays as it is.
fn take_contrasts(
    file: &str,
    table: &mut Table,
    section: &dyn Section,
) -> Result<Vec<Contrast>, InputError> {
    let Some(Value::Table(analysis)) = table.get_mut("analysis") else { return Ok(Vec::new()) };
    let declared = contrasts::declared(file, analysis, &section.defaults())?;
    analysis.remove("contrasts");
    analysis.remove(contrasts::SHARED);
    Ok(declared)
}
