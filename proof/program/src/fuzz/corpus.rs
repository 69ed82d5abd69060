//! Inputs that reached new branches of a reader, as `tools/proof fuzz` found them: one file a
//! reader, so that the tests feed them again.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

const ZSTD_LEVEL: i32 = 19;

fn file(reader: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(format!("{reader}.zst"))
}

/// The kept inputs of a reader; none where it has no file.
///
/// # Errors
/// When the file cannot be read, or ends within an input.
pub(crate) fn kept(reader: &str) -> Result<Vec<Vec<u8>>> {
    let path = file(reader);
    match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => unpack(&read?).with_context(|| path.display().to_string()),
    }
}

/// Packs the files of FOLDER/READER for the tests, the shortest first.
///
/// # Errors
/// When a file cannot be read or written.
pub(crate) fn keep(folder: &Path, reader: &str) -> Result<usize> {
    let from = folder.join(reader);
    if !from.is_dir() {
        return Ok(0);
    }
    let mut inputs = Vec::new();
    for entry in fs::read_dir(&from).with_context(|| from.display().to_string())? {
        inputs.push(fs::read(entry?.path())?);
    }
    inputs.sort_by_cached_key(|input| (input.len(), input.clone()));
    let path = file(reader);
    fs::create_dir_all(path.parent().expect("a file of a folder"))?;
    fs::write(&path, pack(&inputs)?).with_context(|| path.display().to_string())?;
    Ok(inputs.len())
}

/// Each input behind its length in four bytes.
fn pack(inputs: &[Vec<u8>]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for input in inputs {
        bytes.extend_from_slice(&u32::try_from(input.len())?.to_le_bytes());
        bytes.extend_from_slice(input);
    }
    Ok(zstd::encode_all(bytes.as_slice(), ZSTD_LEVEL)?)
}

fn unpack(packed: &[u8]) -> Result<Vec<Vec<u8>>> {
    let bytes = zstd::decode_all(packed)?;
    let mut rest = bytes.as_slice();
    let mut inputs = Vec::new();
    while let Some((length, behind)) = rest.split_first_chunk() {
        let length = u32::from_le_bytes(*length) as usize;
        ensure!(length <= behind.len(), "input {} is cut off", inputs.len());
        let (input, others) = behind.split_at(length);
        inputs.push(input.to_vec());
        rest = others;
    }
    ensure!(rest.is_empty(), "the last length is cut off");
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_unpacked_as_they_were() {
        let inputs = [b"".to_vec(), b"a\0b".to_vec(), vec![7; 300]];
        let packed = pack(&inputs).unwrap();
        assert_eq!(unpack(&packed).unwrap(), inputs);
        let torn = zstd::encode_all(&[9, 0, 0, 0, 1][..], ZSTD_LEVEL).unwrap();
        assert!(unpack(&torn).unwrap_err().to_string().contains("cut off"));
    }
}
