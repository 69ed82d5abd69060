//! JSON in which a key stands twice: readers differ on which of the two counts, so that one file
//! would say two things.

use std::{collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor},
};

/// A row or file, whose keys stand once each.
///
/// # Errors
/// Where it is not of this type, or a key stands twice.
pub(crate) fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, serde_json::Error> {
    let row = serde_json::from_slice(json)?;
    serde_json::from_slice::<Distinct>(json)?;
    Ok(row)
}

/// Any JSON, of which nothing is kept.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Distinct;

    fn expecting(&self, words: &mut fmt::Formatter) -> fmt::Result {
        words.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Distinct, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            map.next_value::<Distinct>()?;
            if let Some(twice) = keys.replace(key) {
                return Err(A::Error::custom(format!("the key `{twice}` stands twice")));
            }
        }
        Ok(Distinct)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Distinct, A::Error> {
        while seq.next_element::<Distinct>()?.is_some() {}
        Ok(Distinct)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_str<E>(self, _: &str) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_unit<E>(self) -> Result<Distinct, E> {
        Ok(Distinct)
    }
}

#[cfg(test)]
mod tests {
    use proof_kit::Attack;
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_key_stands_once_in_each_object_at_any_depth() {
        for (json, twice) in [
            (r#"{"a":1,"a":2}"#, "`a`"),
            (r#"{"a":{"b":1,"c":null,"b":1}}"#, "`b`"),
            (r#"[true,{"a":[{"x y":-1,"x y":0.5}]}]"#, "`x y`"),
            (r#"{"a":1,"\u0061":2}"#, "`a`"),
        ] {
            let _attack = Attack::on("records", &format!("a key stands twice: {json}"));
            let error = read::<Value>(json.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("the key {twice} stands twice")), "{error}");
        }
        read::<Value>(br#"{"a":{"a":[{"a":"a"},{"a":-1}]},"b":true,"c":null}"#).unwrap();
    }
}
