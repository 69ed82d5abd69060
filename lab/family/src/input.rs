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
        Self::Text { file: file.to_owned(), message: hinted(error.to_string().trim_end()) }
    }

    /// The table of `key` in `file` is not what it should be. The parser ends with the key inside,
    /// where it knows one.
    pub fn inside(file: &str, key: &str, error: &toml::de::Error) -> Self {
        let text = error.to_string();
        match text.trim_end().rsplit_once("\nin `") {
            Some((message, inner)) => {
                let key = format!("{key}.{}", inner.trim_end_matches('`'));
                Self::value(file, &key, hinted(message))
            }
            None => Self::value(file, key, hinted(text.trim_end())),
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
        let hint = match nearest(name, known.iter().copied()) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("there are: {}", known.join(", ")),
        };
        Self::value(file, key, format!("`{name}` is no {what}; {hint}"))
    }
}

/// The one of these that a misspelt name may have meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |other: &str| strsim::damerau_levenshtein(name, other);
    let nearest = known.into_iter().min_by_key(|other| distance(other))?;
    // Of a word of three letters every other one of three is two away.
    (distance(nearest) <= (name.chars().count() / 3).max(1)).then_some(nearest)
}

/// A parser's message on a key that it does not know, with the one that may have been meant.
fn hinted(message: &str) -> String {
    let last = message.lines().last().unwrap_or_default();
    let mut quoted = last.split('`').skip(1).step_by(2);
    let name = quoted.next().filter(|_| last.starts_with("unknown "));
    match name.and_then(|name| nearest(name, quoted)) {
        Some(nearest) => format!("{message}; did you mean `{nearest}`?"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_near_a_known_one_is_named_with_it() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            #[expect(dead_code, reason = "only its name is known here")]
            blocks: u32,
        }
        let error = |text: &str| {
            InputError::text("e.toml", &toml::from_str::<File>(text).unwrap_err()).to_string()
        };
        let near = error("block = 6\n");
        assert!(near.ends_with("expected `blocks`; did you mean `blocks`?"), "{near}");
        assert!(error("colour = 6\n").ends_with("expected `blocks`"));
        assert!(!error("blocks = -6\n").contains("mean"));
    }
}
