//! `Larger blocks = higher throughput`: a list or table over sizes that does not rise.

use std::sync::LazyLock;

use regex::Regex;

use super::Page;
use crate::automatic::book::Book;
use crate::automatic::stems::{is_rate, stems};
use crate::automatic::words::tokens;
use crate::checks::Span;
use crate::printed::unit;
use crate::{Check, Printed, Sentence, Table};

static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?xi) ^(?:([^:]{2,40}):\s)? (?:.{0,40}\s)?
        (larger|bigger|longer|more|higher|smaller|shorter|fewer|lower) \s+
        ([a-z][a-z\ _-]{2,30}?) \s* (?:=|→|->|means?|yields?|gives?|leads?\sto|results?\sin) \s*
        (higher|more|lower|less) \s+ ([a-z][a-z\ ]{2,30})",
    )
    .ok()
});

/// Steps smaller than this are noise to who writes such a rule.
const LEAST: f64 = 0.002;

pub(super) fn check(page: &Page<'_, '_, '_>, sentence: &Sentence, book: &mut Book) {
    let Some(groups) = CLAIM.as_ref().and_then(|regex| regex.captures(&sentence.text)) else {
        return;
    };
    let group = |index: usize| groups.get(index).map_or("", |group| group.as_str());
    let up = |word: &str| {
        ["larger", "bigger", "longer", "more", "higher"].contains(&&*word.to_lowercase())
    };
    let rises = up(group(2)) == up(group(4));
    let near = page.document.lists.iter().filter(|list| {
        list.headings == sentence.headings
            && is_of(list, group(1))
            && is_about(list, group(3), group(5))
    });
    let series: Vec<Vec<(f64, usize, Printed)>> = near.filter_map(series).collect();
    for points in &series {
        let broken = points.windows(2).find(|pair| {
            let (a, b) = (Span::of(&pair[0].2), Span::of(&pair[1].2));
            let far = (a.middle() - b.middle()).abs() > LEAST * a.middle().abs();
            far && if rises { b.below(a) } else { a.below(b) }
        });
        let found = broken.map(|pair| {
            let text = format!(
                "a rule is stated; from {} to {} it goes from {} to {} (line {})",
                pair[0].0, pair[1].0, pair[0].2.value, pair[1].2.value, pair[1].1
            );
            let how = "the values in the order of the sizes beside them";
            page.found(Check::MonotoneClaim, sentence, pair[1].1, text, how)
        });
        book.claim(found);
    }
}

/// Whether a list's title begins with the words before the colon.
fn is_of(list: &Table, name: &str) -> bool {
    let title = tokens(&list.caption);
    let mut names = tokens(name).into_iter();
    names.all(|word| title.iter().any(|known| known.starts_with(&word)))
}

/// Whether a list is over sizes of one kind, of values of another.
fn is_about(list: &Table, of: &str, what: &str) -> bool {
    let above = stems(&list.above());
    let value = list.rows.iter().find_map(|row| row.cells[1].number.as_ref()?.unit.clone());
    let (of, what) = (stems(of), stems(what));
    let timed = |unit: &str| unit::factor(unit, "s").is_some();
    let of_unit = value.is_some_and(|unit| {
        what.contains("throughput") && is_rate(&unit)
            || (what.contains("latency") || what.contains("time")) && timed(&unit)
    });
    of.is_subset(&above) && (of_unit || what.is_subset(&above))
}

/// Three values or more of one unit, with the only number of each name, in its order.
fn series(list: &Table) -> Option<Vec<(f64, usize, Printed)>> {
    let point = |row: &crate::TableRow| {
        let number = row.cells[1].number.clone()?;
        let size = Printed::all(&row.cells[0].text.replace(['=', '_'], " ")).pop()?;
        Some((size.value, row.line, number))
    };
    let mut points: Vec<_> = list.rows.iter().map(point).collect::<Option<_>>()?;
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let distinct = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let one_unit = points.windows(2).all(|pair| pair[0].2.unit == pair[1].2.unit);
    (points.len() >= 3 && distinct && one_unit).then_some(points)
}
