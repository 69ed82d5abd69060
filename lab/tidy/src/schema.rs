//! JSON schemas (draft 7, which editors know) of the files that are read into types of ours.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::types::{Field, Holds, Shape, Type, Variant, types};

/// The types of some sources, by path.
#[derive(Debug)]
pub struct Sources(BTreeMap<String, Vec<Type>>);

/// How a schema is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manner<'m> {
    /// A value that may be left out may be `null` too: so in JSON, and never in TOML.
    pub has_null: bool,
    /// The key of a file that changes another one, and may then leave out everything.
    pub unless: Option<&'m str>,
    /// Types whose keys another table may have given: none of them is demanded.
    pub shared: &'m [&'m str],
}

impl Sources {
    /// Reads sources, by their paths.
    pub fn of<'s>(sources: impl IntoIterator<Item = (&'s str, String)>) -> Self {
        let read = |(path, text): (&str, String)| (path.to_owned(), types(&text));
        Self(sources.into_iter().map(read).collect())
    }

    /// Gives a struct a key that files have and the struct has not: it is taken away before.
    ///
    /// # Panics
    /// Where there is no such struct.
    pub fn add(&mut self, name: &str, key: &str, kind: &str, says: &str) {
        let found = self.0.values_mut().flatten().find(|one| one.name == name);
        let Some(Type { shape: Shape::Fields(fields), .. }) = found else {
            panic!("no source has a struct {name}")
        };
        fields.push(Field {
            key: key.to_owned(),
            alias: None,
            says: says.to_owned(),
            kind: kind.to_owned(),
            is_required: false,
        });
    }

    /// The schema of files that are read into a type.
    ///
    /// # Panics
    /// Where a type that it is made of is in none of the sources, or in two.
    pub fn schema(&self, title: &str, root: &str, manner: Manner<'_>) -> Value {
        let mut maker = Maker { sources: self, manner, definitions: Map::new() };
        let mut all = vec![maker.of_kind("", root)];
        let demands = maker.demands("", root, &mut Vec::new());
        let mut schema = Map::new();
        match (manner.unless, demands) {
            (Some(key), Some(demands)) => {
                schema.insert("if".to_owned(), json!({ "not": { "required": [key] } }));
                schema.insert("then".to_owned(), demands);
            }
            (None, Some(demands)) => all.push(demands),
            (_, None) => {}
        }
        let draft = "http://json-schema.org/draft-07/schema#";
        schema.insert("$schema".to_owned(), draft.into());
        schema.insert("title".to_owned(), title.into());
        schema.insert("allOf".to_owned(), all.into());
        schema.insert("definitions".to_owned(), maker.definitions.into());
        schema.into()
    }

    /// The type of a name with its file: the file's own, else that of the one file that has it.
    fn find(&self, file: &str, name: &str) -> (&str, &Type) {
        let mut places = Vec::new();
        for (path, all) in &self.0 {
            let Some(found) = all.iter().find(|one| one.name == name) else { continue };
            if path == file {
                return (path, found);
            }
            places.push((path.as_str(), found));
        }
        let [place] = places[..] else {
            panic!("{} sources have the type {name}, which {file} names", places.len())
        };
        place
    }
}

struct Maker<'s> {
    sources: &'s Sources,
    manner: Manner<'s>,
    definitions: Map<String, Value>,
}

