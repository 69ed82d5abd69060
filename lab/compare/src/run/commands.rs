//! From the command line to the programs that are run.

use std::{collections::BTreeMap, env, ffi::OsString, path::Path};

use lab_console::{Failure, plain};
use serde::{Deserialize, Serialize};

use super::{
    builds::Built,
    options::{Options, Shell},
};

/// Commands of a comparison at most.
const COMMANDS_MAX: usize = 1_000;

/// A command of the comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Command {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) argv: Vec<String>,
    pub(crate) prepare: Option<String>,
    /// What --parameter-list and --parameter-scan put in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
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

/// Values by the names of their places.
pub(crate) type Parameters = BTreeMap<String, String>;

/// Every command with every combination of parameters, the reference first.
pub(crate) fn commands(options: &Options) -> Result<Vec<Command>, Failure> {
    let combinations = combinations(options)?;
    let count = combinations.len();
    check_counts(options, count)?;
    let names = &options.names;
    let command = |(place, (text, parameters)): (usize, (&str, Parameters))| {
        let prepare = options.runs.prepare_of(place);
        // One name with a place in it is the name of all, as hyperfine has it.
        let of_all = names.first().filter(|name| filled(name, &parameters) != **name);
        let name = names.get(place).or(of_all);
        let full = filled(text, &parameters);
        let name = name.map_or_else(|| title(text, &parameters), |name| filled(name, &parameters));
        Ok(Command {
            name: plain::line(&name),
            argv: argv(&full, &options.runs.shell)?,
            text: full,
            prepare: prepare.map(|prepare| filled(prepare, &parameters)),
            parameters,
            builds: Vec::new(),
        })
    };
    let commands = combinations.into_iter().enumerate().map(command);
    let commands = commands.collect::<Result<Vec<Command>, Failure>>()?;
    check_names(options, &commands)?;
    Ok(commands)
}

/// Refuses names and --prepare that are not for so many commands.
pub(crate) fn check_counts(options: &Options, count: usize) -> Result<(), Failure> {
    let (names, before) = (options.names.len(), options.runs.prepare.len());
    if names > count {
        return Err(Failure::input(format!("{names} names for {count} commands")));
    }
    if before > 1 && before != count {
        return Err(Failure::input(format!(
            "--prepare is given {before} times for {count} commands; give it once, or once for each"
        )));
    }
    Ok(())
}

/// Refuses a given name that another command has too: nobody could tell their lines apart.
pub(crate) fn check_names(options: &Options, commands: &[Command]) -> Result<(), Failure> {
    let named = &commands[..options.names.len().min(commands.len())];
    for (place, Command { name, .. }) in named.iter().enumerate() {
        if commands[place + 1..].iter().any(|other| other.name == *name) {
            return Err(Failure::input(format!(
                "two commands have the name {name}; give each one of its own"
            )));
        }
    }
    Ok(())
}

/// The commands as they were given, each as often as there are values for its places, or for those
/// of what is run before it.
fn combinations(options: &Options) -> Result<Vec<(&str, Parameters)>, Failure> {
    let mut all: Vec<(&str, Parameters)> =
        options.commands.iter().map(|text| (text.as_str(), Parameters::new())).collect();
    let parameters = &options.parameters;
    for (at, (name, values)) in parameters.iter().enumerate() {
        if parameters[..at].iter().any(|(other, _)| other == name) {
            return Err(Failure::input(format!("two parameters have the name {name}")));
        }
        let place = place(name);
        let everywhere = options.runs.prepare.iter().any(|text| text.contains(&place));
        let varies = |text: &str| everywhere || text.contains(&place);
        if !all.iter().any(|(text, _)| varies(text)) {
            return Err(Failure::input(format!("no command has {place}, which is to be replaced")));
        }
        let mut more = Vec::new();
        for (text, parameters) in all {
            if !varies(text) {
                more.push((text, parameters));
                continue;
            }
            if more.len() + values.len() > COMMANDS_MAX {
                return Err(Failure::input(format!(
                    "the parameters give more than {COMMANDS_MAX} commands; give fewer values"
                )));
            }
            for value in values {
                let mut parameters = parameters.clone();
                parameters.insert(name.clone(), value.clone());
                more.push((text, parameters));
            }
        }
        all = more;
    }
    Ok(all)
}

/// The text of --setup or --cleanup, once for each set of the values that it has places for.
pub(crate) fn for_each(text: &str, commands: &[Command]) -> Vec<String> {
    let names = commands.iter().flat_map(|command| command.parameters.keys());
    let places: Vec<String> = names.map(|name| place(name)).collect();
    let mut texts = Vec::new();
    for command in commands {
        let text = filled(text, &command.parameters);
        // A command without a value for one of the places asks for nothing of its own.
        let is_open = places.iter().any(|place| text.contains(place.as_str()));
        if !is_open && !texts.contains(&text) {
            texts.push(text);
        }
    }
    if texts.is_empty() { vec![text.to_owned()] } else { texts }
}

fn place(name: &str) -> String {
    format!("{{{name}}}")
}

/// A text with the values at their places.
fn filled(text: &str, parameters: &Parameters) -> String {
    let put = |text: String, (name, value): (&String, &String)| text.replace(&place(name), value);
    parameters.iter().fold(text.to_owned(), put)
}

/// A command's name where none was given: its text in one line, and the values that are not to be
/// seen there.
fn title(text: &str, parameters: &Parameters) -> String {
    let unseen = parameters.iter().filter(|(name, _)| !text.contains(&place(name)));
    let unseen: Vec<String> = unseen.map(|(name, value)| format!("{name} = {value}")).collect();
    let full = filled(text, parameters).replace('\n', " ");
    if unseen.is_empty() { full } else { format!("{full} ({})", unseen.join(", ")) }
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
fn until(letters: &mut std::str::Chars<'_>, quote: char) -> Option<(String, bool)> {
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
            name: String::new(),
            text: String::new(),
            argv: Vec::new(),
            prepare: None,
            parameters: values.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
            builds: Vec::new(),
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
    }
}
