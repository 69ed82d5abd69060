//! Revisions of the repository around the current folder, and copies of their files.
//!
//! A copy is a clone that shares the repository's objects. It has git's own data, which some builds
//! read, and the repository knows nothing of it: deleting the copy leaves no trace there.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use lab_process::{Ended, Output, Run};

use lab_console::{Exit, Failure};

use crate::run::failing::excerpt;

/// Characters of a commit's hash in what people read.
const SHORT: usize = 12;
/// The name of the files as they are now.
const WORK_TREE: &str = ".";
/// What a hook of git sets, and would make git look elsewhere than in the current folder.
const UNSET: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Revision {
    /// As it was given.
    pub(crate) name: String,
    /// The commit, or the one that the work tree's changes are on top of.
    pub(crate) commit: String,
    /// The hash of all files and their names.
    pub(crate) tree: String,
}

impl Revision {
    /// The name, with the commit where that tells more.
    pub(crate) fn title(&self) -> String {
        let (name, commit) = (&self.name, self.short());
        if *name == commit { commit } else { format!("{name} ({commit})") }
    }

    /// As much of the commit's hash as people write.
    pub(crate) fn short(&self) -> String {
        self.commit.chars().take(SHORT).collect()
    }
}

/// A repository and a folder of this process.
pub(crate) struct Git<'a> {
    pub(crate) top: PathBuf,
    pub(crate) folder: &'a Path,
    pub(crate) interrupted: &'a AtomicBool,
}

impl<'a> Git<'a> {
    /// The repository around the current folder.
    pub(crate) fn here(folder: &'a Path, interrupted: &'a AtomicBool) -> Result<Self, Failure> {
        let mut git = Self { top: ".".into(), folder, interrupted };
        git.top = git.run(&["rev-parse", "--show-toplevel"])?.into();
        Ok(git)
    }

    /// Whether there are changes that no revision holds.
    pub(crate) fn has_changes(&self) -> Result<bool, Failure> {
        Ok(!self.run(&["status", "--porcelain"])?.is_empty())
    }

