//! What a family's programs read and write, for its page: made of the types in `lab/protocol` as
//! their source has them, and of the examples beside it.

use std::fmt::Write;

/// The most letters of a page's line.
const WIDTH: usize = 120;

/// The heading of the section.
pub const HEADING: &str = "## What a program reads and writes\n";

/// The section of a family's page.
pub fn section(source: &str, spec: &str, outcome: &str) -> String {
    let mut page = format!(
        "{HEADING}\nOne line of JSON in, here on several:\n\n```json\n{spec}```\n\n\
         One line out; of these columns and counters it has those that it knows:\n\n\
         ```json\n{outcome}```\n\n"
    );
    page += &columns(source);
    page += "\n### Keys of the workload\n\nA choice is a word, or an object whose only key is the \
             word where it has a value.\n\n";
    for item in items(source) {
        let kind = if item.is_choice { "one of" } else { "keys" };
        page += &wrapped("* ", &format!("`{}` ({kind}): {}", item.name, item.docs));
        for part in &item.parts {
            let of = part.kind.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
            let point = if part.is_below { "    * " } else { "  * " };
            page += &wrapped(point, &format!("`{}`{of}: {}", part.name, part.docs));
        }
    }
    page
}

/// The names of columns and counters that a source declares.
pub fn names(source: &str) -> Vec<&str> {
    let declared = source.split("crate::names! {").nth(1).unwrap_or_default();
    let declared = declared.split('}').next().unwrap_or_default();
    declared.split('"').skip(1).step_by(2).collect()
}

/// What stands about them at the source's head, from the heading on.
fn columns(source: &str) -> String {
    let head = source.lines().map_while(|line| line.strip_prefix("//!"));
    let from = head.skip_while(|line| !line.starts_with(" # "));
    let mut page = String::new();
    for line in from.map(|line| line.strip_prefix(' ').unwrap_or(line)) {
        let line = line.strip_prefix("# ").map_or(line.to_owned(), |rest| format!("### {rest}\n"));
        writeln!(page, "{}", plain(&line)).expect("a text takes all");
    }
    page
}

/// A structure or a choice.
#[derive(Debug, Default, PartialEq)]
struct Item {
    name: String,
    docs: String,
    is_choice: bool,
    parts: Vec<Part>,
}

/// A key, or one that can be chosen.
#[derive(Debug, PartialEq)]
struct Part {
    name: String,
    docs: String,
    kind: Option<String>,
    /// Whether it is a key of the choice before it.
    is_below: bool,
}

/// The public types of a source, as it has them.
fn items(source: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let (mut docs, mut inside) = (Vec::new(), false);
    for line in source.lines() {
        let text = line.trim();
        let begins = ["pub struct ", "pub enum "].iter().find_map(|kind| line.strip_prefix(kind));
        if let Some(doc) = text.strip_prefix("///") {
            docs.push(plain(doc.trim()));
            continue;
        }
        if text.starts_with('#') {
            continue;
        }
        let said = std::mem::take(&mut docs).join(" ");
        if let Some(name) = begins {
            let name = name.trim_end_matches(" {").to_owned();
            let is_choice = line.starts_with("pub enum");
            items.push(Item { name, docs: said, is_choice, parts: Vec::new() });
            inside = true;
        } else if line == "}" {
            inside = false;
        } else if inside && let Some(item) = items.last_mut() {
            let part = part(text, said, item.is_choice);
            let is_below = line.starts_with("        ");
            item.parts.extend(part.map(|part| Part { is_below, ..part }));
        }
    }
    items
}

/// A field, or a variant of an enumeration with the value that it has.
fn part(text: &str, docs: String, is_choice: bool) -> Option<Part> {
    let text = text.trim_end_matches(',').trim_start_matches("pub ");
    let (name, kind) = match (text.split_once(": "), text.split_once('(')) {
        (Some((name, kind)), _) => (name, Some(kind_of(kind))),
        (None, Some((name, kind))) => (name, Some(kind_of(kind.trim_end_matches(')')))),
        (None, None) => (text.trim_end_matches(" {"), None),
    };
    let is_name = |name: &str| !name.is_empty() && !name.contains(['}', ' ']);
    let name = if is_choice { snake(name) } else { name.to_owned() };
    is_name(&name).then_some(Part { name, docs, kind, is_below: false })
}

fn kind_of(kind: &str) -> String {
    let inner = |outer: &str| kind.strip_prefix(outer)?.strip_suffix('>');
    match kind {
        "String" => "text".to_owned(),
        "bool" => "true or false".to_owned(),
        "f64" | "i64" | "u32" | "u64" => "number".to_owned(),
        _ => match (inner("Option<"), inner("Vec<")) {
            (Some(inner), _) => format!("{} or null", kind_of(inner)),
            (_, Some(inner)) => format!("list of {}", kind_of(inner)),
            (None, None) => format!("`{kind}`"),
        },
    }
}

/// As serde writes the name of a variant.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// Without the links of rustdoc, and with JSON's word for what is not there.
fn plain(text: &str) -> String {
    text.replace("[`", "`").replace("`]", "`").replace("`None`", "null")
}

/// A point of a list, in lines that are no longer than a page's.
fn wrapped(point: &str, text: &str) -> String {
    let indent = " ".repeat(point.len());
    let (mut page, mut line) = (String::new(), point.trim_end().to_owned());
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            page += &format!("{line}\n");
            line = indent[1..].to_owned();
        }
        line += &format!(" {word}");
    }
    page + &format!("{line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "//! A family.
//!
//! # Columns
//! * `elapsed_ns` (see [`Workload::size`])

/// What to do.
#[derive(Debug)]
pub struct Workload {
    /// How much,
    /// of [`Size`].
    #[serde(default)]
    pub size: Option<Vec<Size>>,
}

/// How much.
pub enum Size {
    /// As it comes.
    AsIs,
    /// That much.
    Count(u32),
    /// Between.
    Range {
        /// At least.
        low_ns: u64,
    },
}

/// Nothing to read.
fn hidden(size: u32) -> u32 {
    size
}

crate::names! {
    ELAPSED_NS = \"elapsed_ns\",
}
";

    #[test]
    fn a_section_has_examples_columns_and_every_key() {
        let page = section(SOURCE, "{}\n", "{1}\n");
        assert!(page.contains("```json\n{}\n```\n") && page.contains("```json\n{1}\n```\n"));
        assert!(page.contains("### Columns\n\n* `elapsed_ns` (see `Workload::size`)\n"), "{page}");
        let keys = "* `Workload` (keys): What to do.\n  * `size` (list of `Size` or null): How \
                    much, of `Size`.\n* `Size` (one of): How much.\n  * `as_is`: As it comes.\n  * \
                    `count` (number): That much.\n  * `range`: Between.\n    * `low_ns` (number): \
                    At least.\n";
        assert!(page.ends_with(keys), "{page}");
        assert_eq!(names(SOURCE), ["elapsed_ns"]);
    }

    #[test]
    fn a_long_point_goes_on_below_its_text() {
        let page = wrapped("  * ", &"word ".repeat(40));
        assert!(page.lines().all(|line| line.len() <= WIDTH), "{page}");
        assert!(page.lines().nth(1).is_some_and(|line| line.starts_with("    word")), "{page}");
    }
}
