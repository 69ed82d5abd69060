//! The folder of a record or a report, as what a page is made of: for `lab site` and `lab serve`.

use std::{collections::BTreeMap, io, path::Path};

use lab_record::Folder;

use crate::Source;

/// The files of one report, without its runs. An error names the file.
///
/// # Errors
/// A file cannot be read.
pub fn source(dir: &Path) -> io::Result<Source> {
    let folder = Folder::at(dir);
    let without = |name: String, end: &str| name.strip_suffix(end).map(str::to_owned);
    let chapters = texts(&folder, "details", ".md")?;
    Ok(Source {
        name: dir.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        first: text(&folder, "report.md")?,
        chapters: chapters
            .into_iter()
            .filter_map(|(name, text)| Some((without(name, ".md")?, text)))
            .collect(),
        pictures: texts(&folder, "", ".svg")?,
        tables: texts(&folder, "", ".tsv")?,
        ..Source::default()
    })
}

/// The files of a folder, or of one below it, whose names end so.
fn texts(folder: &Folder, below: &str, end: &str) -> io::Result<BTreeMap<String, String>> {
    let names = folder.names(below).map_err(|error| naming(below, &error))?;
    let names = names.into_iter().filter(|name| name.ends_with(end));
    let texts = names.map(|name| {
        let text = text(folder, &format!("{below}/{name}"))?;
        Ok((name, text))
    });
    texts.collect()
}

fn text(folder: &Folder, name: &str) -> io::Result<String> {
    let name = name.trim_start_matches('/');
    folder.text(name).map_err(|error| naming(name, &error))
}

/// An error that says which of a folder's files it is about.
pub fn naming(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {error}"))
}
