//! Tests of two samples whose means, deviations and sizes a table has.

use crate::automatic::lone;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::{p_of_cell, stated_p};
use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::grid::Record;
use crate::automatic::group::Group;
use crate::automatic::role::Role;
use crate::automatic::tie::{Tied, shortest};
use crate::automatic::words::{says, tokens};
use crate::checks::tests_of_hypotheses::{
    StatedP, Summary, cohens_d, f_of_samples, one_sample_p, p_of_samples, t_of_samples,
};
use crate::checks::{Mismatch, Span};
use crate::{Check, Document, Place, Printed, Sentence, SentenceKind, Severity, Table, TableRow};

static P: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:p\s*)?([=<>≤≥]?)\s*(\d?\.\d{1,12})\b").ok());

/// Words of a column that says how many values a row sums up.
const SIZES: [&str; 4] = ["n", "runs", "samples", "count"];

/// Lines around a table in which its size is said.
const REACH: usize = 12;

/// `n = 30`, `30 runs each`.
static SIZE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) \bn\s?=\s?(\d{1,5})\b | \b(\d{1,5}) \s
        (?:runs|samples|repetitions|iterations|trials|measurements) \s (?:each|per)\b",
    )
    .ok()
});

/// `t-test: p = 0.06`.
static TEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:t-test|welch|student)[^.;]{0,60}?\bp\s*([=<>≤≥])\s*(\d?\.\d{1,8})").ok()
});

static F: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bF\s*=\s*(\d{1,6}(?:\.\d{1,4})?)").ok());

/// Checks lists below `A vs B`, lists of one sample, and analyses of variance.
pub(super) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let samples: Vec<Samples<'_>> =
        tables.iter().filter_map(|tied| Samples::of(document, tied)).collect();
    for list in &document.lists {
        of_one(document, list, book);
        let title = [list.caption.as_str(), list.headings.last().map_or("", String::as_str)];
        let mut near: Vec<&Samples<'_>> = samples.iter().collect();
        near.sort_by_key(|one| std::cmp::Reverse(nearness(one.table, list)));
        for samples in near {
            let pair = title.iter().find_map(|title| samples.pair(title));
            let Some((a, b)) = pair.or_else(|| samples.only_two(&list.headings)) else { continue };
            list.rows.iter().for_each(|row| of_two(document, list, row, (a, b), book));
            break;
        }
    }
    for tied in tables {
        of_pairs(document, tied, &samples, book);
    }
    of_sentences(document, &samples, book);
    // Only a column says the size for certain.
    if let [samples] = &samples[..]
        && !samples.said
    {
        variance(document, &samples.of, book);
    }
}

/// `Welch's t-test: p = 0.06` in the section of a table of two samples.
fn of_sentences(document: &Document, samples: &[Samples<'_>], book: &mut Book) {
    for sentence in document.prose.iter().filter(|one| one.kind == SentenceKind::Prose) {
        let Some(groups) = TEST.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
            continue;
        };
        let Some((p, stated)) = stated_p(&groups[1], &groups[2]) else { continue };
        let mut own = samples.iter().filter_map(|one| one.only_two(&sentence.headings));
        let Some((a, b)) = own.next().filter(|_| own.next().is_none()) else { continue };
        if says(&sentence.text, &["paired", "matched"]) {
            continue;
        }
        let wrong = p_of_samples(&p, a, b);
        let section = sentence.headings.join(" > ");
        note(document, section, sentence.line, Check::TestOfSamples, &stated, wrong, book);
    }
}

/// The samples that a table sums up: its rows, or in a table of statistics its columns.
struct Samples<'a> {
    table: &'a Table,
    names: Vec<BTreeSet<String>>,
    of: Vec<Option<Summary>>,
    /// Whether the text and no column says how many values each has.
    said: bool,
}

impl<'a> Samples<'a> {
    fn of(document: &Document, tied: &Tied<'_, 'a>) -> Option<Self> {
        let table = tied.table();
        let said = size_said(document, table);
        let of: Vec<(BTreeSet<String>, Option<Summary>)> = if tied.grid.transposed {
            let of_record = |record: &Record<'_>| {
                let groups = Group::all(record);
                let mut with = groups.iter().filter_map(|group| of_group(group, said));
                (tokens(&record.name()), with.next().filter(|_| with.next().is_none()))
            };
            tied.grid.records.iter().map(of_record).collect()
        } else {
            let summaries = summaries(tied, said)?;
            let names = table.row_names();
            names.iter().map(|name| tokens(name)).zip(summaries).collect()
        };
        let column = table.columns.iter().any(|header| says(header, &SIZES));
        let (names, of): (Vec<_>, Vec<_>) = of.into_iter().unzip();
        of.iter().any(Option::is_some).then_some(Self { table, names, of, said: !column })
    }

    /// The samples that `A vs B` names.
    fn pair(&self, title: &str) -> Option<(Summary, Summary)> {
        let title = title.trim_end_matches(':');
        let (a, b) = title.split_once(" vs ").or_else(|| title.split_once(" vs. "))?;
        let (a, b) = (shortest(&self.names, a)?, shortest(&self.names, b)?);
        (a != b).then(|| Some((self.of[a]?, self.of[b]?)))?
    }

    /// The only two samples of a section's table.
    fn only_two(&self, headings: &[String]) -> Option<(Summary, Summary)> {
        let all: Vec<Summary> = self.of.iter().copied().flatten().collect();
        match all[..] {
            [a, b] if self.table.headings == headings => Some((a, b)),
            _ => None,
        }
    }
}

