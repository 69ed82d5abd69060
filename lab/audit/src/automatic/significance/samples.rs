//! Tests of two samples whose means, deviations and sizes a table has.

use std::sync::LazyLock;

use regex::Regex;

use super::stated_p;
use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::role::Role;
use crate::automatic::tie::Tied;
use crate::automatic::words::says;
use crate::checks::tests_of_hypotheses::{
    StatedP, Summary, cohens_d, f_of_samples, one_sample_p, p_of_samples, t_of_samples,
};
use crate::checks::{Mismatch, Span};
use crate::{Bound, Cell, Document, Place, Printed, Severity, Table, TableRow};

static P: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:p\s*)?([=<>≤≥]?)\s*(\d?\.\d{1,12})\b").ok());

static F: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bF\s*=\s*(\d{1,6}(?:\.\d{1,4})?)").ok());

/// Checks lists below `A vs B`, lists of one sample, and analyses of variance.
pub(super) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let samples: Vec<(&Tied<'_, '_>, Vec<Option<Summary>>)> =
        tables.iter().filter_map(|tied| Some((tied, summaries(tied)?))).collect();
    for list in &document.lists {
        of_one(document, list, book);
        let title = [list.caption.as_str(), list.headings.last().map_or("", String::as_str)];
        for (tied, samples) in &samples {
            let pair = title.iter().find_map(|title| pair(tied, title));
            let Some((a, b)) = pair.and_then(|(a, b)| Some((samples[a]?, samples[b]?))) else {
                continue;
            };
            list.rows.iter().for_each(|row| of_two(document, list, row, (a, b), book));
            break;
        }
    }
    for tied in tables {
        of_pairs(document, tied, &samples, book);
    }
    if let [(_, samples)] = &samples[..] {
        variance(document, samples, book);
    }
}

/// The columns of tests of a table whose rows are called `A vs B`.
fn of_pairs(
    document: &Document,
    tied: &Tied<'_, '_>,
    samples: &[(&Tied<'_, '_>, Vec<Option<Summary>>)],
    book: &mut Book,
) {
    let table = tied.table();
    for (index, row) in table.rows.iter().enumerate() {
        let known = samples.iter().filter(|(other, _)| other.table().line != table.line);
        let mut both = known.filter_map(|(other, samples)| {
            let (a, b) = pair(other, tied.name(index))?;
            Some((samples[a]?, samples[b]?))
        });
        let Some((a, b)) = both.next() else { continue };
        for (column, cell) in row.cells.iter().enumerate().skip(1) {
            let header = table.columns[column].to_lowercase();
            let Some(stated) = cell.numbers.first() else { continue };
            let wrong = match tied.grid.columns()[column].role {
                Role::P => p_of_samples(&p_of_cell(cell, stated), a, b),
                Role::T => t_of_samples(stated, a, b),
                _ if header.contains("cohen") || header == "d" || header == "effect size" => {
                    cohens_d(stated, a, b)
                }
                _ => continue,
            };
            note(document, table.section(), row.line, "test_of_samples", stated, wrong, book);
        }
    }
}

fn p_of_cell(cell: &Cell, stated: &Printed) -> StatedP {
    match cell.bound {
        Some(Bound::Below) => StatedP::Below(stated.value),
        Some(Bound::Above) => StatedP::Above(stated.value),
        None => StatedP::Equals(stated.clone()),
    }
}

/// The mean, deviation and size of every row, where a table has these columns.
fn summaries(tied: &Tied<'_, '_>) -> Option<Vec<Option<Summary>>> {
    let column = |wanted: fn(Role) -> bool| {
        let mut all = tied.grid.columns().iter().enumerate().filter(|(_, one)| wanted(one.role));
        all.next().filter(|_| all.next().is_none()).map(|(index, _)| index)
    };
    let (mean, sd) = (column(|role| role == Role::Mean)?, column(|role| role == Role::Sd)?);
    let named = |header: &String| says(header, &["n", "runs", "samples", "count"]);
    let size = tied.table().columns.iter().position(named)?;
    let of_row = |row: &TableRow| {
        let number = |column: usize| row.cells[column].number.clone();
        let n = number(size)?.value;
        (n >= 2.0).then_some(Summary {
            mean: Span::of(&number(mean)?),
            sd: Span::of(&number(sd)?),
            n: n as usize,
        })
    };
    Some(tied.table().rows.iter().map(of_row).collect())
}

