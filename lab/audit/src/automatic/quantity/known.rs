//! What the tables of a document name, and which names stand side by side.

use std::collections::BTreeSet;

use super::{Quantity, Scope, is_state};
use crate::automatic::lexicon::{Words, class};
use crate::automatic::words::{list, tokens};

/// Words above a number that make it one of all.
const ALL: [&str; 5] = ["overall", "all", "aggregate", "aggregated", "total"];

/// Words above a number that make it one of a part.
static PARTS: Words = Words::new(|| class("quantity_known.parts"));

/// What counts runs and is no condition.
const COUNTED: [&str; 8] =
    ["runs", "benchmarks", "tests", "configs", "configurations", "samples", "requests", "prompts"];

pub(super) type Name = BTreeSet<String>;

pub(super) struct Known {
    names: Vec<Name>,
    pub(super) metrics: BTreeSet<String>,
    /// Names of one table, which are different things however alike they are.
    siblings: Vec<BTreeSet<Name>>,
}

impl Known {
    pub(super) fn new(cells: &[Quantity]) -> Self {
        let names: BTreeSet<Name> = cells.iter().map(|one| one.subject.clone()).collect();
        let metrics = cells.iter().flat_map(|one| one.metric.clone()).collect();
        let mut siblings: Vec<BTreeSet<Name>> = Vec::new();
        for table in cells.chunk_by(|a, b| a.place.section == b.place.section) {
            siblings.push(table.iter().map(|one| one.subject.clone()).collect());
        }
        Self { names: names.into_iter().collect(), metrics, siblings }
    }

    /// Adds what one more table names.
    pub(super) fn add(&mut self, names: BTreeSet<Name>) {
        for name in &names {
            if !self.names.contains(name) {
                self.names.push(name.clone());
            }
        }
        self.siblings.push(names);
    }

    /// The longest name whose words are all in a text; `None` where two are as long.
    pub(super) fn name_in(&self, text: &str) -> Option<Name> {
        let words = tokens(text);
        let mut held: Vec<&Name> =
            self.names.iter().filter(|name| is_name(name) && name.is_subset(&words)).collect();
        held.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let unique = held.len() < 2 || held[1].len() < held[0].len();
        held.first().filter(|_| unique).map(|name| (*name).clone())
    }

    /// The name that a text is, or begins with.
    pub(super) fn name_of(&self, text: &str) -> Option<Name> {
        let words = tokens(text);
        if self.names.contains(&words) {
            return Some(words);
        }
        let name = self.name_in(text)?;
        (words.len() <= 2 * name.len()).then_some(name)
    }

    /// Whether a text is a name.
    pub(super) fn is(&self, text: &str) -> Option<Name> {
        let words = tokens(text);
        self.names.contains(&words).then_some(words)
    }

    /// Whether both are of one thing: the same words, or the words that one has more stand above
    /// the other.
    pub(super) fn same(&self, a: &Quantity, b: &Quantity) -> bool {
        if a.subject == b.subject {
            return true;
        }
        let held = |short: &Quantity, long: &Quantity| {
            short.subject.is_subset(&long.subject)
                && is_name(&short.subject)
                && long.subject.difference(&short.subject).all(|word| short.around.contains(word))
        };
        let siblings = || {
            self.siblings
                .iter()
                .any(|names| names.contains(&a.subject) && names.contains(&b.subject))
        };
        (held(a, b) || held(b, a)) && !siblings()
    }

    /// What the words above a number say that it is of.
    pub(super) fn scope(&self, section: &str, around: &BTreeSet<String>, said: Scope) -> Scope {
        if said != Scope::Open {
            return said;
        }
        let has = |words: &[&str]| words.iter().any(|word| around.contains(*word));
        if has(&ALL) {
            Scope::All
        } else if has(&PARTS) || self.has_condition(section) {
            Scope::Part
        } else {
            Scope::Open
        }
    }

    /// Whether the last heading has a number that is neither its own nor a name's nor a count.
    fn has_condition(&self, section: &str) -> bool {
        let heading = section.rsplit(" > ").next().unwrap_or_default();
        let bare = heading.trim_start_matches(|c: char| c.is_ascii_digit() || ". )".contains(c));
        let words = list(bare);
        words.iter().enumerate().any(|(index, word)| {
            let digit = word.chars().any(|c| c.is_ascii_digit());
            let counted = words.get(index + 1).is_some_and(|next| COUNTED.contains(&next.as_str()));
            digit && !counted && !self.names.iter().any(|name| name.contains(word))
        })
    }
}

/// Whether words name one thing rather than a kind of things: with a digit, or two of them.
pub(super) fn is_name(words: &Name) -> bool {
    let letters = words.iter().any(|word| word.chars().any(char::is_alphabetic));
    let digits = words.iter().any(|word| word.chars().any(|c| c.is_ascii_digit()));
    letters && (digits || words.len() >= 2)
}

/// Whether words can name something beside a statistic: also one word that is no state.
pub(super) fn is_word(words: &Name) -> bool {
    words.len() == 1
        && words.iter().all(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 3)
        && !words.iter().any(|word| is_state(word))
}
