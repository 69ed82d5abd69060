//! What sentences claim of the tables beside them.

mod base;
mod best;
mod costs;
mod effect;
mod every;
mod extreme;
mod items;
mod missing;
mod monotone;
mod none;
mod possessive;
mod settings;
mod span;
mod spoken;
mod superlative;
mod times;
mod top;
mod universal;
mod unmeasured;

use super::book::Book;
use super::found::Found;
use super::tie::Tied;
use crate::{Check, Document, Place, Sentence, SentenceKind, Severity};

/// Checks every sentence of prose.
pub(crate) fn check(document: &Document, tables: &[Tied<'_, '_>], book: &mut Book) {
    let page = Page { document, tables };
    for sentence in document.prose.iter().filter(|one| one.kind == SentenceKind::Prose) {
        universal::check(&page, sentence, book);
        settings::check(&page, sentence, book);
        base::check(&page, sentence, book);
        monotone::check(&page, sentence, book);
        effect::check(&page, sentence, book);
        none::check(&page, sentence, book);
        missing::check(&page, sentence, book);
        possessive::check(&page, sentence, book);
        superlative::check(&page, sentence, book);
        times::check(&page, sentence, book);
        top::check(&page, sentence, book);
        unmeasured::check(&page, sentence, book);
        best::check(&page, sentence, book);
        every::check(&page, sentence, book);
        extreme::check(&page, sentence, book);
        span::check(&page, sentence, book);
    }
    items::check(document, book);
    costs::check(&page, book);
}

/// A document and what its tables mean.
struct Page<'d, 'g, 'a> {
    document: &'d Document,
    tables: &'d [Tied<'g, 'a>],
}

impl<'d, 'g, 'a> Page<'d, 'g, 'a> {
    /// The tables of a sentence's own section, the nearest above first, then those below it.
    fn beside(&self, sentence: &Sentence) -> Vec<&'d Tied<'g, 'a>> {
        let own = |tied: &&Tied<'g, 'a>| tied.table().headings == sentence.headings;
        let above = |tied: &&Tied<'g, 'a>| tied.table().line < sentence.line;
        let all = || self.tables.iter().filter(own);
        let below = all().filter(|tied| !above(tied));
        all().filter(above).rev().chain(below).collect()
    }

    fn place(&self, sentence: &Sentence) -> Place {
        Place {
            document: self.document.name.clone(),
            line: Some(sentence.line),
            section: sentence.headings.join(" > "),
            ..Place::default()
        }
    }

    /// A sentence that a line of a table contradicts.
    fn found(
        &self,
        check: Check,
        sentence: &Sentence,
        line: usize,
        text: String,
        how: &str,
    ) -> Found {
        let place = self.place(sentence);
        let against = Place { line: Some(line), ..place.clone() };
        Found::remark(check, Severity::Inconsistent, place, text, how).against(against)
    }
}
