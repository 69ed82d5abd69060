//! The files that commands are made of, which have to stay the same: rounds of two programs say
//! nothing of either.

use std::{
    fs::{self, File},
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use lab_console::Failure;

use super::{
    commands::Command,
    control::program,
    copies::Copy,
    record::{found, sha256},
    runner::Runner,
};

/// Programs whose first argument that is a file is the program.
pub(super) const INTERPRETERS: [&str; 10] =
    ["bash", "sh", "python", "node", "ruby", "perl", "php", "lua", "java", "Rscript"];
/// What a system takes of a first line `#!`.
const SHEBANG_BYTES: u64 = 255;
/// Data that is longer is known by its size and times.
const DATA_BYTES: u64 = 4 << 30;

/// What tells a file from one that was put in its place, or written anew.
#[derive(Clone, Debug, PartialEq)]
struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    times: [i64; 4],
}

/// A file as it was before the first run, or as --prepare made it.
struct HeldFile {
    path: PathBuf,
    /// Data may be what a command writes, as long as it is written back.
    is_data: bool,
    identity: Option<Identity>,
    sha256: Option<String>,
    /// Whether --prepare makes it anew.
    is_prepared: bool,
}

/// The files as they were.
pub(super) struct Held {
    files: Vec<HeldFile>,
    /// A session's copies of them.
    copies: Vec<HeldFile>,
    /// What the commands start, by their names: another file may come before these on PATH.
    starts: Vec<PathBuf>,
}

impl Held {
    /// Programs, their interpreters and scripts, and `--data`, by what is cheap to look at.
    pub(super) fn new(data: &[PathBuf], commands: &[Command]) -> Self {
        let mut held: Vec<HeldFile> = Vec::new();
        let starts = starts(commands);
        let programs = starts.iter().map(|path| (path.clone(), false));
        for (path, is_data) in programs.chain(data.iter().cloned().map(|path| (path, true))) {
            if held.iter().all(|other| other.path != path) {
                let identity = identity(&path);
                held.push(HeldFile { path, is_data, identity, sha256: None, is_prepared: false });
            }
        }
        Self { files: held, copies: Vec::new(), starts }
    }

    /// With the hashes of their bytes.
    fn hashed(mut self) -> Self {
        self.files.iter_mut().for_each(|file| file.sha256 = file.hash());
        self
    }

    /// The first that is no longer what it was.
    fn changed(&self) -> Option<&HeldFile> {
        self.files.iter().chain(&self.copies).find(|file| !file.is_like(&identity(&file.path)))
    }

    /// What is another file, or written anew, since `before`.
    pub(super) fn since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Path> {
        let was = |file: &HeldFile| {
            let before = before.files.iter().find(|before| before.path == file.path);
            before.and_then(|before| before.identity.clone())
        };
        let changed = self.files.iter().filter(move |file| file.identity != was(file));
        changed.map(|file| file.path.as_path())
    }
}

impl HeldFile {
    fn is_like(&self, now: &Option<Identity>) -> bool {
        let place = |identity: &Option<Identity>| {
            identity.as_ref().map(|identity| (identity.device, identity.inode))
        };
        match self.is_data {
            true => place(now) == place(&self.identity),
            false => *now == self.identity,
        }
    }

    /// `None` of what is no file, cannot be read, or is too long.
    fn hash(&self) -> Option<String> {
        let bytes = self.identity.as_ref()?.size;
        (!self.is_data || bytes <= DATA_BYTES).then(|| sha256(&self.path).ok()?)?
    }

    /// Where its bytes are no longer those of the start.
    fn has_other_bytes(&self) -> Failure {
        let remedy = if self.is_data {
            "let --prepare make it anew before each run, or begin again when it stays as it is"
        } else {
            "begin again when it stays as it is"
        };
        Failure::failed(format!(
            "{} has other bytes after the rounds than before them, and rounds of two say nothing \
             of either; {remedy}",
            self.path.display()
        ))
    }

    /// Whether its bytes are those of the start. A folder of data is known by its place.
    fn has_its_bytes(&self) -> bool {
        let now = identity(&self.path);
        if self.is_data && self.path.is_dir() {
            return self.is_like(&now);
        }
        match &self.sha256 {
            Some(hash) => sha256(&self.path).is_ok_and(|now| now.as_ref() == Some(hash)),
            None => now == self.identity,
        }
    }
}

