//! PostgreSQL's programs, and a user that may run them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::unistd::{Gid, Uid, chown, geteuid};
use workflows_kit::RunError;

/// Where Debian has them: a folder for each version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// `nobody` and `nogroup`, in every Debian.
const NOBODY: u32 = 65_534;

/// How PostgreSQL's programs are started.
#[derive(Debug)]
pub(crate) struct Programs {
    folder: PathBuf,
    /// What comes before the program, so that it does not run as root.
    prefix: Vec<OsString>,
}

impl Programs {
    /// Finds them: in `LAB_PG_BIN`, where `pg_config` says, or the newest below Debian's folder.
    ///
    /// # Errors
    /// [`RunError::Unsupported`], saying what to install; [`RunError::Failed`] where this process
    /// is root and cannot become somebody else who may write to the run's folder.
    pub(crate) fn find(run: &Path) -> Result<Self, RunError> {
        let places = [std::env::var_os("LAB_PG_BIN").map(PathBuf::from), configured(), newest()];
        let complete = |folder: &PathBuf| {
            ["postgres", "initdb"].iter().all(|program| folder.join(program).is_file())
        };
        let folder = places.into_iter().flatten().find(complete).ok_or_else(|| {
            RunError::unsupported(
                "there is no PostgreSQL server: install Debian's package postgresql, or name the \
                 folder of postgres and initdb in LAB_PG_BIN",
            )
        })?;
        Ok(Self { folder, prefix: not_root(run)? })
    }

    /// A command that runs one of them, and is told to end when this process has gone.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut words = self.prefix.clone();
        words.extend(["setpriv", "--pdeathsig", "INT"].map(OsString::from));
        words.push(self.folder.join(program).into());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::null());
        command
    }
}

fn configured() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").stderr(Stdio::null()).output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

fn newest() -> Option<PathBuf> {
    let versions = fs::read_dir(DEBIAN).ok()?.filter_map(|entry| {
        let version = entry.ok()?.file_name().into_string().ok()?;
        Some((version.parse::<u32>().ok()?, version))
    });
    Some(Path::new(DEBIAN).join(versions.max()?.1).join("bin"))
}

/// PostgreSQL refuses to run as root. In a user namespace of its own it is nobody there and root
/// outside, so that it reaches the run's folder wherever that lies. Where there are no such
/// namespaces, it becomes nobody, who is then given the folder.
fn not_root(run: &Path) -> Result<Vec<OsString>, RunError> {
    if !geteuid().is_root() {
        return Ok(Vec::new());
    }
    let words = |text: String| text.split(' ').map(OsString::from).collect::<Vec<_>>();
    let apart = words(format!("unshare --user --map-user={NOBODY} --map-group={NOBODY}"));
    if may_write(&apart, run) {
        return Ok(apart);
    }
    let nobody = words(format!("setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups"));
    let given = chown(run, Some(Uid::from_raw(NOBODY)), Some(Gid::from_raw(NOBODY)));
    if given.is_ok() && may_write(&nobody, run) {
        return Ok(nobody);
    }
    Err(RunError::setup(
        "PostgreSQL does not run as root, and neither a user namespace nor the user nobody can \
         write to the run's folder: run as another user, or give a folder that others may enter",
    ))
}

fn may_write(prefix: &[OsString], run: &Path) -> bool {
    let mut probe = Command::new(&prefix[0]);
    probe.args(&prefix[1..]).args(["test", "-w"]).arg(run);
    let quiet = probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
