//! Every `lab …` command of our pages is one that the program takes: its name and its options stand
//! in the program's own help.

mod program;

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use lab_tidy::repository::Repository;
use program::lab;

/// What calls the program in our pages.
const CALLS: [&str; 4] = [
    "lab ",
    "bazel run //lab/cli:lab -- ",
    "cargo run --release -p lab-cli -- ",
    "cargo run -p lab-cli -- ",
];
/// Pages of commands that are no longer, or not ours.
const OTHERS: [&str; 4] = ["CHANGELOG.md", "reports/", "claims/", "lab/audit/tests/corpus/"];
/// In these characters a command of a shell ends.
const ENDS: [&str; 7] = ["|", ">", ">>", "&&", ";", "&", "#"];

/// Words as a shell reads them: what stands in quotes is one, without them.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut is_word) = (Vec::new(), String::new(), None, false);
    for c in line.chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            Some(_) => word.push(c),
            None if c == '\'' || c == '"' => (quote, is_word) = (Some(c), true),
            None if c.is_whitespace() => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            None => {
                word.push(c);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}

/// The arguments of a call, up to the end of the command; `None` where the line is no call.
fn call(line: &str) -> Option<Vec<String>> {
    let line = line.trim().trim_start_matches("$ ").trim_start_matches("./enter ");
    let rest = CALLS.iter().find_map(|start| line.strip_prefix(start))?;
    // What stands apart, behind two spaces, is said about the command.
    let command = rest.trim_start().split("  ").next().unwrap_or_default();
    let words = words(command).into_iter();
    Some(words.take_while(|word| !ENDS.contains(&word.as_str())).collect())
}

/// The calls of a page, in its blocks of code and between its backticks.
fn calls(page: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (turn, part) in page.split("```").enumerate() {
        if turn % 2 == 1 {
            // The first line names the language; a line that ends in \ goes on.
            let block = part.split_once('\n').map_or("", |(_, block)| block);
            let lines: Vec<&str> = block.split("\\\n").map(|part| part.trim_matches(' ')).collect();
            found.extend(lines.join(" ").lines().filter_map(call));
        } else {
            let joined = part.split_whitespace().collect::<Vec<_>>().join(" ");
            found.extend(joined.split('`').skip(1).step_by(2).filter_map(call));
        }
    }
    found.retain(|words| !words.is_empty());
    found
}

/// The help of a command, and the names of the commands below it.
struct Help {
    text: String,
    commands: BTreeSet<String>,
}

impl Help {
    fn of(path: &[&str]) -> Self {
        let output = Command::new(lab()).args(path).arg("--help").output().unwrap();
        assert!(output.status.success(), "lab {path:?} --help");
        let text = String::from_utf8(output.stdout).unwrap();
        let listed = text.lines().skip_while(|line| *line != "Commands:").skip(1);
        let listed = listed.take_while(|line| !line.is_empty());
        let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let commands = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Self { text, commands }
    }

    /// Whether it is one of the options, "-n, --name <NAME>", or of their other names,
    /// "[alias: --called]" or "[aliases: --called, --named]".
    fn takes(&self, option: &str) -> bool {
        let lines = self.text.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let aliases = self.text.split("[alias").skip(1);
        let aliases = aliases.filter_map(|rest| rest.split_once(':')?.1.split(']').next());
        let words = lines.chain(aliases).flat_map(|line| line.split([' ', ',', '=', '\n']));
        words.filter(|word| word.starts_with('-')).any(|word| word == option)
    }
}

/// Whether the program knows a command that it does not list.
fn is_hidden(name: &str) -> bool {
    Command::new(lab()).args([name, "--help"]).output().unwrap().status.success()
}

/// Whether `lab new KIND` makes a variant of a family: the program then asks for its name.
fn is_kind(name: &str) -> bool {
    let output = Command::new(lab()).args(["new", name]).output().unwrap();
    String::from_utf8_lossy(&output.stderr).contains("needs a name")
}

/// What is wrong with a call, by the help of the commands that it names.
#[derive(Default)]
struct Helps {
    known: BTreeMap<Vec<String>, Help>,
}

impl Helps {
    fn of(&mut self, path: &[String]) -> &Help {
        let help = || Help::of(&path.iter().map(String::as_str).collect::<Vec<_>>());
        self.known.entry(path.to_vec()).or_insert_with(help)
    }

    fn complaint(&mut self, words: &[String]) -> Option<String> {
        let mut path: Vec<String> = Vec::new();
        for word in words.iter().take_while(|word| *word != "--") {
            let help = self.of(&path);
            let option = word.split('=').next().unwrap_or_default();
            let is_option = option.starts_with('-') && option.len() > 1;
            if is_option && option.trim_start_matches('-').starts_with(char::is_alphabetic) {
                if !help.takes(option) && !["--help", "--version"].contains(&option) {
                    return Some(format!("`lab {}` takes no {option}", path.join(" ")));
                }
            } else if help.commands.contains(word) {
                path.push(word.clone());
            } else if path.is_empty() && word.starts_with(char::is_lowercase) && !is_hidden(word) {
                return Some(format!("lab has no command `{word}`"));
            } else if path == ["new"] && word.starts_with(char::is_lowercase) {
                if !is_kind(word) {
                    return Some(format!("`lab new` makes no {word}"));
                }
                path.push("variant".to_owned());
            }
        }
        None
    }
}

#[test]
fn every_command_of_our_pages_is_one_that_the_program_takes() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let files = ours.files();
    let is_ours = |path: &&String| {
        path.ends_with(".md") && !OTHERS.iter().any(|other| path.starts_with(other))
    };
    let (mut helps, mut seen, mut complaints) = (Helps::default(), 0, Vec::new());
    for page in files.iter().filter(is_ours) {
        for words in calls(&ours.read(page)) {
            seen += 1;
            let complaint = helps.complaint(&words);
            complaints.extend(complaint.map(|what| format!("{page}: {what}")));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    assert!(seen > 60, "only {seen} commands were found");
}

#[test]
fn a_call_is_read_as_a_shell_reads_it() {
    let page = "Say `lab plan\nE --quick` or `lab`.\n```console\n$ lab compare './a b' \\\n  -n x \
                | head\nlab doctor     what --is wrong\ngrep lab x\n```\n";
    let expected: [&[&str]; 3] =
        [&["plan", "E", "--quick"], &["compare", "./a b", "-n", "x"], &["doctor"]];
    assert_eq!(calls(page), expected);
}

#[test]
fn what_the_program_does_not_take_is_found() {
    let mut helps = Helps::default();
    let mut complaint = |line: &str| helps.complaint(&call(line).unwrap());
    let wrong = [
        ("lab runn x.toml", "lab has no command `runn`"),
        ("lab new enigne x", "`lab new` makes no enigne"),
        ("lab run x.toml --quickly", "`lab run` takes no --quickly"),
        ("lab new variant a/b --liek a/c", "`lab new variant` takes no --liek"),
    ];
    for (line, expected) in wrong {
        assert_eq!(complaint(line).as_deref(), Some(expected));
    }
    for line in ["lab run x.toml --quick --root=/tmp", "lab compare 'a --b' c -n d", "lab --help"]
        .into_iter()
        .chain(["lab new engine x --like y", "lab audit r.md --against b.json"])
    {
        assert_eq!(complaint(line), None, "{line}");
    }
}
