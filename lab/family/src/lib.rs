//! What the lab knows of a family of variants, as one value: its factors, its metrics, the workload
//! that a cell means, what must be ready around a run, and how an answer is checked.
//!
//! The plan, the driver and the report know a family by these traits alone. Pure: no file, no
//! clock, no process.

#![forbid(unsafe_code)]

mod cell;
pub mod draw;
mod input;
mod laws;
mod metric;
mod referee;
pub mod text;
mod work;

use std::{fmt::Debug, sync::Arc};

pub use cell::{Cell, Factor, Levels};
pub use input::{InputError, nearest};
pub use laws::{Account, WORK_DECLARED_NS};
pub use metric::{Better, Metric, Unit, Verb, higher, lower, neither};
pub use referee::Referee;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
pub use work::{
    Answer, Checked, Columns, Corpus, ModelLoad, Needs, Places, ServedCall, ServersNeeded, Truth,
    Work, column, lived,
};

/// A family of variants.
pub trait Family: Debug + Sync {
    /// What is fixed about it.
    fn definition(&self) -> &'static Definition;

    /// One word: the folder, the section of an experiment, the record, the report.
    fn name(&self) -> &'static str {
        self.definition().name
    }

    /// What an experiment may vary, in the order in which tables show it.
    fn factors(&self) -> &'static [Factor] {
        self.definition().factors
    }

    /// What is computed from a run.
    fn metrics(&self) -> &'static [Metric] {
        self.definition().metrics
    }

    /// Whether a run's numbers can be true, whoever says them.
    ///
    /// # Errors
    /// A sentence that names the numbers that contradict each other.
    fn laws(&self, account: &Account<'_>) -> Result<(), String> {
        account.common()
    }

    /// The metric of a name.
    fn metric(&self, name: &str) -> Option<&'static Metric> {
        self.metrics().iter().find(|metric| metric.name == name)
    }

    /// Reads and checks the family's section of an experiment.
    ///
    /// # Errors
    /// Names the file and the key.
    fn section(&self, file: &str, table: &toml::Table) -> Result<Box<dyn Section>, InputError> {
        let Definition { name, section, .. } = self.definition();
        let section =
            section(table.clone()).map_err(|error| InputError::inside(file, name, &error))?;
        section.check(file)?;
        Ok(section)
    }
}

/// What is fixed about a family.
#[derive(Debug)]
pub struct Definition {
    /// [`Family::name`].
    pub name: &'static str,
    /// What the section was called in experiments of older records.
    pub former_names: &'static [&'static str],
    /// [`Family::factors`].
    pub factors: &'static [Factor],
    /// The factor whose levels are run back to back, because they are read as a pair.
    pub adjacent_factor: Option<&'static str>,
    /// [`Family::metrics`].
    pub metrics: &'static [Metric],
    /// Reads the family's section: [`section`] of its type.
    pub section: fn(toml::Table) -> Result<Box<dyn Section>, toml::de::Error>,
    /// The JSON schema of that section: [`section_schema`] of its type.
    pub section_schema: fn(&mut SchemaGenerator) -> Schema,
}

/// A section as a table has it.
///
/// # Errors
/// Where a key is unknown, missing or of another type.
pub fn section<S: Section + DeserializeOwned + 'static>(
    table: toml::Table,
) -> Result<Box<dyn Section>, toml::de::Error> {
    Ok(Box::new(table.try_into::<S>()?))
}

/// The JSON schema of a section; its types stand in the generator's definitions.
pub fn section_schema<S: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<S>()
}

/// A family's section of one experiment: it turns cells into work.
pub trait Section: Debug {
    /// The level of every factor that a cell does not name; empty where every cell is complete. A
    /// variant is checked on this cell first.
    fn defaults(&self) -> Cell {
        Cell::new()
    }

    /// Levels of these cells for which there is the least to write before a run. Where only answers
    /// are checked, they stand in for the defaults.
    fn lightest(&self, _cells: &[Cell]) -> Cell {
        Cell::new()
    }

    /// Checks what the types do not.
    ///
    /// # Errors
    /// Names the file and the key.
    fn check(&self, _file: &str) -> Result<(), InputError> {
        Ok(())
    }

    /// A file that the section names, relative to the experiment's folder: the name that records
    /// give it, and its path.
    fn attachment(&self) -> Option<(&'static str, &str)> {
        None
    }

    /// Takes the text of [`Self::attachment`].
    ///
    /// # Errors
    /// Names the file and the key.
    fn attach(&mut self, _text: &str) -> Result<(), InputError> {
        Ok(())
    }

    /// Files that the attachment names, relative to its folder: the key that names each, and its
    /// path. Records keep their hashes.
    fn further_files(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Takes the text of one of [`Self::further_files`].
    ///
    /// # Errors
    /// Names the attachment, the key and the file.
    fn take_file(&mut self, _file: &str, _text: &str) -> Result<(), InputError> {
        Ok(())
    }

    /// What a sweep over these cells needs around its runs.
    fn needs(&self, cells: &[Cell]) -> Needs;

    /// The work of one run.
    ///
    /// # Errors
    /// Names the file and the factor whose level cannot be used.
    fn plan(&self, file: &str, at: &Address<'_>) -> Result<Planned, InputError>;
}

/// Where a run stands: everything its draws depend on.
#[derive(Debug, Clone, Copy)]
pub struct Address<'a> {
    /// The experiment's seed.
    pub seed: u64,
    /// The block; 0 for the check before anything is timed.
    pub block: u32,
    /// The position in the plan.
    pub order: u64,
    /// The variant's name in the sweep.
    pub variant: &'a str,
    /// The complete cell.
    pub cell: &'a Cell,
}

/// Work, and how long it may take.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The work.
    pub work: Arc<dyn Work>,
    /// How long it should take: for the progress bar.
    pub expected_ms: u64,
    /// When a run that has given no outcome is ended.
    pub deadline_ms: u64,
}
