//! From the command line to the programs that are run.

use std::{env, ffi::OsString, path::Path};

use lab_console::{Failure, plain};
use serde::{Deserialize, Serialize};

use super::{
    builds::Built,
    names::{Names, check_different},
    options::{Destination, Options, Shell},
    values::{Parameters, combinations, filled, place},
};

/// A command of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Command {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) argv: Vec<String>,
    pub(crate) prepare: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) conclude: Option<String>,
    /// Where the output of its timed runs goes.
    #[serde(skip)]
    pub(crate) output: Destination,
    /// What --parameter-list and --parameter-scan put in.
    #[serde(default, skip_serializing_if = "Parameters::is_empty")]
    pub(crate) parameters: Parameters,
    /// Of a git revision: its programs, of which each round runs one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) builds: Vec<Built>,
}

impl Command {
    /// The program and its arguments in a round of this build.
    pub(crate) fn argv_of(&self, build: u16) -> Vec<OsString> {
        let mut argv: Vec<OsString> = self.argv.iter().map(Into::into).collect();
        if let Some(built) = self.builds.get(usize::from(build)) {
            argv[0] = built.program.clone().into();
        }
        argv
    }

    /// Its text in a sentence.
    pub(crate) fn shown(&self) -> String {
        plain::line(&self.text)
    }

    /// Whether a shell reads its text.
    pub(crate) fn is_in_shell(&self) -> bool {
        self.argv.len() > 1 && self.argv.last() == Some(&self.text)
    }

    /// Its words; of what a shell reads, as far as they need no expansion.
    pub(crate) fn words(&self) -> Vec<String> {
        match self.is_in_shell() {
            true => split(&self.text).map_or_else(Vec::new, |split| split.words),
            false => self.argv.clone(),
        }
    }
}

/// Every command with every combination of parameters, the reference first.
pub(crate) fn commands(options: &Options) -> Result<Vec<Command>, Failure> {
    let combinations = combinations(options)?;
    let count = combinations.len();
    check_counts(options, count)?;
    let names = Names::new(&options.names, options.commands.len(), count)?;
    let command = |(place, (at, parameters)): (usize, (usize, Parameters))| {
        let (text, runs) = (&options.commands[at], &options.runs);
        let full = filled(text, &parameters);
        let put = |text: &String| filled(text, &parameters);
        Ok(Command {
            name: names.of(place, at, text, &parameters),
            argv: argv(&full, &runs.shell)?,
            text: full,
            prepare: runs.prepare_of(place).map(put),
            conclude: runs.conclude_of(place).map(put),
            output: runs.output_of(place),
            parameters,
            builds: Vec::new(),
        })
    };
    let places: Vec<usize> = combinations.iter().map(|(at, _)| *at).collect();
    let commands = combinations.into_iter().enumerate().map(command);
    let commands = commands.collect::<Result<Vec<Command>, Failure>>()?;
    check_different(&commands, |place| names.is_given(places[place]))?;
    Ok(commands)
}

/// Refuses what is given for each command, and not for so many.
pub(crate) fn check_counts(options: &Options, count: usize) -> Result<(), Failure> {
    let runs = &options.runs;
    let given = [
        ("--prepare", runs.prepare.len()),
        ("--conclude", runs.conclude.len()),
        ("--output", runs.outputs.len()),
    ];
    match given.into_iter().find(|(_, times)| *times > 1 && *times != count) {
        Some((option, times)) => Err(Failure::input(format!(
            "{option} is given {times} times for {count} commands; give it once, or once for each"
        ))),
        None => Ok(()),
    }
}

/// The text of --setup or --cleanup, once for each set of the values that it has places for.
pub(crate) fn for_each(text: &str, commands: &[Command]) -> Vec<String> {
    let names = commands.iter().flat_map(|command| command.parameters.keys());
    let needed: Vec<&String> = names.filter(|name| text.contains(&place(name))).collect();
    let mut texts = Vec::new();
    for Command { parameters, .. } in commands {
        // A command without a value for one of the places asks for nothing of its own.
        let full = filled(text, parameters);
        if needed.iter().all(|name| parameters.contains_key(*name)) && !texts.contains(&full) {
            texts.push(full);
        }
    }
    if texts.is_empty() { vec![text.to_owned()] } else { texts }
}

/// A helper command, which always has a shell.
pub(crate) fn in_shell(text: &str, shell: Option<&str>) -> Vec<OsString> {
    let shell = shell.unwrap_or("sh").split_whitespace().map(OsString::from);
    shell.chain(["-c".into(), text.into()]).collect()
}

