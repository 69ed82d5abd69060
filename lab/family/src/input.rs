//! Why an experiment cannot be used.

/// A fault in a file that the user wrote. Every message names the file and the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// The text is not what the file should hold.
    #[error("{file}: {message}")]
    Text {
        /// The file, as the caller named it.
        file: String,
        /// What is wrong, with the key and the line where the parser knows it.
        message: String,
    },
    /// The text is well formed and asks for something impossible.
    #[error("{file}: key `{key}`: {message}")]
    Value {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// What is wrong and what to do.
        message: String,
    },
}

impl InputError {
    /// The text of `file` could not be parsed.
    pub fn text(file: &str, error: &toml::de::Error) -> Self {
        Self::Text { file: file.to_owned(), message: error.to_string().trim_end().to_owned() }
    }

    /// The table of `key` in `file` is not what it should be. The parser ends with the key inside,
    /// where it knows one.
    pub fn inside(file: &str, key: &str, error: &toml::de::Error) -> Self {
        let text = error.to_string();
        match text.trim_end().rsplit_once("\nin `") {
            Some((message, inner)) => {
                Self::value(file, &format!("{key}.{}", inner.trim_end_matches('`')), message)
            }
            None => Self::value(file, key, text.trim_end()),
        }
    }

    /// The value of `key` in `file` cannot be used.
    pub fn value(file: &str, key: &str, message: impl Into<String>) -> Self {
        Self::Value { file: file.to_owned(), key: key.to_owned(), message: message.into() }
    }

    /// `name` is none of those that `key` may hold; the message ends with the nearest one.
    pub fn unknown<'a>(
        file: &str,
        key: &str,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut known: Vec<&str> = known.into_iter().collect();
        known.sort_unstable();
        known.dedup();
        let distance = |other: &&str| strsim::damerau_levenshtein(name, other);
        let hint = match known.iter().min_by_key(|other| distance(other)) {
            // Of a word of three letters every other one of three is two away.
            Some(nearest) if distance(nearest) <= (name.chars().count() / 3).max(1) => {
                format!("did you mean `{nearest}`?")
            }
            _ => format!("there are: {}", known.join(", ")),
        };
        Self::value(file, key, format!("`{name}` is no {what}; {hint}"))
    }
}
