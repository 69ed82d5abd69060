//! Whether a corpus is what its manifest says.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::manifest::{FileEntry, Manifest, hexadecimal};
use crate::{CorpusError, Progress, folder};

/// Reads everything; a sentence for each difference.
pub(crate) fn contents(
    dir: &Path,
    manifest: &Manifest,
    progress: Progress<'_>,
) -> Result<Vec<String>, CorpusError> {
    let mut differences = places(dir, manifest)?;
    let sums = Manifest::new(&manifest.plan, manifest.files.clone());
    if *manifest != (Manifest { generator: manifest.generator.clone(), ..sums }) {
        differences.push("the manifest's totals are not the sums of its files".to_owned());
    }
    let mut done = 0;
    for file in &manifest.files {
        let path = dir.join(&file.path);
        // What is missing was said above.
        if path.is_file() && hash(&path)? != file.sha256 {
            differences.push(format!("{} has different bytes", file.path));
        }
        done += file.bytes;
        progress(done, manifest.bytes);
    }
    Ok(differences)
}

/// Compares which files there are and how large they are.
pub(crate) fn places(dir: &Path, manifest: &Manifest) -> Result<Vec<String>, CorpusError> {
    let mut found = BTreeSet::new();
    walk(dir, "", &mut found)?;
    let mut differences = Vec::new();
    for FileEntry { path, bytes, .. } in &manifest.files {
        found.remove(path);
        match fs::metadata(dir.join(path)) {
            Err(error) => differences.push(format!("{path}: {error}")),
            Ok(file) if file.len() != *bytes => {
                differences.push(format!("{path} has {} bytes, not {bytes}", file.len()));
            }
            Ok(_) => (),
        }
    }
    differences.extend(found.iter().map(|path| format!("{path} is not in the manifest")));
    Ok(differences)
}

/// Collects every `*.jsonl` below, since engines search all of them.
fn walk(dir: &Path, prefix: &str, found: &mut BTreeSet<String>) -> Result<(), CorpusError> {
    for entry in fs::read_dir(dir).map_err(|error| folder(dir, &error))? {
        let entry = entry.map_err(|error| folder(dir, &error))?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().map_err(|error| folder(&entry.path(), &error))?;
        if kind.is_dir() {
            walk(&entry.path(), &format!("{path}/"), found)?;
        } else if path.ends_with(".jsonl") {
            found.insert(path);
        }
    }
    Ok(())
}

fn hash(path: &Path) -> Result<String, CorpusError> {
    let mut file = File::open(path).map_err(|error| folder(path, &error))?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut buffer).map_err(|error| folder(path, &error))? {
            0 => return Ok(hexadecimal(hash)),
            count => hash.update(&buffer[..count]),
        }
    }
}