/// The rows that `A vs B` names.
fn pair(tied: &Tied<'_, '_>, title: &str) -> Option<(usize, usize)> {
    let title = title.trim_end_matches(':');
    let (a, b) = title.split_once(" vs ").or_else(|| title.split_once(" vs. "))?;
    let (a, b) = (tied.row(a)?, tied.row(b)?);
    (a != b).then_some((a, b))
}

fn of_two(
    document: &Document,
    list: &Table,
    row: &TableRow,
    (a, b): (Summary, Summary),
    book: &mut Book,
) {
    let [name, value, ..] = &row.cells[..] else { return };
    let lower = name.text.to_lowercase();
    let (stated, wrong) = if lower.contains("cohen") {
        let Some(stated) = value.numbers.first() else { return };
        (stated.clone(), cohens_d(stated, a, b))
    } else if says(&lower, &["p", "pvalue"]) {
        let Some((p, stated)) = p_value(&value.text) else { return };
        // Of a paired test only the unpaired bound is known.
        let wrong = p_of_samples(&p, a, b);
        (stated, wrong)
    } else {
        return;
    };
    note(document, list.section(), row.line, "test_of_samples", &stated, wrong, book);
}

fn p_value(text: &str) -> Option<(StatedP, Printed)> {
    let groups = P.as_ref()?.captures(text)?;
    stated_p(&groups[1], &groups[2])
}

/// A list with a mean, a standard deviation, a size and a p: the test against zero.
fn of_one(document: &Document, list: &Table, book: &mut Book) {
    let row = |wanted: &dyn Fn(&str) -> bool| {
        let named = |row: &&TableRow| wanted(&row.cells[0].text.to_lowercase());
        let mut rows = list.rows.iter().filter(named);
        rows.next().filter(|_| rows.next().is_none())
    };
    let first = |row: Option<&TableRow>| row.and_then(|row| row.cells[1].numbers.first().cloned());
    let mean = first(row(&|name| name.starts_with("mean")));
    let sd = first(row(&|name| name.contains("std") || name.contains("deviation") || name == "sd"));
    let n = first(row(&|name| name.contains("sample size") || name == "n"));
    let Some(p_row) = row(&|name| says(name, &["p"])) else { return };
    let Some((p, stated)) = p_value(&p_row.cells[1].text) else { return };
    let (Some(mean), Some(sd), Some(n)) = (mean, sd, n) else { return };
    let sample = Summary { mean: Span::of(&mean), sd: Span::of(&sd), n: n.value as usize };
    let wrong = one_sample_p(&p, sample);
    note(document, list.section(), p_row.line, "test_of_samples", &stated, wrong, book);
}

/// `F = 45.86` of an analysis of variance of all rows.
fn variance(document: &Document, samples: &[Option<Summary>], book: &mut Book) {
    let samples: Vec<Summary> = samples.iter().copied().flatten().collect();
    let anova = |heading: &String| says(heading, &["anova"]);
    for sentence in &document.prose {
        let spoken = says(&sentence.text, &["anova"]) || sentence.headings.iter().any(anova);
        let groups = F.as_ref().and_then(|regex| regex.captures(&sentence.text));
        let stated = groups.and_then(|groups| Printed::parse(&groups[1]));
        let Some(stated) = stated.filter(|_| spoken && samples.len() >= 3) else { continue };
        let wrong = f_of_samples(&stated, &samples);
        let section = sentence.headings.join(" > ");
        note(document, section, sentence.line, "variance_of_samples", &stated, wrong, book);
    }
}

fn note(
    document: &Document,
    section: String,
    line: usize,
    check: &str,
    stated: &Printed,
    wrong: Option<Mismatch>,
    book: &mut Book,
) {
    let found = wrong.map(|wrong| {
        let place = Place {
            document: document.name.clone(),
            line: Some(line),
            section,
            ..Place::default()
        };
        let sentence = format!(
            "{} is stated; {} is {:.3} to {:.3}",
            stated.value, wrong.how, wrong.computed_low, wrong.computed_high
        );
        Found::mismatch(check, Severity::Inconsistent, place, stated, &wrong).sentence(sentence)
    });
    book.stated(line, stated.value, found);
}
