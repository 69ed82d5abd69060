//! `lab site`: all reports as pages for a browser.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use lab_site::Source;

use crate::{
    Failure,
    paths::Paths,
    source::{add_runs, source},
    streams::tell,
};

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
    let mut sources = sources(&reports)?;
    for (folder, source) in &mut sources {
        // What cannot be drawn costs the picture, not the site.
        if let Err(failure) = add_runs(source, folder) {
            let page = format!("{}.html", source.name);
            tell(format_args!("{page} has no picture of every run: {}", failure.sentence));
        }
    }
    let sources: Vec<Source> = sources.into_iter().map(|(_, source)| source).collect();
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
    // Somebody else's pages are not written over.
    let index = dir.join("index.html");
    let is_ours = |text: String| text.contains(lab_site::INDEX_TITLE);
    if index.exists() && !fs::read_to_string(&index).is_ok_and(is_ours) {
        let message = "is no page of `lab site`; name a new folder";
        return Err(Failure::input(format!("{}: {message}", paths.shown(&index))));
    }
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
