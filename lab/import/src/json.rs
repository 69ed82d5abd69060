//! JSON in little memory: what benchmark tools write are long arrays of numbers, and each is held
//! as the eight bytes that it is.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};

/// A value.
#[derive(Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    /// An array of numbers, or an empty one.
    Numbers(Vec<f64>),
    /// Any other array.
    Items(Vec<Json>),
    Entries(BTreeMap<String, Json>),
}

impl Json {
    /// The value of a key; `None` where this is no object or has none.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Entries(entries) => entries.get(key),
            _ => None,
        }
    }

    /// The first item of an array of more than numbers.
    pub(crate) fn first(&self) -> Option<&Self> {
        match self {
            Self::Items(items) => items.first(),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any)
    }
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut numbers = Vec::new();
        while let Some(item) = items.next_element()? {
            match item {
                Json::Number(number) => numbers.push(number),
                other => {
                    let mut mixed: Vec<Json> = numbers.into_iter().map(Json::Number).collect();
                    mixed.push(other);
                    while let Some(item) = items.next_element()? {
                        mixed.push(item);
                    }
                    return Ok(Json::Items(mixed));
                }
            }
        }
        Ok(Json::Numbers(numbers))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut all = BTreeMap::new();
        while let Some((key, value)) = entries.next_entry()? {
            all.insert(key, value);
        }
        Ok(Json::Entries(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_numbers_until_something_else_is_in_it() {
        let shown = |text: &str| format!("{:?}", serde_json::from_str::<Json>(text).unwrap());
        assert_eq!(shown("[1, 2.5, -3]"), "Numbers([1.0, 2.5, -3.0])");
        assert_eq!(shown("[]"), "Numbers([])");
        assert_eq!(shown("[1, null]"), "Items([Number(1.0), Null])");
        assert_eq!(shown(r#"{"a": true, "b": ["c"]}"#), {
            r#"Entries({"a": Bool(true), "b": Items([Text("c")])})"#
        });
    }
}