/// How many headings two tables share, and how near they stand: larger is nearer.
fn nearness(other: &Table, table: &Table) -> (usize, std::cmp::Reverse<usize>) {
    let pairs = other.headings.iter().zip(&table.headings);
    let shared = pairs.take_while(|(a, b)| a == b).count();
    (shared, std::cmp::Reverse(other.line.abs_diff(table.line)))
}

/// A group's mean and deviation with its size, or else the one that the text says.
fn of_group(group: &Group<'_, '_>, said: Option<usize>) -> Option<Summary> {
    let (mean, sd) = (group.get(Role::Mean)?, group.get(Role::Sd).filter(|sd| sd.sure)?);
    let n = group.n.or(said).filter(|n| *n >= 2)?;
    Some(Summary { mean: Span::of(&mean.number), sd: Span::of(&sd.number), n })
}

/// The size that the texts around a table say, where they say one.
fn size_said(document: &Document, table: &Table) -> Option<usize> {
    let near =
        |one: &&Sentence| one.headings == table.headings && one.line.abs_diff(table.line) <= REACH;
    let prose = document.prose.iter().filter(near).map(|one| one.text.as_str());
    let texts = prose.chain(table.headings.last().map(String::as_str));
    let mut sizes: Vec<usize> = texts
        .flat_map(|text| SIZE.iter().flat_map(move |regex| regex.captures_iter(text)))
        .filter_map(|groups| groups.get(1).or(groups.get(2))?.as_str().parse().ok())
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    match sizes[..] {
        [one] => Some(one),
        _ => None,
    }
}

/// The columns of tests of a table whose rows are called `A vs B`.
fn of_pairs(document: &Document, tied: &Tied<'_, '_>, samples: &[Samples<'_>], book: &mut Book) {
    let table = tied.table();
    for (index, row) in table.rows.iter().enumerate() {
        // Of several tables with both, the one that shares most headings and stands nearest.
        let known = samples.iter().filter(|other| other.table.line != table.line);
        let both = known.filter_map(|other| Some((other.table, other.pair(tied.name(index))?)));
        let Some((_, (a, b))) = both.max_by_key(|(other, _)| nearness(other, table)) else {
            continue;
        };
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
            note(document, table.section(), row.line, Check::TestOfSamples, stated, wrong, book);
        }
    }
}

/// The mean, deviation and size of every row, where a table has these columns.
fn summaries(tied: &Tied<'_, '_>, said: Option<usize>) -> Option<Vec<Option<Summary>>> {
    let column = |wanted: fn(Role) -> bool| {
        lone(tied.grid.columns().iter().enumerate().filter(|(_, one)| wanted(one.role)))
            .map(|(index, _)| index)
    };
    let (mean, sd) = (column(|role| role == Role::Mean)?, column(|role| role == Role::Sd)?);
    let size = tied.table().columns.iter().position(|header| says(header, &SIZES));
    if size.is_none() && said.is_none() {
        return None;
    }
    let of_row = |row: &TableRow| {
        let number = |column: usize| row.cells[column].number.clone();
        let n = match size {
            Some(size) => number(size)?.value,
            None => said? as f64,
        };
        (n >= 2.0).then_some(Summary {
            mean: Span::of(&number(mean)?),
            sd: Span::of(&number(sd)?),
            n: n as usize,
        })
    };
    Some(tied.table().rows.iter().map(of_row).collect())
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
    note(document, list.section(), row.line, Check::TestOfSamples, &stated, wrong, book);
}

fn p_value(text: &str) -> Option<(StatedP, Printed)> {
    let groups = P.as_ref()?.captures(text)?;
    stated_p(&groups[1], &groups[2])
}

/// A list with a mean, a standard deviation, a size and a p: the test against zero.
fn of_one(document: &Document, list: &Table, book: &mut Book) {
    let row = |wanted: &dyn Fn(&str) -> bool| {
        let named = |row: &&TableRow| wanted(&row.cells[0].text.to_lowercase());
        lone(list.rows.iter().filter(named))
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
    note(document, list.section(), p_row.line, Check::TestOfSamples, &stated, wrong, book);
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
        note(document, section, sentence.line, Check::VarianceOfSamples, &stated, wrong, book);
    }
}

fn note(
    document: &Document,
    section: String,
    line: usize,
    check: Check,
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
