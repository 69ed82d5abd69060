//! `RTX 4080: 504 GB/s` in two places of a document, about the same, with two numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::automatic::book::Book;
use crate::automatic::found::Found;
use crate::automatic::sentence::shown;
use crate::automatic::stems::stems;
use crate::automatic::words::tokens;
use crate::checks::bounds;
use crate::{Check, Document, Place, Printed, Sentence, SentenceKind, Severity};

static ITEM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^[-*•\s]*([A-Za-z][^:=]{1,40}): (\d[\d,.]*\s?[A-Za-zµ/]{1,8})(?:$|[\s(,;].*)").ok()
});

/// Words that both places must share besides the name.
const FEWEST_SHARED: usize = 2;

/// Words that say nothing of what is measured.
const EMPTY: [&str; 14] = [
    "the",
    "of",
    "and",
    "a",
    "for",
    "in",
    "to",
    "with",
    "is",
    "good",
    "excellent",
    "best",
    "factor",
    "recommended",
];

struct Item<'d> {
    sentence: &'d Sentence,
    name: BTreeSet<String>,
    number: Printed,
    /// What stands behind the number and in the item above.
    about: BTreeSet<String>,
}

/// Compares items of one name and unit in different lists.
pub(super) fn check(document: &Document, book: &mut Book) {
    let mut items: BTreeMap<_, Vec<Item<'_>>> = BTreeMap::new();
    for (index, sentence) in document.prose.iter().enumerate() {
        let Some(item) = item(document, index, sentence) else { continue };
        let named = items.entry((item.name.clone(), item.number.unit.clone())).or_default();
        let same = |other: &&Item<'_>| {
            other.sentence.list != sentence.list
                && other.about.intersection(&item.about).count() >= FEWEST_SHARED
        };
        let known: Vec<&Item<'_>> = named.iter().filter(same).collect();
        if let Some(first) = known.first() {
            let agrees =
                known.iter().any(|other| bounds::differ(&item.number, &other.number).is_none());
            let found = (!agrees).then(|| found(document, &item, first));
            book.stated(sentence.line, item.number.value, found);
        }
        named.push(item);
    }
}

fn item<'d>(document: &Document, index: usize, sentence: &'d Sentence) -> Option<Item<'d>> {
    if sentence.list == 0 || sentence.kind == SentenceKind::Heading {
        return None;
    }
    let groups = ITEM.as_ref()?.captures(&sentence.text)?;
    let name = tokens(&groups[1]);
    // Names of products have digits; what has none may be a metric.
    let digits = name.iter().any(|word| word.chars().any(|c| c.is_ascii_digit()));
    let number = Printed::parse(groups[2].trim()).filter(|number| number.unit.is_some())?;
    if !digits || name.len() < 2 || matches!(number.unit.as_deref(), Some("x" | "%" | "pp")) {
        return None;
    }
    let above = document.prose[..index].iter().rev();
    let parent = above.take_while(|one| one.line + 12 >= sentence.line);
    let parent = parent.filter(|one| one.list != sentence.list).map(|one| &one.text).next();
    let behind = sentence.text.split_once(groups[2].trim()).map_or("", |(_, behind)| behind);
    let mut about = stems(behind);
    about.extend(parent.map(|text| stems(text)).unwrap_or_default());
    about.retain(|word| !EMPTY.contains(&word.as_str()) && !name.contains(word));
    Some(Item { sentence, name, number, about })
}

fn found(document: &Document, item: &Item<'_>, other: &Item<'_>) -> Found {
    let at = |sentence: &Sentence| Place {
        document: document.name.clone(),
        line: Some(sentence.line),
        section: sentence.headings.join(" > "),
        ..Place::default()
    };
    let text = format!(
        "{} is stated here; line {} has {} under the same name",
        shown(&item.number),
        other.sentence.line,
        shown(&other.number)
    );
    let how = "items of one name and unit below the same words";
    Found::remark(Check::StatedTwice, Severity::Inconsistent, at(item.sentence), text, how)
        .against(at(other.sentence))
        .values(item.number.value, other.number.value)
}
