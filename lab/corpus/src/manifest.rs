//! `corpus.json`: what a corpus was made from and what is in it.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::args::Plan;
use crate::needles::{self, NeedleCount};
use crate::{CorpusError, folder};

/// Its name in the corpus's folder. It is written last, so that where it is the corpus is whole.
pub const MANIFEST: &str = "corpus.json";

/// Raised with every change of the bytes that some arguments give.
pub const VERSION: u32 = 2;

/// A corpus in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// `lab corpus` and its [`VERSION`].
    pub generator: String,
    /// The arguments.
    pub plan: Plan,
    /// Bytes of all files.
    pub bytes: u64,
    /// Lines of all files. What follows the last line feed is a line, too, unless it is nothing.
    pub lines: u64,
    /// Lines that have something in them and are no JSON object.
    pub lines_invalid: u64,
    /// Lines with nothing in them.
    pub lines_blank: u64,
    /// How often each needle stands in the corpus.
    pub needles: Vec<NeedleCount>,
    /// The hash of hashes: SHA-256 over a line `HASH  PATH` per file, as `sha256sum` prints it, in
    /// the order of [`Manifest::files`].
    pub sha256: String,
    /// Every file, in the order of its path's bytes.
    pub files: Vec<FileEntry>,
}

/// One file of a corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Relative to the corpus's folder, with slashes.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// Its lines, as in [`Manifest::lines`].
    pub lines: u64,
    /// As in [`Manifest::lines_invalid`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lines_invalid: u64,
    /// As in [`Manifest::lines_blank`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lines_blank: u64,
    /// Of its bytes, in hexadecimal.
    pub sha256: String,
    /// The needles that stand in it.
    pub needles: Vec<NeedleCount>,
}

impl Manifest {
    pub(crate) fn new(plan: &Plan, mut files: Vec<FileEntry>) -> Self {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let sum = |part: fn(&FileEntry) -> u64| files.iter().map(part).sum();
        let mut needles = needles::none();
        for count in files.iter().flat_map(|file| &file.needles) {
            if let Some(total) = needles.iter_mut().find(|total| total.word == count.word) {
                total.add(count);
            }
        }
        Self {
            generator: generator(),
            plan: plan.clone(),
            bytes: sum(|file| file.bytes),
            lines: sum(|file| file.lines),
            lines_invalid: sum(|file| file.lines_invalid),
            lines_blank: sum(|file| file.lines_blank),
            needles,
            sha256: hash_of_hashes(&files),
            files,
        }
    }

    /// Reads the manifest of a corpus's folder.
    ///
    /// # Errors
    /// When there is none, or it is none.
    pub fn load(dir: &Path) -> Result<Self, CorpusError> {
        let path = dir.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => CorpusError::Folder(format!(
                "{} has no {MANIFEST}: it is no corpus, or an unfinished one; generate it with \
                 `lab corpus`",
                dir.display(),
            )),
            _ => folder(&path, &error),
        })?;
        serde_json::from_str(&text).map_err(|error| folder(&path, &error))
    }

    /// Writes it under another name first, so that nobody ever sees half of it.
    pub(crate) fn store(&self, dir: &Path) -> Result<(), CorpusError> {
        let (half, path) = (dir.join("corpus.json.tmp"), dir.join(MANIFEST));
        let text = serde_json::to_string_pretty(self).expect("a manifest is plain data") + "\n";
        let written = File::create(&half).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&half, &path)
        });
        written.map_err(|error| folder(&path, &error))
    }

    /// Whether the generator that is running would make it from `plan`.
    pub(crate) fn is_of(&self, plan: &Plan) -> bool {
        self.generator == generator() && self.plan == *plan
    }
}

fn generator() -> String {
    format!("lab corpus {VERSION}")
}

fn hash_of_hashes(files: &[FileEntry]) -> String {
    let mut hash = Sha256::new();
    for file in files {
        hash.update(format!("{}  {}\n", file.sha256, file.path));
    }
    hexadecimal(hash)
}

pub(crate) fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
