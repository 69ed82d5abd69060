//! `A consistently outperforms B`: a claim about every row, against the columns of both.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::automatic::role::better;
use crate::automatic::stems::in_order;
use crate::automatic::tie::{Tied, unit_of};
use crate::automatic::words::tokens;
use crate::checks::ranking::{Better, surpassed};
use crate::printed::unit;
use crate::{Check, Printed, Sentence};

/// The claim with its quantifier before the verb.
static ALWAYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^(.{2,140}?) \b(?:consistently|always|invariably) \s+
        (outperform\w*|beat\w*|surpass\w*|exceed\w*) \s+ (.{2,50}?)
        (?:\s(?:in|on|for|across|by|at|with|over)\b|[,;:(]|\.(?:\s|$)|$)",
    )
    .ok()
});

/// The claim with its quantifier behind it.
static EVERYWHERE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^(.{2,140}?) \b(outperform\w*|beats?|surpass\w*) \s+ (.{2,50}?)
        \s(?:in|on|for|across|at)\s+(?:all|every|each)\b",
    )
    .ok()
});

/// `A is always faster than B`, `A is faster than B in every case`.
static THAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^(.{2,140}?) \b(?:is|was|are|were|runs|ran|performs?) \s+
        (?:(?:consistently|always|invariably)\s+ (faster|slower|better|worse|higher|lower)
           \s+than\s+ (.{2,50}?) (?:\s(?:in|on|for|across|by|at|with|over)\b|[,;:(]|\.(?:\s|$)|$)
        | (faster|slower|better|worse|higher|lower) \s+than\s+ (.{2,50}?)
           \s(?:in|on|for|across|at)\s+(?:all|every|each)\b)",
    )
    .ok()
});

/// A row the other way round by less than this is noise to who writes "always".
const LEAST: f64 = 0.01;

/// Who is said to be how, and than whom.
struct Claim<'t> {
    who: &'t str,
    word: String,
    whom: &'t str,
}

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(claim) = claim(&sentence.text) else { return };
    for tied in page.beside(sentence) {
        let pairs = pairs(tied, &claim);
        if !pairs.is_empty() {
            judge(page, sentence, tied, (&claim, &pairs), book);
            return;
        }
    }
}

fn claim(text: &str) -> Option<Claim<'_>> {
    let plain = |regex: &'static LazyLock<Option<Regex>>| {
        let groups = regex.as_ref()?.captures(text)?;
        let group = |index: usize| groups.get(index).map(|group| group.as_str());
        Some(Claim { who: group(1)?, word: "better".to_owned(), whom: group(3)? })
    };
    if let Some(claim) = plain(&ALWAYS).or_else(|| plain(&EVERYWHERE)) {
        return Some(claim);
    }
    let groups = THAN.as_ref()?.captures(text)?;
    let group = |index: usize| groups.get(index).map(|group| group.as_str());
    let (word, whom) = (group(2).or(group(4))?, group(3).or(group(5))?);
    Some(Claim { who: group(1)?, word: word.to_lowercase(), whom })
}

/// The pairs of columns that are named alike but for the two sides.
fn pairs(tied: &Tied<'_, '_>, claim: &Claim<'_>) -> Vec<(usize, usize)> {
    let (who, whom) = (tokens(claim.who), tokens(claim.whom));
    let table = tied.table();
    let header = |column: usize| tokens(&table.columns[column]);
    let mut found = Vec::new();
    for b in (1..table.columns.len()).filter(|b| !whom.is_empty() && whom.is_subset(&header(*b))) {
        let rest: BTreeSet<String> = header(b).difference(&whom).cloned().collect();
        for a in (1..table.columns.len()).filter(|a| *a != b && rest.is_subset(&header(*a))) {
            let own: BTreeSet<String> = header(a).difference(&rest).cloned().collect();
            let same = unit_of(table, a) == unit_of(table, b);
            if same && !own.is_empty() && own.is_subset(&who) && own != whom {
                found.push((a, b));
            }
        }
    }
    found
}

/// Which way the numbers must differ.
fn direction(word: &str, header: &str, of: Option<&str>) -> Option<Better> {
    let turned = |way: Better| if way == Better::Higher { Better::Lower } else { Better::Higher };
    let words = in_order(header).join(" ");
    let timed = of.is_some_and(|of| unit::factor(of, "s").is_some());
    match word {
        "higher" => Some(Better::Higher),
        "lower" => Some(Better::Lower),
        "faster" if timed => Some(Better::Lower),
        "slower" if timed => Some(Better::Higher),
        "worse" | "slower" => better(&words, of).map(turned),
        _ => better(&words, of),
    }
}

fn judge(
    page: &Page<'_, '_, '_>,
    sentence: &Sentence,
    tied: &Tied<'_, '_>,
    (claim, pairs): (&Claim<'_>, &[(usize, usize)]),
    book: &mut Book,
) {
    let table = tied.table();
    let mut reversed = Vec::new();
    for (a, b) in pairs {
        let of = unit_of(table, *a);
        let Some(way) = direction(&claim.word, &table.columns[*a], of.as_deref()) else { return };
        let row = table.rows.iter().position(|row| {
            let numbers = [*a, *b].map(|column| row.cells[column].number.clone());
            let [Some(a), Some(b)] = numbers else { return false };
            let far = (a.value - b.value).abs() > LEAST * b.value.abs();
            let both: Vec<Printed> = vec![a, b];
            far && surpassed(&both, 0, way).is_some()
        });
        // One pair of columns in which it holds may be what is meant.
        let Some(row) = row else {
            book.claim(None);
            return;
        };
        reversed.push((*a, *b, row));
    }
    let Some((a, b, row)) = reversed.first() else { return };
    let cells = &table.rows[*row].cells;
    let text = format!(
        "said of every case; in line {} `{}` is {} and `{}` is {}",
        table.rows[*row].line, table.columns[*a], cells[*a].text, table.columns[*b], cells[*b].text
    );
    let how = "the two columns that the sentence names, in every row";
    let found = page.found(Check::ClaimOfAllRows, sentence, table.rows[*row].line, text, how);
    book.claim(Some(found));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_of_every_case_are_read() {
        let read = |text: &str| claim(text).map(|claim| (claim.word, claim.whom.to_owned()));
        let some = |word: &str, whom: &str| Some((word.to_owned(), whom.to_owned()));
        assert_eq!(
            read("Mode A consistently outperformed mode B in our runs:"),
            some("better", "mode B")
        );
        assert_eq!(read("zlib is slower than lz4 on every file"), some("slower", "lz4"));
        assert_eq!(read("zlib beats lz4 across all inputs."), some("better", "lz4"));
        assert_eq!(read("zlib is slower than lz4 here"), None);
    }
}
