//! Words of headers, labels and sentences.

use crate::automatic::lexicon::{Words, class};
use std::collections::BTreeSet;

/// Words that make of a number the difference of two.
pub(crate) static COMPARING: Words = Words::new(|| class("words.comparing"));

/// Lower-case words and numbers of a label; punctuation divides them.
pub(crate) fn tokens(text: &str) -> BTreeSet<String> {
    list(text).into_iter().collect()
}

/// The same in their order.
pub(crate) fn list(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '.'));
    let words = words.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Whether a text says one of some words, as words.
pub(crate) fn says(text: &str, wanted: &[&str]) -> bool {
    let words = tokens(text);
    wanted.iter().any(|word| words.contains(*word))
}
