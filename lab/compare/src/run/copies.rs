//! The files of a session: new copies of programs and data, which live as long as it does.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use lab_console::Failure;
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use super::{
    commands::Command,
    control::{copied, program, put_program, put_word},
    held::INTERPRETERS,
    runner::{Runner, Stopped},
};

const OPTION: &str = "--sessions";

/// A file that was copied.
pub(super) struct Copy {
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
    pub(super) is_data: bool,
}

/// Copies in one folder, each file once whoever names it.
struct Copies<'a> {
    folder: PathBuf,
    made: Vec<Copy>,
    /// What --prepare makes anew, which a copy would not see.
    prepared: &'a [PathBuf],
}

impl Runner<'_> {
    /// Begins a session: the commands, of which so many are compared, run from new copies of their
    /// programs and of the data that they name, and the page cache holds none of them. A copy has
    /// the name that it had before, and lies elsewhere. Returns sentences about commands that keep
    /// their program.
    pub(super) fn copy_anew(&self, compared: usize) -> Result<Vec<String>, Stopped> {
        if self.copies.borrow().is_empty() {
            // Tells what it replaces.
            for command in &self.commands {
                let prepared = self.prepare(command);
                // No run is made here, after which this would be ended.
                self.orphans.end();
                prepared?;
            }
        }
        self.is_still_the_same()?;
        self.copies_have_their_bytes()?;
        let (folder, earlier) = (self.folder.join("session"), self.folder.join("earlier"));
        let moved = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(Failure::files(format!("{OPTION}: cannot move its copies: {error}"))),
        };
        // What is there keeps its place on the disk until the new files have theirs.
        fs::rename(&folder, &earlier).or_else(moved)?;
        let prepared = self.prepared();
        let copies = |name: &str| Copies {
            folder: folder.join(name),
            made: Vec::new(),
            prepared: &prepared,
        };
        let (mut all, mut of_control) = (copies("all"), copies("control"));
        let (mut commands, mut sentences) = (Vec::new(), Vec::new());
        for command in &self.commands[..compared] {
            let (copy, kept) = all.command(command, &self.options.data)?;
            sentences.extend(kept.map(|why| {
                let text = command.shown();
                format!("`{text}` keeps the place of its program in all sessions: {why}")
            }));
            commands.push(copy);
        }
        for control in &self.commands[compared..] {
            let (copy, kept) = of_control.command(&self.commands[0], &self.options.data)?;
            let name = control.name.clone();
            commands.push(kept.map_or(Command { name, ..copy }, |_| control.clone()));
        }
        all.made.append(&mut of_control.made);
        self.hold_copies(&all.made)?;
        let settled = all.made.iter().try_for_each(|copy| settle(&copy.to));
        settled.map_err(|error| Failure::files(format!("{OPTION}: its copies: {error}")))?;
        let _ = fs::remove_dir_all(&earlier);
        self.copies.replace(commands);
        Ok(sentences)
    }
}

impl Copies<'_> {
    /// The command over copies, and why it keeps its program where it does.
    fn command(
        &mut self,
        command: &Command,
        data: &[PathBuf],
    ) -> Result<(Command, Option<&'static str>), Failure> {
        let mut copy = command.clone();
        for built in &mut copy.builds {
            if let Some(to) = self.of(&built.program, false)? {
                built.program = to;
            }
        }
        let kept = match command.builds.is_empty() {
            true => self.program(command, &mut copy)?,
            false => None,
        };
        let words = command.words();
        for data in data {
            let name = data.display().to_string();
            let to = words.contains(&name).then(|| self.of(data, true)).transpose()?;
            if let Some(to) = to.flatten() {
                put_word(&mut copy, command.is_in_shell(), &name, &to);
            }
        }
        Ok((copy, kept))
    }

    /// Puts a copy of what it runs into a command, or tells why not. What runs a script is left
    /// where it is, with all that lies beside it.
    fn program(
        &mut self,
        command: &Command,
        copy: &mut Command,
    ) -> Result<Option<&'static str>, Failure> {
        const NONE: &str = "it begins with no program that can be copied";
        const PREPARED: &str = "--prepare makes it anew";
        let Some((word, path)) = program(command) else { return Ok(Some(NONE)) };
        let is_script = is_interpreter(&path);
        let script = || command.words().into_iter().skip(1).find(|word| Path::new(word).is_file());
        let (word, path) = match is_script {
            true => match script() {
                Some(script) => (script.clone(), script.into()),
                None => return Ok(Some(NONE)),
            },
            false => (word, path),
        };
        let Some(to) = self.of(&path, false)? else { return Ok(Some(PREPARED)) };
        let before = copy.argv.clone();
        match is_script {
            true => put_word(copy, command.is_in_shell(), &word, &to),
            false => drop(put_program(copy, &word, &to)),
        }
        Ok((copy.argv == before).then_some(NONE))
    }

    /// The copy of a file or a folder; `None` of what --prepare makes, and of pipes and devices.
    fn of(&mut self, from: &Path, is_data: bool) -> Result<Option<PathBuf>, Failure> {
        if let Some(copy) = self.made.iter().find(|copy| copy.from == from) {
            return Ok(Some(copy.to.clone()));
        }
        if self.prepared.iter().any(|path| path == from) || !(from.is_file() || from.is_dir()) {
            return Ok(None);
        }
        let kind = if is_data { "data" } else { "program" };
        let folder = self.folder.join(format!("{kind}{}", self.made.len()));
        let to = copied(OPTION, from, &folder)?;
        self.made.push(Copy { from: from.to_owned(), to: to.clone(), is_data });
        Ok(Some(to))
    }
}

/// By its name, which may have a version at its end.
fn is_interpreter(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_end_matches(|letter: char| letter == '.' || letter.is_ascii_digit());
    INTERPRETERS.contains(&name)
}

/// Writes a file, or all in a folder, to the disk and lets the page cache go of it.
fn settle(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| settle(&entry?.path()));
    }
    let file = File::open(path)?;
    file.sync_all()?;
    Ok(posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_known_by_their_whole_name() {
        for name in ["sh", "/usr/bin/python3.11", "perl", "node22", "java"] {
            assert!(is_interpreter(Path::new(name)), "{name}");
        }
        for name in ["shuf", "sha256sum", "perlbench", "./old.sh", "7"] {
            assert!(!is_interpreter(Path::new(name)), "{name}");
        }
    }
}
