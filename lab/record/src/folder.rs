//! The one door to the files of a record. A record may come from a stranger: below its folder no
//! link is followed, nothing but regular files is opened, and no more is read than a record may
//! hold. The folder itself is named by the user, and may be a link.

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::{fd::OwnedFd, unix::fs::OpenOptionsExt},
    path::{Component, Path, PathBuf},
};

use nix::{
    errno::Errno,
    fcntl::{AtFlags, OFlag, openat, renameat},
    sys::stat::{Mode, SFlag, fstatat, mkdirat},
    unistd::{UnlinkatFlags, unlinkat},
};

use crate::{Bounded, bounded::Budget};

/// Bazel sets them for its tests, and `lab/audit.sh` for `bazel run`.
const RUNFILES: [&str; 2] = ["RUNFILES_DIR", "TEST_SRCDIR"];
/// Of new files and folders, less what the user's mask takes away.
const FILE_MODE: Mode = Mode::from_bits_truncate(0o666);
const FOLDER_MODE: Mode = Mode::from_bits_truncate(0o777);

/// A folder whose files are named from it, such as `details/noise.md`. Everything that is read
/// through one, or through its clones, counts towards one limit.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
    budget: Budget,
}

impl Folder {
    /// The folder at a path, which need not be there yet.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), budget: Budget::of_record() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where one of its files is, for sentences.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether anything has this name: a link too, which cannot be read then.
    pub fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.join(name)).is_ok()
    }

    /// A file, for reading.
    ///
    /// # Errors
    /// Where it is not there, or is a link or no regular file.
    pub fn file(&self, name: &str) -> io::Result<File> {
        let (folder, last) = self.parent(name, false)?;
        match regular(&folder, &last, OFlag::O_RDONLY) {
            Err(error) => match self.laid_out_by_bazel(name) {
                Some(target) => File::open(target),
                None => Err(error),
            },
            file => file,
        }
    }

    /// A file, for reading no more than a record may hold.
    ///
    /// # Errors
    /// As [`Folder::file`].
    pub fn open(&self, name: &str) -> io::Result<Bounded<File>> {
        self.file(name).map(|file| self.bounded(file))
    }

    /// What is read through this counts towards the folder's limit.
    pub(crate) fn bounded<R: io::Read>(&self, inner: R) -> Bounded<R> {
        Bounded::within(inner, self.budget.clone())
    }

    /// Counts bytes that are held for this folder without being read from it.
    pub(crate) fn hold(&self, bytes: u64) -> io::Result<()> {
        self.budget.take(bytes)
    }

    /// A file's bytes.
    ///
    /// # Errors
    /// As [`Folder::file`], and where there are more than a record may hold.
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        self.open(name)?.all()
    }

    /// A file's text.
    ///
    /// # Errors
    /// As [`Folder::read`], and where it is no UTF-8.
    pub fn text(&self, name: &str) -> io::Result<String> {
        let no_text = |_| io::Error::new(io::ErrorKind::InvalidData, "is no text in UTF-8");
        String::from_utf8(self.read(name)?).map_err(no_text)
    }

    /// The names in the folder itself (`""`) or in one below, sorted; none where that is not there.
    ///
    /// # Errors
    /// Where it is a link or no folder, or cannot be read.
    pub fn names(&self, below: &str) -> io::Result<Vec<String>> {
        let path = if below.is_empty() { self.path.clone() } else { self.join(below) };
        match self.descend(Path::new(below), false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            looked => drop(looked?),
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            names.extend(entry?.file_name().into_string());
        }
        names.sort();
        Ok(names)
    }

    /// Opens a file for appending, and makes it where it is not there.
    ///
    /// # Errors
    /// Where it is a link or no regular file, or cannot be written.
    pub fn append(&self, name: &str) -> io::Result<File> {
        let (folder, last) = self.parent(name, false)?;
        regular(&folder, &last, OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_CREAT)
    }

    /// Cuts a file after so many bytes.
    ///
    /// # Errors
    /// As [`Folder::append`].
    pub(crate) fn cut(&self, name: &str, bytes: u64) -> io::Result<()> {
        let (folder, last) = self.parent(name, false)?;
        let file = regular(&folder, &last, OFlag::O_WRONLY)?;
        file.set_len(bytes).and_then(|()| file.sync_all())
    }

    /// Writes a file under a name of its own and renames it, so that nobody ever sees half a file,
    /// and a link that had the name is replaced. Folders on the way are made.
    ///
    /// # Errors
    /// Where a folder on the way is a link, or something cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_and(name, bytes, |_| Ok(()))
    }

    /// As [`Folder::write`], and syncs the file and its folder: a line that names samples must not
    /// outlive their name in a power cut.
    pub(crate) fn write_synced(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_and(name, bytes, File::sync_all)
    }

    fn write_and(
        &self,
        name: &str,
        bytes: &[u8],
        sync: impl Fn(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        let (folder, last) = self.parent(name, true)?;
        let beside = format!("{last}.tmp");
        let write = || {
            let mut file = new_file(&folder, &beside)?;
            file.write_all(bytes)?;
            sync(&file)?;
            renameat(&folder, beside.as_str(), &folder, last.as_str())?;
            sync(&File::from(folder.try_clone()?))
        };
        write().inspect_err(|_| {
            let _ = unlinkat(&folder, beside.as_str(), UnlinkatFlags::NoRemoveDir);
        })
    }

    /// Removes a file, or a link itself, where there is one.
    ///
    /// # Errors
    /// Where it cannot be removed.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let removed = self.parent(name, false).and_then(|(folder, last)| {
            Ok(unlinkat(&folder, last.as_str(), UnlinkatFlags::NoRemoveDir)?)
        });
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The folder that holds a file, and the file's own name.
    fn parent(&self, name: &str, make: bool) -> io::Result<(OwnedFd, String)> {
        let path = Path::new(name);
        let last = path.file_name().and_then(|last| last.to_str()).map(str::to_owned);
        let last = last.ok_or_else(|| leads_out(name))?;
        Ok((self.descend(path.parent().unwrap_or(Path::new("")), make)?, last))
    }

    /// Opens a folder below this one, part by part, none of which may be a link.
    fn descend(&self, below: &Path, make: bool) -> io::Result<OwnedFd> {
        let path = if self.path.as_os_str().is_empty() { Path::new(".") } else { &self.path };
        if make {
            fs::create_dir_all(path)?;
        }
        let mut options = OpenOptions::new();
        let mut folder: OwnedFd =
            options.read(true).custom_flags(OFlag::O_DIRECTORY.bits()).open(path)?.into();
        for part in below.components() {
            let Component::Normal(part) = part else {
                return Err(leads_out(&below.display().to_string()));
            };
            match make.then(|| mkdirat(&folder, part, FOLDER_MODE)) {
                None | Some(Ok(()) | Err(Errno::EEXIST)) => {}
                Some(Err(error)) => return Err(error.into()),
            }
            let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
            let opened = openat(&folder, part, flags, Mode::empty());
            folder = opened.map_err(|errno| match is_link(&folder, Path::new(part)) {
                true => link(),
                false => errno.into(),
            })?;
        }
        Ok(folder)
    }

    /// What a link stands for that Bazel made, in whose runfiles every file is one: the variables
    /// are set by whoever started this program, never by a record, and the link leads to a file
    /// that lies in its repository as the link does in the runfiles.
    fn laid_out_by_bazel(&self, name: &str) -> Option<PathBuf> {
        let roots = RUNFILES.iter().filter_map(env::var_os);
        let roots: Vec<PathBuf> = roots.filter_map(|root| fs::canonicalize(root).ok()).collect();
        if roots.is_empty() || !is_link_at(&self.join(name)) {
            return None;
        }
        let folder = fs::canonicalize(self.join(name).parent()?).ok()?;
        let below = roots.iter().find_map(|root| folder.strip_prefix(root).ok())?;
        // The first part is the repository's name.
        let mut parts = below.components();
        parts.next()?;
        let place = parts.as_path().join(Path::new(name).file_name()?);
        let target = fs::canonicalize(self.join(name)).ok()?;
        (target.ends_with(&place) && target.is_file()).then_some(target)
    }
}

