//! Where the repository, the programs and the results lie.

use std::{
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    process,
    time::SystemTime,
};

use lab_family::nearest;

use crate::Failure;

/// Found once, at the start.
#[derive(Debug)]
pub(crate) struct Paths {
    /// Experiments, families and plots: the repository or Bazel's runfiles.
    pub(crate) root: PathBuf,
    /// Where Cargo may have put the variants' programs, in the order to look.
    pub(crate) bin_dirs: Vec<PathBuf>,
    /// The checkout that results belong to.
    pub(crate) workspace: PathBuf,
    /// This program.
    pub(crate) lab: PathBuf,
    /// Where the person stands, which is elsewhere than this program under `bazel run`.
    pub(crate) here: PathBuf,
}

impl Paths {
    pub(crate) fn find(root: Option<PathBuf>, bin_dir: Option<PathBuf>) -> Result<Self, Failure> {
        let here = env::current_dir()
            .map_err(|error| Failure::input(format!("cannot read the current folder: {error}")))?;
        let lab = env::current_exe()
            .map_err(|error| Failure::lab(format!("cannot find the path of `lab`: {error}")))?;
        let is_root = |dir: &&Path| dir.join("experiments").is_dir() && dir.join("plots").is_dir();
        let root = match root {
            Some(root) => here.join(root),
            None => here.ancestors().find(is_root).map(Path::to_owned).ok_or_else(|| {
                Failure::input(
                    "no folder above this one has experiments/ and plots/; \
                     change into a checkout or give --root",
                )
            })?,
        };
        let bin_dirs = match bin_dir {
            Some(dir) => vec![here.join(dir)],
            // Nothing of a checkout lies beside an installed `lab`.
            None => vec![lab.parent().unwrap_or(&here).to_owned(), root.join("target/release")],
        };
        // `bazel run` starts a program inside the runfiles and names the checkout in a variable.
        let workspace = env::var_os("BUILD_WORKSPACE_DIRECTORY").map(PathBuf::from);
        let stands = env::var_os("BUILD_WORKING_DIRECTORY").map(PathBuf::from);
        Ok(Self {
            here: stands.unwrap_or_else(|| here.clone()),
            bin_dirs,
            workspace: workspace.unwrap_or_else(|| root.clone()),
            root,
            lab,
        })
    }

    /// A file as given, from where the person stands, or below the root; and how to name it in
    /// messages and records.
    ///
    /// # Errors
    /// Names the nearest experiment where there is no such file.
    pub(crate) fn experiment(&self, given: &Path) -> Result<(PathBuf, String), Failure> {
        let places = [given.to_owned(), self.here.join(given), self.root.join(given)];
        let found = places.into_iter().find(|path| path.exists());
        let path = found.ok_or_else(|| self.no_experiment(given))?;
        let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let full = whole(&path);
        let below = [&self.root, &self.workspace].map(|folder| whole(folder));
        let shown = below.iter().find_map(|folder| full.strip_prefix(folder).ok());
        Ok((path, shown.unwrap_or(given).display().to_string()))
    }

    fn no_experiment(&self, given: &Path) -> Failure {
        let folder = Path::new("experiments");
        let there = fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        let there: Vec<String> =
            there.filter_map(|one| one.file_name().into_string().ok()).collect();
        let stem = given.file_stem().unwrap_or_default().to_string_lossy();
        let nearest = nearest(&stem, there.iter().filter_map(|name| name.strip_suffix(".toml")));
        let hint = nearest.map(|name| format!("; did you mean {}/{name}.toml?", folder.display()));
        let given = given.display();
        Failure::input(format!("{given}: there is no such file{}", hint.unwrap_or_default()))
    }

    /// A results folder by its name as given: from here, or from the checkout (`bazel run` starts
    /// elsewhere).
    pub(crate) fn results(&self, given: &Path) -> PathBuf {
        let from_here = self.here.join(given);
        if from_here.exists() { from_here } else { self.workspace.join(given) }
    }

    /// A folder that is to be made, by its name as given.
    pub(crate) fn to_make(&self, given: &Path) -> PathBuf {
        self.here.join(given)
    }

    /// A new results folder's name: the time in UTC, and the process id against two in one second.
    pub(crate) fn new_results(&self) -> PathBuf {
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        let stamp: String = now.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        self.workspace.join("results").join(format!("{stamp}-{:x}", process::id()))
    }

    /// The folder that holds everything a sweep writes, on the disk that is measured.
    pub(crate) fn all_results(&self) -> PathBuf {
        self.workspace.join("results")
    }