impl Maker<'_> {
    /// What a value of a Rust type looks like.
    fn of_kind(&mut self, file: &str, kind: &str) -> Value {
        if let Some(inner) = inside(kind, "Option") {
            let schema = self.of_kind(file, inner);
            return match self.manner.has_null {
                true => json!({ "anyOf": [schema, { "type": "null" }] }),
                false => schema,
            };
        }
        if let Some(inner) = inside(kind, "Box") {
            return self.of_kind(file, inner);
        }
        if let Some(inner) = inside(kind, "Vec") {
            return json!({ "type": "array", "items": self.of_kind(file, inner) });
        }
        if let Some(inner) = map_value(kind) {
            return json!({ "type": "object", "additionalProperties": self.of_kind(file, inner) });
        }
        let name = last(kind);
        plain(name).unwrap_or_else(|| self.named(file, name))
    }

    fn named(&mut self, file: &str, name: &str) -> Value {
        let sources = self.sources;
        let (file, found) = sources.find(file, name);
        if let Shape::Alias(kind) = &found.shape {
            return self.of_kind(file, kind);
        }
        if !self.definitions.contains_key(name) {
            // Before its parts, one of which may be of this type too.
            self.definitions.insert(name.to_owned(), Value::Null);
            let definition = match &found.shape {
                Shape::Variants(variants, is_untagged) => {
                    self.of_variants(file, variants, *is_untagged)
                }
                Shape::Fields(fields) => self.of_fields(file, fields, found.is_strict),
                Shape::Alias(_) => unreachable!("it was followed above"),
            };
            self.definitions.insert(name.to_owned(), described(definition, &found.says));
        }
        json!({ "$ref": format!("#/definitions/{name}") })
    }

    fn of_fields(&mut self, file: &str, fields: &[Field], is_strict: bool) -> Value {
        let mut properties = Map::new();
        for field in fields {
            let schema = described(self.of_kind(file, &field.kind), &field.says);
            properties.insert(field.key.clone(), schema);
            if let Some(alias) = &field.alias {
                let says = format!("What older files call `{}`.", field.key);
                properties.insert(alias.clone(), json!({ "description": says }));
            }
        }
        match is_strict {
            true => json!({
                "type": "object", "properties": properties, "additionalProperties": false,
            }),
            false => json!({ "type": "object", "properties": properties }),
        }
    }

    fn of_variants(&mut self, file: &str, variants: &[Variant], is_untagged: bool) -> Value {
        let is_word = |one: &&Variant| one.holds == Holds::Nothing;
        let words: Vec<&str> =
            variants.iter().filter(is_word).map(|one| one.word.as_str()).collect();
        let mut ways = Vec::new();
        if !words.is_empty() {
            ways.push(json!({ "enum": words }));
        }
        for Variant { word, holds } in variants {
            let held = match holds {
                Holds::Nothing => continue,
                Holds::Value(kind) => self.of_kind(file, kind),
                Holds::Fields(fields) => {
                    let required = fields.iter().filter(|field| field.is_required);
                    let required: Vec<&str> = required.map(|field| field.key.as_str()).collect();
                    let mut held = self.of_fields(file, fields, true);
                    held["required"] = json!(required);
                    held
                }
            };
            ways.push(match is_untagged {
                true => held,
                false => json!({
                    "type": "object", "properties": { word: held }, "required": [word],
                    "additionalProperties": false,
                }),
            });
        }
        if ways.len() == 1 { ways.swap_remove(0) } else { json!({ "anyOf": ways }) }
    }

    /// The keys that may not be left out, in a type and in all that it holds.
    fn demands(&self, file: &str, kind: &str, within: &mut Vec<String>) -> Option<Value> {
        if let Some(inner) = inside(kind, "Option").or_else(|| inside(kind, "Box")) {
            return self.demands(file, inner, within);
        }
        if let Some(inner) = inside(kind, "Vec") {
            return Some(json!({ "items": self.demands(file, inner, within)? }));
        }
        if let Some(inner) = map_value(kind) {
            return Some(json!({ "additionalProperties": self.demands(file, inner, within)? }));
        }
        let name = last(kind);
        if plain(name).is_some() || self.manner.shared.contains(&name) {
            return None;
        }
        let (file, found) = self.sources.find(file, name);
        let fields = match &found.shape {
            Shape::Alias(kind) => return self.demands(file, kind, within),
            Shape::Variants(..) => return None,
            Shape::Fields(fields) => fields,
        };
        if within.iter().any(|outer| outer == name) {
            return None;
        }
        within.push(name.to_owned());
        let of_field = |field: &Field| {
            let inner = self.demands(file, &field.kind, within)?;
            Some((field.key.clone(), inner))
        };
        let properties: Map<String, Value> = fields.iter().filter_map(of_field).collect();
        within.pop();
        let required = fields.iter().filter(|field| field.is_required);
        let required: Vec<&str> = required.map(|field| field.key.as_str()).collect();
        let mut demands = Map::new();
        if !required.is_empty() {
            demands.insert("required".to_owned(), json!(required));
        }
        if !properties.is_empty() {
            demands.insert("properties".to_owned(), properties.into());
        }
        (!demands.is_empty()).then_some(Value::Object(demands))
    }
}

