//! The folder of a record or a report, as what a page is made of: for `lab site` and `lab serve`.

mod runs;

use std::{collections::BTreeMap, fs, io, path::Path};

use lab_site::Source;

pub(crate) use runs::add_runs;

/// The files of one report, without its runs.
pub(crate) fn source(folder: &Path) -> io::Result<Source> {
    let without = |name: String, end: &str| name.strip_suffix(end).map(str::to_owned);
    let details = folder.join("details");
    let chapters = if details.is_dir() { texts(&details, ".md")? } else { BTreeMap::new() };
    Ok(Source {
        name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        first: fs::read_to_string(folder.join("report.md"))?,
        chapters: chapters
            .into_iter()
            .filter_map(|(name, text)| Some((without(name, ".md")?, text)))
            .collect(),
        pictures: texts(folder, ".svg")?,
        tables: texts(folder, ".tsv")?,
        ..Source::default()
    })
}

/// The files of a folder whose names end so.
fn texts(folder: &Path, end: &str) -> io::Result<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(end) && path.is_file() {
            texts.insert(name, fs::read_to_string(&path)?);
        }
    }
    Ok(texts)
}
