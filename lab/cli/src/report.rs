//! `lab report`: records in, files out.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use clap::{Args, ValueEnum};
use lab_driver::plots::Scripts;
use lab_record::{Folder, Results};
use lab_report::{Frame, Report};

use crate::{
    Failure,
    against::against,
    paths::{Paths, to_make},
    source::{add_runs, naming, source},
    streams::print,
};

#[cfg(target_os = "macos")]
const OPENER: &str = "open";
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";

#[derive(Args)]
pub(crate) struct ReportArgs {
    /// Results folder, or a folder of reports/
    dir: PathBuf,
    /// Folder for the report [default: DIR]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write nothing; print what changed since this sweep of the same questions; end with 10 where
    /// something is slower by more than its margin
    #[arg(long, value_name = "OTHER", conflicts_with_all = ["out", "check"])]
    against: Option<PathBuf>,
    /// Write nothing; fail if a page or a table in DIR is not what the records give
    #[arg(long, conflicts_with = "out")]
    check: bool,
    /// Write no pictures
    #[arg(long)]
    no_plots: bool,
    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "md",
        conflicts_with_all = ["against", "check"])]
    format: Format,
    /// Show the page in a browser; writes it as `--format html`
    #[arg(long, conflicts_with_all = ["against", "check", "format"])]
    open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// report.md, its details, tables and pictures
    Md,
    /// All of md, and index.html: one page for a browser that holds them and every run
    Html,
    /// Nothing; print one object: version, experiment, question, answer, commit, started_unix_s,
    /// and tables, by name, as rows of named values
    Json,
    /// The tables alone
    Tsv,
}

