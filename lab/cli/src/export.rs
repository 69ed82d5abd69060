//! `lab export`: a record taken elsewhere, as a folder that is fit to commit, or as the numbers of
//! every analysed run for other programs.

mod columns;

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use clap::Args;
use lab_record::{Folder, Run, RunFile, Samples};
use lab_report::{Figure, Report, flat, medians_json, openmetrics};
use lab_site::records::{
    bound::{Place, write},
    load::{self, make},
    tables,
};

use crate::{
    Exit, Failure,
    paths::{Paths, to_make},
    report::{files, with_pictures},
    streams,
};

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// Results folder, or a folder of reports/
    from: PathBuf,
    /// Folder to create or replace with a copy of the records and their report, for example
    /// reports/tr115-sim; of its tables those that a page links to or that FOLDER had
    #[arg(required_unless_present = "numbers", conflicts_with = "numbers")]
    to: Option<PathBuf>,
    /// Of the record alone, without pages and pictures: sessions are read by what holds over them
    #[arg(long, conflicts_with = "numbers")]
    bare: bool,
    /// Print a row for each analysed run, with every metric
    #[arg(long, group = "numbers")]
    csv: bool,
    /// Print the medians over blocks by variant and cell, as gauges
    #[arg(long, group = "numbers")]
    openmetrics: bool,
    /// Print the same with their intervals, percentiles included
    #[arg(long, group = "numbers")]
    json: bool,
    /// Print the line of each run as it was recorded, without its chain where rows are packed
    #[arg(long, group = "numbers")]
    jsonl: bool,
    /// Write the rows of --csv to a Parquet file, and print nothing
    #[arg(long, value_name = "FILE", group = "numbers")]
    parquet: Option<PathBuf>,
}

/// A checkout gives results folders their short names, and nothing else.
pub(crate) fn export(args: &ExportArgs, paths: Option<&Paths>) -> Result<Exit, Failure> {
    let from = paths.map_or_else(|| args.from.clone(), |paths| paths.results(&args.from));
    match &args.to {
        Some(to) => copy(&from, &to_make(paths, to), args.bare)?,
        None => numbers(args, &from, paths)?,
    }
    Ok(Exit::Success)
}

fn copy(from: &Path, to: &Path, bare: bool) -> Result<(), Failure> {
    // What is no record, or none that can be read, has no files of ours.
    let before = make(to).map(|report| names(&report)).unwrap_or_default();
    let redacted = load::results(from)?.export(to, slim)?;
    if redacted > 0 {
        eprintln!("hosts, paths and variables were left out of {redacted} lines of the copy");
    }
    let results = load::results(to)?;
    let place = Place { out: to, record: to, heads: results.heads(), replaces: true };
    if bare {
        write(place, &[])?;
        println!("{}", to.display());
        return Ok(());
    }
    let report = make(to)?;
    // What nobody links to follows from the record, and its hash says what it was.
    let is_kept = |name: &&String| tables::is_linked(&report, name) || Folder::at(to).has(name);
    let kept: BTreeSet<String> = report.tables.keys().filter(is_kept).cloned().collect();
    let pictures: Vec<String> = report.figures.iter().flat_map(Figure::files).collect();
    // Tables of the record before that this one lacks; pictures, which may not be drawn here.
    for old in before.difference(&names(&report)).chain(&pictures) {
        Folder::at(to).remove(old).map_err(|error| {
            Failure::files(format!("cannot replace {}: {error}", to.join(old).display()))
        })?;
    }
    let mut files = with_pictures(&report, true);
    files.retain(|(name, _)| !report.tables.contains_key(name) || kept.contains(name));
    files.push((tables::HASHES.to_owned(), tables::hashes(&report).into_bytes()));
    write(place, &files)?;
    if let Some(heads) = results.heads() {
        eprintln!("head {}, as of the record that was copied", heads.whole());
    }
    println!("{}", to.join("report.md").display());
    Ok(())
}

/// Of all files of a report, in its folder.
fn names(report: &Report) -> BTreeSet<String> {
    let pictures = report.figures.iter().flat_map(Figure::files);
    files(report).map(|(name, _)| name.to_owned()).chain(pictures).collect()
}

/// What a committed report keeps of a run's samples, as the run's family says.
fn slim(sweep: &RunFile, run: &Run, samples: Samples) -> Samples {
    match lab_families::ALL.iter().find(|family| family.name() == run.family) {
        Some(family) => family.slim(sweep, run, samples),
        None => samples,
    }
}

fn numbers(args: &ExportArgs, from: &Path, paths: Option<&Paths>) -> Result<(), Failure> {
    if args.jsonl {
        return streams::print(&load::results(from)?.lines()?);
    }
    let frame = load::frame(from)?;
    let families = lab_families::ALL;
    let refused = |error: lab_report::ReportError| Failure::input(error.to_string());
    if let Some(path) = &args.parquet {
        let bytes = columns::table(&flat(&frame, families).map_err(refused)?)
            .map_err(|error| Failure::lab(format!("cannot make a Parquet file: {error}")))?;
        let written = fs::write(to_make(paths, path), bytes);
        return written.map_err(|error| Failure::writing(path, error));
    }
    let text = if args.openmetrics {
        openmetrics(&frame, families).map_err(refused)?.into_bytes()
    } else if args.json {
        medians_json(&frame, families).map_err(refused)?.into_bytes()
    } else {
        csv(flat(&frame, families).map_err(refused)?)
            .map_err(|error| Failure::lab(format!("cannot write CSV: {error}")))?
    };
    streams::print(&text)
}

fn csv(flat: lab_report::Flat) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&flat.columns)?;
    for row in &flat.rows {
        writer.write_record(row)?;
    }
    writer.into_inner().map_err(|error| error.into_error())
}
