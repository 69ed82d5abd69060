//! The folder of a sweep's scratch files, and those that killed ones left.

use std::{
    fs::{self, File, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// What the names of these folders begin with.
const PREFIX: &str = "scratch-";
/// Held locked in a folder as long as its sweep lives.
const LOCK: &str = "in-use";

/// Of the programs' copies, which nobody writes into once they are there.
const PROGRAMS: &str = "programs";

/// A scratch folder, removed with this value.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// Makes a folder in `workspace`, after removing those whose sweep was killed.
    pub fn make(workspace: &Path) -> io::Result<Self> {
        fs::create_dir_all(workspace)?;
        remove_abandoned(workspace)?;
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(workspace)?;
        // Locked before it has the name by which others find it.
        let unnamed = folder.path().join("in-use.new");
        let lock = File::create(&unnamed)?;
        lock.lock()?;
        fs::rename(&unnamed, folder.path().join(LOCK))?;
        fs::create_dir(folder.path().join(PROGRAMS))?;
        Ok(Self { folder, _lock: lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of the programs' copies.
    pub fn programs(&self) -> PathBuf {
        self.path().join(PROGRAMS)
    }

    /// From now on no name is added to the programs' copies, and none taken away.
    pub fn seal(&self) -> io::Result<()> {
        fs::set_permissions(self.programs(), Permissions::from_mode(0o555))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        unseal(self.path());
    }
}

/// Removes a scratch folder, whoever made it.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    unseal(folder);
    fs::remove_dir_all(folder)
}

/// Only root can remove what lies in a folder that nobody may write into.
fn unseal(folder: &Path) {
    let programs = folder.join(PROGRAMS);
    // Not through a link, which something else than a lab has put there.
    if fs::symlink_metadata(&programs).is_ok_and(|there| there.is_dir()) {
        let _ = fs::set_permissions(&programs, Permissions::from_mode(0o755));
    }
}

fn remove_abandoned(workspace: &Path) -> io::Result<()> {
    for entry in fs::read_dir(workspace)?.flatten() {
        let is_scratch = entry.file_name().to_string_lossy().starts_with(PREFIX);
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if is_scratch && lock.try_lock().is_ok() {
            // Another lab may be at it.
            let _ = remove(&entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abandoned_folders_go_and_those_in_use_stay() {
        let workspace = TempDir::new().unwrap();
        let abandoned = workspace.path().join("scratch-old");
        fs::create_dir_all(abandoned.join("run")).unwrap();
        File::create(abandoned.join(LOCK)).unwrap();
        let other = workspace.path().join("results-of-somebody");
        fs::create_dir(&other).unwrap();
        File::create(other.join(LOCK)).unwrap();
        let first = Scratch::make(workspace.path()).unwrap();
        let second = Scratch::make(workspace.path()).unwrap();
        assert!(!abandoned.exists() && other.exists());
        assert!(first.path().exists() && second.path().exists());
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists());
    }
}
