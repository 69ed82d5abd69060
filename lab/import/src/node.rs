//! A value inside a JSON file that knows where it stands, so that what is wrong can be named.

use serde_json::Value;

use crate::ImportError;

#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    file: &'a str,
    place: String,
    value: &'a Value,
}

impl<'a> Node<'a> {
    pub(crate) fn root(file: &'a str, value: &'a Value) -> Self {
        Self { file, place: String::new(), value }
    }

    pub(crate) fn file(&self) -> &'a str {
        self.file
    }

    /// The value of a key, if it is there and not null.
    pub(crate) fn find(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        let dot = if self.place.is_empty() { "" } else { "." };
        Some(Self { file: self.file, place: format!("{}{dot}{key}", self.place), value })
    }

    /// The value of a key that has to be there.
    pub(crate) fn at(&self, key: &str, expected: &'static str) -> Result<Self, ImportError> {
        self.find(key).ok_or_else(|| {
            let dot = if self.place.is_empty() { "" } else { "." };
            let key = format!("{}{dot}{key}", self.place);
            ImportError::Broken { file: self.file.to_owned(), key, expected, found: "nothing" }
        })
    }

    pub(crate) fn items(&self) -> Result<Vec<Self>, ImportError> {
        let items = self.value.as_array().ok_or_else(|| self.broken("an array"))?;
        let item = |(place, value)| Self {
            file: self.file,
            place: format!("{}[{place}]", self.place),
            value,
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    pub(crate) fn entries(&self) -> Result<Vec<(&'a str, Self)>, ImportError> {
        let entries = self.value.as_object().ok_or_else(|| self.broken("an object"))?;
        Ok(entries.keys().filter_map(|key| Some((key.as_str(), self.find(key)?))).collect())
    }

    pub(crate) fn text(&self) -> Result<&'a str, ImportError> {
        self.value.as_str().ok_or_else(|| self.broken("a string"))
    }

    pub(crate) fn is_true(&self) -> bool {
        self.value.as_bool().unwrap_or_default()
    }

    /// A time, a count or a rate: only what lies above 0 has a logarithm.
    pub(crate) fn positive(&self) -> Result<f64, ImportError> {
        let number = self.value.as_f64().filter(|number| *number > 0.0);
        number.ok_or_else(|| self.broken("a number above 0"))
    }

    pub(crate) fn positives(&self) -> Result<Vec<f64>, ImportError> {
        self.items()?.iter().map(Self::positive).collect()
    }

    /// That this is something else than `expected`.
    pub(crate) fn broken(&self, expected: &'static str) -> ImportError {
        let found = match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a truth value",
            Value::Number(_) => "another number",
            Value::String(_) => "another string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        let (file, key) = (self.file.to_owned(), self.place.clone());
        ImportError::Broken { file, key, expected, found }
    }
}
