//! The words that checks know, as data: one list a class, in lexicon.tsv.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::words::list;

static CLASSES: LazyLock<BTreeMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let rows = include_str!("lexicon.tsv").lines().skip(1).filter_map(|row| row.split_once('\t'));
    rows.map(|(class, words)| (class, words.split(';').collect())).collect()
});

/// A class that is looked up once.
pub(crate) type Words = LazyLock<&'static [&'static str]>;

/// The words of a class.
pub(crate) fn class(name: &str) -> &'static [&'static str] {
    CLASSES.get(name).map_or(&[], Vec::as_slice)
}

/// Whether a word is of a class.
pub(crate) fn is(word: &str, name: &str) -> bool {
    class(name).contains(&word)
}

/// Whether a text says a word or a phrase of a class, as words.
pub(crate) fn says(text: &str, name: &str) -> bool {
    let spoken = format!(" {} ", list(text).join(" "));
    class(name).iter().any(|words| spoken.contains(&format!(" {words} ")))
}

/// Whether a text ends with a word, phrase or sign of a class.
pub(crate) fn ends(text: &str, name: &str) -> bool {
    let lower = text.trim_end().to_lowercase();
    class(name).iter().any(|words| {
        lower.strip_suffix(words).is_some_and(|rest| {
            !words.ends_with(char::is_alphabetic) || !rest.ends_with(char::is_alphanumeric)
        })
    })
}