impl Runner<'_> {
    /// From now on the files of the commands have to stay what they are.
    ///
    /// # Errors
    /// Where a build is no longer what was built.
    pub(crate) fn hold(&self) -> Result<(), Failure> {
        let held = Held::new(&self.options.data, &self.commands).hashed();
        for built in self.commands.iter().flat_map(|command| &command.builds) {
            let file = held.files.iter().find(|file| file.path == built.program);
            let now = file.and_then(|file| file.sha256.as_ref());
            // A control's copy has the bytes of its build.
            if now != Some(&built.sha256) {
                let path = built.program.display();
                return Err(Failure::failed(format!(
                    "{path} is not what was built; give --rebuild to build it again"
                )));
            }
        }
        self.held.replace(Some(held));
        Ok(())
    }

    /// The hash of a program that is held.
    pub(super) fn hash_of(&self, path: &Path) -> Option<String> {
        let held = self.held.borrow();
        held.as_ref()?.files.iter().find(|file| file.path == path)?.sha256.clone()
    }

    /// Refuses to go on without a file that was there.
    pub(super) fn is_there(&self) -> Result<(), Failure> {
        let held = self.held.borrow();
        let mut files = held.iter().flat_map(|held| &held.files);
        let is_gone = |file: &&HeldFile| file.identity.is_some() && !file.path.exists();
        let Some(gone) = files.find(is_gone) else { return Ok(()) };
        let when = match self.rounds.get() {
            0 => "before the end of the first round".to_owned(),
            rounds => format!("after {rounds} rounds"),
        };
        Err(Failure::failed(format!(
            "{} was removed {when}, by a command or beside the comparison, which needs it until \
             its end",
            gone.path.display()
        )))
    }

    /// Refuses to go on with programs that are not those of the rounds so far.
    pub(crate) fn is_still_the_same(&self) -> Result<(), Failure> {
        self.is_there()?;
        let held = self.held.borrow();
        let Some(held) = held.as_ref() else { return Ok(()) };
        let rounds = self.rounds.get();
        let Some(file) = held.changed() else {
            let now = starts(&self.commands);
            let other = now.iter().zip(&held.starts).find(|(now, before)| now != before);
            return other.map_or(Ok(()), |(now, before)| {
                let [now, before] = [now, before].map(|path| path.display());
                Err(Failure::failed(format!(
                    "{now} stands in the place of {before} after {rounds} rounds, and rounds of \
                     two programs say nothing of either; name programs by their paths"
                )))
            });
        };
        let path = file.path.display();
        let now = if file.has_its_bytes() { ", and has its bytes again" } else { "" };
        let was = if file.path.exists() { "was changed" } else { "is gone" };
        Err(Failure::failed(format!(
            "{path} {was} after {rounds} rounds{now}; rounds of two programs say nothing of \
             either, so begin again when it stays as it is"
        )))
    }

    /// Takes what `prepare` makes anew for what is compared from there on.
    pub(super) fn holding<E: From<Failure>>(
        &self,
        prepare: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        self.is_still_the_same()?;
        let Some(before) = self.held.take() else { return prepare() };
        let looked: Vec<Option<Identity>> =
            before.files.iter().map(|file| identity(&file.path)).collect();
        let prepared = prepare();
        let mut held = before;
        held.starts = starts(&self.commands);
        for (file, before) in held.files.iter_mut().zip(looked) {
            let now = identity(&file.path);
            if now != before {
                file.identity = now;
                if !file.is_prepared {
                    (file.is_prepared, file.sha256) = (true, file.hash());
                }
            }
        }
        // It may have made a script that another file reads.
        for path in held.starts.clone() {
            if held.files.iter().all(|file| file.path != path) {
                let identity = identity(&path);
                let file =
                    HeldFile { path, is_data: false, identity, sha256: None, is_prepared: true };
                held.files.push(HeldFile { sha256: file.hash(), ..file });
            }
        }
        self.held.replace(Some(held));
        prepared
    }

    /// What --prepare has made anew so far.
    pub(super) fn prepared(&self) -> Vec<PathBuf> {
        let held = self.held.borrow();
        let files = held.iter().flat_map(|held| &held.files).filter(|file| file.is_prepared);
        files.map(|file| file.path.clone()).collect()
    }

    /// From now on these copies have to stay what they are, instead of those before.
    ///
    /// # Errors
    /// Where one has not the bytes of its original, which is held too.
    pub(super) fn hold_copies(&self, copies: &[Copy]) -> Result<(), Failure> {
        let mut held = self.held.borrow_mut();
        let Some(held) = held.as_mut() else { return Ok(()) };
        held.copies.clear();
        for Copy { from, to, is_data } in copies {
            let (path, identity) = (to.clone(), identity(to));
            let mut file =
                HeldFile { path, is_data: *is_data, identity, sha256: None, is_prepared: false };
            file.sha256 = file.hash();
            let original = held.files.iter().find(|file| file.path == *from);
            if original.is_some_and(|original| original.sha256 != file.sha256) {
                let from = from.display();
                return Err(Failure::failed(format!(
                    "{from} has other bytes than at the beginning, and sessions of two programs \
                     say nothing of either; begin again when it stays as it is"
                )));
            }
            held.copies.push(file);
        }
        Ok(())
    }

    /// Looks at the bytes of a session's copies after its last run.
    pub(super) fn copies_have_their_bytes(&self) -> Result<(), Failure> {
        let held = self.held.borrow();
        let mut copies = held.iter().flat_map(|held| &held.copies);
        copies.find(|file| !file.has_its_bytes()).map_or(Ok(()), |file| Err(file.has_other_bytes()))
    }

    /// Looks at the bytes of all after the last run; returns what --prepare replaced.
    ///
    /// # Errors
    /// Where something else did.
    pub(crate) fn release(&self) -> Result<Vec<String>, Failure> {
        self.is_still_the_same()?;
        let Some(Held { files, copies, .. }) = self.held.take() else { return Ok(Vec::new()) };
        let mut sentences = Vec::new();
        for file in files.into_iter().chain(copies) {
            let (path, same) = (file.path.display(), file.has_its_bytes());
            if file.is_prepared {
                let other = if same { "" } else { ", and its bytes are not always the same" };
                sentences.push(format!("--prepare replaced {path} before each run{other}"));
            } else if !same {
                return Err(file.has_other_bytes());
            }
        }
        Ok(sentences)
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let there = fs::metadata(path).ok()?;
    let times = [there.mtime(), there.mtime_nsec(), there.ctime(), there.ctime_nsec()];
    Some(Identity { device: there.dev(), inode: there.ino(), size: there.size(), times })
}

