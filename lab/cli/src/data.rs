//! `lab data`: every analysed run as numbers, for other programs.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Args, ValueEnum};
use lab_record::Results;
use lab_report::{Frame, flat, medians_json, openmetrics};

use crate::{Failure, paths::Paths};

#[derive(Args)]
pub(crate) struct DataArgs {
    /// Results folder, or a folder of reports/
    dir: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
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
    let text = match args.format {
        Format::Csv => csv(flat(&frame, families).map_err(refused)?)
            .map_err(|error| Failure::lab(format!("cannot write CSV: {error}")))?,
        Format::Openmetrics => openmetrics(&frame, families).map_err(refused)?.into_bytes(),
        Format::Json => medians_json(&frame, families).map_err(refused)?.into_bytes(),
    };
    match io::stdout().lock().write_all(&text) {
        // A reader such as `head` has seen enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::lab(format!("cannot print the data: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn csv(flat: lab_report::Flat) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&flat.columns)?;
    for row in &flat.rows {
        writer.write_record(row)?;
    }
    writer.into_inner().map_err(|error| error.into_error())
}
