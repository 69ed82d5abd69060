//! Files of lines, each of which is a row.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use serde::de::DeserializeOwned;

use crate::{
    Bounded, Folder, RecordError,
    chain::{Walk, taken_apart},
    distinct,
    redact::Row,
    store::{at, damaged},
};

/// The lines of a file; none where it is not there.
pub(crate) fn read_lines<T: DeserializeOwned>(
    folder: &Folder,
    name: &str,
) -> Result<Vec<T>, RecordError> {
    match opened(folder, name)? {
        Some(reader) => parse_lines(reader, &folder.join(name), |_, _| Ok(())),
        None => Ok(Vec::new()),
    }
}

/// The rows of a file, each of which follows in the chain, where the record has one.
pub(crate) fn read_rows<R: Row>(
    folder: &Folder,
    name: &str,
    walk: &mut Option<Walk>,
) -> Result<Vec<R>, RecordError> {
    match opened(folder, name)? {
        Some(reader) => parse_rows(reader, &folder.join(name), walk),
        None => Ok(Vec::new()),
    }
}

fn opened(folder: &Folder, name: &str) -> Result<Option<BufReader<Bounded<File>>>, RecordError> {
    match folder.open(name) {
        Ok(file) => Ok(Some(BufReader::new(file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(&folder.join(name))(error)),
    }
}

/// As [`read_rows`], of text.
pub(crate) fn parse_rows<R: Row>(
    reader: impl BufRead,
    path: &Path,
    walk: &mut Option<Walk>,
) -> Result<Vec<R>, RecordError> {
    parse_lines(reader, path, |line, row: &R| match walk {
        Some(walk) => walk.follow(line, row.texts()),
        None if taken_apart(line).is_some() => Err("it has a `chain`, and run.json has none"),
        None => Ok(()),
    })
}

/// `follows` says in words why a row does not belong to those before it.
pub(crate) fn parse_lines<T: DeserializeOwned>(
    mut reader: impl BufRead,
    path: &Path,
    mut follows: impl FnMut(&str, &T) -> Result<(), &'static str>,
) -> Result<Vec<T>, RecordError> {
    let mut rows = Vec::new();
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let length = reader.read_line(&mut line).map_err(at(path))?;
        if length == 0 || !line.ends_with('\n') {
            break; // The end, or a line that was never finished.
        }
        let row = distinct::read(line.as_bytes()).map_err(damaged(path, number))?;
        follows(&line, &row).map_err(|what| RecordError::Changed {
            path: path.to_owned(),
            line: number,
            what: what.to_owned(),
        })?;
        rows.push(row);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_that_is_not_there_may_be_missing() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::at(place.path());
        std::os::unix::fs::symlink("loops", folder.join("loops")).unwrap();
        assert_eq!(read_lines::<u8>(&folder, "absent").unwrap(), [0; 0]);
        assert!(matches!(read_lines::<u8>(&folder, "loops"), Err(RecordError::Io { .. })));
    }
}
