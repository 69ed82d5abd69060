//! Commands out of git revisions: a work tree of each in the cache, built before anything is timed.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use lab_process::{Ended, Output, Run};

use super::{args::CompareArgs, commands::Command, commands::in_shell};
use crate::Failure;

/// In a work tree's folder when its build has ended well: the command that built it.
const BUILT: &str = ".lab-built";

/// A command for each revision, the first being the reference; and sentences about what was built.
pub(crate) fn commands(
    args: &CompareArgs,
    folder: &Path,
    interrupted: &AtomicBool,
) -> Result<(Vec<Command>, Vec<String>), Failure> {
    let build = args.build.as_deref().unwrap_or_default();
    let builder = Builder { build, shell: args.shell.as_deref(), folder, interrupted };
    let [top, changes] = [&["rev-parse", "--show-toplevel"][..], &["status", "--porcelain"]]
        .map(|words| builder.git(words));
    let (top, mut notes) = (top?, Vec::new());
    if !changes?.is_empty() {
        notes.push("the work tree has changes that no revision holds".to_owned());
    }
    let (mut commands, mut hashes) = (Vec::new(), Vec::new());
    for (place, revision) in args.rev.iter().enumerate() {
        let tree = builder.tree(&top, revision)?;
        let program = tree.join(&args.commands[0]);
        hashes.push(builder.hash(&program)?);
        let rest = args.commands[1..].iter().cloned();
        let argv = [program.display().to_string()].into_iter().chain(rest).collect();
        commands.push(Command {
            name: args.command_name.get(place).unwrap_or(revision).clone(),
            text: format!("{revision}: {}", args.commands.join(" ")),
            argv,
            prepare: args.prepare.get(place).or(args.prepare.first()).cloned(),
        });
    }
    let same = (1..hashes.len()).filter(|place| hashes[*place] == hashes[0]);
    notes.extend(
        same.map(|place| format!("{} and {} are the same bytes", args.rev[place], args.rev[0])),
    );
    Ok((commands, notes))
}

struct Builder<'a> {
    build: &'a str,
    shell: Option<&'a str>,
    folder: &'a Path,
    interrupted: &'a AtomicBool,
}

impl Builder<'_> {
    /// The work tree of a revision, built; one from an earlier comparison is taken as it is.
    fn tree(&self, top: &str, revision: &str) -> Result<PathBuf, Failure> {
        let commit = self
            .git(&["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])
            .map_err(|_| Failure::input(format!("there is no revision {revision}")))?;
        let name = Path::new(top).file_name().unwrap_or_default();
        let tree = cache()?.join(name).join(&commit);
        let marker = tree.join(BUILT);
        if fs::read_to_string(&marker).is_ok_and(|built| built == self.build) {
            return Ok(tree);
        }
        if !tree.exists() {
            let path = tree.display().to_string();
            self.git(&["worktree", "prune"])?;
            self.git(&["worktree", "add", "--quiet", "--detach", &path, &commit])?;
        }
        eprintln!("building {revision} ({})", &commit[..commit.len().min(12)]);
        let errors = self.folder.join("build");
        let argv = in_shell(self.build, self.shell);
        let directory = Some(tree.clone());
        let run = Run { argv, directory, errors: Some(errors.clone()), ..Run::default() };
        if self.ended(&run)? == Ended::Exited(0) {
            return match fs::write(&marker, self.build) {
                Ok(()) => Ok(tree),
                Err(error) => Err(Failure::lab(format!("{}: {error}", marker.display()))),
            };
        }
        let last = super::run::excerpt(&errors);
        self.git(&["worktree", "remove", "--force", &tree.display().to_string()])?;
        Err(Failure { code: 1, sentence: format!("{revision} does not build{last}") })
    }

    fn hash(&self, program: &Path) -> Result<String, Failure> {
        let argv = vec!["cat".into(), program.into()];
        let run = Run { argv, output: Output::Hash, ..Run::default() };
        let finished = run.execute(self.interrupted);
        let finished = finished.map_err(|error| Failure::lab(error.to_string()))?;
        let hash = finished.output.filter(|_| finished.ended == Ended::Exited(0));
        hash.map(|(hash, _)| hash).ok_or_else(|| {
            Failure::input(format!("the build left no {}; name a file of it", program.display()))
        })
    }

    /// What git prints, less the last line's end.
    fn git(&self, words: &[&str]) -> Result<String, Failure> {
        let (output, errors) = (self.folder.join("git"), self.folder.join("git-errors"));
        let argv = ["git"].iter().chain(words).map(OsString::from).collect();
        let to = Output::File(output.clone());
        let run = Run { argv, output: to, errors: Some(errors.clone()), ..Run::default() };
        match self.ended(&run)? {
            Ended::Exited(0) => {
                let text = fs::read_to_string(&output);
                let text = text.map_err(|error| Failure::lab(format!("git's output: {error}")))?;
                Ok(text.trim_end().to_owned())
            }
            _ => Err(Failure::input(format!(
                "git {} failed{}",
                words.join(" "),
                super::run::excerpt(&errors)
            ))),
        }
    }

    fn ended(&self, run: &Run) -> Result<Ended, Failure> {
        let finished = run.execute(self.interrupted);
        match finished.map_err(|error| Failure::input(error.to_string()))?.ended {
            Ended::Interrupted => {
                Err(Failure { code: super::INTERRUPTED, sentence: "interrupted".to_owned() })
            }
            ended => Ok(ended),
        }
    }
}

/// Where work trees are kept between comparisons.
fn cache() -> Result<PathBuf, Failure> {
    let given = env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let cache = given.or_else(home).map(|cache| cache.join("lab").join("compare"));
    cache.ok_or_else(|| Failure::input("set HOME or XDG_CACHE_HOME: work trees are kept there"))
}
