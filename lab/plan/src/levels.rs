//! The levels of a cell, read with messages that name the factor and what it may be.

use std::{collections::BTreeMap, str::FromStr};

use crate::{Cell, PlanError};

/// A complete cell and where it was written.
pub(crate) struct Levels<'a> {
    pub(crate) file: &'a str,
    /// The section whose `defaults` have a level for every factor.
    pub(crate) section: &'a str,
    pub(crate) cell: &'a Cell,
}

impl<'a> Levels<'a> {
    pub(crate) fn text(&self, factor: &str) -> Result<&'a str, PlanError> {
        self.cell.get(factor).map(String::as_str).ok_or_else(|| {
            let message = format!("has no level for `{factor}`: every factor needs a default");
            PlanError::value(self.file, &format!("{}.defaults", self.section), message)
        })
    }

    pub(crate) fn number<N: FromStr>(&self, factor: &str) -> Result<N, PlanError> {
        self.text(factor)?.parse().map_err(|_| self.refuse(factor, "a whole number"))
    }

    /// `None` for the level that leaves it to the variant.
    pub(crate) fn number_or(&self, factor: &str, left: &str) -> Result<Option<u32>, PlanError> {
        let level = self.text(factor)?;
        if level == left {
            return Ok(None);
        }
        let number = level.parse().ok().filter(|&number: &u32| number > 0);
        let allowed = || self.refuse(factor, &format!("`{left}` or a whole number above 0"));
        number.map(Some).ok_or_else(allowed)
    }

    pub(crate) fn one_of<T: Copy>(
        &self,
        factor: &str,
        levels: &[(&str, T)],
    ) -> Result<T, PlanError> {
        let level = self.text(factor)?;
        let found = levels.iter().find(|(name, _)| *name == level);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = levels.iter().map(|(name, _)| *name).collect();
            self.refuse(factor, &format!("one of {}", known.join(", ")))
        })
    }

    /// A row of a table of the experiment.
    pub(crate) fn named<'t, T>(
        &self,
        factor: &str,
        table: &'t BTreeMap<String, T>,
    ) -> Result<&'t T, PlanError> {
        let level = self.text(factor)?;
        table.get(level).ok_or_else(|| {
            let known: Vec<&str> = table.keys().map(String::as_str).collect();
            self.refuse(factor, &format!("one of {}", known.join(", ")))
        })
    }

    pub(crate) fn refuse(&self, factor: &str, allowed: &str) -> PlanError {
        let level = self.cell.get(factor).map_or("", String::as_str);
        let message = format!("is `{level}`; it must be {allowed}");
        PlanError::value(self.file, &format!("cells.{factor}"), message)
    }
}
