//! A seeded generator of chat sessions as JSON Lines, for searching in.
//!
//! The same arguments give the same bytes on every machine: integers only, one fixed generator, a
//! vocabulary in the source. Words are planted at stated frequencies, and the manifest has their
//! exact counts, so that a search can be checked without a second search.
//!
//! This crate must never know who searches, nor how. It knows files and clocks of its own making
//! only; progress goes to a closure.

#![forbid(unsafe_code)]

mod args;
mod check;
mod folder;
mod generate;
mod hostile;
mod kind;
mod log;
mod manifest;
mod needles;
mod random;
mod session;
mod sink;
mod text;
mod time;
mod words;

use std::fmt::Display;
use std::path::Path;

pub use args::{CorpusArgs, Plan, Size};
pub use kind::Kind;
pub use manifest::{FileEntry, MANIFEST, Manifest, VERSION};
pub use needles::NeedleCount;

/// Told how much of how much is done, a few times a second at most speed.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// What a run came to.
#[derive(Debug)]
pub enum CorpusState {
    /// The corpus was made.
    Made(Manifest),
    /// It was there already, by its arguments and sizes, and is left as it is.
    Fits(Manifest),
    /// Every byte is as the manifest says.
    Checked(Manifest),
    /// A sentence for everything that is not.
    Differs(Vec<String>),
}

/// Why there is no corpus.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// The command line, or the folder it names, is wrong.
    #[error("{0}")]
    Arguments(String),
    /// The folder cannot be read or written, or is damaged.
    #[error("{0}")]
    Folder(String),
}

/// Runs `lab corpus`.
///
/// # Errors
/// Arguments that fit nothing, a folder that has other things in it, a disk that is full.
pub fn run(args: &CorpusArgs, progress: Progress<'_>) -> Result<CorpusState, CorpusError> {
    if args.check {
        let manifest = Manifest::load(&args.dir)?;
        let differences = check::contents(&args.dir, &manifest, progress)?;
        let same = differences.is_empty();
        return Ok(if same {
            CorpusState::Checked(manifest)
        } else {
            CorpusState::Differs(differences)
        });
    }
    let plan = args.plan()?;
    match folder::look(&args.dir, &plan)? {
        folder::Place::Fits(manifest) => Ok(CorpusState::Fits(manifest)),
        folder::Place::Free(claim) => {
            generate::generate(&args.dir, &plan, claim, progress).map(CorpusState::Made)
        }
    }
}

fn folder(path: &Path, error: &dyn Display) -> CorpusError {
    CorpusError::Folder(format!("{}: {error}", path.display()))
}