/// What stands in the angle brackets of a generic type.
fn inside<'k>(kind: &'k str, generic: &str) -> Option<&'k str> {
    kind.strip_prefix(generic)?.strip_prefix('<')?.strip_suffix('>')
}

/// The values of a map, whose keys are texts.
fn map_value(kind: &str) -> Option<&str> {
    inside(kind, "BTreeMap")?.split_once(", ").map(|(_, value)| value)
}

/// A type without the module that it is in.
fn last(kind: &str) -> &str {
    kind.rsplit("::").next().unwrap_or(kind)
}

/// Types that are not ours.
fn plain(name: &str) -> Option<Value> {
    Some(match name {
        "String" => json!({ "type": "string" }),
        "bool" => json!({ "type": "boolean" }),
        "f64" => json!({ "type": "number" }),
        "u8" | "u16" | "u32" | "u64" | "usize" => json!({ "type": "integer", "minimum": 0 }),
        "i32" | "i64" => json!({ "type": "integer" }),
        "Value" => json!({}),
        _ => return None,
    })
}

/// A schema with a comment. Beside a reference nothing is read.
fn described(mut schema: Value, says: &str) -> Value {
    if says.is_empty() {
        return schema;
    }
    if schema.get("$ref").is_some() {
        return json!({ "allOf": [schema], "description": says });
    }
    schema["description"] = says.into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(manner: Manner<'_>) -> Value {
        let source = "/// A thing.\n#[serde(deny_unknown_fields)]\nstruct A {\n    \
                      /// One.\n    one: u32,\n    all: Vec<B>,\n    more: Option<Box<A>>,\n    \
                      way: C,\n}\n\nstruct B {\n    names: BTreeMap<String, f64>,\n}\n\n\
                      #[serde(rename_all = \"snake_case\")]\nenum C {\n    AsIs,\n    \
                      Count(u64),\n}\n";
        Sources::of([("a.rs", source.to_owned())]).schema("A", "A", manner)
    }

    #[test]
    fn a_type_is_its_keys_with_what_they_hold() {
        let schema = made(Manner::default());
        let a = &schema["definitions"]["A"];
        let expected = json!({ "type": "integer", "minimum": 0, "description": "One." });
        assert_eq!(a["properties"]["one"], expected);
        assert_eq!(a["properties"]["more"], json!({ "$ref": "#/definitions/A" }));
        assert_eq!(a["additionalProperties"], json!(false));
        assert_eq!(schema["definitions"]["B"].get("additionalProperties"), None);
        let ways = &schema["definitions"]["C"]["anyOf"];
        assert_eq!(ways[0], json!({ "enum": ["as_is"] }));
        assert_eq!(ways[1]["required"], json!(["count"]));
        let demands = json!({
            "required": ["one", "all", "way"],
            "properties": { "all": { "items": { "required": ["names"] } } },
        });
        assert_eq!(schema["allOf"], json!([{ "$ref": "#/definitions/A" }, demands]));
    }

    #[test]
    fn a_file_that_changes_another_one_may_leave_out_keys() {
        let schema = made(Manner { unless: Some("extends"), shared: &["B"], has_null: true });
        assert_eq!(schema["if"], json!({ "not": { "required": ["extends"] } }));
        assert_eq!(schema["then"], json!({ "required": ["one", "all", "way"] }));
        let more = &schema["definitions"]["A"]["properties"]["more"]["anyOf"];
        assert_eq!(*more, json!([{ "$ref": "#/definitions/A" }, { "type": "null" }]));
    }
}
