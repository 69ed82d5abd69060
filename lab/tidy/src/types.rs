//! The types of a Rust source, as far as serde's attributes say what the files look like that are
//! read into them.

/// A type by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// Its name.
    pub name: String,
    /// Its comment.
    pub says: String,
    /// Whether keys that it does not have are refused.
    pub is_strict: bool,
    /// What it holds.
    pub shape: Shape,
}

/// What a type holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// A struct.
    Fields(Vec<Field>),
    /// An enum; untagged where the file has no word for the variant.
    Variants(Vec<Variant>, bool),
    /// Another name for a Rust type.
    Alias(String),
}

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// As files write it.
    pub key: String,
    /// As older files write it.
    pub alias: Option<String>,
    /// Its comment.
    pub says: String,
    /// Its Rust type.
    pub kind: String,
    /// Whether it may not be left out.
    pub is_required: bool,
}

/// A variant of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// As files write it.
    pub word: String,
    /// What stands with it: nothing, one value of a Rust type, or fields.
    pub holds: Holds,
}

/// What stands with the word of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// Nothing.
    Nothing,
    /// One value of a Rust type.
    Value(String),
    /// Fields.
    Fields(Vec<Field>),
}

/// Every struct with fields, every enum and every alias of a source as rustfmt writes it.
pub fn types(source: &str) -> Vec<Type> {
    let mut types = Vec::new();
    let mut above = Above::default();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if above.takes(line, &mut lines) {
            continue;
        }
        let taken = std::mem::take(&mut above);
        let item = visible(line);
        // What stands further in is a function's own.
        let is_outer = !line.starts_with(' ');
        let is_struct = is_outer && item.starts_with("struct ") && item.ends_with('{');
        let is_enum = is_outer && item.starts_with("enum ") && item.ends_with('{');
        let name = || identifier(item.split(' ').nth(1).unwrap_or_default()).to_owned();
        let alias = item.strip_prefix("type ").filter(|_| is_outer);
        let shape = if is_struct || is_enum {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
            match is_struct {
                true => Shape::Fields(fields(&body)),
                false => Shape::Variants(variants(&body, &taken), taken.has("untagged")),
            }
        } else if let Some((_, kind)) = alias.and_then(|alias| alias.split_once(" = ")) {
            Shape::Alias(kind.trim_end_matches(';').to_owned())
        } else {
            continue;
        };
        let is_strict = taken.has("deny_unknown_fields");
        types.push(Type { name: name(), says: taken.says, is_strict, shape });
    }
    types
}

/// Comments and attributes above an item.
#[derive(Default)]
struct Above {
    says: String,
    /// Arguments of serde's attributes.
    serde: Vec<String>,
}

impl Above {
    /// Whether a line belongs to it, with those after it that end an attribute.
    fn takes<'a>(&mut self, line: &str, rest: &mut impl Iterator<Item = &'a str>) -> bool {
        let line = line.trim();
        if let Some(says) = line.strip_prefix("///") {
            if !self.says.is_empty() && !says.is_empty() {
                self.says.push(' ');
            }
            // Links of rustdoc lead nowhere here.
            self.says.push_str(&says.trim().replace("[`", "`").replace("`]", "`"));
            return true;
        }
        if !line.starts_with("#[") {
            return line.is_empty() || line.starts_with("//");
        }
        let mut attribute = line.to_owned();
        while attribute.matches('[').count() > attribute.matches(']').count() {
            attribute.push_str(rest.next().unwrap_or("]").trim());
        }
        if let Some(arguments) = attribute.strip_prefix("#[serde(") {
            let arguments = arguments.trim_end_matches(")]").split(',').map(str::trim);
            self.serde.extend(arguments.map(str::to_owned));
        }
        true
    }

    fn has(&self, argument: &str) -> bool {
        self.serde.iter().any(|one| one == argument)
    }

    fn value(&self, argument: &str) -> Option<String> {
        let value = |one: &String| {
            one.strip_prefix(argument)?.strip_prefix(" = \"")?.strip_suffix('"').map(str::to_owned)
        };
        self.serde.iter().find_map(value)
    }
}

