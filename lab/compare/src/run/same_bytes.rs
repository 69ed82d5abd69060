//! Commands that are one program with the same arguments: what differs then is the machine.

use std::path::{Path, PathBuf};

use super::{commands::Command, control::program};

/// Names in a sentence; more are counted.
const NAMES: usize = 4;

/// What is said of a verdict.
pub(super) const ABOUT: &str = "one program, so this is about the machine";

/// Commands that are the same, in groups of at least two.
#[derive(Default)]
pub(super) struct SameBytes(Vec<Group>);

struct Group {
    identity: Identity,
    places: Vec<usize>,
    /// Whether all begin with the program at one place.
    has_one_path: bool,
}

/// What makes commands one.
#[derive(Clone, PartialEq)]
struct Identity {
    /// The hashes of its builds or of its program; nothing where it begins with none.
    programs: Vec<String>,
    arguments: Vec<String>,
    prepare: Option<String>,
}

impl SameBytes {
    /// By the hash of each file that a command begins with.
    pub(super) fn of(commands: &[Command], hash: impl Fn(&Path) -> Option<String>) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut paths: Vec<Vec<PathBuf>> = Vec::new();
        for (place, command) in commands.iter().enumerate() {
            let (identity, path) = identity(command, &hash);
            match groups.iter_mut().find(|group| group.identity == identity) {
                Some(group) => {
                    group.has_one_path &= paths[group.places[0]] == path;
                    group.places.push(place);
                }
                None => groups.push(Group { identity, places: vec![place], has_one_path: true }),
            }
            paths.push(path);
        }
        groups.retain(|group| group.places.len() > 1);
        Self(groups)
    }

    /// Whether the candidate of this number is the reference.
    pub(super) fn is_first(&self, candidate: usize) -> bool {
        let with_first = self.0.iter().find(|group| group.places[0] == 0);
        with_first.is_some_and(|group| group.places.contains(&(candidate + 1)))
    }

    /// A sentence for each group.
    pub(super) fn sentences(&self, commands: &[Command]) -> Vec<String> {
        let sentence = |group: &Group| {
            let names: Vec<&str> =
                group.places.iter().map(|place| commands[*place].name.as_str()).collect();
            let by_path = if group.has_one_path { "" } else { ", and what it finds by its path" };
            format!(
                "{} are the same program with the same arguments: what differs is the \
                 machine{by_path}",
                listed(&names)
            )
        };
        self.0.iter().map(sentence).collect()
    }
}

/// With the files that it begins with.
fn identity(
    command: &Command,
    hash: &impl Fn(&Path) -> Option<String>,
) -> (Identity, Vec<PathBuf>) {
    let of = |programs: Vec<String>, arguments: &[String]| Identity {
        programs,
        arguments: arguments.to_vec(),
        prepare: command.prepare.clone(),
    };
    if !command.builds.is_empty() {
        let (hashes, paths) = command
            .builds
            .iter()
            .map(|built| (built.sha256.clone(), built.program.clone()))
            .unzip();
        return (of(hashes, &command.argv[1..]), paths);
    }
    let known = program(command).and_then(|(word, path)| {
        let arguments = arguments(command, &word)?;
        Some((of(vec![hash(&path)?], &arguments), vec![path]))
    });
    known.unwrap_or_else(|| (of(Vec::new(), &command.argv), Vec::new()))
}

/// What stands after the program; of what a shell reads with that shell. `None` where the program
/// is not written as it is read.
fn arguments(command: &Command, word: &str) -> Option<Vec<String>> {
    if !command.is_in_shell() {
        return Some(command.argv[1..].to_vec());
    }
    let (script, shell) = command.argv.split_last()?;
    let rest = script.trim_start().strip_prefix(word)?.trim_end();
    Some(shell.iter().cloned().chain([rest.to_owned()]).collect())
}

/// "a and b", "a, b and c", "a, b, c and 37 others".
fn listed(names: &[&str]) -> String {
    let shown = if names.len() > NAMES { &names[..NAMES - 1] } else { names };
    match (shown, names.len() - shown.len()) {
        ([all @ .., last], 0) => format!("{} and {last}", all.join(", ")),
        (_, others) => format!("{} and {others} others", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(name: &str, argv: &[&str]) -> Command {
        Command {
            name: name.to_owned(),
            text: argv.last().map_or_else(String::new, |text| (*text).to_owned()),
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            ..Command::default()
        }
    }

    /// What is said of commands in a shell; all files have the same bytes but for `other`.
    fn said(texts: &[&str]) -> Vec<String> {
        let commands: Vec<Command> =
            texts.iter().map(|text| command(text, &["sh", "-c", text])).collect();
        let hash = |path: &Path| Some(path.ends_with("other").to_string());
        SameBytes::of(&commands, hash).sentences(&commands)
    }

    #[test]
    fn one_program_needs_equal_bytes_and_equal_arguments() {
        let dir = tempfile::tempdir().unwrap();
        let [one, two, other] = ["one", "two", "other"].map(|name| {
            let path = dir.path().join(name);
            std::fs::write(&path, "").unwrap();
            path.display().to_string()
        });
        let (one, two, other) = (one.as_str(), two.as_str(), other.as_str());
        let with = |file: &str, rest: &str| format!("{file}{rest}");
        let told = |a: String, b: String| said(&[&a, &b]).len();
        assert_eq!(told(with(one, " a | cat"), with(two, " a | cat")), 1);
        assert_eq!(told(with(one, " a"), with(two, " b")), 0);
        assert_eq!(told(with(one, " 'a'"), with(two, " $a")), 0);
        assert_eq!(told(with(one, " a"), with(other, " a")), 0);
        let by_path = &said(&[&with(one, " a"), &with(two, " a")])[0];
        assert!(by_path.ends_with("the machine, and what it finds by its path"), "{by_path}");
        let same = &said(&["cd x && y", "z", "cd x && y"])[0];
        assert_eq!(
            same,
            "cd x && y and cd x && y are the same program with the same arguments: what differs is \
             the machine"
        );
    }

    #[test]
    fn what_runs_before_is_part_of_a_command() {
        let mut commands = [command("a", &["true"]), command("b", &["true"])];
        let found = |commands: &[Command]| SameBytes::of(commands, |_| None).is_first(0);
        assert!(found(&commands));
        commands[1].prepare = Some("rm -f cache".to_owned());
        assert!(!found(&commands));
    }

    #[test]
    fn many_that_are_the_same_are_one_sentence() {
        let names = ["a"; 40];
        assert_eq!(listed(&names[..3]), "a, a and a");
        assert_eq!(listed(&names[..4]), "a, a, a and a");
        assert_eq!(listed(&names), "a, a, a and 37 others");
        let three = [("a", "x"), ("b", "y"), ("c", "y")].map(|(name, word)| command(name, &[word]));
        let same = SameBytes::of(&three, |_| None);
        assert!(!same.is_first(0) && !same.is_first(1));
        assert_eq!(same.sentences(&three).len(), 1);
    }
}
