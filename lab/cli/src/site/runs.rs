//! The runs of a committed report's record, as its page draws them.

use std::{collections::BTreeMap, path::Path};

use lab_family::{Metric, Unit};
use lab_record::{Analysis, Results};
use lab_report::{Flat, Frame, flat};
use lab_site::{OneRun, Quantity, Runs};

use crate::Failure;

/// Columns of [`Flat`] before the factors: order, block, `in_rounds`, gated, variant.
const IDENTITY: usize = 5;
/// More would be a long list to choose from, and a large page.
const QUANTITIES_MAX: usize = 8;

/// The family's name and the runs; `None` where the folder holds no record of a sweep.
pub(super) fn of(folder: &Path) -> Result<Option<(String, Runs)>, Failure> {
    if !folder.join("run.json").is_file() {
        return Ok(None);
    }
    let frame = Frame::load(&Results::load(folder)?)?;
    let refused =
        |error: lab_report::ReportError| Failure::input(format!("{}: {error}", folder.display()));
    let flat = flat(&frame, lab_families::ALL).map_err(refused)?;
    let name = frame.rows.first().map(|row| row.run.family.as_str()).unwrap_or_default();
    let family = lab_families::ALL.iter().find(|family| family.name() == name);
    let metrics = family.map(|family| family.metrics()).unwrap_or_default();
    Ok(Some((name.to_owned(), drawn(&flat, metrics, &frame.run_file.analysis))))
}

fn drawn(flat: &Flat, metrics: &[Metric], analysis: &Analysis) -> Runs {
    let first_metric = flat.columns.len() - metrics.len();
    let places = declared(flat, metrics, analysis);
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
        says: metrics[*place].says.to_owned(),
        unit: unit(metrics[*place].unit),
        chosen: chosen(metrics[*place].name, analysis),
    };
    let mut runs: Vec<OneRun> = flat.rows.iter().map(run).collect();
    runs.sort_by_key(|run| run.order);
    Runs {
        quantities: places.iter().map(quantity).collect(),
        factors: flat.columns[IDENTITY..first_metric].to_vec(),
        runs,
    }
}

/// The places of the metrics that the experiment asks about and that runs have; the first metric
/// that they have where it asks about none.
fn declared(flat: &Flat, metrics: &[Metric], analysis: &Analysis) -> Vec<usize> {
    let first_metric = flat.columns.len() - metrics.len();
    let has_values =
        |place: &usize| flat.rows.iter().any(|row| !row[first_metric + place].is_empty());
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

/// The cells that the metric is asked about first, as far as they have one level.
fn chosen(metric: &str, analysis: &Analysis) -> BTreeMap<String, String> {
    let comparisons = analysis.comparisons.iter().map(|one| (&one.metric, &one.cells));
    let contrasts = analysis.contrasts.iter().map(|one| (&one.metric, &one.cells));
    let asked = comparisons.chain(contrasts).find(|(name, _)| *name == metric);
    let one = |(factor, levels): (&String, &Vec<String>)| match levels.as_slice() {
        [level] => Some((factor.clone(), level.clone())),
        _ => None,
    };
    asked.into_iter().flat_map(|(_, cells)| cells).filter_map(one).collect()
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
