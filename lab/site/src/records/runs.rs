//! The runs of a record, as its page draws them.

use std::{collections::BTreeMap, path::Path};

use lab_console::Failure;
use lab_family::{Metric, Unit};
use lab_record::{Analysis, Comparison, Results};
use lab_report::{Flat, Frame, colours, family_of, flat};

use super::tables;
use crate::{Asked, OneRun, Quantity, Runs, Source};

/// Columns of [`Flat`] before the factors: order, block, `in_rounds`, gated, variant.
const IDENTITY: usize = 5;
/// More would be a long list to choose from, and a large page.
const QUANTITIES_MAX: usize = 8;

/// Gives a page's source its record's runs, the name of their family, and the tables that a
/// committed report leaves out; a record without a number to draw has no runs.
///
/// # Errors
/// Where samples cannot be read (4), or the record is of no family of this lab (2): the source is
/// as it was.
pub fn add_runs(source: &mut Source, folder: &Path, results: &Results) -> Result<(), Failure> {
    let frame = Frame::load(results)?;
    let refused =
        |error: lab_report::ReportError| Failure::input(format!("{}: {error}", folder.display()));
    let family = family_of(&frame, lab_families::ALL).map_err(refused)?;
    let flat = flat(&frame, lab_families::ALL).map_err(refused)?;
    source.kind = family.name().to_owned();
    source.runs = drawn(&flat, family.metrics(), &frame);
    tables::complete(&mut source.tables, folder, &frame)
}

/// `None` where no run has a number.
fn drawn(flat: &Flat, metrics: &[Metric], frame: &Frame) -> Option<Runs> {
    let analysis = &frame.run_file.analysis;
    let first_metric = flat.columns.len() - metrics.len();
    let places = declared(flat, metrics, analysis);
    if places.is_empty() {
        return None;
    }
    let run = |row: &Vec<String>| OneRun {
        order: row[0].parse().unwrap_or_default(),
        block: row[1].parse().ok().filter(|_| row[2] == "false"),
        gated: row[3] == "true",
        variant: row[4].clone(),
        levels: row[IDENTITY..first_metric].to_vec(),
        values: places.iter().map(|place| row[first_metric + place].parse().ok()).collect(),
    };
    let quantity = |place: &usize| Quantity {
        name: metrics[*place].name.to_owned(),
        noun: metrics[*place].noun.to_owned(),
        says: metrics[*place].says.to_owned(),
        unit: unit(metrics[*place].unit),
        chosen: chosen(metrics[*place].name, analysis),
    };
    let mut runs: Vec<OneRun> = flat.rows.iter().map(run).collect();
    // A run's line is written when it has ended. Its number is no time: those of a question's
    // rounds are apart, and the questions take turns.
    let lines = frame.rows.iter().enumerate().map(|(line, row)| (row.run.order, line));
    let lines: BTreeMap<u64, usize> = lines.collect();
    runs.sort_by_key(|run| lines.get(&run.order));
    Some(Runs {
        quantities: places.iter().map(quantity).collect(),
        factors: flat.columns[IDENTITY..first_metric].to_vec(),
        runs,
        asked: analysis.comparisons.iter().map(asked).collect(),
        reference: analysis.reference.clone(),
        colours: colours(&frame.run_file).into_iter().map(css).collect(),
    })
}

fn css((variant, colour): (&str, u32)) -> (String, String) {
    (variant.to_owned(), format!("#{colour:06X}"))
}

/// The places of the metrics that the experiment asks about and that runs have; the first metric
/// that they have where it asks about none.
fn declared(flat: &Flat, metrics: &[Metric], analysis: &Analysis) -> Vec<usize> {
    let first_metric = flat.columns.len() - metrics.len();
    let is_number = |text: &String| text.parse().is_ok_and(f64::is_finite);
    let has_values =
        |place: &usize| flat.rows.iter().any(|row| is_number(&row[first_metric + place]));
    let comparisons = analysis.comparisons.iter().map(|one| &one.metric);
    let asked = comparisons.chain(analysis.contrasts.iter().map(|one| &one.metric));
    let mut places = Vec::new();
    for name in asked {
        let place = metrics.iter().position(|metric| metric.name == name).filter(has_values);
        places.extend(place.filter(|place| !places.contains(place)));
    }
    if places.is_empty() {
        places.extend((0..metrics.len()).find(has_values));
    }
    places.truncate(QUANTITIES_MAX);
    places
}

fn asked(comparison: &Comparison) -> Asked {
    Asked { quantity: comparison.metric.clone(), chosen: single(&comparison.cells) }
}

/// The cells that the metric is asked about first, as far as they have one level.
fn chosen(metric: &str, analysis: &Analysis) -> BTreeMap<String, String> {
    let comparisons = analysis.comparisons.iter().map(|one| (&one.metric, &one.cells));
    let contrasts = analysis.contrasts.iter().map(|one| (&one.metric, &one.cells));
    let asked = comparisons.chain(contrasts).find(|(name, _)| *name == metric);
    asked.map(|(_, cells)| single(cells)).unwrap_or_default()
}

/// The factors with one level.
fn single(cells: &BTreeMap<String, Vec<String>>) -> BTreeMap<String, String> {
    let one = |(factor, levels): (&String, &Vec<String>)| match levels.as_slice() {
        [level] => Some((factor.clone(), level.clone())),
        _ => None,
    };
    cells.iter().filter_map(one).collect()
}

/// The unit's name in the data of a page.
fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Ns => "ns",
        Unit::Share => "share",
        Unit::PerSecond => "per_second",
        Unit::Times => "times",
        Unit::Bytes => "bytes",
        Unit::Count => "count",
    }
}
