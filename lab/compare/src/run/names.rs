//! The names of commands: given ones, and their texts where none is.

use lab_console::{Failure, plain};

use super::{
    commands::Command,
    values::{Parameters, filled, titled},
};

/// The names that were given: for commands as they were given, or for each that parameters make of
/// them.
pub(super) struct Names<'a> {
    given: &'a [String],
    is_of_each: bool,
}

impl<'a> Names<'a> {
    /// Refuses names that are for neither so many texts nor the commands that are made of them.
    pub(super) fn new(given: &'a [String], texts: usize, count: usize) -> Result<Self, Failure> {
        let names = given.len();
        if names > texts && names != count {
            let made = if count == texts {
                String::new()
            } else {
                format!(", of which the parameters make {count}; give one for each of these")
            };
            return Err(Failure::input(format!("{names} names do not fit {texts} commands{made}")));
        }
        Ok(Self { given, is_of_each: names > texts })
    }

    /// Of the command at `place`, which is made of the text `at` its place.
    pub(super) fn of(
        &self,
        place: usize,
        at: usize,
        text: &str,
        parameters: &Parameters,
    ) -> String {
        let name = match (self.is_of_each, self.given.get(at)) {
            (true, _) => filled(&self.given[place], parameters),
            (false, Some(template)) => titled(template, parameters),
            (false, None) => titled(text, parameters).replace('\n', " "),
        };
        plain::line(&name)
    }

    /// Whether a command that is made of this text has a name that was given.
    pub(super) fn is_given(&self, at: usize) -> bool {
        self.is_of_each || at < self.given.len()
    }
}

/// Refuses a given name that another command has too: nobody could tell their lines apart.
pub(super) fn check_different(
    commands: &[Command],
    is_given: impl Fn(usize) -> bool,
) -> Result<(), Failure> {
    for (place, Command { name, .. }) in commands.iter().enumerate() {
        let others = commands[..place].iter().enumerate();
        let mut same = others.filter(|(_, other)| other.name == *name);
        if same.any(|(other, _)| is_given(place) || is_given(other)) {
            return Err(Failure::input(format!(
                "two commands have the name {name}; give each one of its own"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(given: &[&str], texts: usize, values: &[&str]) -> Result<Vec<String>, String> {
        let given: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
        let count = texts * values.len();
        let names = Names::new(&given, texts, count).map_err(|failure| failure.sentence)?;
        let of = |place: usize| {
            let at = place / values.len();
            let value = values[place % values.len()].to_owned();
            names.of(place, at, &format!("t{at} {{n}}"), &Parameters::from([("n".into(), value)]))
        };
        Ok((0..count).map(of).collect())
    }

    #[test]
    fn a_name_is_a_template_of_its_text_and_the_values_stand_behind_it() {
        let of_two = made(&["old", "new"], 2, &["1", "3"]).unwrap();
        assert_eq!(of_two, ["old (n = 1)", "old (n = 3)", "new (n = 1)", "new (n = 3)"]);
        assert_eq!(made(&["{n} of old"], 2, &["1", "3"]).unwrap()[1..3], ["3 of old", "t1 1"]);
        let each = made(&["a", "b", "c", "{n}"], 2, &["1", "3"]).unwrap();
        assert_eq!(each, ["a", "b", "c", "3"]);
    }

    #[test]
    fn names_that_fit_neither_are_refused() {
        let refused = |given: &[&str], texts, values| made(given, texts, values).unwrap_err();
        assert_eq!(refused(&["a", "b", "c"], 2, &["1"]), "3 names do not fit 2 commands");
        assert_eq!(
            refused(&["a", "b", "c"], 2, &["1", "3"]),
            "3 names do not fit 2 commands, of which the parameters make 4; give one for each of \
             these"
        );
    }
}
