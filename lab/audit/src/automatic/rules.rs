//! Columns that follow from others by their names, as rows of columns.tsv.
//!
//! A row binds names to columns, in their order, and says what the one called `target` is of them.
//! `lone` columns, which need no word, must be the only ones that fit; `each` and `voted` stand for
//! one of several, `all` for two and more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::book::Book;
use super::column::{is_change, is_setting, number, values};
use super::found::Found;
use super::grid::Grid;
use super::role::Role;
use super::stems::stems;
use super::tie::unit_of;
use super::words::{says, tokens};
use super::{MOST_ROWS, lexicon, lone};
use crate::checks::{Mismatch, Span};
use crate::printed::unit;
use crate::{Check, Expression, Printed, Severity};

static RULES: LazyLock<Vec<Rule>> =
    LazyLock::new(|| include_str!("columns.tsv").lines().skip(1).filter_map(Rule::read).collect());

static FRACTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(\d{1,7})\s?/\s?(\d{1,7})(?:$|\s|\()").ok());

/// A row of columns.tsv.
struct Rule {
    check: Check,
    columns: Vec<Pattern>,
    /// What the target can be, in the names of the columns; any of them.
    gives: Vec<(&'static str, Expression)>,
    /// Least rows that must fit, and of twelve rows so many, before others are reported.
    bears: (usize, usize),
}

/// Which column a name stands for.
struct Pattern {
    how: &'static str,
    name: &'static str,
    conditions: Vec<&'static str>,
}

/// Columns by name.
type Bound = BTreeMap<&'static str, Vec<usize>>;

impl Rule {
    fn read(row: &'static str) -> Option<Self> {
        let [check, columns, gives, bears] = row.split('\t').collect::<Vec<_>>()[..] else {
            return None;
        };
        let expression = |text: &'static str| Some((text, Expression::parse(text)?));
        let bears = match bears {
            "all" => (0, 0),
            "1/2" => (1, 6),
            "2/3" => (2, 8),
            "2/3 of 3" => (3, 8),
            _ => return None,
        };
        Some(Self {
            check: Check::named(check)?,
            columns: columns.split("; ").map(Pattern::read).collect::<Option<_>>()?,
            gives: gives.split("; ").map(expression).collect::<Option<_>>()?,
            bears,
        })
    }

    /// Binds the columns from `next` on in every way that there is, and checks each.
    fn bind(&self, grid: &Grid<'_>, next: usize, bound: &mut Bound, book: &mut Book) {
        let Some(pattern) = self.columns.get(next) else { return self.judge(grid, bound, book) };
        let fitting: Vec<usize> = (0..grid.table.columns.len())
            .filter(|column| !bound.values().any(|taken| taken.contains(column)))
            .filter(|column| pattern.fits(grid, *column, bound))
            .collect();
        let with = |column: usize| {
            let mut bound = bound.clone();
            bound.insert(pattern.name, vec![column]);
            bound
        };
        let chosen = match pattern.how {
            "all" if fitting.len() < 2 => return,
            "all" => vec![fitting],
            "each" => fitting.into_iter().map(|column| vec![column]).collect(),
            "voted" => {
                let borne = |column: &usize| self.judged(grid, &with(*column)).is_some();
                lone(fitting.into_iter().filter(borne)).map(|one| vec![one]).into_iter().collect()
            }
            _ => lone(fitting).map(|one| vec![one]).into_iter().collect::<Vec<_>>(),
        };
        for columns in chosen {
            bound.insert(pattern.name, columns);
            self.bind(grid, next + 1, bound, book);
            bound.remove(pattern.name);
        }
    }

    /// Every row's target with what it can be; `None` where too few rows bear the names out.
    fn judged<'g>(
        &self,
        grid: &Grid<'g>,
        bound: &Bound,
    ) -> Option<Vec<(usize, &'g Printed, Vec<Span>)>> {
        let target = bound.get("target")?[0];
        let of_row = |row: usize| {
            let stated = number(grid, row, target)?;
            let of = |name: &str| self.value(grid, row, stated, bound, name);
            let gives: Vec<Span> =
                self.gives.iter().filter_map(|(_, one)| one.value(&of)).collect();
            (!gives.is_empty()).then_some((row, stated, gives))
        };
        let judged: Vec<_> = (0..grid.table.rows.len()).filter_map(of_row).collect();
        let fits = judged.iter().filter(|(_, stated, gives)| fits(stated, gives)).count();
        (fits >= self.bears.0 && 12 * fits >= self.bears.1 * judged.len()).then_some(judged)
    }

    fn judge(&self, grid: &Grid<'_>, bound: &Bound, book: &mut Book) {
        let (Some(judged), Some(target)) = (self.judged(grid, bound), bound.get("target")) else {
            return;
        };
        let of = bound.iter().filter(|(name, _)| **name != "target").map(|(name, columns)| {
            let headers = columns.iter().map(|column| format!("`{}`", grid.table.columns[*column]));
            format!("{name} {}", headers.collect::<Vec<_>>().join(", "))
        });
        let how = format!("{} with {}", self.gives[0].0, of.collect::<Vec<_>>().join("; "));
        for (row, stated, gives) in judged {
            let found = (!fits(stated, &gives)).then(|| {
                let wrong = Mismatch::of(stated, gives[0], how.clone());
                let place = grid.spot(row, target[0]);
                Found::mismatch(self.check, Severity::Inconsistent, place, stated, &wrong)
            });
            book.cell(grid.table.rows[row].line, target[0], found);
        }
    }

    /// What a name of the expression is in a row: a column, or a part of one behind a dot.
    fn value(
        &self,
        grid: &Grid<'_>,
        row: usize,
        stated: &Printed,
        bound: &Bound,
        name: &str,
    ) -> Option<Span> {
        if name == "one" {
            return Some(Span::exact(if stated.unit.as_deref() == Some("%") {
                100.0
            } else {
                1.0
            }));
        }
        let (name, part) = name.split_once('.').unwrap_or((name, ""));
        let columns = bound.get(name)?;
        let pattern = self.columns.iter().find(|pattern| pattern.name == name)?;
        // What is counted was not rounded.
        let counted = pattern.conditions.iter().any(|one| ["whole", "bare"].contains(one));
        let span = |row: usize, column: usize| {
            let number = number(grid, row, column)?;
            Some(if counted { Span::exact(number.value) } else { Span::of(number) })
        };
        match part {
            "" => span(row, columns[0]),
            "sum" | "mean" => {
                let all: Option<Vec<Span>> =
                    columns.iter().map(|column| span(row, *column)).collect();
                let sum = all?.into_iter().reduce(Span::plus)?;
                Some(if part == "sum" { sum } else { sum.times(1.0 / columns.len() as f64) })
            }
            "all" => {
                let names = grid.table.row_names();
                let is_total =
                    |row: &usize| says(&names[*row], &["total", "sum", "all", "overall"]);
                let mut rows = 0..grid.table.rows.len();
                match rows.clone().find(is_total) {
                    Some(total) => span(total, columns[0]),
                    None => {
                        rows.by_ref().filter_map(|row| span(row, columns[0])).reduce(Span::plus)
                    }
                }
            }
            "part" => Some(Span::exact(fraction(grid, row, columns[0])?.0)),
            "of" => Some(Span::exact(fraction(grid, row, columns[0])?.1)),
            _ => None,
        }
    }
}

fn fits(stated: &Printed, gives: &[Span]) -> bool {
    gives.iter().any(|one| Span::of(stated).meets(*one))
}

/// `20/30`.
fn fraction(grid: &Grid<'_>, row: usize, column: usize) -> Option<(f64, f64)> {
    let groups = FRACTION.as_ref()?.captures(&grid.table.rows[row].cells[column].text)?;
    let (part, of): (f64, f64) = (groups[1].parse().ok()?, groups[2].parse().ok()?);
    (of >= 1.0 && part <= of).then_some((part, of))
}

impl Pattern {
    fn read(text: &'static str) -> Option<Self> {
        let mut words = text.split(' ').peekable();
        let how = words.next_if(|word| ["each", "all", "voted"].contains(word)).unwrap_or("lone");
        Some(Self { how, name: words.next()?, conditions: words.collect() })
    }

    fn fits(&self, grid: &Grid<'_>, column: usize, bound: &Bound) -> bool {
        let first = column == 0 && !self.conditions.contains(&"first");
        !first
            && self.conditions.iter().all(|one| match one.strip_prefix('!') {
                Some(one) => !holds(one, grid, column, bound),
                None => holds(one, grid, column, bound),
            })
    }
}

/// Whether a column fulfils one condition.
fn holds(condition: &str, grid: &Grid<'_>, column: usize, bound: &Bound) -> bool {
    let table = grid.table;
    let header = table.columns[column].as_str();
    let role = grid.columns()[column].role;
    let numbers = || table.rows.iter().filter_map(|row| row.cells[column].number.as_ref());
    if let Some((condition, class)) = condition.split_once(':') {
        return match condition {
            "says" => lexicon::says(header, class) || lexicon::is(header.trim(), class),
            "only" => stems(header).iter().eq([class]),
            "unit" => unit_of(table, column).as_deref() == Some(class),
            _ => false,
        };
    }
    if let Some((condition, name)) = condition.split_once('=') {
        let Some(other) = bound.get(name).map(|columns| table.columns[columns[0]].as_str()) else {
            return false;
        };
        let bare = |header: &str| stems(&header.split('(').next().unwrap_or("").replace('%', " "));
        return match condition {
            "unit" => unit_of(table, column) == unit_of(table, bound[name][0]),
            "words" => !bare(other).is_empty() && bare(header) == bare(other),
            "shares" => stems(header).intersection(&stems(other)).any(|word| word.len() > 3),
            "holds" => {
                let mut words: BTreeSet<String> = stems(other);
                words.retain(|word| !lexicon::is(word, "columns.bases"));
                !words.is_empty() && words.is_subset(&stems(header))
            }
            "over" => sides(other).is_some_and(|(over, _)| is_named(grid, column, &over)),
            "under" => sides(other).is_some_and(|(_, under)| is_named(grid, column, &under)),
            _ => false,
        };
    }
    match condition {
        "first" => true,
        "bare" => unit_of(table, column).is_none(),
        "change" => is_change(&header.replace("% of total", "share")),
        "setting" => is_setting(header),
        "value" => values(grid).contains(&column),
        "numbers" => numbers().count() >= 2,
        "statistic" => role.is_statistic(),
        // Means of parts add up to the mean of the whole; other statistics do not.
        "unsummed" => role.is_statistic() && role != Role::Mean,
        "whole" => {
            numbers().count() > 0 && numbers().all(|one| one.unit.is_none() && one.decimals == 0)
        }
        "fraction" => {
            let rows = 0..table.rows.len();
            let count = rows.filter(|row| fraction(grid, *row, column).is_some()).count();
            count >= 2 && 2 * count >= table.rows.len()
        }
        _ => false,
    }
}

/// What `Efficiency (tok/s per GB)` is of.
fn sides(header: &str) -> Option<(String, String)> {
    let lower = header.to_lowercase();
    let (over, under) = lower.rsplit_once(" per ")?;
    let over = over.rsplit('(').next().unwrap_or(over).trim();
    Some((over.to_owned(), under.trim_end_matches([')', ' ']).to_owned()))
}

/// Whether a column is in the unit of a name, or named so.
fn is_named(grid: &Grid<'_>, column: usize, name: &str) -> bool {
    let header = &grid.table.columns[column];
    if header.to_lowercase().contains(" per ") || !values(grid).contains(&column) {
        return false;
    }
    let same = unit_of(grid.table, column).is_some_and(|own| {
        unit::known(name).is_some_and(|known| known == own)
            || own.eq_ignore_ascii_case(name)
            // "Tokens per GB" divides tokens a second.
            || name.len() > 2
                && own.split_once('/').is_some_and(|(counts, _)| name.starts_with(counts))
    });
    same || tokens(header).contains(name)
}

/// Checks every row of columns.tsv.
pub(crate) fn check(grid: &Grid<'_>, book: &mut Book) {
    if grid.table.rows.len() > MOST_ROWS {
        return;
    }
    for rule in RULES.iter().filter(|rule| !grid.transposed || rule.bears == (0, 0)) {
        rule.bind(grid, 0, &mut Bound::new(), book);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_rule_of_what_there_is() {
        let rows = include_str!("columns.tsv").lines().skip(1);
        let rules: Vec<(&str, Option<Rule>)> = rows.map(|row| (row, Rule::read(row))).collect();
        for (row, rule) in rules {
            let rule = rule.unwrap_or_else(|| panic!("{row} is no rule"));
            let names: Vec<&str> = rule.columns.iter().map(|pattern| pattern.name).collect();
            assert!(names.contains(&"target"), "{row}");
            for name in rule.gives.iter().flat_map(|(_, gives)| gives.names()) {
                let known = name == "one" || names.contains(&name.split('.').next().unwrap());
                assert!(known, "{row}: {name}");
            }
            for condition in rule.columns.iter().flat_map(|pattern| &pattern.conditions) {
                let class = condition.split_once("says:").map(|(_, class)| lexicon::class(class));
                assert!(class.is_none_or(|words| !words.is_empty()), "{row}: {condition}");
            }
        }
    }
}
