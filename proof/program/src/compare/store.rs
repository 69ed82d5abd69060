//! The tries on disk: JSON Lines, packed with zstd where a report keeps them.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::Path,
};

use anyhow::{Context, Result};
use serde::{Serialize, de::DeserializeOwned};

/// The tries of a file; none where there is no file.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    let text = match path.extension().is_some_and(|ext| ext == "zst") {
        true => zstd::decode_all(bytes.as_slice()).with_context(|| path.display().to_string())?,
        false => bytes,
    };
    let parse = |(number, line): (usize, &[u8])| {
        serde_json::from_slice(line)
            .with_context(|| format!("{}, line {}", path.display(), number + 1))
    };
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.enumerate().map(parse).collect()
}

/// Appends a try.
pub fn append(path: &Path, made: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(made)?;
    line.push(b'\n');
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(&line));
    written.with_context(|| path.display().to_string())
}
