//! The state of the checkout.

use std::{ffi::OsStr, fs, path::Path};

use lab_process::{Limits, Run};
use lab_record::GitState;

/// In place of a repository: what `containers/lab/context` knew when it gathered an image.
const GATHERED: &str = "commit.json";

/// The commit at `root` and whether tracked files differ from it; `None` where there is no
/// repository or no git, and no note of one.
pub fn git_state(root: &Path) -> Option<GitState> {
    asked(root).or_else(|| {
        let note = fs::read_to_string(root.join(GATHERED)).ok()?;
        serde_json::from_str(&note).ok()
    })
}

fn asked(root: &Path) -> Option<GitState> {
    let commit = git(root, &["rev-parse", "HEAD"])?;
    let changes = git(root, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(GitState { commit, dirty: !changes.is_empty() })
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let place = [OsStr::new("-C"), root.as_os_str()];
    let run = Run::of("git", place.into_iter().chain(arguments.iter().map(OsStr::new)));
    let output = run.ask(Limits::QUESTION).ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
