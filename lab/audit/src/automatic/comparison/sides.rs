//! The cells of a table that are the two sides of a claim.

use std::collections::BTreeSet;

use super::Claim;
use crate::Printed;
use crate::automatic::column::{is_change, number, values};
use crate::automatic::lexicon;
use crate::automatic::role::Role;
use crate::automatic::stems::{is_rate, stem, stems};
use crate::automatic::tie::{Tied, aligned, unit_of};
use crate::automatic::words::tokens;
use crate::document::header;
use crate::printed::unit;

/// Two cells that a claim can be of, the one that it is about first.
pub(super) struct Pair<'t> {
    /// The columns or the rows that it is of.
    pub(super) sides: (usize, usize),
    pub(super) of_rows: bool,
    /// The document or file of their table.
    pub(super) file: &'t str,
    /// What both are of: the row's name and the column's, or the column's alone.
    pub(super) label: String,
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) new: &'t Printed,
    pub(super) old: Printed,
    /// Whether an average over such pairs may be what is meant.
    pub(super) condition: bool,
}

/// The pairs of a table that a claim names; of its rows or of its columns.
pub(super) fn pairs<'t>(tied: &Tied<'_, 't>, claim: &Claim<'_>) -> Vec<Pair<'t>> {
    let rows = of_rows(tied, claim);
    if rows.is_empty() { of_columns(tied, claim) } else { rows }
}

/// Two rows that the sentence names, in every column.
fn of_rows<'t>(tied: &Tied<'_, 't>, claim: &Claim<'_>) -> Vec<Pair<'t>> {
    let Some((base, subject)) = rows(tied, claim) else { return Vec::new() };
    let table = tied.table();
    let of_column = |column: usize| {
        let (new, old) = (number(tied.grid, subject, column)?, number(tied.grid, base, column)?);
        (new.unit == old.unit).then(|| Pair {
            sides: (subject, base),
            of_rows: true,
            file: tied.grid.document,
            label: table.columns[column].clone(),
            name: tied.name(subject).to_owned(),
            line: table.rows[subject].line,
            new,
            old: old.clone(),
            condition: tied.grid.columns()[column].role == Role::Value,
        })
    };
    values(tied.grid).into_iter().filter_map(of_column).collect()
}

fn rows(tied: &Tied<'_, '_>, claim: &Claim<'_>) -> Option<(usize, usize)> {
    let base = tied.row(claim.whom.as_ref()?)?;
    let heading = || {
        let heading = claim.sentence.headings.last()?;
        tied.row(heading.trim_start_matches(|c: char| c.is_ascii_digit() || ". ".contains(c)))
    };
    let subject = match tied.rows_in(&claim.who)[..] {
        [one] => one,
        [] => heading()?,
        _ => return None,
    };
    (subject != base).then_some((base, subject))
}

/// Two columns that are named alike but for the sides, in every row.
fn of_columns<'t>(tied: &Tied<'_, 't>, claim: &Claim<'_>) -> Vec<Pair<'t>> {
    let table = tied.table();
    let mut found = Vec::new();
    for (a, b) in columns(tied, claim) {
        for row in 0..table.rows.len() {
            let (Some(new), Some(old)) = (number(tied.grid, row, a), number(tied.grid, row, b))
            else {
                continue;
            };
            let Some(old) = aligned(old, new).filter(|old| old.value != 0.0) else { continue };
            found.push(Pair {
                sides: (a, b),
                of_rows: false,
                file: tied.grid.document,
                label: format!("{} {}", tied.name(row), table.columns[a]),
                name: tied.name(row).to_owned(),
                line: table.rows[row].line,
                new,
                old,
                condition: true,
            });
        }
    }
    found
}

