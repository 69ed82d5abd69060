//! The compiled expression.

use std::fmt;

use regex::Regex;
use regex_syntax::hir::Hir;

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
}

impl Literal {
    /// Without regard to case, an ASCII letter is found as its two ASCII forms, any other letter as
    /// every form that Unicode's simple case folding gives it.
    pub(crate) fn new(text: String, case_sensitive: bool) -> Self {
        let by = if case_sensitive {
            By::Finder(Finder::exact(&text))
        } else if !text.chars().any(has_other_forms) {
            By::Finder(Finder::fold(&text))
        } else {
            let pattern: String = text.chars().map(either_case).collect();
            By::Regex(Box::new(Regex::new(&pattern).expect("an escaped literal is a pattern")))
        };
        let is_plain = text.chars().all(stands_for_itself);
        Self { text, case_sensitive, is_plain, by }
    }

    fn is_in(&self, text: &mut Text<'_>) -> bool {
        match &self.by {
            By::Finder(finder) if self.is_plain => text.has(finder),
            By::Finder(finder) => finder.find(text.whole().as_bytes()).is_some(),
            By::Regex(regex) => regex.is_match(text.whole()),
        }
    }
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
