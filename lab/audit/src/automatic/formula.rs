//! Definitions that a text gives, `Efficiency = speedup / 2 × 100 %`, against the columns that
//! they name.

use crate::automatic::lone;
use std::collections::BTreeSet;

use super::book::Book;
use super::column::number;
use super::found::{Found, allowed};
use super::sentence::shown;
use super::stems::stems;
use super::tie::Tied;
use crate::checks::{Mismatch, Span};
use crate::document::header;
use crate::{Check, Document, Expression, Sentence, SentenceKind, Severity};

/// Factors between units that a definition may pass over.
const FACTORS: [f64; 11] =
    [1.0, 100.0, 0.01, 1e3, 1e-3, 1e6, 1e-6, 60.0, 1.0 / 60.0, 3600.0, 1.0 / 3600.0];

/// A name and what it is said to be.
struct Definition<'d> {
    sentence: &'d Sentence,
    name: BTreeSet<String>,
    expression: Expression,
}

/// Checks every definition in every table that has all of its columns.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let sentences = document.prose.iter().filter(|one| one.kind != SentenceKind::Heading);
    let definitions: Vec<Definition<'_>> = sentences.filter_map(definition).collect();
    for definition in &definitions {
        for tied in tables.iter().filter(|tied| !tied.grid.transposed) {
            of_table(definition, tied, book);
        }
    }
}

/// `NAME = EXPRESSION` or `NAME: EXPRESSION`, and nothing behind it.
fn definition(sentence: &Sentence) -> Option<Definition<'_>> {
    let text = sentence.text.trim_start_matches(['-', '*', '•', ' ']);
    let (name, rest) = match text.split_once(" = ") {
        Some(parts) => parts,
        None => text.split_once(": ")?,
    };
    let words = stems(name);
    let letters = words.iter().any(|word| word.chars().any(char::is_alphabetic));
    let named = (1..=4).contains(&words.len()) && letters;
    let expression = Expression::parse(rest.trim_end_matches(['.', ';']))?;
    let names = expression.names();
    let telling = !names.is_empty() && names.iter().all(|name| name.len() <= 40);
    let telling = telling && matches!(expression, Expression::Of(..));
    (named && telling).then_some(Definition { sentence, name: words, expression })
}

fn of_table(definition: &Definition<'_>, tied: &Tied<'_, '_>, book: &mut Book) {
    let Some(target) = column(tied, &definition.name) else { return };
    let mut columns: Vec<(&str, usize)> = Vec::new();
    for name in definition.expression.names() {
        let Some(found) = column(tied, &stems(name)) else { return };
        columns.push((name, found));
    }
    let used: BTreeSet<usize> = columns.iter().map(|(_, column)| *column).collect();
    if used.len() < columns.len() || used.contains(&target) {
        return;
    }
    let table = tied.table();
    for row in 0..table.rows.len() {
        let value = |name: &str| {
            let (_, column) = columns.iter().find(|(known, _)| *known == name)?;
            number(tied.grid, row, *column).map(Span::of)
        };
        let (Some(stated), Some(computed)) =
            (number(tied.grid, row, target), definition.expression.value(&value))
        else {
            continue;
        };
        let own = Span::of(stated);
        let fits = FACTORS.iter().any(|factor| own.meets(computed.times(*factor)));
        let found = (!fits).then(|| {
            let away = |factor: &&f64| (computed.times(**factor).middle() - stated.value).abs();
            let nearest = FACTORS.iter().min_by(|a, b| away(a).total_cmp(&away(b)));
            let allowed_span = computed.times(*nearest.unwrap_or(&1.0));
            let wrong =
                Mismatch::of(stated, allowed_span, format!("`{}`", definition.sentence.text));
            let place = tied.grid.spot(row, target);
            let line = definition.sentence.line;
            let text = format!(
                "`{}` of {} is {}; its definition in line {line} gives {}",
                table.columns[target],
                tied.name(row),
                shown(stated),
                allowed(stated, &wrong)
            );
            Found::mismatch(Check::Definition, Severity::Inconsistent, place, stated, &wrong)
                .sentence(text)
        });
        book.cell(table.rows[row].line, target, found);
    }
}

/// The one column of a name: of the same words, else the only one that has them all.
fn column(tied: &Tied<'_, '_>, name: &BTreeSet<String>) -> Option<usize> {
    let table = tied.table();
    let words = |column: usize| {
        let unit = table.units[column].as_deref();
        stems(&header::name(&table.columns[column], unit))
    };
    let only = |fits: &dyn Fn(&BTreeSet<String>) -> bool| {
        lone((0..table.columns.len()).filter(|column| fits(&words(*column))))
    };
    if name.is_empty() {
        return None;
    }
    only(&|own| own == name)
        .or_else(|| only(&|own| name.is_subset(own)))
        .or_else(|| only(&|own| !own.is_empty() && own.is_subset(name)))
}
