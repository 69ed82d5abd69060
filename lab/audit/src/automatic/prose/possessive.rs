//! `Python's 95.8 % average` beside a table of metrics with a column `Python`.

use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::automatic::role;
use crate::automatic::sentence::shown;
use crate::automatic::stems::stems;
use crate::automatic::tie::aligned;
use crate::automatic::words::{says, tokens};
use crate::checks::bounds;
use crate::{Check, Printed, Sentence};

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x) \b([A-Z][A-Za-z0-9.+\#_-]{1,30})['’]s \s+
        (~?\d[\d,.]*\s?(?:%|×|[A-Za-zµ/]{1,8})?) \s+
        (average|mean|median|peak|maximum|minimum)\b",
    )
    .ok()
});

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    for groups in CLAIM.iter().flat_map(|regex| regex.captures_iter(&sentence.text)) {
        if let Some(stated) = Printed::parse(groups[2].trim()).filter(|n| n.unit.is_some()) {
            of_claim(page, sentence, (&groups[1], &stated, &groups[3]), book);
        }
    }
}

fn of_claim(
    page: &Page<'_, '_, '_>,
    sentence: &Sentence,
    (subject, stated, statistic): (&str, &Printed, &str),
    book: &mut Book,
) {
    let words = stems(&sentence.text);
    let Some(wanted) = role::statistic(statistic).map(|meaning| meaning.role) else { return };
    let mut known: Vec<(usize, Printed)> = Vec::new();
    for tied in page.tables {
        let table = tied.table();
        let of_metrics = says(&table.columns[0], &["metric", "measure", "criterion", "statistic"]);
        let name = subject.to_lowercase();
        let named = |column: &usize| tokens(&table.columns[*column]).contains(&name);
        let mut columns = (1..table.columns.len()).filter(named);
        let column = columns.next().filter(|_| of_metrics && columns.next().is_none());
        let Some(column) = column else { continue };
        for row in &table.rows {
            let Some(own) = role::statistic(&row.cells[0].text) else { continue };
            let metric = stems(&own.metric);
            let same = own.role == wanted && !metric.is_empty() && metric.is_subset(&words);
            let number = row.cells[column].number.as_ref();
            if let Some(number) = number.filter(|_| same).and_then(|n| aligned(n, stated)) {
                known.push((row.line, number));
            }
        }
    }
    let Some((line, number)) = known.first() else { return };
    let agrees = known.iter().any(|(_, number)| bounds::differ(stated, number).is_none());
    let found = (!agrees).then(|| {
        let text = format!(
            "{} is stated as {subject}'s {statistic}; line {line} has {}",
            shown(stated),
            shown(number)
        );
        let how = "the column of that name and the row of that statistic";
        page.found(Check::StatedTwice, sentence, *line, text, how)
            .values(stated.value, number.value)
    });
    book.stated(sentence.line, stated.value, found);
}
