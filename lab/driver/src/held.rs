//! The files that runs rest on, which have to stay the same: programs, what reads them, and data.
//!
//! Which file it is, its size and its times are compared before and after every run: a look costs a
//! microsecond, and no program can set the time of a file's last change. Bytes are compared at the
//! start and at the end of a sweep, and where a look finds a difference. A run amid which something
//! was changed has failed, and none is begun after it; those before it found nothing changed.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use lab_plan::PlannedRun;
use lab_process::Scratch;
use lab_record::sha256_hex;

use crate::{
    DriverError, Program, Progress, Sweep,
    package::{Done, failed},
    sweep::label,
};

/// What the kernel knows of a file: any write, rename, link or change of its permissions shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    mode: u32,
    times: [i64; 4],
}

impl Identity {
    fn of(path: &Path) -> io::Result<Self> {
        // Not of what a link leads to: a link in the place of a file is another file.
        let there = fs::symlink_metadata(path)?;
        Ok(Self {
            device: there.dev(),
            inode: there.ino(),
            size: there.size(),
            mode: there.mode(),
            times: [there.mtime(), there.mtime_nsec(), there.ctime(), there.ctime_nsec()],
        })
    }
}

/// A file, or a folder for the names in it, as it was.
#[derive(Debug)]
pub(crate) struct Held {
    /// As sentences name it.
    what: String,
    path: PathBuf,
    was: Identity,
    /// Of what is small enough to be read twice.
    sha256: Option<String>,
}

impl Held {
    /// Holds a file or a folder by what the kernel knows of it.
    pub(crate) fn new(what: &str, path: PathBuf) -> io::Result<Self> {
        Ok(Self { what: what.to_owned(), was: Identity::of(&path)?, path, sha256: None })
    }

    /// Holds a file by its bytes too.
    pub(crate) fn with_bytes(what: &str, path: PathBuf) -> io::Result<Self> {
        let held = Self::new(what, path)?;
        let sha256 = Some(sha256_hex(&fs::read(&held.path)?));
        Ok(Self { sha256, ..held })
    }

    /// Holds all that lies below a folder, and the folder.
    pub(crate) fn below(what: &str, folder: &Path) -> io::Result<Vec<Self>> {
        let mut held = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let what = format!("{} in {what}", entry.file_name().display());
            match entry.file_type()?.is_dir() {
                true => held.extend(Self::below(&what, &entry.path())?),
                false => held.push(Self::new(&what, entry.path())?),
            }
        }
        // Last: a file that is changed is named before the folder that it lies in.
        held.push(Self::new(what, folder.to_owned())?);
        Ok(held)
    }

    /// What was done to it, where a look at it shows that something was.
    pub(crate) fn change(&self) -> Option<String> {
        match Identity::of(&self.path) {
            Ok(is) if is == self.was => None,
            Ok(_) if self.sha256.is_none() => Some(format!("{} was changed", self.what)),
            Ok(_) => Some(self.change_of_bytes().unwrap_or_else(|| {
                format!("{} was touched, and may have had other bytes meanwhile", self.what)
            })),
            Err(_) => Some(format!("{} is gone", self.what)),
        }
    }

    /// The same, where only reading it would show it.
    fn change_of_bytes(&self) -> Option<String> {
        let known = self.sha256.as_ref()?;
        match fs::read(&self.path) {
            Ok(bytes) if sha256_hex(&bytes) == *known => None,
            Ok(_) => Some(format!("{} has other bytes than at the start", self.what)),
            Err(_) => Some(format!("{} is gone", self.what)),
        }
    }
}

/// Holds the copies of programs and their folder, what reads them, and the program that does steps
/// outside them.
pub(crate) fn programs(
    programs: &[Program],
    worker: &[PathBuf],
    scratch: &Scratch,
) -> Result<Vec<Held>, DriverError> {
    let hold = |held: io::Result<Held>, what: &str| {
        held.map_err(|error| DriverError::Lab(format!("cannot look at {what}: {error}")))
    };
    let mut all = Vec::new();
    for program in programs.iter().filter(|program| program.absent.is_none()) {
        let what = format!("the program of {}", program.entry.variant);
        let held = hold(Held::with_bytes(&what, program.path.clone()), &what)?;
        // It has been run since it was hashed, to say who it is.
        if held.sha256.as_ref() != Some(&program.entry.binary_sha256) {
            return Err(DriverError::Changed(format!(
                "{what} was changed while the programs said who they are; nothing was run"
            )));
        }
        all.push(held);
        if let Some(reader) = &program.reader {
            let what = format!("what reads {what}");
            all.push(hold(Held::new(&what, reader.clone()), &what)?);
        }
    }
    for path in worker {
        let what = format!("the program {}", path.file_name().unwrap_or_default().display());
        all.push(hold(Held::new(&what, path.clone()), &what)?);
    }
    scratch.seal().map_err(|error| {
        DriverError::Lab(format!("cannot make the folder of programs read-only: {error}"))
    })?;
    let what = "the folder of the programs' copies";
    all.push(hold(Held::new(what, scratch.programs()), what)?);
    Ok(all)
}

impl Sweep<'_> {
    /// One planned run of programs and data that are what they were before and after it. `None`
    /// when interrupted.
    pub(crate) fn one(
        &mut self,
        planned: &PlannedRun,
        progress: &mut dyn Progress,
    ) -> Result<Option<Done>, DriverError> {
        self.nothing_changed(planned)?;
        let Some(done) = self.once(planned, progress)? else { return Ok(None) };
        Ok(Some(self.unless_changed(planned, done)))
    }

    /// Before a run.
    pub(crate) fn nothing_changed(&self, planned: &PlannedRun) -> Result<(), DriverError> {
        if let Some(change) = &self.changed {
            return Err(DriverError::Changed(change.clone()));
        }
        match self.change(planned) {
            None => Ok(()),
            Some(change) => Err(DriverError::Changed(format!(
                "{change} before the run `{}`, which was not begun; earlier runs found everything \
                 as it was",
                label(planned)
            ))),
        }
    }

    /// The run, which has failed where something was changed amid it.
    pub(crate) fn unless_changed(&mut self, planned: &PlannedRun, done: Done) -> Done {
        let Some(change) = self.change(planned) else { return done };
        self.changed = Some(format!(
            "{change} during the run `{}`, which has failed; none was begun after it, and earlier \
             runs found everything as it was",
            label(planned)
        ));
        failed(done.run, &format!("{change} during the run"))
    }

    fn change(&self, planned: &PlannedRun) -> Option<String> {
        let data = self.services.held(planned.work.as_ref());
        self.held.iter().chain(data).find_map(Held::change)
    }

    /// At the end of a sweep: what its last run changed, and what only reading shows.
    pub(crate) fn same_to_the_end(&self) -> Result<(), DriverError> {
        let held = || self.held.iter().chain(self.services.all_held());
        let found = || {
            let change =
                held().find_map(|held| held.change().or_else(|| held.change_of_bytes()))?;
            Some(format!("{change} at the end of the sweep; no run of it can be relied on"))
        };
        match self.changed.clone().or_else(found) {
            None => Ok(()),
            Some(change) => Err(DriverError::Changed(change)),
        }
    }
}
