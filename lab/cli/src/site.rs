//! `lab site`: all reports as pages for a browser.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::Args;
use lab_console::exit_codes;
use lab_record::{Folder, RunFile};
use lab_site::{
    Source,
    records::{bound::check_shown, load, runs::add_runs, source::source},
};

use crate::{Exit, Failure, paths::Paths, streams::tell};

#[derive(Args)]
#[command(after_help = exit_codes(&CODES))]
pub(crate) struct SiteArgs {
    /// Where the pages go: a new folder, or one that holds such pages
    dir: PathBuf,
    /// The folder with a folder for each report [default: reports/ of the checkout]
    #[arg(long, value_name = "DIR")]
    reports: Option<PathBuf>,
}

const CODES: [(Exit, &str); 3] = [
    (Exit::Success, "every report has its page"),
    (Exit::Input, "the command line is wrong, or the pages cannot be written"),
    (Exit::File, "a report or its record cannot be read; the others have their pages"),
];

pub(crate) fn site(args: &SiteArgs, paths: &Paths) -> Result<Exit, Failure> {
    let reports = match &args.reports {
        Some(dir) => paths.results(dir),
        None => paths.workspace.join("reports"),
    };
    let mut is_whole = true;
    let mut sources: Vec<Source> = Vec::new();
    for folder in folders(&reports)? {
        let mut source = match source(&folder) {
            Ok(source) => source,
            Err(error) => {
                is_whole = false;
                tell(format_args!("{} has no page: {error}", paths.shown(&folder)));
                continue;
            }
        };
        if Folder::at(&folder).has("run.json") {
            match add_record(&mut source, &folder) {
                Ok(is_read) => is_whole &= is_read,
                // What was changed is not shown.
                Err(failure) => {
                    is_whole = false;
                    tell(format_args!("{}", failure.sentence));
                    continue;
                }
            }
        }
        sources.push(source);
    }
    if sources.is_empty() && is_whole {
        let message = "holds no folder with a report.md; name the folder above the reports";
        return Err(Failure::input(format!("{}: {message}", paths.shown(&reports))));
    }
    write(&sources, &paths.to_make(&args.dir), paths)?;
    Ok(if is_whole { Exit::Success } else { Exit::File })
}

fn write(sources: &[Source], dir: &Path, paths: &Paths) -> Result<(), Failure> {
    let mut pages: Vec<_> = sources
        .iter()
        .map(|source| (format!("{}.html", source.name), lab_site::page(source)))
        .collect();
    pages.push(("index.html".to_owned(), lab_site::index(sources)));
    // Somebody else's pages are not written over.
    let folder = Folder::at(dir);
    let is_ours = |text: String| text.contains(lab_site::INDEX_TITLE);
    if folder.has("index.html") && !folder.text("index.html").is_ok_and(is_ours) {
        let index = paths.shown(&dir.join("index.html"));
        let message = "is no page of `lab site`; name a new folder";
        return Err(Failure::input(format!("{index}: {message}")));
    }
    for (name, html) in &pages {
        folder.write(name, html.as_bytes()).map_err(|error| {
            Failure::input(format!("{}: cannot write the pages: {error}", paths.shown(dir)))
        })?;
    }
    println!("{} pages: {}", pages.len(), paths.shown(&dir.join("index.html")));
    Ok(())
}

/// Adds the runs of a report's record, where nothing of the two was changed; whether it could be
/// read.
fn add_record(source: &mut Source, folder: &Path) -> Result<bool, Failure> {
    let page = format!("{}.html", source.name);
    let lacks =
        |sentence: &str| tell(format_args!("{page} has no picture of every run: {sentence}"));
    let results = match load::results(folder) {
        Err(failure) if !is_chained(folder) => {
            lacks(&failure.sentence);
            return Ok(failure.exit != Exit::File);
        }
        loaded => loaded?,
    };
    check_shown(folder, &results, source)?;
    match add_runs(source, folder, &results) {
        // What cannot be drawn costs the picture, not the site; a chained record has its samples.
        Err(Failure { exit, sentence }) if exit == Exit::Input || results.heads().is_none() => {
            lacks(&sentence);
            Ok(exit != Exit::File)
        }
        added => added.map(|()| true),
    }
}

/// Whether its files are bound: where that cannot be known they are not.
fn is_chained(folder: &Path) -> bool {
    RunFile::is_chained(folder).unwrap_or(false)
}

/// The folders of all reports, by name. A link leads out of the folder, and is left out.
fn folders(reports: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error: io::Error| Failure::input(format!("{}: {error}", reports.display()));
    let entries = fs::read_dir(reports).map_err(cannot)?.flatten();
    let folders = entries.filter(|one| one.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<PathBuf> = folders
        .map(|one| one.path())
        .filter(|folder| Folder::at(folder).has("report.md"))
        .collect();
    folders.sort();
    Ok(folders)
}
