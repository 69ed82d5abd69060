//! Columns of counts, `1/5` or `Yes`, and the sums of them that a text states.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::book::Book;
use super::found::Found;
use super::sentence::share::slashed;
use super::stems::stems;
use super::tie::Tied;
use crate::{Check, Document, Place, SentenceKind, Severity, Table};

/// `10/150`, also at the end of a sentence.
static FRACTION: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|[\s(~*])(\d{1,7})/(\d{1,7})(?:$|[\s),.;:*])").ok());

/// A column of which each cell counts how many of so many had something.
struct Counted<'a> {
    table: &'a Table,
    column: usize,
    /// Stems of its header.
    name: BTreeSet<String>,
    /// Part and whole of each row.
    rows: Vec<(f64, f64)>,
}

impl Counted<'_> {
    /// The whole that every row has, where it is the same.
    fn each(&self) -> Option<f64> {
        let first = self.rows.first()?.1;
        self.rows.iter().all(|(_, of)| *of == first).then_some(first)
    }
}

/// Checks every stated count of what the tables count.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let counted: Vec<Counted<'_>> = tables.iter().flat_map(|tied| columns(tied.table())).collect();
    if counted.is_empty() {
        return;
    }
    for sentence in document.prose.iter().filter(|one| one.kind != SentenceKind::Heading) {
        let above = document.lists.iter().find(|list| {
            sentence.list > 0 && list.rows.iter().any(|row| row.line == sentence.line)
        });
        let title = above.map_or("", |list| list.caption.as_str());
        let said = format!("{title} {}", sentence.text);
        let place = document.at(sentence);
        let at = Spot { place: &place, headings: &sentence.headings, column: None };
        of_text(&said, &sentence.text, &at, &counted, book);
    }
    for tied in tables {
        let table = tied.table();
        for (index, row) in table.rows.iter().enumerate() {
            let label = row.cells.first().map_or("", |cell| cell.text.as_str());
            for (column, cell) in row.cells.iter().enumerate().skip(1) {
                let said = format!("{label} {} {}", table.columns[column], cell.text);
                let place = tied.grid.spot(index, column);
                let own = counted.iter().any(|c| c.table.line == table.line && c.column == column);
                if !own {
                    let at =
                        Spot { place: &place, headings: &table.headings, column: Some(column) };
                    of_text(&said, &cell.text, &at, &counted, book);
                }
            }
        }
    }
}

/// A table's columns of counts.
fn columns(table: &Table) -> Vec<Counted<'_>> {
    let of = |column: usize| {
        let rows: Option<Vec<(f64, f64)>> =
            table.rows.iter().map(|row| count(&row.cells.get(column)?.text)).collect();
        let name = stems(&table.columns[column]);
        let rows = rows.filter(|rows| rows.len() >= 2 && !name.is_empty())?;
        Some(Counted { table, column, name, rows })
    };
    (1..table.columns.len()).filter_map(of).collect()
}

/// `1/5`, or a yes or no as one of one.
fn count(text: &str) -> Option<(f64, f64)> {
    match text.to_lowercase().as_str() {
        "yes" => return Some((1.0, 1.0)),
        "no" => return Some((0.0, 1.0)),
        _ => {}
    }
    let (part, of) = text.split_once('/')?;
    let whole = |text: &str| text.trim().parse::<u32>().ok().map(f64::from);
    let (part, of) = (whole(part)?, whole(of)?);
    (of >= 1.0 && part <= of).then_some((part, of))
}

/// Where a fraction is stated.
struct Spot<'a> {
    place: &'a Place,
    headings: &'a [String],
    column: Option<usize>,
}

/// A sum that some tables have.
struct Sum {
    part: f64,
    line: usize,
    rows: usize,
}

fn of_text(said: &str, text: &str, at: &Spot<'_>, counted: &[Counted<'_>], book: &mut Book) {
    if !text.contains('/') && !text.contains(" of ") {
        return;
    }
    let words = stems(said);
    let text = slashed(text);
    for groups in FRACTION.iter().flat_map(|regex| regex.captures_iter(&text)) {
        let (Ok(part), Ok(of)) = (groups[1].parse::<f64>(), groups[2].parse::<f64>()) else {
            continue;
        };
        let is_named = |one: &&Counted<'_>| has_a_word(one) && one.name.is_subset(&words);
        let named: Vec<&Counted<'_>> = counted.iter().filter(is_named).collect();
        let sums = sums(&named, of, at);
        let Some(first) = sums.first() else { continue };
        // What did not have it is counted as often.
        let fits = sums.iter().any(|sum| sum.part == part || of - sum.part == part);
        let found = (!fits).then(|| found(at.place, (part, of), first));
        match (at.place.line, at.column) {
            (Some(line), Some(column)) => book.cell(line, column, found),
            (line, _) => book.stated(line.unwrap_or(0), part, found),
        }
    }
}

/// A column that is called `64` is not what a sentence with the number 64 speaks of.
fn has_a_word(counted: &Counted<'_>) -> bool {
    counted.name.iter().any(|stem| stem.chars().any(char::is_alphabetic))
}

/// The sums of the sets of tables whose wholes add up to `of`: each table of the section, all of
/// the section, all of the document. Only tables with the same whole a row are added up, for
/// others sum up rows themselves.
fn sums(named: &[&Counted<'_>], of: f64, at: &Spot<'_>) -> Vec<Sum> {
    let mut sets: Vec<Vec<&Counted<'_>>> = Vec::new();
    for one in named {
        let alike = |other: &&&Counted<'_>| other.each() == one.each();
        if related(&one.table.headings, at.headings) {
            sets.push(vec![*one]);
            let within = |other: &&&Counted<'_>| related(&other.table.headings, at.headings);
            sets.push(named.iter().filter(alike).filter(within).copied().collect());
        }
        sets.push(named.iter().filter(alike).copied().collect());
    }
    let total = |set: &[&Counted<'_>], take: fn(&(f64, f64)) -> f64| -> f64 {
        set.iter().flat_map(|one| &one.rows).map(take).sum()
    };
    let fits = |set: &&Vec<&Counted<'_>>| {
        let elsewhere = set.iter().all(|one| Some(one.table.line) != at.place.line);
        total(set, |row| row.1) == of && elsewhere
    };
    let sum = |set: &Vec<&Counted<'_>>| Sum {
        part: total(set, |row| row.0),
        line: set[0].table.line,
        rows: set.iter().map(|one| one.rows.len()).sum(),
    };
    sets.iter().filter(|set| !set.is_empty()).filter(fits).map(sum).collect()
}

/// Whether one section holds the other; the title of the document holds all, and says nothing.
fn related(a: &[String], b: &[String]) -> bool {
    let depth = a.len().min(b.len());
    depth >= 2 && a[..depth] == b[..depth]
}

fn found(place: &Place, (part, of): (f64, f64), sum: &Sum) -> Found {
    let sentence = format!(
        "{part}/{of} is stated; the {} rows from line {} on add up to {}/{of}",
        sum.rows, sum.line, sum.part
    );
    let how = "the counts of every table that has them, whose wholes add up to the stated one";
    let against = Place { line: Some(sum.line), row: None, column: None, ..place.clone() };
    Found::remark(Check::SumOfCounts, Severity::Inconsistent, place.clone(), sentence, how)
        .against(against)
        .values(part, sum.part)
}
