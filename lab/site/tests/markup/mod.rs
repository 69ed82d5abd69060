//! What is wrong with a page, as far as no browser is needed to tell: elements that do not nest,
//! names that occur twice or not at all, text that is no text, and what would be loaded.

use std::collections::BTreeSet;

/// Elements without an end.
const VOID: [&str; 6] = ["br", "hr", "img", "input", "meta", "wbr"];
/// Elements whose content is no markup.
const RAW: [&str; 2] = ["script", "style"];
/// Elements that end a paragraph where they begin.
const BLOCKS: [&str; 18] = [
    "article", "details", "div", "figure", "form", "h1", "h2", "h3", "h4", "header", "main", "nav",
    "ol", "p", "pre", "section", "table", "ul",
];
/// Elements and attributes that load something.
const LOADING: [&str; 8] = ["link", "iframe", "object", "embed", "src", "srcset", "poster", "data"];
/// A picture that the page itself holds.
const HELD: &str = "data:image/svg+xml;base64,";

/// What a page says of itself, and what is wrong with it.
#[derive(Debug, Default)]
pub struct Markup {
    /// Values of `id`.
    pub ids: BTreeSet<String>,
    /// Values of `href`.
    pub links: Vec<String>,
    /// Contents of scripts, each with its type.
    pub scripts: Vec<(String, String)>,
    /// Sentences.
    pub faults: Vec<String>,
    open: Vec<String>,
}

impl Markup {
    pub fn of(html: &str) -> Self {
        let mut markup = Self::default();
        let mut rest = html.strip_prefix("<!DOCTYPE html>").unwrap_or_else(|| {
            markup.faults.push("no doctype".to_owned());
            html
        });
        while let Some((text, tag)) = rest.split_once('<') {
            markup.text(text);
            rest = markup.tag(tag);
        }
        markup.text(rest);
        let open = std::mem::take(&mut markup.open);
        markup.faults.extend(open.iter().map(|name| format!("<{name}> does not end")));
        let ids = &markup.ids;
        let within = markup.links.iter().filter_map(|link| link.strip_prefix('#'));
        let lost = within.filter(|id| !ids.contains(*id)).map(|id| format!("#{id} is nowhere"));
        markup.faults.extend(lost.collect::<Vec<_>>());
        markup
    }

    fn text(&mut self, text: &str) {
        for part in text.split('&').skip(1) {
            let name = part.split_once(';').map_or("", |(name, _)| name);
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '#';
            if name.is_empty() || !name.chars().all(is_plain) {
                self.faults.push(format!("& is not written as a text: {:.30}", part));
            }
        }
    }

    /// Reads one element's start or end, and gives what follows.
    fn tag<'h>(&mut self, tag: &'h str) -> &'h str {
        let end = end_of(tag);
        let (inside, rest) = (&tag[..end], tag.get(end + 1..).unwrap_or_default());
        if let Some(name) = inside.strip_prefix('/') {
            if self.open.pop().as_deref() != Some(name) {
                self.faults.push(format!("</{name}> ends another element: {rest:.60}"));
            }
            return rest;
        }
        let (inside, closes) = inside.strip_suffix('/').map_or((inside, false), |it| (it, true));
        let (name, attributes) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
        let attributes = self.attributes(name, attributes);
        self.place(name);
        if RAW.contains(&name) {
            return self.raw(name, &attributes, rest);
        }
        if !closes && !VOID.contains(&name) {
            self.open.push(name.to_owned());
        }
        rest
    }

    /// Whether the element may stand where it does.
    fn place(&mut self, name: &str) {
        let is_inside = |outer: &str| self.open.iter().any(|open| open == outer);
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            self.faults.push(format!("<{name} is no element"));
        } else if BLOCKS.contains(&name) && (is_inside("p") || is_inside("summary")) {
            self.faults.push(format!("<{name}> stands inside a line"));
        } else if name == "a" && is_inside("a") {
            self.faults.push("a link stands inside a link".to_owned());
        } else if LOADING.contains(&name) {
            self.faults.push(format!("<{name}> loads something"));
        }
    }

    fn attributes(&mut self, element: &str, text: &str) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
            let name = rest[..end].to_owned();
            rest = rest[end..].trim_start();
            let mut value = "";
            if let Some(after) = rest.strip_prefix('=') {
                let after = after.trim_start();
                let quote = after.chars().next().filter(|c| "'\"".contains(*c));
                let Some((inside, after)) = quote.and_then(|it| after[1..].split_once(it)) else {
                    self.faults.push(format!("{name} of <{element}> has no quotes"));
                    return found;
                };
                (value, rest) = (inside, after.trim_start());
            }
            self.text(value);
            if found.iter().any(|(other, _)| *other == name) {
                self.faults.push(format!("<{element}> has {name} twice"));
            }
            self.attribute(element, &name, value);
            found.push((name, value.to_owned()));
        }
        found
    }

    fn attribute(&mut self, element: &str, name: &str, value: &str) {
        match name {
            "id" if !self.ids.insert(value.to_owned()) => {
                self.faults.push(format!("two elements are {value}"));
            }
            "id" => {}
            "href" | "xlink:href" => self.links.push(value.to_owned()),
            "src" if element == "img" && value.starts_with(HELD) => {}
            _ if name.starts_with("on") || LOADING.contains(&name) => {
                self.faults.push(format!("<{element}> has {name}"));
            }
            _ => {}
        }
    }

    fn raw<'h>(&mut self, name: &str, attributes: &[(String, String)], rest: &'h str) -> &'h str {
        let Some((inside, rest)) = rest.split_once(&format!("</{name}>")) else {
            self.faults.push(format!("<{name}> does not end"));
            return "";
        };
        if name == "style" && ["@import", "url("].iter().any(|loads| inside.contains(loads)) {
            self.faults.push("a style loads something".to_owned());
        }
        if name == "script" {
            let kind = attributes.iter().find(|(name, _)| name == "type");
            let kind = kind.map_or(String::new(), |(_, value)| value.clone());
            self.scripts.push((kind, inside.to_owned()));
        }
        rest
    }
}

/// Where a tag ends: the first `>` outside quotes.
fn end_of(tag: &str) -> usize {
    let mut quote = None;
    for (at, c) in tag.char_indices() {
        match (quote, c) {
            (None, '>') => return at,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    tag.len()
}
