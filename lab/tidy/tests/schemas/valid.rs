//! As much of JSON Schema as our schemas use. A word that is not known here is refused, so that
//! nothing in a schema is silently not looked at.

use serde_json::{Map, Value};

/// What is wrong with a value, each with its place: `analysis/alpha: is no number`.
pub(crate) fn complaints(schema: &Value, value: &Value) -> Vec<String> {
    let mut validator = Validator { root: schema, found: Vec::new() };
    validator.look(schema, value, "");
    validator.found
}

struct Validator<'s> {
    root: &'s Value,
    found: Vec<String>,
}

impl<'s> Validator<'s> {
    fn complain(&mut self, place: &str, what: String) {
        let place = if place.is_empty() { "the file" } else { place };
        self.found.push(format!("{place}: {what}"));
    }

    fn look(&mut self, schema: &Value, value: &Value, place: &str) {
        let Some(words) = schema.as_object() else { panic!("{schema} is no schema") };
        for (word, wanted) in words {
            match word.as_str() {
                "$schema" | "title" | "description" | "definitions" | "then" => {}
                "$ref" => {
                    let root: &'s Value = self.root;
                    let path = wanted.as_str().and_then(|path| path.strip_prefix('#'));
                    let target = path.and_then(|path| root.pointer(path));
                    let target = target.unwrap_or_else(|| panic!("{wanted} leads nowhere"));
                    self.look(target, value, place);
                }
                "allOf" => list(wanted).iter().for_each(|one| self.look(one, value, place)),
                "anyOf" => self.any(list(wanted), value, place),
                "if" => self.conditional(words, value, place),
                "not" => panic!("`not` stands within `if` alone"),
                "type" => self.kind(wanted, value, place),
                "enum" => {
                    if !list(wanted).contains(value) {
                        self.complain(place, format!("is {value}, and none of {wanted}"));
                    }
                }
                "minimum" => {
                    let bounds = wanted.as_f64().zip(value.as_f64());
                    if bounds.is_some_and(|(least, value)| value < least) {
                        self.complain(place, format!("is less than {wanted}"));
                    }
                }
                "items" => {
                    for (number, one) in value.as_array().into_iter().flatten().enumerate() {
                        self.look(wanted, one, &inside(place, &number.to_string()));
                    }
                }
                "required" => {
                    let Some(object) = value.as_object() else { continue };
                    for key in missing(object, wanted) {
                        self.complain(place, format!("lacks the key `{key}`"));
                    }
                }
                "properties" => {
                    for (key, inner) in wanted.as_object().expect("keys with schemas") {
                        if let Some(own) = value.get(key) {
                            self.look(inner, own, &inside(place, key));
                        }
                    }
                }
                "additionalProperties" => self.further(words, value, place),
                other => panic!("this validator does not know `{other}`"),
            }
        }
    }

    fn any(&mut self, ways: &[Value], value: &Value, place: &str) {
        let tries = ways.iter().map(|way| {
            let mut one = Validator { root: self.root, found: Vec::new() };
            one.look(way, value, place);
            one.found
        });
        let tries: Vec<Vec<String>> = tries.collect();
        if tries.iter().all(|complaints| !complaints.is_empty()) {
            let all = tries.concat().join(" or ");
            self.complain(place, format!("is nothing that can stand here ({all})"));
        }
    }

    /// `if` is always that a key is not there.
    fn conditional(&mut self, words: &Map<String, Value>, value: &Value, place: &str) {
        let wanted = &words["if"]["not"]["required"];
        assert!(wanted.is_array(), "`if` is not that a key is not there");
        let has_them = value.as_object().is_some_and(|object| missing(object, wanted).is_empty());
        if !has_them {
            self.look(&words["then"], value, place);
        }
    }

    fn kind(&mut self, wanted: &Value, value: &Value, place: &str) {
        let wanted = wanted.as_str().expect("one type");
        let is_right = match wanted {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "number" => value.is_number(),
            "integer" => value.is_i64() || value.is_u64(),
            "null" => value.is_null(),
            other => panic!("there is no type `{other}`"),
        };
        if !is_right {
            self.complain(place, format!("is no {wanted}"));
        }
    }

    fn further(&mut self, words: &Map<String, Value>, value: &Value, place: &str) {
        let known = words.get("properties").and_then(Value::as_object);
        let Some(object) = value.as_object() else { return };
        for (key, own) in object {
            if known.is_some_and(|known| known.contains_key(key)) {
                continue;
            }
            match &words["additionalProperties"] {
                Value::Bool(false) => self.complain(place, format!("has no key `{key}`")),
                schema => self.look(schema, own, &inside(place, key)),
            }
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn missing<'v>(object: &Map<String, Value>, keys: &'v Value) -> Vec<&'v str> {
    let keys = list(keys).iter().filter_map(Value::as_str);
    keys.filter(|key| !object.contains_key(*key)).collect()
}

fn inside(place: &str, part: &str) -> String {
    if place.is_empty() { part.to_owned() } else { format!("{place}/{part}") }
}
