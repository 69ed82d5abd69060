//! The files that commands are made of, which have to stay the same: rounds of two programs say
//! nothing of either.

use std::{
    fs::{self, File},
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::{args::CompareArgs, commands::Command, control::program};

/// Programs whose first argument that is a file is the program.
const INTERPRETERS: [&str; 10] =
    ["bash", "sh", "python", "node", "ruby", "perl", "php", "lua", "java", "Rscript"];
/// What a system takes of a first line `#!`.
const SHEBANG_BYTES: u64 = 255;

/// What tells a file from one that was put in its place, or written anew.
#[derive(Clone, Debug, PartialEq)]
struct Identity {
    device: u64,
    inode: u64,
    /// Size and times of a program; data may be what a command writes.
    content: Option<(u64, [i64; 4])>,
}

/// The files as they were before the first run.
pub(super) struct Held(Vec<(PathBuf, Option<Identity>)>);

impl Held {
    /// Programs, their interpreters and scripts, and `--data`.
    pub(super) fn new(args: &CompareArgs, commands: &[Command]) -> Self {
        let programs = commands.iter().flat_map(programs).map(|path| (path, true));
        let data = args.data.iter().cloned().map(|path| (path, false));
        let held = programs.chain(data).map(|(path, is_program)| {
            let identity = identity(&path, is_program);
            (path, identity)
        });
        Self(held.collect())
    }

    /// The first that is no longer what it was.
    pub(super) fn changed(&self) -> Option<&Path> {
        let changed = self.0.iter().find(|(path, was)| {
            let is_program = was.as_ref().is_none_or(|was| was.content.is_some());
            identity(path, is_program) != *was
        });
        changed.map(|(path, _)| path.as_path())
    }
}

fn identity(path: &Path, is_program: bool) -> Option<Identity> {
    let there = fs::metadata(path).ok()?;
    let times = [there.mtime(), there.mtime_nsec(), there.ctime(), there.ctime_nsec()];
    Some(Identity {
        device: there.dev(),
        inode: there.ino(),
        content: is_program.then_some((there.size(), times)),
    })
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
        all.extend(interpreter(&path));
        all.push(path);
    }
    all
}

/// The file that a script's first line names.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    File::open(script).ok()?.take(SHEBANG_BYTES).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    Some(PathBuf::from(line.split_whitespace().next()?))
}
