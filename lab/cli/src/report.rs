//! `lab report`: records in, files out.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    process::Command,
};

use clap::{Args, ValueEnum};
use lab_driver::plots::Scripts;
use lab_record::{Folder, Heads, Results};
use lab_report::{Frame, Report};
use lab_site::records::{
    against::changed,
    bound::{Place, Written, check_shown, write},
    load::{self, made},
    over::{self, Over},
    runs::add_runs,
    source::{naming, source},
    tables,
};

use crate::{
    Exit, Failure,
    paths::{Paths, to_make},
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
    /// Write nothing; print what holds over this and these records of one experiment, each a
    /// session; `lab run --session N` makes them
    #[arg(long, value_name = "DIR", num_args = 1..,
        conflicts_with_all = ["out", "against", "check", "choose", "format", "open", "head"])]
    over: Vec<PathBuf>,
    /// With --over: these are later sessions; print how often they contradict what the earlier
    /// ones say
    #[arg(long, value_name = "DIR", num_args = 1.., requires = "over")]
    next: Vec<PathBuf>,
    /// Write nothing; fail if a page or a table in DIR is not what the records give
    #[arg(long, conflicts_with = "out")]
    check: bool,
    /// Fail where the record's rows are others than those of this head, which `lab run` printed
    #[arg(long, value_name = "HEAD", conflicts_with = "against")]
    head: Option<String>,
    /// Write no pictures
    #[arg(long)]
    no_plots: bool,
    /// Write nothing; print which variant suits a load, for instance
    /// streams=500,tokens_per_s=40,work_us=0,cores=2
    #[arg(long, value_name = "KEY=NUMBER", value_delimiter = ',', value_parser = number,
        conflicts_with_all = ["out", "against", "check", "format", "open"])]
    choose: Vec<(String, f64)>,
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

/// `streams=500`.
fn number(text: &str) -> Result<(String, f64), String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=NUMBER")?;
    let value = value.parse().map_err(|_| format!("`{value}` is no number: write KEY=NUMBER"))?;
    Ok((key.to_owned(), value))
}

/// A checkout gives results folders their short names, and nothing else.
pub(crate) fn report(args: &ReportArgs, paths: Option<&Paths>) -> Result<Exit, Failure> {
    let dir = paths.map_or_else(|| args.dir.clone(), |paths| paths.results(&args.dir));
    let shown = |path: &Path| match paths {
        Some(paths) => paths.shown(path),
        None => path.display().to_string(),
    };
    if let Some(old) = &args.against {
        let old = paths.map_or_else(|| old.clone(), |paths| paths.results(old));
        return against(&dir, &old);
    }
    if !args.over.is_empty() {
        let found = |dir: &PathBuf| paths.map_or_else(|| dir.clone(), |paths| paths.results(dir));
        let all = |dirs: &[PathBuf]| dirs.iter().map(found).collect::<Vec<_>>();
        let sessions = [vec![dir], all(&args.over)].concat();
        return put_together(match &args.next[..] {
            [] => over::put_together(&sessions),
            next => over::held_against(&sessions, &all(next)),
        });
    }
    let results = load::results(&dir)?;
    let head = results.heads().map(Heads::whole);
    told_head(&shown(&dir), args.head.as_deref(), head.as_deref())?;
    if args.check {
        return check(&dir, &shown(&dir), &results);
    }
    if !args.choose.is_empty() {
        let load = args.choose.iter().cloned().collect();
        let frame = Frame::load(&results)?;
        let text = lab_report::choose(&frame, lab_families::ALL, &load)
            .map_err(|error| Failure::input(error.to_string()))?
            .map_err(|why| Failure::input(format!("{}: --choose: {why}", shown(&dir))))?;
        print(text.as_bytes())?;
        return Ok(Exit::Success);
    }
    let out = args.out.as_ref().map_or_else(|| dir.clone(), |out| to_make(paths, out));
    let format = if args.open { Format::Html } else { args.format };
    match format {
        Format::Json => {
            let frame = Frame::load(&results)?;
            let object = lab_report::json(&frame, &made(&frame, &dir)?);
            print(format!("{object:#}\n").as_bytes())?;
            return Ok(Exit::Success);
        }
        Format::Tsv => {
            let tables = made(&Frame::load(&results)?, &dir)?.tables;
            let count = tables.len();
            let tables: Vec<Written> =
                tables.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
            write(place(&dir, &out, &results), &tables)?;
            println!("{count} tables: {}", shown(&out));
            return Ok(Exit::Success);
        }
        Format::Md | Format::Html => {}
    }
    write_report(place(&dir, &out, &results), &results, !args.no_plots)?;
    let mut first = out.join("report.md");
    if format == Format::Html {
        first = write_page(place(&dir, &out, &results), &results)?;
    }
    println!("{}", shown(&first));
    if args.open {
        open(&first)?;
    }
    Ok(Exit::Success)
}

/// Prints a table for each declared ratio. The exit code says whether a variant is worse beyond
/// the margin.
fn against(new: &Path, old: &Path) -> Result<Exit, Failure> {
    let changed = changed(new, old)?;
    for note in &changed.notes {
        eprintln!("note: {note}");
    }
    print!("{}", changed.tables);
    Ok(if changed.is_worse { Exit::Slower } else { Exit::Success })
}

/// Prints what holds over sessions.
fn put_together(over: Result<Over, Failure>) -> Result<Exit, Failure> {
    let over = over?;
    for note in &over.notes {
        eprintln!("note: {note}");
    }
    print(over.text.as_bytes())?;
    Ok(Exit::Success)
}

