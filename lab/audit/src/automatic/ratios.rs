//! Columns of changes, differences and ratios against the columns and rows they are computed
//! from. Which those are is not stated; every usual way is tried, and what is reported is a row
//! that breaks the way that explains the others.

use super::found::{Found, allowed, number};
use super::grid::{Grid, in_unit};
use super::role::Role;
use crate::checks::Span;
use crate::checks::ratios::{READINGS, Reading, WrongRatio, wrong_ratio};
use crate::{Place, Printed, Severity, Table};

/// More columns or rows than this are no table that people wrote.
const MOST: usize = 200;

/// Checks every column whose header speaks of a change or a ratio.
pub(crate) fn check(grid: &Grid<'_>) -> Vec<Found> {
    let table = grid.table;
    if table.columns.len() > 24 || table.rows.len() > MOST {
        return Vec::new();
    }
    let columns = grid.columns();
    let targets = (1..table.columns.len()).filter(|column| columns[*column].role == Role::Ratio);
    targets.flat_map(|target| Target::new(grid, target).check()).collect()
}

struct Target<'g, 'a> {
    grid: &'g Grid<'a>,
    table: &'a Table,
    column: usize,
    names: Vec<String>,
    /// Columns that it can be computed from.
    sources: Vec<usize>,
}

/// Where the two values come from.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Source {
    Columns {
        new: usize,
        base: usize,
    },
    Rows {
        column: usize,
        base: usize,
    },
    RowAbove {
        column: usize,
    },
    /// Groups of rows, each with its own base on top.
    BaseAbove {
        column: usize,
    },
}

/// One way to compute the column, and how well it explains it.
struct Hypothesis {
    source: Source,
    reading: Reading,
    fits: usize,
    /// Natural logarithm of how unlikely the fits are by accident.
    information: f64,
    misses: Vec<(usize, WrongRatio)>,
}

impl<'g, 'a> Target<'g, 'a> {
    fn new(grid: &'g Grid<'a>, column: usize) -> Self {
        let table = grid.table;
        let columns = grid.columns();
        let numeric = |other: &usize| {
            let numbers = table.rows.iter().filter(|row| row.cells[*other].number.is_some());
            numbers.count() >= 2.min(table.rows.len())
        };
        let usable = |other: &usize| {
            *other != column && columns[*other].role != Role::Ratio && numeric(other)
        };
        let sources = (0..table.columns.len()).filter(usable).collect();
        Self { grid, table, column, names: table.row_names(), sources }
    }

    fn check(&self) -> Vec<Found> {
        let hypotheses = self.hypotheses();
        let tried = hypotheses.len().max(1) as f64;
        let most = hypotheses.iter().map(|h| h.fits).max().unwrap_or(0);
        if hypotheses.iter().any(|h| h.misses.is_empty() && h.fits > 0 && h.fits + 1 >= most) {
            return Vec::new();
        }
        let convincing = |h: &&Hypothesis| {
            let enough = h.fits >= 2 && 2 * h.misses.len() <= h.fits;
            // Where the header itself names the base, two rows are enough to disagree.
            let stated = self.is_stated(h) && h.fits >= 1 && h.misses.len() <= h.fits;
            (enough || stated) && h.information > tried.ln() + 3.0
        };
        let best = hypotheses.iter().filter(convincing).max_by(|a, b| {
            let rank = |h: &Hypothesis| (h.fits, std::cmp::Reverse(h.misses.len()));
            rank(a).cmp(&rank(b)).then(a.information.total_cmp(&b.information))
        });
        let Some(best) = best else { return Vec::new() };
        best.misses.iter().map(|(row, wrong)| self.found(best, *row, wrong)).collect()
    }

    fn hypotheses(&self) -> Vec<Hypothesis> {
        let mut sources = Vec::new();
        for &new in &self.sources {
            sources.push(Source::RowAbove { column: new });
            sources.push(Source::BaseAbove { column: new });
            sources.extend(self.bases().take(3).map(|base| Source::Rows { column: new, base }));
            let others = self.sources.iter().filter(|base| **base != new);
            sources.extend(others.map(|&base| Source::Columns { new, base }));
        }
        let all = sources.into_iter().flat_map(|s| READINGS.into_iter().map(move |r| (s, r)));
        all.filter_map(|(source, reading)| self.hypothesis(source, reading)).collect()
    }