/// Opens a regular file in a folder, and nothing that waits for another side.
fn regular(folder: &OwnedFd, name: &str, flags: OFlag) -> io::Result<File> {
    let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let opened = openat(folder, name, flags, FILE_MODE);
    let file = opened.map(File::from).map_err(|errno| match is_link(folder, Path::new(name)) {
        true => link(),
        // A socket, or a pipe that nobody reads.
        false if errno == Errno::ENXIO => irregular(),
        false => errno.into(),
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

/// A file that was not there. One of the same name is of a process that was killed.
fn new_file(folder: &OwnedFd, name: &str) -> io::Result<File> {
    let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
    let open = || openat(folder, name, flags, FILE_MODE).map(File::from);
    match open() {
        Err(Errno::EEXIST) => {
            unlinkat(folder, name, UnlinkatFlags::NoRemoveDir)?;
            Ok(open()?)
        }
        opened => Ok(opened?),
    }
}

fn is_link(folder: &OwnedFd, name: &Path) -> bool {
    let looked = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW);
    looked.is_ok_and(|known| known.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFLNK.bits())
}

fn is_link_at(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|known| known.is_symlink())
}

fn link() -> io::Error {
    let sentence = "is a symbolic link, and none is followed in a record; put what it leads to in \
                    its place";
    io::Error::other(sentence)
}

fn irregular() -> io::Error {
    io::Error::other("is no regular file, and no record has another; remove it")
}

fn leads_out(name: &str) -> io::Error {
    io::Error::other(format!("`{name}` names no file below the folder"))
}