/// A checkout gives results folders their short names, and nothing else.
pub(crate) fn report(args: &ReportArgs, paths: Option<&Paths>) -> Result<ExitCode, Failure> {
    let dir = paths.map_or_else(|| args.dir.clone(), |paths| paths.results(&args.dir));
    let shown = |path: &Path| match paths {
        Some(paths) => paths.shown(path),
        None => path.display().to_string(),
    };
    if let Some(old) = &args.against {
        let old = paths.map_or_else(|| old.clone(), |paths| paths.results(old));
        return against(&dir, &old);
    }
    if args.check {
        return check(&dir, &shown(&dir));
    }
    let out = args.out.as_ref().map_or_else(|| dir.clone(), |out| to_make(paths, out));
    let format = if args.open { Format::Html } else { args.format };
    match format {
        Format::Json => {
            let frame = frame(&dir)?;
            let object = lab_report::json(&frame, &made(&frame, &dir)?);
            print(format!("{object:#}\n").as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        }
        Format::Tsv => {
            let tables = make(&dir)?.tables;
            write(&out, tables.iter().map(|(name, text)| (name.as_str(), text.as_str())))?;
            println!("{} tables: {}", tables.len(), shown(&out));
            return Ok(ExitCode::SUCCESS);
        }
        Format::Md | Format::Html => {}
    }
    let report = write_report(&dir, &out)?;
    if !args.no_plots {
        draw_all(&report, &out);
    }
    let mut first = out.join("report.md");
    if format == Format::Html {
        first = write_page(&dir, &out)?;
    }
    println!("{}", shown(&first));
    if args.open {
        open(&first)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes `index.html` from the report's files beside it and the runs of its record.
fn write_page(records: &Path, out: &Path) -> Result<PathBuf, Failure> {
    let mut source = source(out).map_err(|error| cannot_write(out, &error))?;
    add_runs(&mut source, records)?;
    write(out, [("index.html", lab_site::page_alone(&source).as_str())].into_iter())?;
    Ok(out.join("index.html"))
}

/// Hands a page to the desktop's own program for it.
fn open(page: &Path) -> Result<(), Failure> {
    let failed = |what: String| Failure {
        code: 4,
        sentence: format!("{OPENER} {what}: open {} yourself", page.display()),
    };
    let ended = Command::new(OPENER).arg(page).status();
    match ended.map_err(|error| failed(format!("cannot be started ({error})")))? {
        status if status.success() => Ok(()),
        status => Err(failed(format!("failed ({status})"))),
    }
}

/// Writes `report.md`, its details and the tables; the pictures are the caller's.
pub(crate) fn write_report(records: &Path, out: &Path) -> Result<Report, Failure> {
    let report = make(records)?;
    write(out, files(&report))?;
    Ok(report)
}

fn write<'f>(out: &Path, files: impl Iterator<Item = (&'f str, &'f str)>) -> Result<(), Failure> {
    let folder = Folder::at(out);
    for (name, text) in files {
        let written = folder.write(name, text.as_bytes());
        written.map_err(|error| cannot_write(&folder.join(name), &error))?;
    }
    Ok(())
}

/// Draws what can be drawn. A missing gnuplot costs pictures, not the report.
pub(crate) fn draw_all(report: &Report, dir: &Path) {
    let scripts = match Scripts::unpack(lab_families::PLOTS) {
        Ok(scripts) => scripts,
        Err(error) => {
            eprintln!("no pictures: their scripts cannot be written to a scratch folder: {error}");
            return;
        }
    };
    for figure in &report.figures {
        let drawn = scripts.draw(&figure.script, &report.tables, &figure.file);
        let written = drawn.and_then(|picture| {
            Folder::at(dir).write(&figure.file, &picture).map_err(|error| error.to_string())
        });
        if let Err(sentence) = written {
            eprintln!("no picture {}: {sentence}", figure.file);
            break;
        }
    }
}

fn check(dir: &Path, place: &str) -> Result<ExitCode, Failure> {
    let report = make(dir)?;
    let folder = Folder::at(dir);
    let differs = |(name, text): &(&str, &str)| folder.text(name).ok().as_deref() != Some(text);
    let different: Vec<_> = files(&report).filter(differs).map(|(name, _)| name).collect();
    let known: BTreeSet<&str> = files(&report).map(|(name, _)| name).collect();
    let strange = written(&folder).map_err(|error| cannot_read(dir, &error))?;
    let strange: Vec<String> =
        strange.into_iter().filter(|name| !known.contains(name.as_str())).collect();
    if different.is_empty() && strange.is_empty() {
        println!("{place}: every page and table follows from the records");
        return Ok(ExitCode::SUCCESS);
    }
    if !different.is_empty() {
        let names = different.join(", ");
        eprintln!("{place}: these files differ from what the records give: {names}");
    }
    if !strange.is_empty() {
        let names = strange.join(", ");
        eprintln!("{place}: these files are of no report on the records; remove them: {names}");
    }
    Ok(ExitCode::from(1))
}

/// The tables and chapters in a report's folder, by their names in it.
fn written(folder: &Folder) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for (below, before, ending) in [("", "", "tsv"), ("details", "details/", "md")] {
        for name in folder.names(below).map_err(|error| naming(below, &error))? {
            if Path::new(&name).extension().is_some_and(|found| found == ending) {
                names.push(format!("{before}{name}"));
            }
        }
    }
    names.sort();
    Ok(names)
}

/// The report of a folder of records, which is not written.
pub(crate) fn make(records: &Path) -> Result<Report, Failure> {
    made(&frame(records)?, records)
}

fn made(frame: &Frame, records: &Path) -> Result<Report, Failure> {
    lab_report::believable(frame, lab_families::ALL).map_err(|error| Failure {
        code: 4,
        sentence: format!("{}: {error}", records.display()),
    })?;
    lab_report::report(frame, lab_families::ALL).map_err(|error| Failure::input(error.to_string()))
}

fn frame(records: &Path) -> Result<Frame, Failure> {
    Ok(Frame::load(&Results::load(records)?)?)
}

pub(crate) fn files(report: &Report) -> impl Iterator<Item = (&str, &str)> {
    let tables = report.tables.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let details = report.details.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    std::iter::once(("report.md", report.markdown.as_str())).chain(details).chain(tables)
}

fn cannot_read(path: &Path, error: &io::Error) -> Failure {
    Failure { code: 4, sentence: format!("cannot read {}: {error}", path.display()) }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure { code: 4, sentence: format!("{}: {error}", path.display()) }
}
