//! The page of one report, and what all pages have around them.

use crate::{
    Source,
    address::{encoded, quoted},
    chapter::{self, escaped},
    data,
    opening::Opening,
    picture,
    policy::policy_element,
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
    page_under(source, "")
}

/// The same below a part of HTML that says more about the record.
pub fn page_under(source: &Source, above: &str) -> String {
    let up = "<nav class=\"up\"><a href=\"index.html\">All questions</a></nav>\n";
    whole(source, &format!("{up}{above}"))
}

/// The same for a report that stands by itself.
pub fn page_alone(source: &Source) -> String {
    whole(source, "")
}

fn whole(source: &Source, above: &str) -> String {
    let opening = Opening::of(&source.first);
    let files = order(source);
    let chapters: String = files.iter().map(|file| folded(source, file)).collect();
    let details = match chapters.is_empty() {
        true => String::new(),
        false => format!("<section>\n<h2>Details</h2>\n{chapters}</section>\n"),
    };
    let tables = match source.tables.is_empty() {
        true => String::new(),
        false => format!(
            "<section id=\"{TABLES}\">\n<h2>Tables</h2>\n{}</section>\n",
            data::html(&source.tables)
        ),
    };
    let body = format!(
        "{above}{}{}{}{details}{tables}",
        first(source, &opening),
        contents(source, &files),
        source.runs.as_ref().map(runs::section).unwrap_or_default(),
    );
    let style = |_: &runs::Runs| format!("<style>{}</style>", runs::STYLE);
    let head = source.runs.as_ref().map(style).unwrap_or_default();
    let title = if opening.title.is_empty() { &source.name } else { opening.title };
    document(&title.replace('`', ""), &head, &picture::described(&body))
}

/// Question and answer with what else the first screen has.
fn first(source: &Source, opening: &Opening<'_>) -> String {
    let html = |markdown: &str| chapter::html(source, markdown, "");
    let line = |markdown: &str| chapter::line(source, markdown, "");
    let within = |start: &str, text: Option<String>, end: &str| {
        text.map_or(String::new(), |text| format!("{start}{text}{end}\n"))
    };
    let name = (opening.title != opening.question).then(|| escaped(opening.title));
    format!(
        "<header>\n{}<h1>{}</h1>\n{}{}</header>\n{}",
        within("<p class=\"name\">", name, "</p>"),
        line(opening.question),
        within("<div class=\"answer\">", opening.lead.map(html), "</div>"),
        within("<p class=\"facts\">", opening.facts.as_deref().map(line), "</p>"),
        html(&opening.rest.join("\n\n")),
    )
}

/// Links to the parts of the page.
fn contents(source: &Source, files: &[&str]) -> String {
    let mut links = Vec::new();
    if source.runs.is_some() {
        links.push((runs::PLACE.to_owned(), "Every run".to_owned()));
    }
    // A file's name may hold whatever ends an attribute.
    let chapter = |file: &&str| (quoted(&encoded(file)), escaped(title_of(source, file)));
    links.extend(files.iter().map(chapter));
    if !source.tables.is_empty() {
        links.push((TABLES.to_owned(), "Tables".to_owned()));
    }
    let link = |(id, text): (String, String)| format!("<li><a href=\"#{id}\">{text}</a></li>\n");
    let links: String = links.into_iter().map(link).collect();
    match links.is_empty() {
        true => links,
        false => {
            format!("<nav class=\"parts\" aria-label=\"On this page\"><ul>\n{links}</ul></nav>\n")
        }
    }
}

/// A chapter behind its title.
fn folded(source: &Source, file: &str) -> String {
    let (title, markdown) = (escaped(title_of(source, file)), &source.chapters[file]);
    let body = chapter::html(source, without_title(markdown), "");
    let id = quoted(file);
    format!("<details id=\"{id}\"><summary>{title}</summary>\n{body}</details>\n")
}

/// A page; `head` is what only this one has in its head.
pub(crate) fn document(title: &str, head: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">{}\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">{head}\
         <title>{}</title><style>{STYLE}</style></head>\n<body id=\"top\"><main>\n{body}</main>\n\
         <script>{SCRIPT}</script></body></html>\n",
        policy_element(),
        escaped(title)
    )
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
