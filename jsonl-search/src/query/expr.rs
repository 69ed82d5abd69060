//! The compiled expression.

use std::fmt;
use std::ops::Range;

use regex::Regex;
use regex_syntax::hir::Hir;

use super::manner::{Manner, is_part_of_word};
use super::{QueryError, parse};
use crate::find::Finder;
use crate::parse::Text;
use crate::spelling::forms;

/// An expression over a text.
#[derive(Debug, Clone)]
pub(crate) enum Expr {
    /// Every text.
    All,
    /// A text that holds it.
    Literal(Literal),
    /// A text in which it matches somewhere; the second form is for the prefilter.
    Regex(Regex, Box<Hir>),
    /// All of them.
    And(Vec<Expr>),
    /// One of them.
    Or(Vec<Expr>),
    /// Not this.
    Not(Box<Expr>),
}

/// A literal, its own way of being found, and whether case matters.
#[derive(Debug, Clone)]
pub(crate) struct Literal {
    pub(crate) text: String,
    pub(crate) case_sensitive: bool,
    /// Whether no letter, digit or underscore stands on either side.
    is_word: bool,
    /// Whether JSON spells it as it is, or with a `\u`.
    is_plain: bool,
    by: By,
}

#[derive(Debug, Clone)]
enum By {
    Finder(Finder),
    /// Letters beyond ASCII change length with their case.
    Regex(Box<Regex>),
}

impl Expr {
    /// # Errors
    /// The column of the text where it is wrong.
    pub(crate) fn read(text: &str, manner: Manner) -> Result<Self, QueryError> {
        match text {
            "" => Ok(Self::All),
            _ if manner.is_fixed => Ok(Self::Literal(Literal::new(text.to_owned(), manner))),
            _ => parse::parse(text, manner),
        }
    }

    pub(crate) fn holds(&self, text: &mut Text<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Literal(literal) => literal.is_in(text),
            Self::Regex(regex, _) => regex.is_match(text.whole()),
            Self::And(all) => all.iter().all(|expr| expr.holds(text)),
            Self::Or(any) => any.iter().any(|expr| expr.holds(text)),
            Self::Not(expr) => !expr.holds(text),
        }
    }

    /// Where in a text something is that is looked for, in order and apart from each other.
    pub(crate) fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let mut all = Vec::new();
        self.collect_marks(text, &mut all);
        all.sort_by_key(|mark| (mark.start, mark.end));
        let mut apart: Vec<Range<usize>> = Vec::with_capacity(all.len());
        for mark in all {
            match apart.last_mut().filter(|last| mark.start <= last.end) {
                Some(last) => last.end = last.end.max(mark.end),
                None => apart.push(mark),
            }
        }
        apart
    }

    fn collect_marks(&self, text: &str, marks: &mut Vec<Range<usize>>) {
        match self {
            Self::All | Self::Not(_) => {}
            Self::Literal(literal) => {
                let mut from = 0;
                while let Some(mark) = literal.next_in(text, from) {
                    from = mark.end;
                    marks.push(mark);
                }
            }
            Self::Regex(regex, _) => {
                let found = regex.find_iter(text).map(|found| found.range());
                marks.extend(found.filter(|mark| !mark.is_empty()));
            }
            Self::And(list) | Self::Or(list) => {
                list.iter().for_each(|expr| expr.collect_marks(text, marks));
            }
        }
    }
}

impl Literal {
    /// Without regard to case, an ASCII letter is found as its two ASCII forms, any other letter as
    /// every form that Unicode's simple case folding gives it.
    pub(super) fn new(text: String, manner: Manner) -> Self {
        let case_sensitive = manner.is_exact(&text);
        let by = if case_sensitive {
            By::Finder(Finder::exact(&text))
        } else if !text.chars().any(has_other_forms) {
            By::Finder(Finder::fold(&text))
        } else {
            let pattern: String = text.chars().map(either_case).collect();
            By::Regex(Box::new(Regex::new(&pattern).expect("an escaped literal is a pattern")))
        };
        let is_plain = text.chars().all(stands_for_itself);
        Self { text, case_sensitive, is_word: manner.whole_words, is_plain, by }
    }

    fn is_in(&self, text: &mut Text<'_>) -> bool {
        match &self.by {
            _ if self.is_word => self.next_in(text.whole(), 0).is_some(),
            By::Finder(finder) if self.is_plain => text.has(finder),
            By::Finder(finder) => finder.find(text.whole().as_bytes()).is_some(),
            By::Regex(regex) => regex.is_match(text.whole()),
        }
    }

    /// Where it is found first from a place on.
    fn next_in(&self, text: &str, mut from: usize) -> Option<Range<usize>> {
        loop {
            let found = match &self.by {
                By::Finder(finder) => {
                    let start = from + finder.find(&text.as_bytes()[from..])?;
                    start..start + finder.needle().len()
                }
                By::Regex(regex) => regex.find_at(text, from)?.range(),
            };
            if !self.is_word || is_whole_word(text, &found) {
                return Some(found);
            }
            from = found.start + text[found.start..].chars().next()?.len_utf8();
        }
    }
}

fn is_whole_word(text: &str, found: &Range<usize>) -> bool {
    let (before, behind) = (&text[..found.start], &text[found.end..]);
    !before.chars().next_back().is_some_and(is_part_of_word)
        && !behind.chars().next().is_some_and(is_part_of_word)
}

fn either_case(letter: char) -> String {
    let escaped = regex::escape(letter.encode_utf8(&mut [0; 4]));
    match letter {
        'a'..='z' | 'A'..='Z' => {
            format!("[{}{}]", letter.to_ascii_lowercase(), letter.to_ascii_uppercase())
        }
        _ if letter.is_ascii() => escaped,
        _ => format!("(?i:{escaped})"),
    }
}

/// Whether JSON spells a character as it is, but for `\u`. A slash may be `\/`.
pub(crate) fn stands_for_itself(letter: char) -> bool {
    !letter.is_control() && !matches!(letter, '"' | '\\' | '/')
}

/// Whether a letter beyond ASCII has other cases.
fn has_other_forms(letter: char) -> bool {
    !letter.is_ascii() && forms(letter) != [letter]
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, word, list: &[Expr]| {
            write!(f, "({word}")?;
            list.iter().try_for_each(|expr| write!(f, " {expr}"))?;
            write!(f, ")")
        };
        match self {
            Self::All => write!(f, "*"),
            Self::Literal(literal) => write!(f, "{:?}", literal.text),
            Self::Regex(regex, _) => write!(f, "/{regex}/"),
            Self::And(all) => list(f, "and", all),
            Self::Or(any) => list(f, "or", any),
            Self::Not(expr) => write!(f, "(not {expr})"),
        }
    }
}
