//! The state of the checkout.

use std::{ffi::OsStr, fs, path::Path};

use lab_process::{Limits, Run};
use lab_record::GitState;

/// In place of a repository: what `containers/lab/context` knew when it gathered an image.
const GATHERED: &str = "commit.json";

/// The commit at `root`, and whether files differ from it or are new and not ignored: a variant or
/// an experiment that no commit has is a change; `None` where there is no repository or no git, and
/// no note of one.
pub fn git_state(root: &Path) -> Option<GitState> {
    asked(root).or_else(|| {
        let note = fs::read_to_string(root.join(GATHERED)).ok()?;
        serde_json::from_str(&note).ok()
    })
}

fn asked(root: &Path) -> Option<GitState> {
    let commit = git(root, &["rev-parse", "HEAD"])?;
    let changes = git(root, &["status", "--porcelain", "--untracked-files=normal"])?;
    Some(GitState { commit, dirty: !changes.is_empty() })
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let place = [OsStr::new("-C"), root.as_os_str()];
    let run = Run::of("git", place.into_iter().chain(arguments.iter().map(OsStr::new)));
    let output = run.ask(Limits::QUESTION).ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_no_commit_has_is_a_change_unless_it_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let git = |arguments: &[&str]| git(folder.path(), arguments).unwrap();
        git(&["init", "-q"]);
        write(".gitignore", "/results\n");
        git(&["add", "."]);
        git(&["-c", "user.name=n", "-c", "user.email=e@e", "commit", "-qm", "first"]);
        let is_dirty = || git_state(folder.path()).unwrap().dirty;
        write("results", "a record");
        assert!(!is_dirty());
        write("variant.toml", "new");
        assert!(is_dirty());
        git(&["add", "."]);
        git(&["-c", "user.name=n", "-c", "user.email=e@e", "commit", "-qm", "second"]);
        assert!(!is_dirty());
        write("variant.toml", "changed");
        assert!(is_dirty());
    }
}