    /// The command line as a record may keep it: without the flags that only say where this machine
    /// keeps things, and with paths relative to the checkout. Programs of a folder in the checkout
    /// may be built in a way of their own (tools/cargo/lto.toml), so that is kept.
    pub(crate) fn arguments(&self, given: impl Iterator<Item = String>) -> Vec<String> {
        let mut kept = Vec::new();
        let mut given = given.peekable();
        while let Some(argument) = given.next() {
            match argument.as_str() {
                "--root" => drop(given.next()),
                "--bin-dir" => kept.extend(given.next().and_then(|dir| self.built_in(&dir))),
                flag if flag.starts_with("--root=") => {}
                flag if flag.starts_with("--bin-dir=") => {
                    kept.extend(self.built_in(&flag["--bin-dir=".len()..]));
                }
                _ if Path::new(&argument).is_absolute() => {
                    let inside = Path::new(&argument).strip_prefix(&self.workspace);
                    let name = Path::new(&argument).file_name().unwrap_or_default();
                    kept.push(inside.unwrap_or(Path::new(name)).display().to_string());
                }
                _ => kept.push(argument),
            }
        }
        kept
    }

    /// `--bin-dir=target/lto/release`, where that is in the checkout.
    fn built_in(&self, dir: &str) -> Option<String> {
        let dir = self.here.join(dir);
        let inside = dir.strip_prefix(&self.workspace).ok()?;
        Some(format!("--bin-dir={}", inside.display()))
    }

    /// How this program's `command` is called, as it was built and is reached here.
    pub(crate) fn call(&self, command: &str) -> String {
        if env::var_os("BUILD_WORKSPACE_DIRECTORY").is_some() {
            return format!("bazel run //lab:{command} --");
        }
        let called = env::args().next().filter(|called| !called.is_empty());
        format!("{} {command}", called.as_deref().unwrap_or("lab"))
    }

    /// A path for people: relative to the checkout where it lies inside.
    pub(crate) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace).unwrap_or(path).display().to_string()
    }
}

/// A file that a person wrote is smaller.
const WRITTEN_BYTES_MAX: u64 = 16 << 20;

/// Reads a file that the user named.
pub(crate) fn read(path: &Path, shown: &str) -> Result<String, Failure> {
    let refuse = |what: String| Failure::input(format!("{shown}: {what}"));
    let known = fs::metadata(path).map_err(|error| refuse(error.to_string()))?;
    // Reading a pipe may never end.
    if !known.is_file() {
        return Err(refuse("is no regular file; name one".to_owned()));
    }
    let mut text = String::new();
    let file = fs::File::open(path).map(|file| file.take(WRITTEN_BYTES_MAX + 1));
    let read = file.and_then(|mut file| file.read_to_string(&mut text));
    // Of what the kernel makes up, the length is known when it has been read.
    if known.len().max(text.len() as u64) > WRITTEN_BYTES_MAX {
        return Err(refuse(format!("has more than {WRITTEN_BYTES_MAX} bytes; name a smaller one")));
    }
    read.map(|_| text).map_err(|error| refuse(error.to_string()))
}

/// [`Paths::to_make`] for a command that works outside of a checkout too, where a name is a name.
pub(crate) fn to_make(paths: Option<&Paths>, given: &Path) -> PathBuf {
    paths.map_or_else(|| given.to_owned(), |paths| paths.to_make(given))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Paths {
        Paths {
            root: PathBuf::from("/runfiles"),
            bin_dirs: vec![PathBuf::from("/bin")],
            workspace: PathBuf::from("/checkout"),
            lab: PathBuf::from("/bin/lab"),
            here: PathBuf::from("/checkout/sub"),
        }
    }

    #[test]
    fn folders_are_named_from_where_one_stands() {
        assert_eq!(paths().to_make(Path::new("out")), Path::new("/checkout/sub/out"));
        assert_eq!(paths().to_make(Path::new("/else/r")), Path::new("/else/r"));
        assert_eq!(paths().results(Path::new("results/r")), Path::new("/checkout/results/r"));
    }

    #[test]
    fn records_hold_no_path_of_the_machine() {
        let given = ["--root", "/runfiles", "run", "/checkout/e.toml", "--out", "/else/r"];
        let kept = paths().arguments(given.into_iter().map(str::to_owned));
        assert_eq!(kept, ["run", "e.toml", "--out", "r"]);
        let given =
            ["--bin-dir", "lto", "--bin-dir=/checkout/target/lto", "--bin-dir", "/else", "run"];
        let kept = paths().arguments(given.into_iter().map(str::to_owned));
        assert_eq!(kept, ["--bin-dir=sub/lto", "--bin-dir=target/lto", "run"]);
    }
}
