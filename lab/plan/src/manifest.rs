//! `variant.toml`: what a folder of a family says about its program.

use lab_family::InputError;
use schemars::JsonSchema;
use serde::Deserialize;

/// A variant's manifest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The folder's name.
    pub name: String,
    /// The folder above.
    pub family: String,
    /// What experiments select by.
    pub tags: Vec<String>,
    /// What it is, in one sentence.
    pub sentence: String,
    /// The crate or program whose behaviour is measured.
    pub measures: String,
    /// Its pinned version.
    pub version: String,
    /// Its features that the variant asks for.
    pub features: Vec<String>,
    /// What reads the program, where it is a text: a command such as `python3`.
    pub interpreter: Option<String>,
    /// Servers that its program can keep up over runs. The same name in two variants of a family is
    /// the same server.
    #[serde(default)]
    pub keep_up: Vec<String>,
}

impl Manifest {
    /// Reads a manifest that lies in `folder` of `family`.
    ///
    /// # Errors
    /// Names the key that is unknown, missing, or differs from the folder's name.
    pub fn parse(file: &str, text: &str, family: &str, folder: &str) -> Result<Self, InputError> {
        let manifest: Self =
            toml::from_str(text).map_err(|error| InputError::text(file, &error))?;
        for (key, found, expected) in
            [("name", &manifest.name, folder), ("family", &manifest.family, family)]
        {
            if found != expected {
                let message = format!("says `{found}`, but the folder says `{expected}`");
                return Err(InputError::value(file, key, message));
            }
        }
        let is_word = |name: &&String| {
            let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
            !name.is_empty() && name.chars().all(|letter| allowed(letter) || letter == '_')
        };
        if let Some(name) = manifest.keep_up.iter().find(|name| !is_word(name)) {
            let message = format!("`{name}` names a variable: write lower-case letters, digits, _");
            return Err(InputError::value(file, "keep_up", message));
        }
        Ok(manifest)
    }

    /// The name of its program: the same under Cargo and Bazel.
    pub fn program(&self) -> String {
        format!("{}-{}", self.family, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        name = "slow"
        family = "toys"
        tags = ["toy", "slow"]
        sentence = "One thread."
        measures = "mio"
        version = "1.2.4"
        features = []
    "#;

    #[test]
    fn the_program_carries_family_and_name() {
        let manifest = Manifest::parse("f", TEXT, "toys", "slow").unwrap();
        assert_eq!(manifest.program(), "toys-slow");
    }

    #[test]
    fn another_name_than_the_folder_is_refused() {
        let error = Manifest::parse("x/variant.toml", TEXT, "toys", "fast").unwrap_err();
        let expected = "x/variant.toml: key `name`: says `slow`, but the folder says `fast`";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_text_names_what_reads_it() {
        let parsed = |text: &str| Manifest::parse("f", text, "toys", "slow").unwrap().interpreter;
        assert_eq!(parsed(TEXT), None);
        let text = format!("{TEXT}\ninterpreter = \"python3\"");
        assert_eq!(parsed(&text).as_deref(), Some("python3"));
    }

    #[test]
    fn a_server_that_is_kept_up_has_a_name_for_a_variable() {
        let parsed = |name: &str| {
            let text = format!("{TEXT}\nkeep_up = [\"{name}\"]");
            Manifest::parse("x/variant.toml", &text, "toys", "slow")
        };
        assert_eq!(parsed("a_1").unwrap().keep_up, ["a_1"]);
        let error = parsed("../A").unwrap_err().to_string();
        assert!(error.starts_with("x/variant.toml: key `keep_up`: `../A` names"), "{error}");
    }

    #[test]
    fn an_unknown_key_is_named() {
        let text = format!("{TEXT}\ncolour = 1");
        let error = Manifest::parse("f", &text, "toys", "slow").unwrap_err().to_string();
        assert!(error.contains("colour"), "{error}");
    }
}
