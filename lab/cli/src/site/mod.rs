//! `lab site`: all reports as pages for a browser.

mod runs;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use lab_site::Source;

use crate::{Failure, paths::Paths};

#[derive(Args)]
pub(crate) struct SiteArgs {
    /// Where the pages go: a new folder, or one that holds such pages
    dir: PathBuf,
    /// The folder with a folder for each report [default: reports/ of the checkout]
    #[arg(long, value_name = "DIR")]
    reports: Option<PathBuf>,
}

pub(crate) fn site(args: &SiteArgs, paths: &Paths) -> Result<ExitCode, Failure> {
    let reports = match &args.reports {
        Some(dir) => paths.results(dir),
        None => paths.workspace.join("reports"),
    };
    let sources = sources(&reports)?.into_iter().map(|(folder, source)| {
        let Some((kind, runs)) = runs::of(&folder)? else { return Ok(source) };
        Ok(Source { kind, runs: Some(runs), ..source })
    });
    let sources = sources.collect::<Result<Vec<Source>, Failure>>()?;
    if sources.is_empty() {
        let message = "holds no folder with a report.md; name the folder above the reports";
        return Err(Failure::input(format!("{}: {message}", paths.shown(&reports))));
    }
    let dir = paths.to_make(&args.dir);
    let mut pages: Vec<_> = sources
        .iter()
        .map(|source| (format!("{}.html", source.name), lab_site::page(source)))
        .collect();
    pages.push(("index.html".to_owned(), lab_site::index(&sources)));
    let cannot = |error: io::Error| {
        Failure::input(format!("{}: cannot write the pages: {error}", paths.shown(&dir)))
    };
    fs::create_dir_all(&dir).map_err(cannot)?;
    for (name, html) in &pages {
        fs::write(dir.join(name), html).map_err(cannot)?;
    }
    println!("{} pages: {}", pages.len(), paths.shown(&dir.join("index.html")));
    Ok(ExitCode::SUCCESS)
}

/// Every report of a folder, by name, each with its own folder.
fn sources(reports: &Path) -> Result<Vec<(PathBuf, Source)>, Failure> {
    let cannot = |error: io::Error| Failure::input(format!("{}: {error}", reports.display()));
    let mut folders: Vec<PathBuf> = fs::read_dir(reports)
        .map_err(cannot)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|folder| folder.join("report.md").is_file())
        .collect();
    folders.sort();
    let with_source = |folder: PathBuf| source(&folder).map(|source| (folder, source));
    folders.into_iter().map(|folder| with_source(folder).map_err(cannot)).collect()
}

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
