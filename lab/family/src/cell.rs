//! Factors, cells, and the levels of a cell, read with messages that name the factor.

use std::{collections::BTreeMap, str::FromStr};

use crate::InputError;

/// One combination of levels, by factor.
pub type Cell = BTreeMap<String, String>;

/// Something that an experiment varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor {
    /// The name in experiments and records.
    pub name: &'static str,
    /// The order of levels that are words; numbers come first, by size, and other words last.
    pub words: &'static [&'static str],
}

impl Factor {
    /// A factor whose levels are numbers, or words in any order.
    pub const fn new(name: &'static str) -> Self {
        Self { name, words: &[] }
    }

    /// A factor whose levels are words in this order.
    pub const fn words(name: &'static str, words: &'static [&'static str]) -> Self {
        Self { name, words }
    }

    /// Where a level stands in tables: numbers by size, then known words, then other words.
    pub fn rank(&self, level: &str) -> (u64, usize, String) {
        let word = self.words.iter().position(|word| *word == level);
        let number = level.parse().unwrap_or(u64::MAX);
        (number, word.unwrap_or(self.words.len()), level.to_owned())
    }
}

/// A complete cell and where it was written.
#[derive(Debug, Clone, Copy)]
pub struct Levels<'a> {
    /// The experiment's file, for messages.
    pub file: &'a str,
    /// The section whose `defaults` have a level for every factor.
    pub section: &'a str,
    /// The cell.
    pub cell: &'a Cell,
}

impl<'a> Levels<'a> {
    /// The level of a factor, as written.
    ///
    /// # Errors
    /// Where neither the cell nor the defaults have one.
    pub fn text(&self, factor: &str) -> Result<&'a str, InputError> {
        self.cell.get(factor).map(String::as_str).ok_or_else(|| {
            let message = format!("has no level for `{factor}`: every factor needs a default");
            InputError::value(self.file, &format!("{}.defaults", self.section), message)
        })
    }

    /// A whole number.
    ///
    /// # Errors
    /// Names the factor and its level.
    pub fn number<N: FromStr>(&self, factor: &str) -> Result<N, InputError> {
        self.text(factor)?.parse().map_err(|_| self.refuse(factor, "a whole number"))
    }

    /// A number above 0, or `None` for the level `left`, which leaves it to the variant.
    ///
    /// # Errors
    /// Names the factor and its level.
    pub fn number_or(&self, factor: &str, left: &str) -> Result<Option<u32>, InputError> {
        let level = self.text(factor)?;
        if level == left {
            return Ok(None);
        }
        let number = level.parse().ok().filter(|&number: &u32| number > 0);
        let allowed = || self.refuse(factor, &format!("`{left}` or a whole number above 0"));
        number.map(Some).ok_or_else(allowed)
    }

    /// One of these words.
    ///
    /// # Errors
    /// Names the factor, its level and the words.
    pub fn one_of<T: Copy>(&self, factor: &str, levels: &[(&str, T)]) -> Result<T, InputError> {
        let level = self.text(factor)?;
        let found = levels.iter().find(|(name, _)| *name == level);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let known: Vec<&str> = levels.iter().map(|(name, _)| *name).collect();
            self.refuse(factor, &format!("one of {}", known.join(", ")))
        })
    }

    /// A row of a table of the experiment.
    ///
    /// # Errors
    /// Names the factor, its level and the rows there are.
    pub fn named<'t, T>(
        &self,
        factor: &str,
        table: &'t BTreeMap<String, T>,
    ) -> Result<&'t T, InputError> {
        let level = self.text(factor)?;
        table.get(level).ok_or_else(|| {
            let known: Vec<&str> = table.keys().map(String::as_str).collect();
            self.refuse(factor, &format!("one of {}", known.join(", ")))
        })
    }

    /// That a level is none of those allowed.
    pub fn refuse(&self, factor: &str, allowed: &str) -> InputError {
        let level = self.cell.get(factor).map_or("", String::as_str);
        let message = format!("is `{level}`; it must be {allowed}");
        InputError::value(self.file, &format!("cells.{factor}"), message)
    }
}