fn starts(commands: &[Command]) -> Vec<PathBuf> {
    commands.iter().flat_map(all_programs).collect()
}

/// What a command runs, with the shell that reads it and what `env` finds for a script.
fn all_programs(command: &Command) -> Vec<PathBuf> {
    let mut all = programs(command);
    let shell = command.argv.first().filter(|_| command.is_in_shell());
    all.extend(shell.and_then(|shell| found(shell)));
    let scripts: Vec<PathBuf> = all.clone();
    for script in scripts {
        let words = first_line(&script);
        let by_env = words.first().is_some_and(|first| first.ends_with("/env"));
        let name = words.iter().skip(1).find(|word| !word.starts_with('-'));
        all.extend(name.filter(|_| by_env).and_then(|name| found(name)));
    }
    all
}

/// What a command runs: each build, or its first word, with what reads it or what it reads.
pub(super) fn programs(command: &Command) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = command.builds.iter().map(|built| built.program.clone()).collect();
    if let Some((_, path)) = program(command).filter(|_| all.is_empty()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if INTERPRETERS.iter().any(|known| name.starts_with(known)) {
            let mut words = command.words().into_iter().skip(1).map(PathBuf::from);
            all.extend(words.find(|word| word.is_file()));
        }
        all.extend(first_line(&path).first().map(PathBuf::from));
        all.push(path);
    }
    all
}

/// The words of a script's first line `#!`: the file that reads it, and its arguments.
fn first_line(script: &Path) -> Vec<String> {
    let mut start = Vec::new();
    let file = File::open(script).map(|file| file.take(SHEBANG_BYTES));
    if file.and_then(|mut file| file.read_to_end(&mut start)).is_err() {
        return Vec::new();
    }
    let line = start.strip_prefix(b"#!").and_then(|rest| rest.split(|byte| *byte == b'\n').next());
    let line = String::from_utf8_lossy(line.unwrap_or_default());
    line.split_whitespace().map(str::to_owned).collect()
}
