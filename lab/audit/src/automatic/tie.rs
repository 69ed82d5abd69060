//! Which rows and columns of a table a text is about, by its words alone.

use std::collections::BTreeSet;

use super::column::is_setting;
use super::grid::{Grid, in_unit};
use super::role::{self, Meaning, Role};
use super::words::{list, says, tokens};
use crate::automatic::lexicon::{Words, class};
use crate::automatic::lone;
use crate::checks::bounds;
use crate::document::header;
use crate::{Printed, Table};

/// A table and what its columns mean.
pub(crate) struct Tied<'g, 'a> {
    pub(crate) grid: &'g Grid<'a>,
    /// The words of each row's labels.
    rows: Vec<BTreeSet<String>>,
    names: Vec<String>,
}

/// Words that say which values are spoken of, and name nothing.
static NOISE: Words = Words::new(|| class("tie.noise"));

impl<'g, 'a> Tied<'g, 'a> {
    pub(crate) fn new(grid: &'g Grid<'a>) -> Self {
        let names = grid.table.row_names();
        let rows = names.iter().map(|name| tokens(name)).collect();
        Self { grid, rows, names }
    }

    pub(crate) fn table(&self) -> &'a Table {
        self.grid.table
    }

    pub(crate) fn name(&self, row: usize) -> &str {
        &self.names[row]
    }

    /// The one row that a name is of: of the same words, or the shortest that has them all.
    pub(crate) fn row(&self, name: &str) -> Option<usize> {
        shortest(&self.rows, name)
    }

    /// The rows whose labels stand in a text as they are, the longest where one holds another.
    pub(crate) fn rows_in(&self, text: &str) -> Vec<usize> {
        let padded = format!(" {} ", list(text).join(" "));
        let mut found: Vec<(usize, String)> = Vec::new();
        for (row, name) in self.names.iter().enumerate() {
            let label = list(name).join(" ");
            let telling = label.chars().filter(|c| c.is_alphabetic()).count() >= 3;
            if telling && padded.contains(&format!(" {label} ")) {
                found.push((row, label));
            }
        }
        let longest = |(_, label): &&(usize, String)| {
            !found
                .iter()
                .any(|(_, other)| other.len() > label.len() && other.contains(label.as_str()))
        };
        found.iter().filter(longest).map(|(row, _)| *row).collect()
    }

    /// The columns of values that hold the words of a meaning, in its unit.
    pub(crate) fn columns(&self, wanted: &Meaning, unit: Option<&str>) -> Vec<usize> {
        let words = metric_words(&wanted.metric);
        let table = self.grid.table;
        let fits = |column: &usize| {
            let own = &self.grid.columns()[*column];
            let header = tokens(&table.columns[*column]);
            !is_setting(&table.columns[*column])
                && words.is_subset(&header)
                && (!words.is_empty() || wanted.role != Role::Value && own.role == wanted.role)
                && unit_of(table, *column).as_deref() == unit
        };
        (1..table.columns.len()).filter(fits).collect()
    }
}

/// The one of some labels that a name is of: of the same words, or the shortest that has them all.
pub(crate) fn shortest(labels: &[BTreeSet<String>], name: &str) -> Option<usize> {
    let wanted = tokens(name);
    if !wanted.iter().any(|word| word.chars().any(char::is_alphabetic)) {
        return None;
    }
    let holding = labels.iter().enumerate().filter(|(_, label)| wanted.is_subset(label));
    let least = holding.clone().map(|(_, label)| label.len()).min()?;
    // A name of one word in a label of five is another thing's.
    let (index, _) = lone(holding.filter(|(_, label)| label.len() == least))?;
    (least <= 2 * wanted.len()).then_some(index)
}

/// A metric's words without those that name nothing.
pub(crate) fn metric_words(metric: &str) -> BTreeSet<String> {
    tokens(metric).into_iter().filter(|word| !NOISE.contains(&word.as_str())).collect()
}

/// The unit that all numbers of a column share.
pub(crate) fn unit_of(table: &Table, column: usize) -> Option<String> {
    let numbers = table.rows.iter().filter_map(|row| row.cells.get(column)?.number.as_ref());
    let mut units = numbers.map(|number| number.unit.as_deref());
    let first = units.next()??;
    units.all(|unit| unit == Some(first)).then(|| first.to_owned())
}

/// What a name of a list item or row means, without its unit.
pub(crate) fn meaning(name: &str) -> Meaning {
    let unit = header::unit(name);
    role::meaning(&header::name(name, unit.as_deref()))
}

/// A number in the unit of another.
pub(crate) fn aligned(number: &Printed, to: &Printed) -> Option<Printed> {
    match (&number.unit, &to.unit) {
        (Some(_), Some(unit)) => in_unit(number, unit),
        (None, None) => Some(number.clone()),
        _ => None,
    }
}

/// Words with which an amount that fell is told without its sign.
static LESSENING: Words = Words::new(|| class("tie.lessening"));

/// Whether a text that states a number says with it what a cell has: `22.1 % less` is `-22.1 %`.
pub(crate) fn agrees(text: &str, stated: &Printed, cell: &Printed) -> bool {
    let turned = Printed { value: -cell.value, ..cell.clone() };
    bounds::differ(stated, cell).is_none()
        || cell.value < 0.0 && bounds::differ(stated, &turned).is_none() && says(text, &LESSENING)
}
