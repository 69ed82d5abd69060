//! A committed record as a sweep leaves it, with its rows in plain files.

use std::{
    fs::{self, File},
    path::Path,
};

/// Unpacks the rows of a copy.
pub fn unpack(record: &Path) {
    for name in ["runs.jsonl", "windows.jsonl"] {
        let packed = record.join(format!("{name}.zst"));
        let Ok(file) = File::open(&packed) else { continue };
        fs::write(record.join(name), zstd::decode_all(file).unwrap()).unwrap();
        fs::remove_file(packed).unwrap();
    }
}
