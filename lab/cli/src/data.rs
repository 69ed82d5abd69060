//! `lab data`: every analysed run as numbers, for other programs.

mod columns;

use std::{fs, io, path::PathBuf, process::ExitCode};

use clap::{Args, ValueEnum};
use lab_record::Results;
use lab_report::{Frame, flat, medians_json, openmetrics};

use crate::{
    Failure,
    paths::{Paths, to_make},
    streams,
};

#[derive(Args)]
pub(crate) struct DataArgs {
    /// Results folder, or a folder of reports/
    dir: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// Write the rows of CSV to a Parquet file, and print nothing
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    parquet: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A row for each analysed run, with every metric
    Csv,
    /// Medians over blocks by variant and cell, as gauges
    Openmetrics,
    /// The same with their intervals, percentiles included
    Json,
}

pub(crate) fn data(args: &DataArgs, paths: Option<&Paths>) -> Result<ExitCode, Failure> {
    let dir = paths.map_or_else(|| args.dir.clone(), |paths| paths.results(&args.dir));
    let frame = Frame::load(&Results::load(&dir)?)?;
    let families = lab_families::ALL;
    let refused = |error: lab_report::ReportError| Failure::input(error.to_string());
    if let Some(path) = &args.parquet {
        let bytes = columns::table(&flat(&frame, families).map_err(refused)?)
            .map_err(|error| Failure::lab(format!("cannot make a Parquet file: {error}")))?;
        let file = to_make(paths, path);
        return match fs::write(file, bytes) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error) => {
                let sentence = format!("cannot write {}: {error}", path.display());
                Err(Failure { code: 4, sentence })
            }
        };
    }
    let text = match args.format {
        Format::Csv => csv(flat(&frame, families).map_err(refused)?)
            .map_err(|error| Failure::lab(format!("cannot write CSV: {error}")))?,
        Format::Openmetrics => openmetrics(&frame, families).map_err(refused)?.into_bytes(),
        Format::Json => medians_json(&frame, families).map_err(refused)?.into_bytes(),
    };
    streams::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn csv(flat: lab_report::Flat) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&flat.columns)?;
    for row in &flat.rows {
        writer.write_record(row)?;
    }
    writer.into_inner().map_err(|error| error.into_error())
}
