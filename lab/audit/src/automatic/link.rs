//! Which raw rows stand behind which record of a table.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::grid::{Grid, Record};
use super::words::tokens;
use crate::mapping::RawMapping;
use crate::{Raw, Value};

/// A raw column with more labels than this names no subjects.
const MOST_LABELS: usize = 2_000;

/// A raw file with its rows by label.
pub(crate) struct Labelled<'a> {
    pub(crate) raw: &'a Raw,
    pub(crate) mapping: Option<&'a RawMapping>,
    /// By column, the rows of each label.
    labels: BTreeMap<&'a str, BTreeMap<String, Vec<usize>>>,
}

/// How a table's labels are found in a raw file.
pub(crate) struct Link<'l, 'a> {
    labelled: &'l Labelled<'a>,
    /// By the record's label, the raw column and the raw label of every text.
    columns: Vec<(&'a str, BTreeMap<String, String>)>,
    /// Raw rows that the whole table is about.
    scope: Option<Vec<usize>>,
}

impl<'a> Labelled<'a> {
    pub(crate) fn new(raw: &'a Raw, mapping: Option<&'a RawMapping>) -> Self {
        let mut labels = BTreeMap::new();
        for column in &raw.order {
            let chosen = mapping.is_none_or(|mapping| {
                mapping.subject.is_empty() || mapping.subject.contains(column)
            });
            if let Some(rows) = chosen.then(|| rows_by_label(raw, column, mapping)).flatten() {
                labels.insert(column.as_str(), rows);
            }
        }
        Self { raw, mapping, labels }
    }

    /// Columns that name something, with their labels in the order of the alphabet.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&'a str, &BTreeMap<String, Vec<usize>>)> {
        self.labels.iter().map(|(column, rows)| (*column, rows))
    }
}

fn rows_by_label(
    raw: &Raw,
    column: &str,
    mapping: Option<&RawMapping>,
) -> Option<BTreeMap<String, Vec<usize>>> {
    let mut rows: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (row, value) in raw.values(column).iter().enumerate() {
        let label = match value {
            // Numbers name levels (threads, sizes) only where they are whole.
            Value::Number(number) if number.fract() != 0.0 => return None,
            value => value.shown(),
        };
        let Some(label) = label else { continue };
        let renamed = mapping.and_then(|mapping| mapping.names.get(&*label));
        let label = renamed.map_or(label, |renamed| Cow::Borrowed(renamed.as_str()));
        match rows.get_mut(&*label) {
            Some(rows) => rows.push(row),
            None => {
                rows.insert(label.into_owned(), vec![row]);
            }
        }
        if rows.len() > MOST_LABELS {
            return None;
        }
    }
    // One label a row is an identity, such as a time stamp.
    let repeated = rows.len() < raw.rows || raw.rows <= 1;
    (!rows.is_empty() && (repeated || rows.len() <= 64)).then_some(rows)
}

