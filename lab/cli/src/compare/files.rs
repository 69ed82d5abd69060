//! The files of a comparison, looked at before its first run: a measurement of a minute is not lost
//! to a folder that does not exist.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::{annotate, answers::To, args::CompareArgs, plot};
use crate::Failure;

/// Refuses files that will not be writable at the end, and one that two options would write. What
/// was not there is not there afterwards.
pub(crate) fn check(args: &CompareArgs) -> Result<(), Failure> {
    let at_the_end = at_the_end(args);
    for (option, path) in &at_the_end {
        try_to_write(path).map_err(|error| {
            Failure::files(format!("{option}: cannot write {}: {error}", path.display()))
        })?;
    }
    let others = [
        ("--spend", args.around.spend.clone()),
        ("--record", args.record.clone()),
        ("--resume", args.resume.clone()),
        ("--input", args.input()),
    ];
    let others = others.into_iter().filter_map(|(option, path)| Some((option, path?)));
    let all: Vec<(&str, PathBuf)> = at_the_end.into_iter().chain(others).collect();
    for (place, (option, path)) in all.iter().enumerate() {
        let same = |other: &&(&str, PathBuf)| {
            identity(path).is_some_and(|here| identity(&other.1) == Some(here))
        };
        if let Some((other, _)) = all[..place].iter().find(same) {
            let path = path.display();
            let sentence = format!("{other} and {option} name the same file, {path}; name two");
            return Err(Failure::input(sentence));
        }
    }
    Ok(())
}

/// What is written without having been opened before, by the options and variables that name it.
fn at_the_end(args: &CompareArgs) -> Vec<(&'static str, PathBuf)> {
    let output = match args.output() {
        To::File(path) => Some(path),
        _ => None,
    };
    let plot = args.around.plot.as_ref().filter(|path| plot::terminal(path).is_some());
    let options = [
        ("--export-json", args.export_json.clone()),
        ("--export-markdown", args.export_markdown.clone()),
        ("--plot", plot.cloned()),
        ("--output", output),
    ];
    // The table goes to one page, so --export-markdown may name the summary.
    let summary = args.export_markdown.is_none().then_some(annotate::SUMMARY);
    let of_job = summary.into_iter().chain([annotate::OUTPUT]);
    let of_job = of_job.filter(|_| annotate::is_wanted(&args.around));
    let of_job = of_job.map(|variable| (variable, annotate::file(variable)));
    let all = options.into_iter().chain(of_job);
    all.filter_map(|(option, path)| Some((option, path?))).collect()
}

fn try_to_write(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        // To open a pipe and close it would tell its reader that everything is written.
        Ok(file) if !file.is_file() && !file.is_dir() => Ok(()),
        Ok(_) => OpenOptions::new().append(true).open(path).map(drop),
        Err(_) => match OpenOptions::new().append(true).create_new(true).open(path) {
            Ok(_) => fs::remove_file(path),
            // A link whose end is not there yet.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        },
    }
}

/// What two names of one file have in common; `None` of what holds nothing, such as `/dev/null`.
fn identity(path: &Path) -> Option<PathBuf> {
    match fs::metadata(path) {
        Ok(file) => file.is_file().then(|| fs::canonicalize(path).ok())?,
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
            Some(folder.join(path.file_name()?))
        }
    }
}