/// Where the report of a record goes.
fn place<'p>(record: &'p Path, out: &'p Path, results: &'p Results) -> Place<'p> {
    Place { out, record, heads: results.heads(), replaces: false }
}

/// Says whether a record is chained, and refuses one with another head than the one that was kept.
fn told_head(place: &str, kept: Option<&str>, head: Option<&str>) -> Result<(), Failure> {
    let refuse = |what: String| Err(Failure::files(format!("{place}: {what}")));
    match (kept, head) {
        (Some(kept), Some(head)) if !kept.eq_ignore_ascii_case(head) => refuse(format!(
            "its head is {head}, and --head is {kept}: these are not the rows that had that head"
        )),
        (Some(_), None) => refuse("has no head to hold against --head: it is unchained".to_owned()),
        (_, Some(head)) => {
            eprintln!("{place}: every row follows in its chain; head {head}");
            Ok(())
        }
        (None, None) => {
            eprintln!(
                "{place}: unchained, as all records once were: not every changed row is told"
            );
            Ok(())
        }
    }
}

/// Writes `index.html` from the report's files beside it and the runs of its record.
fn write_page(place: Place, results: &Results) -> Result<PathBuf, Failure> {
    let mut source = source(place.out).map_err(|error| Failure::file(place.out, error))?;
    add_runs(&mut source, place.record, results)?;
    let page = ("index.html".to_owned(), lab_site::page_alone(&source).into_bytes());
    write(place, &[page])?;
    Ok(place.out.join("index.html"))
}

/// Hands a page to the desktop's own program for it.
fn open(page: &Path) -> Result<(), Failure> {
    let failed =
        |what: String| Failure::files(format!("{OPENER} {what}: open {} yourself", page.display()));
    let ended = Command::new(OPENER).arg(page).status();
    match ended.map_err(|error| failed(format!("cannot be started ({error})")))? {
        status if status.success() => Ok(()),
        status => Err(failed(format!("failed ({status})"))),
    }
}

/// Writes `report.md`, its details, the tables and, where they are wanted, the pictures.
pub(crate) fn write_report(
    place: Place,
    results: &Results,
    pictures: bool,
) -> Result<Report, Failure> {
    let report = made(&Frame::load(results)?, place.record)?;
    write(place, &with_pictures(&report, pictures))?;
    Ok(report)
}

/// All files of a report.
pub(crate) fn with_pictures(report: &Report, pictures: bool) -> Vec<Written> {
    let texts = files(report).map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    let mut written: Vec<Written> = texts.collect();
    if pictures {
        written.extend(drawn(report));
    }
    written
}

/// What can be drawn. A missing gnuplot costs pictures, not the report.
fn drawn(report: &Report) -> Vec<Written> {
    let scripts = match Scripts::unpack(lab_families::PLOTS) {
        Ok(scripts) => scripts,
        Err(error) => {
            eprintln!("no pictures: their scripts cannot be written to a scratch folder: {error}");
            return Vec::new();
        }
    };
    let mut drawn = Vec::new();
    let forms = report.figures.iter().flat_map(|figure| {
        figure.files().into_iter().zip([&[][..], &["narrow"]]).map(move |form| (figure, form))
    });
    for (figure, (file, arguments)) in forms {
        match scripts.draw(&figure.script, &report.tables, arguments, &figure.file) {
            Ok(picture) => {
                let thin = String::from_utf8(picture).map(|svg| lab_site::thin(&svg).into_bytes());
                drawn.push((file, thin.unwrap_or_else(|error| error.into_bytes())));
            }
            Err(sentence) => {
                eprintln!("no picture {file}: {sentence}");
                break;
            }
        }
    }
    drawn
}

fn check(dir: &Path, place: &str, results: &Results) -> Result<Exit, Failure> {
    let report = made(&Frame::load(results)?, dir)?;
    let folder = Folder::at(dir);
    let hashes = tables::has_hashes(&folder, &report);
    let may_lack = |name: &str| {
        hashes == Some(true)
            && report.tables.contains_key(name)
            && !tables::is_linked(&report, name)
            && !folder.has(name)
    };
    let differs = |(name, text): &(&str, &str)| {
        folder.text(name).ok().as_deref() != Some(text) && !may_lack(name)
    };
    let mut different: Vec<_> = files(&report).filter(differs).map(|(name, _)| name).collect();
    different.extend((hashes == Some(false)).then_some(tables::HASHES));
    let known: BTreeSet<&str> = files(&report).map(|(name, _)| name).collect();
    let strange = written(&folder).map_err(|error| Failure::reading(dir, error))?;
    let strange: Vec<String> =
        strange.into_iter().filter(|name| !known.contains(name.as_str())).collect();
    if different.is_empty() && strange.is_empty() {
        let shown = source(dir).map_err(|error| Failure::reading(dir, error))?;
        check_shown(dir, results, &shown)?;
        println!("{place}: every page and table follows from the records");
        return Ok(Exit::Success);
    }
    if !different.is_empty() {
        let names = different.join(", ");
        eprintln!("{place}: these files differ from what the records give: {names}");
    }
    if !strange.is_empty() {
        let names = strange.join(", ");
        eprintln!("{place}: these files are of no report on the records; remove them: {names}");
    }
    Ok(Exit::Failed)
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

pub(crate) fn files(report: &Report) -> impl Iterator<Item = (&str, &str)> {
    let tables = report.tables.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let details = report.details.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    std::iter::once(("report.md", report.markdown.as_str())).chain(details).chain(tables)
}
