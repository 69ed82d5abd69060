//! The page of one report, and what all pages have around them.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{
    Source, address::encoded, chapter, data, opening::Opening, picture, policy::policy_element,
    runs,
};

pub(crate) const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");
/// The scripts of pages, by the name of a file that a server can give them. Each stands in its page
/// as `<script>…</script>`: the first in every one, the others where runs are drawn.
pub const SCRIPTS: [(&str, &str); 3] =
    [("page.js", SCRIPT), ("plot.js", runs::PLOT), ("runs.js", runs::SCRIPT)];
/// The place of the tables on a page.
const TABLES: &str = "part-tables";

/// One report of several, with a link to their index: the answer first, then every run, then its
/// chapters and tables, folded.
pub fn page(source: &Source) -> String {
    page_under(source, &html! {})
}

/// The same below a part that says more about the record.
pub fn page_under(source: &Source, above: &Markup) -> String {
    let up = html! { nav.up { a href="index.html" { "All questions" } } };
    whole(source, &html! { (up) (above) })
}

/// The same for a report that stands by itself.
pub fn page_alone(source: &Source) -> String {
    whole(source, &html! {})
}

fn whole(source: &Source, above: &Markup) -> String {
    let opening = Opening::of(&source.first);
    let files = order(source);
    let body = html! {
        (above)
        (first(source, &opening))
        (contents(source, &files))
        @if let Some(runs) = &source.runs { (runs::section(runs)) }
        @if !files.is_empty() {
            section { h2 { "Details" } @for file in &files { (folded(source, file)) } }
        }
        @if !source.tables.is_empty() {
            section id=(TABLES) { h2 { "Tables" } (data::html(&source.tables)) }
        }
    };
    let head = html! {
        @if source.runs.is_some() { style { (PreEscaped(runs::STYLE)) } }
    };
    let title = if opening.title.is_empty() { &source.name } else { opening.title };
    let body = PreEscaped(picture::described(&body.into_string()));
    document(&title.replace('`', ""), &head, &body)
}

/// Question and answer with what else the first screen has.
fn first(source: &Source, opening: &Opening<'_>) -> Markup {
    html! {
        header {
            @if opening.title != opening.question { p.name { (opening.title) } }
            h1 { (chapter::line(source, opening.question, "")) }
            @if let Some(lead) = opening.lead { div.answer { (chapter::html(source, lead, "")) } }
            @if let Some(facts) = &opening.facts { p.facts { (chapter::line(source, facts, "")) } }
        }
        (chapter::html(source, &opening.rest.join("\n\n"), ""))
    }
}

/// Links to the parts of the page.
fn contents(source: &Source, files: &[&str]) -> Markup {
    let mut links = Vec::new();
    if source.runs.is_some() {
        links.push((runs::PLACE.to_owned(), "Every run"));
    }
    // A file's name may hold whatever ends an address.
    links.extend(files.iter().map(|file| (encoded(file), title_of(source, file))));
    if !source.tables.is_empty() {
        links.push((TABLES.to_owned(), "Tables"));
    }
    html! {
        @if !links.is_empty() {
            nav.parts aria-label="On this page" {
                ul { @for (id, text) in &links { li { a href={ "#" (id) } { (text) } } } }
            }
        }
    }
}

/// A chapter behind its title.
fn folded(source: &Source, file: &str) -> Markup {
    let body = without_title(&source.chapters[file]);
    html! {
        details id=(file) {
            summary { (title_of(source, file)) }
            (chapter::html(source, body, ""))
        }
    }
}

/// A page; `head` is what only this one has in its head.
pub(crate) fn document(title: &str, head: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                (PreEscaped(policy_element()))
                meta name="viewport" content="width=device-width, initial-scale=1";
                (head)
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body id="top" {
                main { (body) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The chapters in the order in which the first screen names them, others after those.
fn order(source: &Source) -> Vec<&str> {
    let place = |file: &str| source.first.find(&format!("details/{file}.md")).unwrap_or(usize::MAX);
    let mut files: Vec<&str> = source.chapters.keys().map(String::as_str).collect();
    files.sort_by_key(|file| place(file));
    files
}

fn title_of<'s>(source: &'s Source, file: &'s str) -> &'s str {
    source.chapters[file].lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(file)
}

fn without_title(markdown: &str) -> &str {
    let rest = markdown.strip_prefix("# ").and_then(|rest| rest.split_once('\n'));
    rest.map_or(markdown, |(_, rest)| rest)
}
