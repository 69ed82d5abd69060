//! One Markdown page as a part of an HTML page: links between the files of a report become links
//! within the page, and pictures become part of it.

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd, html::push_html};

use crate::{Source, asked::Links, picture};

/// Where the text of a column may stand.
const PLACES: [&str; 3] = ["left", "center", "right"];

/// The HTML of one of the report's Markdown files; `page` is before links into the report's page,
/// and empty on that page itself.
pub(crate) fn html(source: &Source, markdown: &str, page: &str) -> Markup {
    let parser = Parser::new_ext(markdown, Options::ENABLE_TABLES);
    let mut events = Vec::new();
    // Within a picture its text is a description, and the picture has one of its own.
    let mut in_picture = false;
    // Runs are drawn on the report's own page alone.
    let runs = source.runs.as_ref().filter(|_| page.is_empty());
    let mut links = runs.map(Links::of).unwrap_or_default();
    for event in parser {
        if let Some(link) = links.linked(&event) {
            events.push(Event::Html(link.into_string().into()));
            continue;
        }
        match event {
            Event::Start(Tag::Image { dest_url, .. }) => {
                in_picture = true;
                events.push(Event::Html(inlined(source, &dest_url).into_string().into()));
            }
            Event::End(TagEnd::Image) => in_picture = false,
            _ if in_picture => {}
            // A report's HTML is text: none of it may end an element of the page, or run.
            Event::Html(text) | Event::InlineHtml(text) => events.push(Event::Text(text)),
            Event::Start(Tag::Link { dest_url, title, id, .. }) => {
                let dest_url = within(source, &dest_url);
                let dest_url = match dest_url.starts_with('#') {
                    true => format!("{page}{dest_url}").into(),
                    false => dest_url.into(),
                };
                events.push(Event::Start(Tag::Link {
                    link_type: LinkType::Inline,
                    dest_url,
                    title,
                    id,
                }));
            }
            Event::Start(Tag::Table(columns)) => {
                events.push(Event::Html("<div class=\"wide\">".into()));
                events.push(Event::Start(Tag::Table(columns)));
            }
            Event::End(TagEnd::Table) => {
                events.push(Event::End(TagEnd::Table));
                events.push(Event::Html("</div>".into()));
            }
            other => events.push(other),
        }
    }
    let mut html = String::with_capacity(2 * markdown.len());
    push_html(&mut html, events.into_iter());
    PreEscaped(picture::alone(&aligned(html)))
}

/// Columns have a class for where their text stands: a style in an attribute is not of the page's
/// policy. No text holds the beginning of an element.
fn aligned(mut html: String) -> String {
    for (cell, place) in ["th", "td"].iter().flat_map(|cell| PLACES.map(|place| (cell, place))) {
        let style = format!("<{cell} style=\"text-align: {place}\">");
        html = html.replace(&style, &format!("<{cell} class=\"{place}\">"));
    }
    html
}

/// A Markdown text of one paragraph, without the paragraph.
pub(crate) fn line(source: &Source, markdown: &str, page: &str) -> Markup {
    let PreEscaped(html) = html(source, markdown, page);
    PreEscaped(html.trim().trim_start_matches("<p>").trim_end_matches("</p>").to_owned())
}

/// The picture itself, in the forms that there are, or a word where the file is not there.
fn inlined(source: &Source, address: &str) -> Markup {
    let file = file_of(address);
    match source.pictures.get(file) {
        Some(svg) => picture::figure(svg, source.pictures.get(&lab_report::narrow_file(file))),
        None => maud::html! { "The picture " (file) " was not drawn." },
    }
}

/// An address as this page has it: chapters and tables are parts of it. What a browser would run or
/// open by another scheme than those of the web is left out.
fn within(source: &Source, address: &str) -> String {
    let file = file_of(address);
    let chapter = file.strip_suffix(".md").unwrap_or(file);
    if ["https://", "http://"].iter().any(|scheme| address.starts_with(scheme)) {
        address.to_owned()
    } else if source.chapters.contains_key(chapter) {
        format!("#{chapter}")
    } else if source.tables.contains_key(file) {
        format!("#{file}")
    } else {
        // Another report's page lies beside this one. Files of the repository are not here.
        let other = address.trim_start_matches("../").trim_start_matches("reports/");
        let name = other.strip_suffix("/report.md").filter(|name| !name.contains([':', '/']));
        name.map_or("#top".to_owned(), |name| format!("{name}.html"))
    }
}

fn file_of(address: &str) -> &str {
    address.rsplit('/').next().unwrap_or(address)
}
