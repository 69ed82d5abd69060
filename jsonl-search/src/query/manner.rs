//! How a query's text is taken: case, whole words, or one literal.

/// Whether letters match in either case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Case {
    /// Words do, and a regex only where it has the flag `i`.
    #[default]
    Own,
    /// All do.
    Ignored,
    /// Words do not.
    Exact,
    /// Those of a word or regex without a capital do.
    Smart,
}

/// All of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) case: Case,
    /// Whether no letter, digit or underscore may stand on either side.
    pub(crate) whole_words: bool,
    /// Whether the text is one literal and has no operators.
    pub(crate) is_fixed: bool,
}

impl Manner {
    /// Whether a literal's letters match in their own case only.
    pub(super) fn is_exact(self, literal: &str) -> bool {
        match self.case {
            Case::Own | Case::Ignored => false,
            Case::Exact => true,
            Case::Smart => literal.chars().any(char::is_uppercase),
        }
    }

    /// Whether a regex's letters match in either case, though it has no flag for that.
    pub(super) fn folds(self, pattern: &str) -> bool {
        match self.case {
            Case::Own | Case::Exact => false,
            Case::Ignored => true,
            Case::Smart => !has_capital(pattern),
        }
    }
}

/// Whether a pattern has a capital that stands for itself: not the one of `\W`.
fn has_capital(pattern: &str) -> bool {
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            _ if letter.is_uppercase() => return true,
            _ => {}
        }
    }
    false
}

/// What a word has of letters, digits and underscores.
pub(super) fn is_part_of_word(letter: char) -> bool {
    regex_syntax::is_word_character(letter)
}
