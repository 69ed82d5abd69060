//! The control: the reference over other files with the same bytes.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use lab_console::Failure;

use super::{commands::Command, record::found};

const OPTION: &str = "--control";
/// What ends a word in a shell as a space does.
const ENDS: [char; 7] = [';', '|', '&', '<', '>', '(', ')'];

/// The first command with a copy of its program, and of each `--data` that it names, in a folder of
/// the lab's. Only the files' places tell it from the first command.
pub(super) fn copy(
    data: &[PathBuf],
    reference: &Command,
    folder: &Path,
) -> Result<Command, Failure> {
    let folder = folder.join("control");
    // Of before --setup.
    let _ = fs::remove_dir_all(&folder);
    let mut copy = Command { name: format!("the copy of {}", reference.name), ..reference.clone() };
    if reference.builds.is_empty() {
        let none = || begins_with_none(reference);
        let (word, path) = program(reference).ok_or_else(none)?;
        let to = copied(OPTION, &path, &folder.join("program"))?;
        put_program(&mut copy, &word, &to).ok_or_else(none)?;
    }
    for (number, built) in copy.builds.iter_mut().enumerate() {
        built.program = copied(OPTION, &built.program, &folder.join(format!("build{number}")))?;
    }
    let words = reference.words();
    for (number, data) in data.iter().enumerate() {
        let name = data.display().to_string();
        if words.contains(&name) {
            let to = copied(OPTION, data, &folder.join(format!("data{number}")))?;
            put_word(&mut copy, reference.is_in_shell(), &name, &to);
        }
    }
    Ok(copy)
}

/// Whether each candidate has to be compared with the first in rounds of its own: where a third
/// command shares files with one of the two alone, it warms that one's side.
pub(super) fn apart(commands: &[Command]) -> bool {
    let files: Vec<BTreeSet<(u64, u64)>> = commands.iter().map(files).collect();
    let shared = |a: usize, b: usize| &files[a] & &files[b];
    let others = |candidate: usize| (1..commands.len()).filter(move |other| *other != candidate);
    (1..commands.len()).any(|candidate| {
        others(candidate).any(|third| shared(third, 0) != shared(third, candidate))
    })
}

/// Refuses data that is not there, and data that no command names.
pub(super) fn check_data(data: &[PathBuf], commands: &[Command]) -> Result<(), Failure> {
    for data in data {
        let name = data.display().to_string();
        fs::metadata(data)
            .map_err(|error| Failure::files(format!("--data: cannot read {name}: {error}")))?;
        if !commands.iter().any(|command| command.words().contains(&name)) {
            return Err(Failure::input(format!(
                "no command has the word {name} of --data; name the file as the command does"
            )));
        }
    }
    Ok(())
}

/// What tells the files apart that a command names: its programs and every word that is a file.
fn files(command: &Command) -> BTreeSet<(u64, u64)> {
    let builds = command.builds.iter().map(|built| built.program.clone());
    let program = program(command).map(|(_, path)| path);
    let words = command.words().into_iter().skip(1);
    // The value of an option, as in --file=data.
    let named = words.map(|word| match word.split_once('=') {
        Some((option, value)) if option.starts_with('-') => value.to_owned(),
        _ => word,
    });
    let all = builds.chain(program).chain(named.map(PathBuf::from));
    all.filter_map(|path| identity(&path).ok()).collect()
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let there = fs::metadata(path)?;
    Ok((there.dev(), there.ino()))
}

/// What a command begins with, whether a shell runs it or not, and the file that this starts.
pub(super) fn program(command: &Command) -> Option<(String, PathBuf)> {
    let word = command.words().into_iter().next()?;
    // In a shell it ends where the next command begins: `./tool; true`.
    let end = word.find(&ENDS[..]).filter(|_| command.is_in_shell());
    let short = end.map(|end| word[..end].to_owned());
    let file = |word: String| {
        let path = found(&word).filter(|path| path.is_file())?;
        Some((word, path))
    };
    file(word).or_else(|| file(short?))
}

fn begins_with_none(command: &Command) -> Failure {
    Failure::input(format!(
        "{OPTION} copies the program that a command begins with, and `{}` begins with none; begin \
         with it, or leave {OPTION} out",
        command.shown()
    ))
}

/// Puts another program at a command's beginning, where it begins with `word` as it is written.
pub(super) fn put_program(command: &mut Command, word: &str, to: &Path) -> Option<()> {
    if !command.is_in_shell() {
        command.argv[0] = to.display().to_string();
        return Some(());
    }
    // A first word in quotes is not written as it is read.
    let rest = command.text.trim_start().strip_prefix(word)?;
    *command.argv.last_mut()? = quoted(to) + rest;
    Some(())
}

/// Puts another file in the place of each word that names it.
pub(super) fn put_word(command: &mut Command, in_shell: bool, word: &str, to: &Path) {
    if in_shell {
        let script = command.argv.pop().unwrap_or_default();
        let put = |part: &str| if part == word { quoted(to) } else { part.to_owned() };
        let parts: Vec<String> = script.split(' ').map(put).collect();
        return command.argv.push(parts.join(" "));
    }
    for own in command.argv.iter_mut().skip(1).filter(|own| *own == word) {
        *own = to.display().to_string();
    }
}

/// For a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// Copies a file, or a folder with all that is in it, into a new folder under the name that it has.
pub(super) fn copied(option: &str, from: &Path, folder: &Path) -> Result<PathBuf, Failure> {
    // Some programs do what their name says.
    let to = folder.join(from.file_name().unwrap_or("copy".as_ref()));
    let made = fs::create_dir_all(folder).and_then(|()| copy_all(from, &to));
    made.map_err(|error| {
        Failure::files(format!("{option}: cannot copy {}: {error}", from.display()))
    })?;
    Ok(to)
}

fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    if !fs::metadata(from)?.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
