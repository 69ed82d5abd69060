//! A value inside a JSON file that knows where it stands, so that what is wrong can be named.

use crate::{ImportError, Machine, json::Json, reading::Reading};

/// An item of an array of numbers, where it is named and not read.
static A_NUMBER: Json = Json::Number(f64::NAN);
/// What `null` is, which stands for NaN too.
const NO_NUMBER: &str = "null or no number";

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
            let found = if self.value.get(key).is_some() { NO_NUMBER } else { "nothing" };
            let key = format!("{}{dot}{key}", self.place);
            ImportError::Broken { file: self.file.to_owned(), key, expected, found }
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

    /// `key=value` of each entry, as names have parameters.
    pub(crate) fn settings(&self) -> Result<Vec<String>, ImportError> {
        let Json::Entries(entries) = self.value else { return Err(self.broken("an object")) };
        let setting = |(key, value): (&String, &Json)| Some(format!("{key}={}", shown(value)?));
        Ok(entries.iter().filter_map(setting).collect())
    }

    /// The values of these keys, as far as they are texts or numbers.
    pub(crate) fn texts(&self, keys: &[&str]) -> Machine {
        let entry = |key: &&str| Some(((*key).to_owned(), shown(self.value.get(key)?)?));
        keys.iter().filter_map(entry).filter(|(_, value)| !value.is_empty()).collect()
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

    /// As [`Self::positive`], of each item; NaN for one that cannot be used, which is named.
    pub(crate) fn positives(&self, into: &mut Reading<'_>) -> Result<Vec<f64>, ImportError> {
        // A name for each item would take many times as much memory as the numbers.
        if let Json::Numbers(numbers) = self.value
            && numbers.iter().all(|number| *number > 0.0)
        {
            return Ok(numbers.clone());
        }
        let numbers = self.numbers()?.into_iter().enumerate();
        let one = |(at, number): (usize, Option<f64>)| match number {
            Some(number) if number > 0.0 => number,
            _ => {
                into.leave_out(self.at_place(at).broken("a number above 0"));
                f64::NAN
            }
        };
        Ok(numbers.map(one).collect())
    }

    /// The items, as far as they are numbers.
    pub(crate) fn numbers(&self) -> Result<Vec<Option<f64>>, ImportError> {
        let number = |item: &Json| match item {
            Json::Number(number) => Some(*number),
            _ => None,
        };
        match self.value {
            Json::Numbers(numbers) => Ok(numbers.iter().copied().map(Some).collect()),
            Json::Items(items) => Ok(items.iter().map(number).collect()),
            _ => Err(self.broken("an array")),
        }
    }

    fn at_place(&self, at: usize) -> Self {
        let item = match self.value {
            Json::Items(items) => items.get(at),
            _ => None,
        };
        self.item(at, item.unwrap_or(&A_NUMBER))
    }

    /// That this is something else than `expected`.
    pub(crate) fn broken(&self, expected: &'static str) -> ImportError {
        let found = match self.value {
            Json::Null => NO_NUMBER,
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

/// A value within a name.
fn shown(value: &Json) -> Option<String> {
    match value {
        Json::Text(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        Json::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