    /// Rows that others are compared with: what they say of themselves is nothing or one.
    fn bases(&self) -> impl Iterator<Item = usize> + '_ {
        let header = words(&self.table.columns[self.column]);
        (0..self.table.rows.len()).filter(move |&row| {
            let cell = &self.table.rows[row].cells[self.column];
            let text = cell.text.to_lowercase();
            let named = words(&self.names[row]);
            let in_header = !named.is_empty() && named.iter().all(|word| header.contains(word));
            let neutral = cell.number.as_ref().is_some_and(|number| {
                let unit = number.unit.as_deref();
                number.value == 0.0
                    || number.value == 1.0 && unit != Some("%")
                    || number.value == 100.0 && unit == Some("%")
            });
            let spoken = ["baseline", "reference", "base", "ref"].contains(&text.as_str());
            neutral || spoken || in_header || cell.number.is_none() && text.len() <= 3
        })
    }

    /// Whether a hypothesis is what the header says: a change or ratio against the row it names.
    fn is_stated(&self, hypothesis: &Hypothesis) -> bool {
        let Source::Rows { base, .. } = hypothesis.source else { return false };
        let header = words(&self.table.columns[self.column]);
        let named = words(&self.names[base]);
        let plain = matches!(hypothesis.reading, Reading::PercentChange | Reading::Ratio);
        plain && !named.is_empty() && named.iter().all(|word| header.contains(word))
    }

    fn hypothesis(&self, source: Source, reading: Reading) -> Option<Hypothesis> {
        let mut hypothesis =
            Hypothesis { source, reading, fits: 0, information: 0.0, misses: Vec::new() };
        for (row, cells) in self.table.rows.iter().enumerate() {
            let Some(stated) = &cells.cells[self.column].number else { continue };
            let Some((new, base)) = self.values(source, row) else { continue };
            // Two rows in three must fit in the end.
            if hypothesis.misses.len() > 1 + self.table.rows.len() / 3 {
                return None;
            }
            if !possible(reading, stated, &new) {
                continue;
            }
            match wrong_ratio(stated, Span::of(&new), Span::of(&base), &[reading]) {
                Some(wrong) => hypothesis.misses.push((row, wrong)),
                None if reading.of(Span::of(&new), Span::of(&base)).is_some() => {
                    let width = Span::of(stated).half_width() * 2.0;
                    let scale = stated.value.abs().max(width);
                    hypothesis.fits += 1;
                    hypothesis.information += (scale / width.max(1e-300)).ln().min(7.0);
                }
                None => {}
            }
        }
        (hypothesis.fits > 0).then_some(hypothesis)
    }

    /// The two values of a row, in one unit.
    fn values(&self, source: Source, row: usize) -> Option<(Printed, Printed)> {
        let cell =
            |row: usize, column: usize| self.table.rows.get(row)?.cells.get(column)?.number.clone();
        let (new, base) = match source {
            Source::Columns { new, base } => (cell(row, new)?, cell(row, base)?),
            Source::Rows { column, base } if base != row => {
                (cell(row, column)?, cell(base, column)?)
            }
            Source::RowAbove { column } => (cell(row, column)?, cell(row.checked_sub(1)?, column)?),
            Source::BaseAbove { column } => {
                let base = self.bases().take_while(|base| *base <= row).last()?;
                (base != row).then_some((cell(row, column)?, cell(base, column)?))?
            }
            Source::Rows { .. } => return None,
        };
        match (&new.unit, &base.unit) {
            (Some(a), Some(b)) if a != b => {
                let base = in_unit(&base, a)?;
                Some((new, base))
            }
            (Some(_), Some(_)) | (None, None) => Some((new, base)),
            _ => None,
        }
    }

    fn found(&self, best: &Hypothesis, row: usize, wrong: &WrongRatio) -> Found {
        let cells = &self.table.rows[row];
        let Some(stated) = cells.cells[self.column].number.clone() else {
            unreachable!("a miss has a stated number")
        };
        let place = Place {
            document: self.grid.document.to_owned(),
            line: (cells.line > 0).then_some(cells.line),
            section: self.table.section(),
            row: Some(self.names[row].clone()),
            column: Some(self.table.columns[self.column].clone()),
        };
        let explained =
            wrong.explained_by.iter().find(|reading| possible_at_all(**reading, &stated));
        let clear = 3 * best.misses.len() <= best.fits || best.misses.len() == 1;
        let severity = match (explained, clear) {
            (None, true) => Severity::Impossible,
            _ => Severity::Doubtful,
        };
        let columns = match best.source {
            Source::Columns { new, base } => {
                format!("new = `{}`, base = `{}`", self.header(new), self.header(base))
            }
            Source::Rows { column, base } => {
                format!("of `{}`, base = row {}", self.header(column), self.names[base])
            }
            Source::BaseAbove { column } => {
                format!("of `{}`, base = the group's first row", self.header(column))
            }
            Source::RowAbove { column } => {
                format!("of `{}`, base = the row above", self.header(column))
            }
        };
        let other = explained
            .map_or(String::new(), |reading| format!("; it is {} instead", reading.formula()));
        let sentence = format!(
            "`{}` of {} is {}; {} gives {}, as it does in {} other rows{other}",
            self.table.columns[self.column],
            self.names[row],
            number(stated.value, stated.decimals),
            best.reading.formula(),
            allowed(&stated, &wrong.mismatch),
            best.fits
        );
        let mut found =
            Found::mismatch("ratio", severity, place, &stated, &wrong.mismatch).sentence(sentence);
        found.finding.how = format!("{}, {columns}", best.reading.formula());
        found
    }

    fn header(&self, column: usize) -> &str {
        &self.table.columns[column]
    }
}

/// Whether a reading gives numbers in the unit of the stated one.
fn possible(reading: Reading, stated: &Printed, new: &Printed) -> bool {
    if matches!(reading, Reading::Difference | Reading::DifferenceReversed) {
        let points = |unit: &Option<String>| unit.clone().map(|u| u.replace("pp", "%"));
        return stated.unit.is_none() || points(&stated.unit) == points(&new.unit);
    }
    possible_at_all(reading, stated)
}

fn possible_at_all(reading: Reading, stated: &Printed) -> bool {
    match stated.unit.as_deref() {
        Some("%") => !matches!(reading, Reading::Ratio | Reading::RatioReversed),
        Some("x") => matches!(reading, Reading::Ratio | Reading::RatioReversed),
        None => true,
        Some(_) => matches!(reading, Reading::Difference | Reading::DifferenceReversed),
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
