//! Where built programs are kept: a folder for each, named by a hash of all that made it.
//!
//! One lab at a time builds, under a lock, and always in the same folder, so that equal files give
//! equal bytes even where a compiler writes paths into them. A finished build is moved to its place
//! in one step; what is there is finished.

use std::{
    env,
    ffi::OsString,
    fs::{self, File, TryLockError},
    path::{Component, Path, PathBuf},
    sync::atomic::Ordering,
    thread,
    time::Duration,
};

use lab_process::{Ended, Run};
use lab_record::{sha256_hex, sha256_of_file};
use serde::{Deserialize, Serialize};

use super::git::{Git, Revision, ended, environment};
use lab_console::{Failure, streams};

use crate::run::{commands::in_shell, failing::excerpt_of_build};

/// Variables that change what common build tools make.
const TOOLS: [&str; 11] = [
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
];
/// Beginnings of more of them, which Cargo makes of the keys of its configuration.
const OF_CARGO: [&str; 3] = ["CARGO_PROFILE_", "CARGO_BUILD_", "CARGO_TARGET_"];
/// In a kept build: what it is.
const ACCOUNT: &str = "build.json";
/// In a kept build: the program, at its place among the revision's files.
const FILES: &str = "files";
/// Between two looks at another lab's lock.
const LOOK: Duration = Duration::from_millis(100);

/// A program that was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Built {
    /// Where it is kept.
    pub(crate) program: PathBuf,
    /// Of its bytes.
    pub(crate) sha256: String,
    /// Of the revision's files, as git counts.
    pub(crate) tree: String,
    /// `LAB_BUILD` of the build command.
    pub(crate) build: u16,
}

/// Why there is no program.
pub(crate) enum Unbuilt {
    /// The revision does not build.
    Broken(Failure),
    /// Something else.
    Failed(Failure),
}

impl From<Failure> for Unbuilt {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Unbuilt> for Failure {
    fn from(unbuilt: Unbuilt) -> Self {
        match unbuilt {
            Unbuilt::Broken(failure) | Unbuilt::Failed(failure) => failure,
        }
    }
}

/// What a build depends on, as far as the lab knows.
#[derive(Serialize)]
struct Origin<'a> {
    tree: &'a str,
    command: &'a str,
    shell: Option<&'a str>,
    program: &'a Path,
    build: u16,
    tools: Vec<(String, String)>,
}

/// The builds of one program.
pub(crate) struct Store<'a> {
    pub(crate) git: &'a Git<'a>,
    command: &'a str,
    shell: Option<&'a str>,
    program: PathBuf,
    rebuild: bool,
    folder: PathBuf,
}

impl<'a> Store<'a> {
    /// One for this program, a path among a revision's files once it is built.
    pub(crate) fn new(
        git: &'a Git<'a>,
        command: &'a str,
        shell: Option<&'a str>,
        program: &str,
        rebuild: bool,
    ) -> Result<Self, Failure> {
        let outside = |part| !matches!(part, Component::Normal(_) | Component::CurDir);
        if program.is_empty() || Path::new(program).components().any(outside) {
            return Err(Failure::input(format!(
                "`{program}` is not below the built revision; give the program's path there, such \
                 as target/release/tool"
            )));
        }
        let folder = cache()?.join(git.top.file_name().unwrap_or_default());
        fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
        let program = Path::new(program).components().collect();
        Ok(Self { git, command, shell, program, rebuild, folder })
    }

    /// The program of a revision, built unless it is kept from an earlier time.
    pub(crate) fn built(&self, revision: &Revision, build: u16) -> Result<Built, Unbuilt> {
        let place = self.folder.join(self.key(revision, build));
        let kept = |rebuild: bool| if rebuild { None } else { self.kept(&place) };
        if let Some(built) = kept(self.rebuild) {
            return Ok(built);
        }
        let _lock = self.lock()?;
        // Another lab may have built it meanwhile.
        if let Some(built) = kept(self.rebuild) {
            return Ok(built);
        }
        streams::tell(format_args!("building {}{}", revision.title(), numbered(build)));
        self.build(revision, build, &place)?;
        let lost = || Failure::lab(format!("{}: the build was not kept", place.display()));
        Ok(self.kept(&place).ok_or_else(lost)?)
    }

    /// A finished build whose program is still what it was.
    fn kept(&self, place: &Path) -> Option<Built> {
        let account = fs::read(place.join(ACCOUNT)).ok()?;
        let built: Built = serde_json::from_slice(&account).ok()?;
        (sha256_of_file(&built.program).ok()? == built.sha256).then_some(built)
    }

