//! What the files of a record say of each other, whether or not they are chained.

use std::{collections::BTreeMap, path::Path};

use crate::{RecordError, Run, RunFile, VariantEntry, sha256_hex, store::RUN_FILE};

impl RunFile {
    /// The hash that is kept of an experiment: of its text and of the files that it names.
    pub fn hash_of(experiment_toml: &str, attachments: &BTreeMap<String, String>) -> String {
        let attached = attachments.values().map(String::as_str);
        let whole: String = std::iter::once(experiment_toml).chain(attached).collect();
        sha256_hex(whole.as_bytes())
    }
}

/// That the experiment has its hash, and each run the program of its variant. `runs_path` is the
/// file of the runs, each of which is a line.
///
/// # Errors
/// Names the file, and the line or key.
pub(crate) fn check(
    dir: &Path,
    run_file: &RunFile,
    (runs_path, runs): (&Path, &[Run]),
) -> Result<(), RecordError> {
    let told = |what: String| Err(RecordError::Unlike { path: dir.join(RUN_FILE), what });
    let hash = RunFile::hash_of(&run_file.experiment_toml, &run_file.attachments);
    if hash != run_file.experiment_sha256 {
        return told(
            "`experiment_sha256` is not the hash of `experiment_toml` and `attachments`".to_owned(),
        );
    }
    let mut variants: BTreeMap<&str, &VariantEntry> = BTreeMap::new();
    for entry in &run_file.variants {
        if variants.insert(&entry.variant, entry).is_some() {
            return told(format!("`variants` names {} twice", entry.variant));
        }
    }
    for entry in &run_file.variants {
        let Some(name) = &entry.twin_of else { continue };
        let original = variants.get(name.as_str());
        if original.is_none_or(|original| original.binary_sha256 != entry.binary_sha256) {
            let twin = &entry.variant;
            return told(format!("{twin} is no copy of {name}: their `binary_sha256` differ"));
        }
    }
    for (run, line) in runs.iter().zip(1..) {
        let variant = &run.variant;
        let what = match variants.get(variant.as_str()) {
            None => format!("`variant` is {variant}, which run.json does not name"),
            Some(entry) if entry.family != run.family => {
                format!("`family` is {}, and {}'s is {}", run.family, variant, entry.family)
            }
            Some(entry) if entry.binary_sha256 != run.binary_sha256 => {
                format!("`binary_sha256` is not that of {variant} in run.json")
            }
            Some(_) => continue,
        };
        return Err(RecordError::Changed { path: runs_path.to_owned(), line, what });
    }
    Ok(())
}