impl<'l, 'a> Link<'l, 'a> {
    /// Finds the table's labels in the raw file; `None` where they are not there.
    pub(crate) fn new(grid: &Grid<'_>, labelled: &'l Labelled<'a>) -> Option<Self> {
        let depth = grid.records.iter().map(|record| record.labels.len()).max()?;
        let mut columns: Vec<(&'a str, BTreeMap<String, String>)> = Vec::new();
        for depth in 0..depth {
            let texts: BTreeSet<&str> = grid
                .records
                .iter()
                .filter_map(|record| record.labels.get(depth).map(|(_, text)| text.as_str()))
                .filter(|text| !everything(text))
                .collect();
            let taken: Vec<&str> = columns.iter().map(|(column, _)| *column).collect();
            match best_column(&texts, labelled, &taken) {
                Some(found) => columns.push(found),
                None if depth == 0 || texts.len() > 1 && !unique(grid, depth) => return None,
                None => columns.push(("", BTreeMap::new())),
            }
        }
        let mut link = Self { labelled, columns, scope: None };
        link.scope = link.scope_of(grid);
        Some(link)
    }

    /// The raw rows of a record; `None` where one of its labels is not there.
    pub(crate) fn rows(&self, record: &Record<'_>) -> Option<Vec<usize>> {
        let mut rows: Option<Vec<usize>> = self.scope.clone();
        for ((column, names), (_, text)) in self.columns.iter().zip(&record.labels) {
            if column.is_empty() || everything(text) {
                continue;
            }
            let own = self.labelled.labels.get(column)?.get(names.get(text)?)?;
            rows = Some(both(rows, own));
        }
        rows.filter(|rows| !rows.is_empty())
    }

    /// Whether a raw column is used to find rows, so that it is no measurement.
    pub(crate) fn uses(&self, column: &str) -> bool {
        self.columns.iter().any(|(used, _)| *used == column)
    }

    /// What the mapping, or else the heading right above the table, narrows the rows to.
    fn scope_of(&self, grid: &Grid<'_>) -> Option<Vec<usize>> {
        let mut scope = None;
        if let Some(mapping) = grid.mapping.filter(|mapping| !mapping.only.is_empty()) {
            for (column, label) in &mapping.only {
                let rows = self.labelled.labels.get(column.as_str()).and_then(|l| l.get(label));
                scope = Some(both(scope, rows.map_or(&[][..], Vec::as_slice)));
            }
            return scope;
        }
        let heading = tokens(grid.table.headings.last()?);
        for (column, labels) in self.labelled.columns().filter(|(column, _)| !self.uses(column)) {
            let text = |label: &str| label.chars().any(char::is_alphabetic);
            let named: Vec<&String> = labels
                .keys()
                .filter(|label| text(label) && tokens(label).is_subset(&heading))
                .collect();
            if let [label] = named[..]
                && labels.len() > 1
                && self.labelled.raw.order.iter().any(|known| known == column)
            {
                scope = Some(both(scope, &labels[label]));
            }
        }
        scope
    }
}

/// Rows in both lists, which are in order; all of the second where there is no first.
fn both(rows: Option<Vec<usize>>, other: &[usize]) -> Vec<usize> {
    match rows {
        None => other.to_vec(),
        Some(rows) => rows.into_iter().filter(|row| other.binary_search(row).is_ok()).collect(),
    }
}

/// Whether records differ already without this label.
fn unique(grid: &Grid<'_>, depth: usize) -> bool {
    let mut seen = BTreeSet::new();
    grid.records.iter().all(|record| {
        let labels: Vec<&str> =
            record.labels.iter().take(depth).map(|(_, text)| text.as_str()).collect();
        seen.insert(labels)
    })
}

fn everything(text: &str) -> bool {
    let tokens = tokens(text);
    ["all", "overall", "total"].iter().any(|word| tokens.contains(*word))
}

/// The raw column that has most of the texts, with the raw label of each.
fn best_column<'a>(
    texts: &BTreeSet<&str>,
    labelled: &Labelled<'a>,
    taken: &[&str],
) -> Option<(&'a str, BTreeMap<String, String>)> {
    let candidates = labelled.columns().filter(|(column, _)| !taken.contains(column));
    let matched = candidates.map(|(column, rows)| {
        let names = names(texts, &rows.keys().map(String::as_str).collect::<Vec<_>>());
        (column, names)
    });
    let best = matched.max_by_key(|(_, names)| names.len())?;
    let enough = best.1.len() * 5 >= texts.len() * 3 && !best.1.is_empty();
    (enough && (best.1.len() >= 2 || texts.len() == 1)).then_some(best)
}

/// The raw label of each text: the same but for case and punctuation, or the only one whose words
/// hold all of the text's words, once those that are taken are left out.
fn names(texts: &BTreeSet<&str>, labels: &[&str]) -> BTreeMap<String, String> {
    let mut free: Vec<(&str, BTreeSet<String>)> =
        labels.iter().map(|label| (*label, tokens(label))).collect();
    let mut open: Vec<(&str, BTreeSet<String>)> =
        texts.iter().map(|text| (*text, tokens(text))).collect();
    let mut names = BTreeMap::new();
    open.retain(|(text, words)| {
        let found = free.iter().position(|(_, label)| label == words && !words.is_empty());
        if let Some(index) = found {
            names.insert((*text).to_owned(), free.remove(index).0.to_owned());
        }
        found.is_none()
    });
    if open.len() > 200 || free.len() > 200 {
        return names;
    }
    loop {
        let before = open.len();
        open.retain(|(text, words)| {
            let mut holders = free.iter().enumerate().filter(|(_, (_, label))| {
                !words.is_empty() && (words.is_subset(label) || label.is_subset(words))
            });
            let (first, second) = (holders.next().map(|(index, _)| index), holders.next());
            let Some(index) = first.filter(|_| second.is_none()) else { return true };
            names.insert((*text).to_owned(), free.remove(index).0.to_owned());
            false
        });
        if open.len() == before {
            return names;
        }
    }
}