    /// The revision of a name, `.` being the work tree with its changes.
    pub(crate) fn revision(&self, name: &str) -> Result<Revision, Failure> {
        let hash = |name: &str, kind: &str| {
            self.run(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{{kind}}}")]).map_err(
                |failure| match failure.exit {
                    Exit::Interrupted => failure,
                    _ => Failure::input(format!("there is no revision {name}")),
                },
            )
        };
        let commit = hash(if name == WORK_TREE { "HEAD" } else { name }, "commit")?;
        let tree = match name {
            WORK_TREE => self.tree_of_changes()?,
            _ => hash(&commit, "tree")?,
        };
        Ok(Revision { name: name.to_owned(), commit, tree })
    }

    /// The commits from good to bad, both included, each the first parent of the next.
    pub(crate) fn line(&self, good: &str, bad: &str) -> Result<Vec<Revision>, Failure> {
        let [first, last] = [self.revision(good)?, self.revision(bad)?];
        let range = format!("{}..{}", first.commit, last.commit);
        let text =
            self.run(&["log", "--first-parent", "--reverse", "--format=%H %T %P", &range])?;
        let mut line = vec![first];
        for words in text.lines().map(|text| text.split(' ').collect::<Vec<_>>()) {
            let &[commit, tree, parent, ..] = &words[..] else { break };
            if parent != line[line.len() - 1].commit {
                break;
            }
            let (commit, tree) = (commit.to_owned(), tree.to_owned());
            line.push(Revision { name: commit.chars().take(SHORT).collect(), commit, tree });
        }
        let end = line.len() - 1;
        if end == 0 || line[end].commit != last.commit {
            return Err(Failure::input(format!(
                "{good} is not among the first parents of {bad}; `git log --first-parent {bad}` \
                 lists these"
            )));
        }
        line[end].name = last.name;
        Ok(line)
    }

    /// The first line of a commit's message.
    pub(crate) fn subject(&self, commit: &str) -> Result<String, Failure> {
        self.run(&["log", "-1", "--format=%s", commit])
    }

    /// A copy of a revision's files with git's data.
    pub(crate) fn copy(&self, revision: &Revision, to: &Path) -> Result<(), Failure> {
        let (top, to_text) = (self.top.display().to_string(), to.display().to_string());
        let clone = ["clone", "--quiet", "--shared", "--no-checkout", "--template=", &top];
        self.run(&[&clone[..], &[to_text.as_str()]].concat())?;
        let inside = ["-C", to_text.as_str()];
        let check_out = ["checkout", "--quiet", "--detach", &revision.commit];
        self.run(&[&inside[..], &check_out].concat())?;
        if revision.name == WORK_TREE {
            self.lend_objects(to)?;
            let read = ["read-tree", "--reset", "-u", &revision.tree];
            self.run(&[&inside[..], &read].concat())?;
        }
        Ok(())
    }

    /// The hash of the files as they are now, without those that git ignores. What git stores for
    /// it lies in this process's folder; the repository stays as it is.
    fn tree_of_changes(&self) -> Result<String, Failure> {
        let path = |name: &str, path: &Path| format!("{name}={}", path.display());
        let theirs = self.run(&["rev-parse", "--path-format=absolute", "--git-path", "objects"])?;
        let objects = self.objects();
        fs::create_dir_all(&objects).map_err(|error| Failure::file(&objects, error))?;
        let settings = [
            path("GIT_INDEX_FILE", &self.folder.join("index")),
            path("GIT_OBJECT_DIRECTORY", &objects),
            path("GIT_ALTERNATE_OBJECT_DIRECTORIES", Path::new(&theirs)),
        ];
        let top = self.top.display().to_string();
        for words in [&["read-tree", "HEAD"][..], &["add", "--all", "."]] {
            self.run_with(&settings, &[&["-C", top.as_str()], words].concat())?;
        }
        self.run_with(&settings, &["write-tree"])
    }

    /// Where the objects of uncommitted files lie.
    fn objects(&self) -> PathBuf {
        self.folder.join("objects")
    }

    /// Lets a copy read the objects of uncommitted files.
    fn lend_objects(&self, copy: &Path) -> Result<(), Failure> {
        let list = copy.join(".git/objects/info/alternates");
        let file = OpenOptions::new().append(true).open(&list);
        file.and_then(|mut file| writeln!(file, "{}", self.objects().display()))
            .map_err(|error| Failure::file(&list, error))
    }

    fn run(&self, words: &[&str]) -> Result<String, Failure> {
        self.run_with(&[], words)
    }

    /// What git prints, less the last line's end.
    fn run_with(&self, settings: &[String], words: &[&str]) -> Result<String, Failure> {
        let (output, errors) = (self.folder.join("git"), self.folder.join("git-errors"));
        let argv = environment(settings).chain([OsString::from("git")]);
        let argv = argv.chain(words.iter().map(OsString::from)).collect();
        let to = Output::File(output.clone());
        let run = Run { argv, output: to, errors: Some(errors.clone()), ..Run::default() };
        match ended(&run, self.interrupted)? {
            Ended::Exited(0) => {
                let text =
                    fs::read_to_string(&output).map_err(|error| Failure::file(&output, error))?;
                Ok(text.trim_end().to_owned())
            }
            _ => Err(Failure::input(format!("git {} failed{}", words.join(" "), excerpt(&errors)))),
        }
    }
}

/// `env` with these settings, and without what would lead git astray.
pub(super) fn environment(settings: &[String]) -> impl Iterator<Item = OsString> {
    let unset = UNSET.iter().flat_map(|name| ["-u", name]).map(OsString::from);
    ["env".into()].into_iter().chain(unset).chain(settings.iter().map(OsString::from))
}

/// Runs it to its end; an interrupted one is a failure.
pub(super) fn ended(run: &Run, interrupted: &AtomicBool) -> Result<Ended, Failure> {
    let finished = run.execute(interrupted);
    match finished.map_err(|error| Failure::input(error.to_string()))?.ended {
        Ended::Interrupted => Err(Failure::interrupted()),
        ended => Ok(ended),
    }
}