    fn key(&self, revision: &Revision, build: u16) -> String {
        let origin = Origin {
            tree: &revision.tree,
            command: self.command,
            shell: self.shell,
            program: &self.program,
            build,
            tools: tools(),
        };
        let text = serde_json::to_vec(&origin).unwrap_or_default();
        sha256_hex(&text).chars().take(32).collect()
    }

    /// Held until it is dropped, and let go by the kernel where this process is killed.
    fn lock(&self) -> Result<File, Failure> {
        let path = self.folder.join("lock");
        let file = File::create(&path).map_err(|error| Failure::file(&path, error))?;
        let mut waits = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(Failure::file(&path, error)),
                Err(TryLockError::WouldBlock) if !waits => {
                    waits = true;
                    let folder = self.folder.display();
                    streams::tell(format_args!("waiting for another lab that builds in {folder}"));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(LOOK),
            }
            if self.git.interrupted.load(Ordering::Relaxed) {
                return Err(Failure::interrupted());
            }
        }
    }

    /// Builds in a copy, which is gone afterwards, and keeps the program.
    fn build(&self, revision: &Revision, build: u16, place: &Path) -> Result<(), Unbuilt> {
        let work = Work::new(self.folder.join("work"))?;
        let copy = work.0.join(self.git.top.file_name().unwrap_or_default());
        self.git.copy(revision, &copy)?;
        let errors = self.git.folder.join("build");
        let settings =
            [format!("LAB_BUILD={build}"), format!("LAB_BUILD_SEED={}", build_seed(build))];
        let argv = environment(&settings).chain(in_shell(self.command, self.shell)).collect();
        let directory = Some(copy.clone());
        let run = Run { argv, directory, errors: Some(errors.clone()), ..Run::default() };
        let broken = |failure| Err(Unbuilt::Broken(failure));
        let name = &revision.name;
        if ended(&run, self.git.interrupted)? != Ended::Exited(0) {
            return broken(Failure::failed(format!(
                "{name} does not build{}",
                excerpt_of_build(&errors)
            )));
        }
        let program = copy.join(&self.program);
        if !program.is_file() {
            let file = self.program.display();
            let sentence = format!("the build of {name} left no {file}; name a file of it");
            return broken(Failure::input(sentence));
        }
        self.keep(&program, revision, build, &work.0.join("kept"), place)
            .map_err(|error| Failure::file(place, error).into())
    }

    fn keep(
        &self,
        program: &Path,
        revision: &Revision,
        build: u16,
        finished: &Path,
        place: &Path,
    ) -> std::io::Result<()> {
        let below = Path::new(FILES).join(&self.program);
        let copy = finished.join(&below);
        fs::create_dir_all(copy.parent().unwrap_or(finished))?;
        fs::copy(program, &copy)?;
        let tree = revision.tree.clone();
        let built =
            Built { program: place.join(below), sha256: sha256_of_file(&copy)?, tree, build };
        fs::write(finished.join(ACCOUNT), serde_json::to_vec(&built)?)?;
        if place.exists() {
            fs::remove_dir_all(place)?;
        }
        fs::rename(finished, place)
    }
}

/// The folder that a revision is built in; it is gone when the build has ended, however it ended.
struct Work(PathBuf);

impl Work {
    fn new(path: PathBuf) -> Result<Self, Failure> {
        // A lab that was killed while it built leaves it behind.
        let removed = if path.exists() { fs::remove_dir_all(&path) } else { Ok(()) };
        removed
            .and_then(|()| fs::create_dir(&path))
            .map_err(|error| Failure::file(&path, error))?;
        Ok(Self(path))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The variables of tools that are set, by name, with their values.
fn tools() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let is_one = |(name, _): &(String, String)| {
        TOOLS.contains(&name.as_str()) || OF_CARGO.iter().any(|start| name.starts_with(start))
    };
    let mut tools: Vec<_> = env::vars_os().filter_map(text).filter(is_one).collect();
    tools.sort();
    tools
}

/// A seed for tools that shuffle: from 1 to 2³¹ - 1, always the same for the same build, so that it
/// is found again; LLD takes 0 for "any". Multiplied by 2³² over the golden ratio, so that
/// neighbours differ in many bits: Knuth, The Art of Computer Programming, volume 3, section 6.4.
fn build_seed(build: u16) -> u32 {
    ((u32::from(build) + 1).wrapping_mul(0x9E37_79B9) >> 1).max(1)
}

fn numbered(build: u16) -> String {
    if build == 0 { String::new() } else { format!(", build {build}") }
}

/// Where builds are kept between comparisons.
fn cache() -> Result<PathBuf, Failure> {
    let given = env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = given.or_else(home).map(|cache| cache.join("lab").join("builds"));
    cache.ok_or_else(|| Failure::input("set HOME or XDG_CACHE_HOME: builds are kept there"))
}
