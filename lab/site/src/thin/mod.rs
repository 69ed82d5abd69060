//! A picture of gnuplot's with the same lines in fewer letters: what is said again at every mark is
//! said once around all of them, groups of nothing go, and places are told to a tenth of a pixel.

mod path;

use std::{collections::BTreeMap, mem};

type Attributes = BTreeMap<String, String>;

enum Node {
    Element(Element),
    Text(String),
}

struct Element {
    name: String,
    has: Attributes,
    inside: Vec<Node>,
}

/// What an element has of those around it, and what is so where nobody says otherwise.
const INHERITED: [(&str, &str); 10] = [
    ("color", "?"),
    ("fill", "black"),
    ("font-family", "?"),
    ("font-size", "?"),
    ("font-weight", "normal"),
    ("stroke", "none"),
    ("stroke-linecap", "butt"),
    ("stroke-linejoin", "miter"),
    ("stroke-width", "1"),
    ("text-anchor", "start"),
];
/// What nearly all of a picture has.
const USUAL: [(&str, &str); 4] = [
    ("color", "black"),
    ("fill", "none"),
    ("font-family", "Helvetica"),
    ("stroke", "currentColor"),
];

/// The same picture; what is none that gnuplot draws comes back as it is.
pub fn thin(svg: &str) -> String {
    let Some(start) = svg.find("<svg") else { return svg.to_owned() };
    let mut rest = &svg[start..];
    let Some(Node::Element(mut root)) = node(&mut rest) else { return svg.to_owned() };
    // One that is thin already says so around all of it.
    let is_thin = elements(&mut root).any(|one| one.has.contains_key("stroke"));
    if is_thin || !rest.trim().is_empty() {
        return svg.to_owned();
    }
    let is_used = |node: &Node| match node {
        Node::Element(one) => one.has.get("id").is_none_or(|id| svg.contains(&format!("'#{id}'"))),
        Node::Text(_) => false,
    };
    for canvas in elements(&mut root).filter(|one| one.name == "g") {
        for one in elements(canvas) {
            match one.name.as_str() {
                "defs" => one.inside.retain(is_used),
                // The ground has no border.
                _ => drop(one.has.entry("stroke".to_owned()).or_insert("none".to_owned())),
            }
        }
        canvas.has.extend(USUAL.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
    root.inside = less(mem::take(&mut root.inside), &around(&Attributes::new(), &root.has));
    let mut text = svg[..start].to_owned();
    put(&mut text, &Node::Element(root));
    text
}

fn elements(element: &mut Element) -> impl Iterator<Item = &mut Element> {
    element.inside.iter_mut().filter_map(|node| match node {
        Node::Element(element) => Some(element),
        Node::Text(_) => None,
    })
}

/// What those within an element have of it and of those around it.
fn around(outer: &Attributes, has: &Attributes) -> Attributes {
    let own =
        INHERITED.iter().filter_map(|(key, _)| Some((key.to_string(), has.get(*key)?.clone())));
    outer.clone().into_iter().chain(own).collect()
}

/// The nodes within an element, of which those without anything go and neighbours that are alike
/// come together.
fn less(nodes: Vec<Node>, outer: &Attributes) -> Vec<Node> {
    let mut kept: Vec<Node> = Vec::new();
    for node in nodes {
        let Node::Element(mut one) = node else {
            kept.extend(
                Some(node)
                    .filter(|node| matches!(node, Node::Text(text) if !text.trim().is_empty())),
            );
            continue;
        };
        if one.name == "defs" || one.name == "text" {
            kept.push(Node::Element(one));
            continue;
        }
        hoist(&mut one);
        let before = |key: &str| {
            let usual = INHERITED.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
            outer.get(key).map(String::as_str).or(usual)
        };
        let inner = around(outer, &one.has);
        one.has.retain(|key, value| before(key) != Some(value));
        one.inside = less(mem::take(&mut one.inside), &inner);
        match (one.name.as_str(), kept.last_mut()) {
            ("g", _) if one.inside.is_empty() => {}
            ("g", _) if one.has.is_empty() => kept.append(&mut one.inside),
            ("g", _) if is_one_text(&one) => kept.extend(one.inside.pop().map(|inner| {
                let Node::Element(mut text) = inner else { return inner };
                text.has.append(&mut one.has);
                Node::Element(text)
            })),
            ("g", Some(Node::Element(last))) if last.name == "g" && last.has == one.has => {
                last.inside.append(&mut one.inside);
            }
            _ => kept.push(Node::Element(one)),
        }
    }
    kept
}

fn is_one_text(group: &Element) -> bool {
    let is_plain = |one: &Element| one.name == "text" && one.has.is_empty();
    matches!(group.inside.as_slice(), [Node::Element(one)] if is_plain(one))
}

/// Gives a group what all its elements have alike.
fn hoist(group: &mut Element) {
    let is_leaf = |node: &Node| matches!(node, Node::Element(one) if one.inside.is_empty());
    if group.name != "g" || group.inside.len() < 2 || !group.inside.iter().all(is_leaf) {
        return;
    }
    for key in ["color", "fill", "stroke"] {
        let values: Vec<Option<String>> =
            elements(group).map(|one| one.has.get(key).cloned()).collect();
        let Some(Some(first)) = values.first().filter(|one| values.iter().all(|it| it == *one))
        else {
            continue;
        };
        elements(group).for_each(|one| drop(one.has.remove(key)));
        group.has.insert(key.to_owned(), first.clone());
    }
}

/// The next element or text, which is taken away; none where the text is no such document.
fn node(rest: &mut &str) -> Option<Node> {
    if !rest.starts_with('<') {
        let (text, behind) = rest.split_at(rest.find('<')?);
        *rest = behind;
        return Some(Node::Text(text.to_owned()));
    }
    let (tag, behind) = rest.strip_prefix('<')?.split_once('>')?;
    *rest = behind;
    let whole = tag.strip_suffix('/');
    let tag = whole.unwrap_or(tag);
    let (name, has) = tag.split_at(tag.find(char::is_whitespace).unwrap_or(tag.len()));
    let mut element =
        Element { name: name.to_owned(), has: attributes(name, has)?, inside: Vec::new() };
    if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return None;
    }
    if element.name == "polygon" {
        let points = element.has.remove("points")?;
        element.has.insert("d".to_owned(), path::of_polygon(&points)?);
        element.name = "path".to_owned();
    }
    while whole.is_none() {
        if let Some(behind) = rest.strip_prefix("</") {
            let (closed, behind) = behind.split_once('>')?;
            *rest = behind;
            return (closed == name).then_some(Node::Element(element));
        }
        element.inside.push(node(rest)?);
    }
    Some(Node::Element(element))
}

fn attributes(element: &str, mut text: &str) -> Option<Attributes> {
    let mut has = Attributes::new();
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return Some(has);
        }
        let (key, behind) = text.split_once('=')?;
        let behind = behind.trim_start();
        let quote = behind.chars().next().filter(|letter| ['"', '\''].contains(letter))?;
        let (value, behind) = behind[1..].split_once(quote)?;
        has.insert(key.trim().to_owned(), shorter(element, key.trim(), value)?);
        text = behind;
    }
}

