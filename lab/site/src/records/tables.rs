//! The tables that a committed report keeps, and what tells a change of the others.

use std::{collections::BTreeMap, path::Path};

use lab_console::Failure;
use lab_record::{Folder, sha256_hex};
use lab_report::{Frame, Report};

use super::load::made;

/// A line for each table, as `sha256sum --check --ignore-missing` reads it.
pub const HASHES: &str = "tables.sha256";

/// What `tables.sha256` says of a report.
pub fn hashes(report: &Report) -> String {
    let line =
        |(name, text): (&String, &String)| format!("{}  {name}\n", sha256_hex(text.as_bytes()));
    report.tables.iter().map(line).collect()
}

/// Whether a page of the report links to a table.
pub fn is_linked(report: &Report, name: &str) -> bool {
    let links = [format!("]({name})"), format!("](../{name})")];
    let mut pages =
        std::iter::once(&report.markdown).chain(report.details.iter().map(|(_, text)| text));
    pages.any(|page| links.iter().any(|link| page.contains(link)))
}

/// Whether a folder has these hashes, so that it may lack the tables that nobody links to; none of
/// a folder that has no hashes.
pub fn has_hashes(folder: &Folder, report: &Report) -> Option<bool> {
    let is_theirs = || folder.text(HASHES).is_ok_and(|text| text == hashes(report));
    folder.has(HASHES).then(is_theirs)
}

/// Adds the tables that a folder with hashes lacks, where they are those of the hashes.
///
/// # Errors
/// Where the record gives no report.
pub fn complete(
    tables: &mut BTreeMap<String, String>,
    dir: &Path,
    frame: &Frame,
) -> Result<(), Failure> {
    let folder = Folder::at(dir);
    if !folder.has(HASHES) {
        return Ok(());
    }
    let report = made(frame, dir)?;
    if has_hashes(&folder, &report) == Some(true) {
        for (name, text) in report.tables {
            tables.entry(name).or_insert(text);
        }
    }
    Ok(())
}
