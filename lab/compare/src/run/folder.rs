//! The folder of a comparison.

use std::{
    env,
    fs::{self, DirBuilder},
    io::ErrorKind,
    os::unix::fs::DirBuilderExt,
    path::{self, PathBuf},
    process,
};

use lab_console::Failure;
use lab_process::GuardApart;

/// Names that are tried for the folder of this process.
const NAMES: u32 = 100;

/// A folder of this process, gone with it, however it ends, and what it started with it. To be made
/// before [`lab_process::Orphans`]: the guard is none.
pub(crate) struct Folder(pub(crate) PathBuf, Option<GuardApart>);

impl Folder {
    pub(crate) fn new() -> Result<Self, Failure> {
        let mut folder = Self(Self::make()?, None);
        let guard = GuardApart::start(&folder.0).map_err(|error| {
            Failure::lab(format!("cannot start the guard of this comparison: {error}"))
        })?;
        folder.1 = Some(guard);
        Ok(folder)
    }

    fn make() -> Result<PathBuf, Failure> {
        // Git and $PWD are told of it, and look from elsewhere.
        let place = path::absolute(env::temp_dir());
        let place = place
            .map_err(|error| Failure::lab(format!("cannot find the temporary folder: {error}")))?;
        let mut number = 0;
        loop {
            let path = place.join(format!("lab-compare-{}-{number}", process::id()));
            // A new one that is nobody else's: everybody may write beside it.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(path),
                // A killed lab of the same number, as in a container, left it behind.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < NAMES => {
                    number += 1;
                }
                Err(error) => {
                    return Err(Failure::lab(format!("cannot make {}: {error}", path.display())));
                }
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
