//! A value inside a JSON file that knows where it stands, so that what is wrong can be named.

use crate::{ImportError, json::Json};

/// An item of an array of numbers, where it is named and not read.
static A_NUMBER: Json = Json::Number(f64::NAN);

#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    file: &'a str,
    place: String,
    value: &'a Json,
}

impl<'a> Node<'a> {
    pub(crate) fn root(file: &'a str, value: &'a Json) -> Self {
        Self { file, place: String::new(), value }
    }

    pub(crate) fn file(&self) -> &'a str {
        self.file
    }

    /// The value of a key, if it is there and not null.
    pub(crate) fn find(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !matches!(value, Json::Null))?;
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
        match self.value {
            Json::Items(items) => {
                Ok((0..).zip(items).map(|(at, value)| self.item(at, value)).collect())
            }
            Json::Numbers(numbers) => {
                Ok((0..numbers.len()).map(|at| self.item(at, &A_NUMBER)).collect())
            }
            _ => Err(self.broken("an array")),
        }
    }

    fn item(&self, at: usize, value: &'a Json) -> Self {
        Self { file: self.file, place: format!("{}[{at}]", self.place), value }
    }

    pub(crate) fn entries(&self) -> Result<Vec<(&'a str, Self)>, ImportError> {
        let Json::Entries(entries) = self.value else { return Err(self.broken("an object")) };
        Ok(entries.keys().filter_map(|key| Some((key.as_str(), self.find(key)?))).collect())
    }

    pub(crate) fn text(&self) -> Result<&'a str, ImportError> {
        match self.value {
            Json::Text(text) => Ok(text),
            _ => Err(self.broken("a string")),
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self.value, Json::Bool(true))
    }

    /// A time, a count or a rate: only what lies above 0 has a logarithm.
    pub(crate) fn positive(&self) -> Result<f64, ImportError> {
        match self.value {
            Json::Number(number) if *number > 0.0 => Ok(*number),
            _ => Err(self.broken("a number above 0")),
        }
    }

    /// A name for each item would take many times as much memory as the numbers.
    pub(crate) fn positives(&self) -> Result<Vec<f64>, ImportError> {
        let Json::Numbers(numbers) = self.value else {
            return self.items()?.iter().map(Self::positive).collect();
        };
        match numbers.iter().position(|number| *number <= 0.0) {
            Some(at) => Err(self.item(at, &A_NUMBER).broken("a number above 0")),
            None => Ok(numbers.clone()),
        }
    }

    /// That this is something else than `expected`.
    pub(crate) fn broken(&self, expected: &'static str) -> ImportError {
        let found = match self.value {
            Json::Null => "null",
            Json::Bool(_) => "a truth value",
            Json::Number(_) => "another number",
            Json::Text(_) => "another string",
            Json::Numbers(_) | Json::Items(_) => "an array",
            Json::Entries(_) => "an object",
        };
        let (file, key) = (self.file.to_owned(), self.place.clone());
        ImportError::Broken { file, key, expected, found }
    }
}
