//! `Phase 1: 89.3 %` below "average efficiency": the mean of the tables under that heading.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::{Column, columns, found, named};
use crate::automatic::book::Book;
use crate::automatic::stems::stems;
use crate::automatic::tie::Tied;
use crate::automatic::words::says;
use crate::checks::{Mismatch, moments, spans};
use crate::{Document, Place, Printed, Sentence, SentenceKind, Table, TableRow};

/// `90.1 % average efficiency`, `averaged 71.2 % efficiency`.
static AVERAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^(.{4,160}?) \b
        (?: (\d[\d.,]*\s?(?:%|x|×|[a-z]{1,4}(?:/[a-z]{1,4})?)) \s+ (?:average|mean) \s+
        | averag(?:es|ed|ing) \s+ (\d[\d.,]*\s?(?:%|x|×|[a-z]{1,4}(?:/[a-z]{1,4})?)) \s+ )
        ([a-z]{4,20})",
    )
    .ok()
});

/// Checks every list that states averages by heading, and every sentence that states one of what
/// a single heading names.
pub(super) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let headings: BTreeSet<&String> =
        tables.iter().flat_map(|tied| &tied.table().headings).collect();
    let page = Page { document, tables, headings: &headings };
    for list in &document.lists {
        for row in &list.rows {
            let name = row.cells.first().map_or("", |cell| cell.text.as_str());
            let averages = |text: &&str| says(text, &["average", "mean", "avg"]);
            if let Some(said) = [list.caption.as_str(), name].into_iter().find(averages) {
                page.of_row(list, row, said, book);
            }
        }
    }
    for sentence in document.prose.iter().filter(|one| one.kind == SentenceKind::Prose) {
        page.of_sentence(sentence, book);
    }
}

/// A document, its tables and the headings above them.
struct Page<'d, 'g, 'a> {
    document: &'d Document,
    tables: &'d [Tied<'g, 'a>],
    headings: &'d BTreeSet<&'d String>,
}

/// What is stated of what, and where.
struct Stated<'t> {
    number: &'t Printed,
    heading: &'t str,
    metric: BTreeSet<String>,
    name: &'t str,
    line: usize,
    section: String,
}

impl Page<'_, '_, '_> {
    fn of_row(&self, list: &Table, row: &TableRow, said: &str, book: &mut Book) {
        let [name, value, ..] = &row.cells[..] else { return };
        let Some(number) = value.number.as_ref() else { return };
        let words = stems(&name.text);
        let letters = words.iter().any(|word| word.chars().any(char::is_alphabetic));
        let mut fitting = self.headings.iter().filter(|heading| words.is_subset(&stems(heading)));
        let heading = fitting.next().filter(|_| words.len() >= 2 && letters);
        let Some(heading) = heading.filter(|_| fitting.next().is_none()) else { return };
        let spoken = stems(said);
        let under = self.tables.iter().map(Tied::table).filter(|t| t.headings.contains(heading));
        let metrics: BTreeSet<BTreeSet<String>> = under
            .flat_map(|table| (1..table.columns.len()).map(move |c| named(table, c).1))
            .filter(|metric| !metric.is_empty() && metric.is_subset(&spoken))
            .collect();
        let mut metrics = metrics.into_iter();
        let Some(metric) = metrics.next().filter(|_| metrics.next().is_none()) else { return };
        let (name, line, section) = (name.text.as_str(), row.line, list.section());
        self.judge(&Stated { number, heading, metric, name, line, section }, book);
    }

    fn of_sentence(&self, sentence: &Sentence, book: &mut Book) {
        let Some(groups) = AVERAGE.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
            return;
        };
        let Some(text) = groups.get(2).or(groups.get(3)) else { return };
        let Some(number) = Printed::parse(text.as_str().trim()) else { return };
        let before = stems(&groups[1]);
        let last: BTreeSet<&String> =
            self.tables.iter().filter_map(|tied| tied.table().headings.last()).collect();
        // A word that stands in one heading alone says which is meant.
        let telling = |heading: &&&String| {
            let words = stems(heading);
            let alone = |word: &&String| {
                last.iter().filter(|other| stems(other).contains(*word)).count() == 1
            };
            let mut shared = words.intersection(&before);
            shared.any(|word| word.len() > 5 && alone(&word))
        };
        let mut fitting = last.iter().filter(telling);
        let Some(heading) = fitting.next().filter(|_| fitting.next().is_none()) else { return };
        let metric = stems(&groups[4]);
        // Beside a table of its own a sentence speaks of that one.
        let own = columns(self.tables, &metric, number.unit.as_deref());
        if own.iter().any(|one| one.table.headings == sentence.headings) {
            return;
        }
        let (line, section) = (sentence.line, sentence.headings.join(" > "));
        let name = "the average";
        self.judge(&Stated { number: &number, heading, metric, name, line, section }, book);
    }

    fn judge(&self, stated: &Stated<'_>, book: &mut Book) {
        let unit = stated.number.unit.as_deref();
        let under =
            |one: &Column<'_>| one.table.headings.iter().any(|known| known == stated.heading);
        let columns: Vec<Column<'_>> =
            columns(self.tables, &stated.metric, unit).into_iter().filter(under).collect();
        let Some(first) = columns.first().filter(|_| unit.is_some()) else { return };
        let one_role = columns.iter().all(|one| one.role == first.role);
        let all: Vec<Printed> =
            columns.iter().flat_map(|one| one.numbers.iter().cloned()).collect();
        if all.len() < 2 || !one_role {
            return;
        }
        let found = wrong(stated.number, &all, &columns).map(|wrong| {
            let place = Place {
                document: self.document.name.clone(),
                line: Some(stated.line),
                section: stated.section.clone(),
                row: Some(stated.name.to_owned()),
                column: None,
            };
            found(place, stated.number, (first.table.line, &all), &wrong)
        });
        book.stated(stated.line, stated.number.value, found);
    }
}

/// The mean of all rows, of one table's, or of the tables' means.
fn wrong(stated: &Printed, all: &[Printed], columns: &[Column<'_>]) -> Option<Mismatch> {
    let wrong = moments::mean(stated, &spans(all))?;
    let of_one = |one: &Column<'_>| moments::mean(stated, &spans(&one.numbers)).is_none();
    let means: Option<Vec<_>> =
        columns.iter().map(|one| moments::mean_of(&spans(&one.numbers))).collect();
    let of_means = moments::mean(stated, &means?).is_none();
    (!columns.iter().any(of_one) && !of_means).then_some(wrong)
}