fn visible(line: &str) -> &str {
    let line = line.trim();
    let words = ["pub(crate) ", "pub(super) ", "pub "];
    words.iter().find_map(|word| line.strip_prefix(word)).unwrap_or(line)
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    &text[..end.unwrap_or(text.len())]
}

fn fields(body: &[&str]) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut above = Above::default();
    let mut lines = body.iter().copied();
    while let Some(line) = lines.next() {
        if above.takes(line, &mut lines) {
            continue;
        }
        let above = std::mem::take(&mut above);
        let Some((name, kind)) = visible(line).split_once(": ") else { continue };
        if above.has("skip") {
            continue;
        }
        let kind = kind.trim_end_matches(',').to_owned();
        let alias = above.value("alias");
        let has_default = above.has("default") || above.value("default").is_some();
        let is_required = !has_default && !kind.starts_with("Option<") && alias.is_none();
        let key = above.value("rename").unwrap_or_else(|| name.to_owned());
        fields.push(Field { key, alias, says: above.says, kind, is_required });
    }
    fields
}

fn variants(body: &[&str], of_enum: &Above) -> Vec<Variant> {
    let is_snake = of_enum.value("rename_all").is_some();
    let mut variants = Vec::new();
    let mut above = Above::default();
    let mut lines = body.iter().copied();
    while let Some(line) = lines.next() {
        if above.takes(line, &mut lines) {
            continue;
        }
        let above = std::mem::take(&mut above);
        let line = line.trim();
        let name = identifier(line);
        let own = if is_snake { snake(name) } else { name.to_owned() };
        let rest = line[name.len()..].trim_end_matches(',');
        let holds = match rest.trim() {
            "" => Holds::Nothing,
            "{" => {
                let inner: Vec<&str> =
                    lines.by_ref().take_while(|line| line.trim() != "},").collect();
                Holds::Fields(fields(&inner))
            }
            kind => Holds::Value(kind.trim_matches(['(', ')']).to_owned()),
        };
        variants.push(Variant { word: above.value("rename").unwrap_or(own), holds });
    }
    variants
}

/// `AsPublished` as `as_published`.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
//! A module.

/// What an agent
/// asks: see [`B`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct A {
    /// One.
    pub one: u32,
    #[serde(
        default,
        rename = "where"
    )]
    pub(crate) place: BTreeMap<String, f64>,
    #[serde(skip)]
    rows: Table,
    #[serde(alias = "name")]
    id: String,
    more: Option<B>,
}

#[serde(rename_all = "snake_case")]
enum B {
    /// Plain.
    #[default]
    AsIs,
    #[serde(rename = "=")]
    Equal,
    Count(u64),
    Open {
        /// Time.
        every_us: u64,
    },
}

pub type Cell = BTreeMap<String, String>;

fn inner() {
    struct C {
        c: u32,
    }
}

struct Pair(u32, u32);
"#;

    #[test]
    fn a_source_is_read_with_its_attributes() {
        let types = types(SOURCE);
        let names: Vec<&str> = types.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["A", "B", "Cell"]);
        assert_eq!(types[0].says, "What an agent asks: see `B`.");
        assert_eq!((types[0].is_strict, types[1].is_strict), (true, false));
        let Shape::Fields(fields) = &types[0].shape else { panic!("{types:?}") };
        let keys: Vec<(&str, bool)> =
            fields.iter().map(|field| (field.key.as_str(), field.is_required)).collect();
        assert_eq!(keys, [("one", true), ("where", false), ("id", false), ("more", false)]);
        assert_eq!(fields[1].kind, "BTreeMap<String, f64>");
        assert_eq!((fields[0].says.as_str(), fields[2].alias.as_deref()), ("One.", Some("name")));
        let Shape::Variants(variants, false) = &types[1].shape else { panic!("{types:?}") };
        let words: Vec<&str> = variants.iter().map(|one| one.word.as_str()).collect();
        assert_eq!(words, ["as_is", "=", "count", "open"]);
        assert_eq!(variants[2].holds, Holds::Value("u64".to_owned()));
        assert!(matches!(&variants[3].holds, Holds::Fields(fields) if fields.len() == 1));
        assert_eq!(types[2].shape, Shape::Alias("BTreeMap<String, String>".to_owned()));
    }
}
