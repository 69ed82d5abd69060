//! Words of headers, labels and sentences.

use std::collections::BTreeSet;

/// Words that make of a number the difference of two.
pub(crate) const COMPARING: [&str; 22] = [
    "higher",
    "lower",
    "faster",
    "slower",
    "more",
    "less",
    "fewer",
    "better",
    "worse",
    "gain",
    "loss",
    "improvement",
    "reduction",
    "increase",
    "decrease",
    "gap",
    "difference",
    "delta",
    "drop",
    "overhead",
    "penalty",
    "than",
];

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

/// A small number in figures or as a word from `two` to `ten`.
pub(crate) fn count(text: &str) -> Option<usize> {
    const SPELLED: [&str; 9] =
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let spelled = SPELLED.iter().position(|word| word.eq_ignore_ascii_case(text));
    spelled.map(|index| index + 2).or_else(|| text.parse().ok())
}

/// Whether a text says one of some words, as words.
pub(crate) fn says(text: &str, wanted: &[&str]) -> bool {
    let words = tokens(text);
    wanted.iter().any(|word| words.contains(*word))
}
