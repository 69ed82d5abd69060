//! The files of a comparison, looked at before its first run: a measurement of a minute is not lost
//! to a folder that does not exist.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use lab_console::Failure;

use super::{
    annotate,
    options::{Destination, Options, RoundFile},
    plot::Plot,
};

/// Refuses files that will not be writable at the end, and one that two options would write. What
/// was not there is not there afterwards.
pub(crate) fn check(options: &Options) -> Result<(), Failure> {
    let at_the_end = at_the_end(options);
    for (option, path) in &at_the_end {
        try_to_write(path).map_err(|error| {
            Failure::files(format!("{option}: cannot write {}: {error}", path.display()))
        })?;
    }
    let others = [
        ("--spend", options.attempts.clone()),
        match &options.rounds {
            RoundFile::None => ("", None),
            RoundFile::New(path) => ("--record", Some(path.clone())),
            RoundFile::Resumed(path) => ("--resume", Some(path.clone())),
        },
        ("--input", options.runs.input.clone()),
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
fn at_the_end(options: &Options) -> Vec<(&'static str, PathBuf)> {
    // Commands may write one file in turns.
    let mut outputs: Vec<&PathBuf> = Vec::new();
    for output in &options.runs.outputs {
        if let Destination::File(path) = output
            && !outputs.contains(&path)
        {
            outputs.push(path);
        }
    }
    let result = &options.result;
    let named = [
        ("--export-json", result.hyperfine_json.clone()),
        ("--export-markdown", result.markdown.clone()),
        ("--plot", result.plot.as_ref().and_then(Plot::file)),
    ];
    let outputs = outputs.into_iter().map(|path| ("--output", Some(path.clone())));
    // The table goes to one page, so --export-markdown may name the summary.
    let summary = result.markdown.is_none().then_some(annotate::SUMMARY);
    let of_job = summary.into_iter().chain([annotate::OUTPUT]);
    let of_job = of_job.filter(|_| result.annotations);
    let of_job = of_job.map(|variable| (variable, annotate::file(variable)));
    let all = named.into_iter().chain(outputs).chain(of_job);
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
