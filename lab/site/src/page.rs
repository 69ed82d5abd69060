//! Whole pages.

use crate::{
    Source,
    chapter::{self, escaped},
    data,
};

const STYLE: &str = include_str!("style.css");
/// The script of every page, which stands in it as `<script>…</script>`.
pub const SCRIPT: &str = include_str!("script.js");

/// One report: the answer first, then its chapters and tables, folded.
pub fn page(source: &Source) -> String {
    page_under(source, "")
}

/// The same below a part of HTML that says more about the record.
pub fn page_under(source: &Source, above: &str) -> String {
    let order = order(source);
    let chapters: String = order
        .iter()
        .map(|file| {
            let markdown = &source.chapters[*file];
            let title = escaped(title(markdown).unwrap_or(file));
            let body = chapter::html(source, without_title(markdown), "");
            format!("<details id=\"{file}\"><summary>{title}</summary>{body}</details>\n")
        })
        .collect();
    let data = match source.tables.is_empty() {
        true => String::new(),
        false => format!("<h2>Tables</h2>\n{}", data::html(&source.tables)),
    };
    let first = chapter::html(source, without_details(&source.first), "");
    let all = "<p><a href=\"index.html\">All questions</a></p>";
    let body = format!("{all}\n{above}{first}\n<h2>Details</h2>\n{chapters}{data}");
    document(title(&source.first).unwrap_or(&source.name), "", &body)
}

/// All reports: each question with its first answers.
pub fn index(sources: &[Source]) -> String {
    let one = |source: &Source| {
        let (name, opening) = (&source.name, opening(&source.first));
        let body = chapter::html(source, &opening, &format!("{name}.html"));
        format!("<section><h2><a href=\"{name}.html\">{name}</a></h2>\n{body}</section>\n")
    };
    let sections: String = sources.iter().map(one).collect();
    document("Questions and answers", "", &format!("<h1>Questions and answers</h1>\n{sections}"))
}

/// A page; `head` is what only this one has in its head.
pub(crate) fn document(title: &str, head: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">{head}\
         <title>{}</title><style>{STYLE}</style></head>\n<body id=\"top\"><main>\n{body}</main>\n\
         <script>{SCRIPT}</script></body></html>\n",
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

fn title(markdown: &str) -> Option<&str> {
    markdown.lines().find_map(|line| line.strip_prefix("# "))
}

fn without_title(markdown: &str) -> &str {
    let rest = markdown.strip_prefix("# ").and_then(|rest| rest.split_once('\n'));
    rest.map_or(markdown, |(_, rest)| rest)
}

/// The first screen without its list of links: the chapters follow it here.
fn without_details(markdown: &str) -> &str {
    markdown.find("\nDetails: ").map_or(markdown, |end| &markdown[..end])
}

/// The question and the answers of a first screen.
pub(crate) fn opening(markdown: &str) -> String {
    let is_answer = |line: &&str| line.starts_with("**") || line.starts_with("* ");
    let lines = markdown.lines().filter(is_answer).take(4);
    lines.collect::<Vec<_>>().join("\n\n")
}
