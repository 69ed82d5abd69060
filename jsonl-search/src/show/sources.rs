//! The files that were searched, by their indices.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::again::Texts;
use crate::content::At;

pub(super) struct Sources {
    pub(super) paths: Vec<Arc<Path>>,
    pub(super) texts: Texts,
}

impl Sources {
    pub(super) fn path(&self, file: u32) -> &Path {
        self.paths.get(file as usize).map_or(Path::new("?"), |path| path)
    }

    /// A file's text once more.
    ///
    /// # Errors
    /// Whatever the system says, with the path; and of a stream that was not copied.
    pub(super) fn open(&self, file: u32) -> io::Result<At> {
        let path = self.path(file);
        let named = |error| io::Error::other(format!("{}: {error}", path.display()));
        self.texts.open(file, path).map_err(named)
    }
}