fn argv(text: &str, shell: &Shell) -> Result<Vec<String>, Failure> {
    let in_shell = || {
        let words = in_shell(text, shell.name()).into_iter();
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    };
    if shell.name().is_some() {
        return Ok(in_shell());
    }
    let Some(Words { words, needs_shell }) = split(text) else {
        return Err(Failure::input(format!(
            "`{}` has a quote that is not closed",
            plain::line(text)
        )));
    };
    let Some(program) = words.first() else {
        return Err(Failure::input("a command is empty"));
    };
    // What no file is may be something that the shell itself does.
    if *shell != Shell::Never && (needs_shell || !is_program(program)) {
        return Ok(in_shell());
    }
    Ok(words)
}

/// Whether a shell would find it.
pub(crate) fn is_program(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    name.contains('/')
        || env::split_paths(&path).any(|folder| Path::new(&folder).join(name).is_file())
}

struct Words {
    words: Vec<String>,
    needs_shell: bool,
}

/// Words as a shell would make them of a text without expansions; `None` where a quote is open.
fn split(text: &str) -> Option<Words> {
    let (mut words, mut needs_shell) = (Vec::new(), false);
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' => {
                needs_shell |= letter == '\n';
                words.extend(word.take());
                continue;
            }
            '\'' => {
                let (quoted, _) = until(&mut letters, '\'')?;
                word.get_or_insert_default().push_str(&quoted);
            }
            '"' => {
                let (quoted, expands) = until(&mut letters, '"')?;
                needs_shell |= expands;
                word.get_or_insert_default().push_str(&quoted);
            }
            '\\' => word.get_or_insert_default().extend(letters.next()),
            _ => {
                needs_shell |=
                    "$`*?[]{}()<>|&;~#!".contains(letter) || letter == '=' && words.is_empty();
                word.get_or_insert_default().push(letter);
            }
        }
    }
    words.extend(word);
    Some(Words { words, needs_shell })
}

/// What stands before the closing quote, and whether a shell would do more than copy it.
pub(super) fn until(
    letters: &mut impl Iterator<Item = char>,
    quote: char,
) -> Option<(String, bool)> {
    let (mut quoted, mut expands) = (String::new(), false);
    loop {
        match letters.next()? {
            letter if letter == quote => return Some((quoted, expands)),
            '\\' if quote == '"' => {
                let next = letters.next()?;
                quoted.extend((!"\"\\$`".contains(next)).then_some('\\'));
                quoted.push(next);
            }
            letter => {
                expands |= quote == '"' && "$`".contains(letter);
                quoted.push(letter);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> (Vec<String>, bool) {
        let Words { words, needs_shell } = split(text).unwrap();
        (words, needs_shell)
    }

    fn plain(text: &str) -> Vec<String> {
        let (words, needs_shell) = words(text);
        assert!(!needs_shell, "{text}");
        words
    }

    #[test]
    fn quotes_and_backslashes_are_read_as_a_shell_does() {
        assert_eq!(plain("rg  -c 'a b' x"), ["rg", "-c", "a b", "x"]);
        assert_eq!(plain(r#"echo "a'b" c\ d '' e"f"g"#), ["echo", "a'b", "c d", "", "efg"]);
        assert!(split("echo 'a").is_none() && split("echo \"a").is_none());
        assert_eq!(plain(r#"echo "a\"b\$c\d""#), ["echo", r#"a"b$c\d"#]);
        assert_eq!(plain(""), [""; 0]);
    }

    #[test]
    fn what_only_a_shell_can_do_is_noticed() {
        for text in ["a | b", "a > f", "A=1 b", "ls *.rs", "echo $HOME", "echo \"$HOME\"", "a; b"] {
            assert!(words(text).1, "{text}");
        }
        plain("echo '$HOME' --option=1");
    }

    #[test]
    fn what_surrounds_the_runs_is_run_once_for_each_set_of_its_values() {
        let command = |values: &[(&str, &str)]| Command {
            parameters: values.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
            ..Command::default()
        };
        let commands = [
            command(&[]),
            command(&[("n", "1"), ("m", "a")]),
            command(&[("n", "1"), ("m", "b")]),
            command(&[("n", "2"), ("m", "a")]),
        ];
        assert_eq!(for_each("make", &commands), ["make"]);
        assert_eq!(for_each("make {n}", &commands), ["make 1", "make 2"]);
        assert_eq!(for_each("make {n} {m}", &commands), ["make 1 a", "make 1 b", "make 2 a"]);
        assert_eq!(for_each("awk '{x}'", &commands), ["awk '{x}'"]);
        let braces = [command(&[("n", "{m}"), ("m", "{n}")])];
        assert_eq!(for_each("make {n}", &braces), ["make {m}"]);
    }
}
