//! The JSON schemas of the files that a plan is read from: draft 7, which editors know.

use lab_family::Family;
use lab_record::{Analysis, Contrast};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::{Manifest, contrasts::SHARED, experiment::Written, extends};

const BASE: &str = "The file of this folder that this one changes.";
const LEFT_OUT: &str = "Ids of that file that are left out.";
/// Starts the names of what a file with `extends` may say in part.
const PART: &str = "PartOf";

/// The schema of a `variant.toml`.
pub fn variant_schema() -> Value {
    schema_of::<Manifest>("A variant of the lab")
}

/// The schema of files that are read into one type.
pub fn schema_of<T: JsonSchema>(title: &str) -> Value {
    let mut schema = generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), json!(title));
    schema.to_value()
}

/// The schema of `experiments/*.toml`, whose sections are those of these families.
///
/// A file with `extends` may leave out what the other file has, and a contrast what
/// `contrast_defaults` says.
pub fn experiment_schema<'f>(families: impl IntoIterator<Item = &'f dyn Family>) -> Value {
    let mut generator = generator();
    let sections: Map<String, Value> = families
        .into_iter()
        .map(|family| {
            let section = (family.definition().section_schema)(&mut generator);
            (family.name().to_owned(), section.to_value())
        })
        .collect();
    let shared = generator.subschema_for::<Contrast>();
    let contrast = definition::<Contrast>(&mut generator);
    contrast.remove("required");
    let analysis = definition::<Analysis>(&mut generator);
    properties(analysis).insert(SHARED.to_owned(), shared.to_value());
    let mut written = generator.into_root_schema_for::<Written>().to_value();
    let whole = written.as_object_mut().expect("a struct has an object for its schema");
    let Some(Value::Object(mut definitions)) = whole.remove("definitions") else {
        panic!("the sections are definitions")
    };
    properties(whole).extend(sections);
    let mut part = whole.clone();
    for (key, says) in [(extends::EXTENDS, BASE), (extends::WITHOUT, LEFT_OUT)] {
        properties(&mut part).insert(key.to_owned(), json!({ "description": says }));
    }
    definitions.insert("Written".to_owned(), json!(whole));
    let parts = definitions.iter().map(|(name, one)| (format!("{PART}{name}"), partial(one)));
    let parts: Vec<(String, Value)> = parts.collect();
    definitions.extend(parts);
    definitions.insert(format!("{PART}Written"), partial(&json!(part)));
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "An experiment of the lab",
        "if": { "required": [extends::EXTENDS] },
        "then": { "$ref": format!("#/definitions/{PART}Written") },
        "else": { "$ref": "#/definitions/Written" },
        "definitions": definitions,
    })
}

/// A schema that demands no key, and none of those that it refers to.
fn partial(schema: &Value) -> Value {
    match schema {
        Value::Object(keys) => {
            let kept = keys.iter().filter(|(key, _)| *key != "required");
            kept.map(|(key, value)| (key.clone(), partial(value))).collect()
        }
        Value::Array(values) => values.iter().map(partial).collect(),
        Value::String(text) => {
            json!(text.replace("#/definitions/", &format!("#/definitions/{PART}")))
        }
        other => other.clone(),
    }
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft07().into_generator()
}

/// The definition of a struct that the generator has met.
fn definition<T: JsonSchema>(generator: &mut SchemaGenerator) -> &mut Map<String, Value> {
    generator.subschema_for::<T>();
    let definition = generator.definitions_mut().get_mut(T::schema_name().as_ref());
    definition.and_then(Value::as_object_mut).expect("a struct has a definition")
}

fn properties(definition: &mut Map<String, Value>) -> &mut Map<String, Value> {
    definition["properties"].as_object_mut().expect("a struct has properties")
}
