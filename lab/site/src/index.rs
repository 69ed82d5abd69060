//! The page of all reports: each question with its answer.

use maud::{Markup, html};

use crate::{Source, address::encoded, chapter, opening::Opening, page::document};

/// The title of that page.
pub const INDEX_TITLE: &str = "Questions and answers";

/// All reports, those of one kind together; those without a record of runs come last.
pub fn index(sources: &[Source]) -> String {
    let mut kinds: Vec<&str> = sources.iter().map(|source| source.kind.as_str()).collect();
    kinds.sort_by_key(|kind| (kind.is_empty(), *kind));
    kinds.dedup();
    let body = html! {
        h1 { (INDEX_TITLE) }
        p.facts {
            (sources.len()) " questions, each with what the records say. Every page stands alone "
            "and loads nothing."
        }
        @for kind in kinds {
            section {
                h2 { (heading(kind)) }
                @for source in sources.iter().filter(|source| source.kind == kind) {
                    (entry(source))
                }
            }
        }
    };
    document(INDEX_TITLE, &html! {}, &body)
}

/// A kind as a heading.
fn heading(kind: &str) -> String {
    let mut letters = kind.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "The lab and its audits".to_owned(),
    }
}

fn entry(source: &Source) -> Markup {
    let opening = Opening::of(&source.first);
    let page = format!("{}.html", encoded(&source.name));
    let facts = opening.facts.as_deref().unwrap_or_default();
    html! {
        article {
            h3 {
                a href=(page) {
                    @match opening.question {
                        "" => (source.name),
                        question => (chapter::line(source, question, &page)),
                    }
                }
            }
            (chapter::html(source, &opening.answer(), &page))
            @if !facts.is_empty() { p.facts { (chapter::line(source, facts, &page)) } }
        }
    }
}