/// The same value in fewer letters; that of a name or a text as it is.
fn shorter(element: &str, key: &str, value: &str) -> Option<String> {
    Some(match key {
        "d" if !value.contains(|letter: char| letter.is_ascii_lowercase()) => path::of(value)?,
        "transform" => {
            let part = |part: &str| match part.trim_start().starts_with("scale") {
                true => path::rounded(part, 2),
                false => path::rounded(part, 1),
            };
            value.split_inclusive(')').map(part).collect()
        }
        "fill" | "stroke" | "color" => match value.strip_prefix("rgb(") {
            Some(parts) => {
                let parts = parts.trim_end_matches(')').split(',');
                let parts: Option<Vec<u8>> = parts.map(|part| part.trim().parse().ok()).collect();
                let hex = parts?.iter().map(|part| format!("{part:02x}")).collect::<String>();
                format!("#{hex}")
            }
            None => value.to_owned(),
        },
        "font-size" | "stroke-width" | "fill-opacity" | "stroke-opacity" if element != "svg" => {
            path::rounded(value, 3)
        }
        _ => value.to_owned(),
    })
}

fn put(text: &mut String, node: &Node) {
    let one = match node {
        Node::Element(one) => one,
        Node::Text(words) => return text.push_str(words),
    };
    text.push_str(&format!("<{}", one.name));
    for (key, value) in &one.has {
        let quote = if value.contains('"') { '\'' } else { '"' };
        text.push_str(&format!(" {key}={quote}{value}{quote}"));
    }
    if one.inside.is_empty() {
        text.push_str("/>");
    } else {
        text.push('>');
        one.inside.iter().for_each(|node| put(text, node));
        text.push_str(&format!("</{}>", one.name));
    }
    if one.name != "tspan" {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_again_is_said_once() {
        let svg = "<?xml version=\"1.0\"?>\n<svg width=\"9\" height=\"9\">\n\
            <g id=\"gnuplot_canvas\">\n\
            <rect x=\"0\" fill=\"#ffffff\"/>\n<defs>\n<path id='gpPt0' d='M-1,0 h2'/>\n\
            <path id='gpPt1' d='M-1,0 h2'/>\n</defs>\n\
            <g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"1.00\" \
            stroke-linecap=\"butt\" stroke-linejoin=\"miter\">\n</g>\n\
            <g fill=\"none\" color=\"black\" stroke=\"currentColor\" stroke-width=\"2.00\">\n\
            <path stroke='rgb(102, 102, 102)'  \
            d='M83.90,254.91 L88.40,254.91 L88.43,260.02 '/></g>\n\
            <g fill=\"none\" stroke=\"currentColor\" stroke-width=\"2.00\">\n\
            <use xlink:href='#gpPt0' transform='translate(1.26,2.00) scale(1.80)'/></g>\n\
            <g transform=\"translate(75.51,232.14)\" stroke=\"none\" font-family=\"Helvetica\" \
            font-size=\"12.00\">\n<text> a &lt; 1</text>\n</g>\n</g>\n</svg>\n\n";
        let expected = "<?xml version=\"1.0\"?>\n<svg height=\"9\" width=\"9\"><g color=\"black\" \
            fill=\"none\" font-family=\"Helvetica\" id=\"gnuplot_canvas\" stroke=\"currentColor\">\
            <rect fill=\"#ffffff\" stroke=\"none\" x=\"0\"/>\n\
            <defs><path d=\"M-1,0 h2\" id=\"gpPt0\"/>\n</defs>\n\
            <g stroke-width=\"2\"><path d=\"M83.9,254.9h4.5v5.1\" stroke=\"#666666\"/>\n\
            <use transform=\"translate(1.3,2) scale(1.8)\" xlink:href=\"#gpPt0\"/>\n</g>\n\
            <text font-size=\"12\" stroke=\"none\" transform=\"translate(75.5,232.1)\">\
            \x20a &lt; 1</text>\n\
            </g>\n</svg>\n";
        assert_eq!(thin(svg), expected);
        assert_eq!(thin(expected), expected, "a thin one stays");
    }

    #[test]
    fn what_is_no_picture_comes_back() {
        for text in ["", "no picture", "<svg", "<svg><g></svg>", "<svg a=b/>", "<svg/>more"] {
            assert_eq!(thin(text), text);
        }
    }
}
