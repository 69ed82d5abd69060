//! The first step of an agent: read a folder of files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh64::Xxh64;

/// What an agent read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ingested {
    /// Number of files.
    pub files: u64,
    /// Their length in bytes.
    pub bytes: u64,
    /// xxh64 (seed 0) over their contents in the order of their paths.
    pub digest: u64,
}

/// Reading a folder: blocking work, for a thread on which blocking is allowed.
#[derive(Debug, Clone)]
pub struct IngestJob {
    pub(crate) dir: Option<PathBuf>,
}

impl IngestJob {
    /// Reads every regular file below the folder into memory and hashes it; links are not followed.
    /// A workload without a folder gives zeros, so that variants need no second path.
    ///
    /// # Errors
    /// The first file or folder that cannot be read.
    pub fn run(self) -> io::Result<Ingested> {
        let Some(dir) = self.dir else { return Ok(Ingested::default()) };
        let mut paths = Vec::new();
        collect(&dir, &mut paths)?;
        paths.sort();
        let mut hash = Xxh64::new(0);
        let mut ingested = Ingested::default();
        for path in paths {
            let content = fs::read(path)?;
            hash.update(&content);
            ingested.files += 1;
            ingested.bytes += content.len() as u64;
        }
        ingested.digest = hash.digest();
        Ok(ingested)
    }
}

fn collect(dir: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            collect(&entry.path(), paths)?;
        } else if kind.is_file() {
            paths.push(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_in_the_order_of_their_paths() {
        let dir = std::env::temp_dir().join(format!("runtimes-kit-{}", std::process::id()));
        fs::create_dir_all(dir.join("b")).unwrap();
        fs::write(dir.join("b/2"), "world").unwrap();
        fs::write(dir.join("a"), "hello ").unwrap();
        let found = IngestJob { dir: Some(dir.clone()) }.run().unwrap();
        fs::remove_dir_all(&dir).unwrap();
        let digest = xxhash_rust::xxh64::xxh64(b"hello world", 0);
        assert_eq!(found, Ingested { files: 2, bytes: 11, digest });
    }

    #[test]
    fn a_missing_folder_is_an_error_and_none_is_not() {
        assert!(IngestJob { dir: Some("/nonexistent/folder".into()) }.run().is_err());
        assert_eq!(IngestJob { dir: None }.run().unwrap(), Ingested::default());
    }
}
