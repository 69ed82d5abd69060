//! The page of all reports: each question with its answer.

use crate::{
    Source,
    address::{encoded, quoted},
    chapter::{self, escaped},
    opening::Opening,
    page::document,
};

/// The title of that page.
pub const INDEX_TITLE: &str = "Questions and answers";

/// All reports, those of one kind together; those without a record of runs come last.
pub fn index(sources: &[Source]) -> String {
    let mut kinds: Vec<&str> = sources.iter().map(|source| source.kind.as_str()).collect();
    kinds.sort_by_key(|kind| (kind.is_empty(), *kind));
    kinds.dedup();
    let group = |kind: &&str| {
        let of_kind = sources.iter().filter(|source| source.kind == **kind);
        let entries: String = of_kind.map(entry).collect();
        format!("<section><h2>{}</h2>\n{entries}</section>\n", escaped(&heading(kind)))
    };
    let groups: String = kinds.iter().map(group).collect();
    let body = format!(
        "<h1>{INDEX_TITLE}</h1>\n<p class=\"facts\">{} questions, each with what \
         the records say. Every page stands alone and loads nothing.</p>\n{groups}",
        sources.len()
    );
    document(INDEX_TITLE, "", &body)
}

/// A kind as a heading.
fn heading(kind: &str) -> String {
    let mut letters = kind.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "The lab and its audits".to_owned(),
    }
}

fn entry(source: &Source) -> String {
    let opening = Opening::of(&source.first);
    let page = format!("{}.html", encoded(&source.name));
    let question = match opening.question {
        "" => escaped(&source.name),
        question => chapter::line(source, question, &page),
    };
    let facts = opening.facts.as_deref().unwrap_or_default();
    let facts = match facts.is_empty() {
        true => String::new(),
        false => format!("<p class=\"facts\">{}</p>\n", chapter::line(source, facts, &page)),
    };
    format!(
        "<article>\n<h3><a href=\"{}\">{question}</a></h3>\n{}{facts}</article>\n",
        quoted(&page),
        chapter::html(source, &opening.answer(), &page)
    )
}