fn columns(tied: &Tied<'_, '_>, claim: &Claim<'_>) -> Vec<(usize, usize)> {
    let table = tied.table();
    let plain = |column: &usize| {
        let header = &table.columns[*column];
        !is_change(header) && !lexicon::says(header, "filler")
    };
    let columns: Vec<usize> = (1..table.columns.len()).filter(plain).collect();
    let names: Vec<BTreeSet<String>> = (0..table.columns.len())
        .map(|column| {
            let bare = header::name(&table.columns[column], table.units[column].as_deref());
            tokens(&bare.replace('_', " "))
        })
        .collect();
    let who = tokens(&claim.who);
    let Some(whom) = claim.whom.as_deref() else { return unsaid(&columns, &names, &who) };
    let leading = whom.split(' ').take_while(|word| !lexicon::is(&word.to_lowercase(), "ends"));
    let whom = tokens(&leading.collect::<Vec<_>>().join(" "));
    let mut found = Vec::new();
    for b in columns.iter().copied().filter(|b| named(&whom) && whom.is_subset(&names[*b])) {
        let rest: BTreeSet<String> = names[b].difference(&whom).cloned().collect();
        let alike: Vec<(usize, BTreeSet<String>)> = columns
            .iter()
            .filter(|a| **a != b && rest.is_subset(&names[**a]))
            .filter(|a| unit_of(table, **a) == unit_of(table, b))
            .map(|a| (*a, names[*a].difference(&rest).cloned().collect::<BTreeSet<_>>()))
            .filter(|(_, own)| *own != whom && named(own))
            .collect();
        let said = alike.iter().filter(|(_, own)| is_said(own, &who));
        let said: Vec<usize> = said.map(|(a, _)| *a).collect();
        // "Our index": of two sides the other one, whatever it is called.
        let ours = who.iter().any(|word| lexicon::is(word, "ours"));
        match (&said[..], &alike[..]) {
            ([], [(one, _)]) if ours => found.push((*one, b)),
            (said, _) => found.extend(said.iter().map(|a| (*a, b))),
        }
    }
    found
}

/// Whether a text says every word of a name, in whatever form.
fn is_said(own: &BTreeSet<String>, who: &BTreeSet<String>) -> bool {
    let spoken: BTreeSet<String> = who.iter().map(|word| stem(word)).collect();
    own.iter().all(|word| who.contains(word) || spoken.contains(&stem(word)))
}

/// Pairs of columns of which the sentence names the first and not the second.
fn unsaid(
    columns: &[usize],
    names: &[BTreeSet<String>],
    who: &BTreeSet<String>,
) -> Vec<(usize, usize)> {
    let said = |words: &BTreeSet<String>, without: &BTreeSet<String>| {
        let letters = |word: &&String| word.chars().any(char::is_alphabetic);
        words.difference(without).filter(letters).any(|word| who.contains(word))
    };
    let pairs = columns.iter().flat_map(|a| columns.iter().map(move |b| (*a, *b)));
    pairs
        .filter(|(a, b)| a != b && said(&names[*a], &names[*b]) && !said(&names[*b], &names[*a]))
        .collect()
}

fn named(words: &BTreeSet<String>) -> bool {
    words.iter().any(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 2)
}

/// Whether the words of a comparison are about the quantity of a name and a unit.
pub(super) fn is_about(words: &str, name: &str, of: Option<&str>) -> bool {
    let name = name.to_lowercase();
    let rate = of.is_some_and(is_rate)
        || ["throughput", "tok/s", "ops", "tokens/s"].iter().any(|word| name.contains(word));
    let time = of.is_some_and(is_time);
    if lexicon::says(words, "cost") {
        return name.contains("cost") || name.contains('$');
    }
    if lexicon::says(words, "better") || lexicon::says(words, "worse") {
        return rate || time;
    }
    let named = words.split_whitespace().skip(1).filter(|word| word.len() > 3);
    let metric: Vec<&str> = named.filter(|word| *word != "average").collect();
    match &metric[..] {
        [] => false,
        all if all.contains(&"throughput") => rate,
        all if all.contains(&"latency") => time,
        all => all.iter().all(|word| name.contains(word)),
    }
}

/// Whether a unit is of a time, also of one thing done: `ms/query`.
pub(super) fn is_time(of: &str) -> bool {
    unit::factor(of.split('/').next().unwrap_or(of), "s").is_some()
}

/// Whether a claim's metric names a pair, or is the table's own.
pub(super) fn is_of_metric(claim: &Claim<'_>, pair: &Pair<'_>) -> bool {
    let factor = pair.new.unit.as_deref() == Some("x") && claim.metric.contains("speedup");
    factor || stems(&pair.label).intersection(&claim.metric).next().is_some()
}
