//! Every analysed run as one row of numbers, for other programs.

use std::collections::BTreeSet;

use lab_family::{Cell, Metric};
use lab_stats::describe::median;
use serde_json::{Map, Value, json};

use crate::frame::Frame;
use crate::measure::Measured;
use crate::reading::Reading;
use crate::study::Study;
use crate::{FamilyReport, ReportError, family_of};

/// Runs by metrics, unrounded; what a run has not is empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Flat {
    /// What identifies a run, the factors of its cell, then the family's metrics.
    pub columns: Vec<String>,
    /// How many of the columns, the last ones, are metrics.
    pub metrics: usize,
    /// A row for each analysed run, in the order of the plan.
    pub rows: Vec<Vec<String>>,
}

/// The runs of a sweep with every metric of their family.
///
/// # Errors
/// As [`crate::report`].
pub fn flat(frame: &Frame, families: &[&dyn FamilyReport]) -> Result<Flat, ReportError> {
    let family = family_of(frame, families)?;
    let study = Study::of(frame, family);
    let runs: Vec<&Measured> = study.all.iter().chain(&study.in_rounds).collect();
    let factors: BTreeSet<&str> =
        runs.iter().flat_map(|one| one.row.run.cell.keys().map(String::as_str)).collect();
    let metrics: Vec<&str> = family.metrics().iter().map(|metric| metric.name).collect();
    let mut columns: Vec<&str> = vec!["order", "block", "in_rounds", "gated", "variant"];
    columns.extend(&factors);
    columns.extend(&metrics);
    let row = |one: &&Measured| {
        let run = &one.row.run;
        let in_rounds = frame.run_file.question_of(run.block).is_some();
        let gated = !run.gated.is_empty();
        let mut row = vec![
            run.order.to_string(),
            run.block.to_string(),
            in_rounds.to_string(),
            gated.to_string(),
            run.variant.clone(),
        ];
        row.extend(factors.iter().map(|factor| run.cell.get(*factor).cloned().unwrap_or_default()));
        let number = |metric: &&str| one.value(metric).map_or(String::new(), |v| v.to_string());
        row.extend(metrics.iter().map(number));
        row
    };
    let rows = runs.iter().map(row).collect();
    let columns = columns.into_iter().map(str::to_owned).collect();
    Ok(Flat { columns, metrics: metrics.len(), rows })
}

/// The median of each metric over the blocks, by variant and cell, as OpenMetrics gauges
/// (OpenMetrics 1.0, "Text format").
///
/// # Errors
/// As [`crate::report`].
pub fn openmetrics(frame: &Frame, families: &[&dyn FamilyReport]) -> Result<String, ReportError> {
    let family = family_of(frame, families)?;
    let study = Study::of(frame, family);
    let experiment = label("experiment", &frame.run_file.experiment);
    let mut text = String::new();
    for metric in family.metrics() {
        let name = format!("lab_{}_{}", family.name(), metric.name);
        let mut lines = String::new();
        for variant in study.measured_variants() {
            for cell in study.cells(variant) {
                let series = study.series(variant, cell, metric.name);
                let values: Vec<f64> = series.values().copied().collect();
                let Some(middle) = median(&values) else { continue };
                let levels = cell.iter().map(|(factor, level)| label(factor, level));
                let mut labels = vec![experiment.clone(), label("variant", variant)];
                labels.extend(levels);
                lines.push_str(&format!("{name}{{{}}} {middle}\n", labels.join(",")));
            }
        }
        if !lines.is_empty() {
            let says = metric.says.replace('\\', "\\\\").replace('"', "\\\"");
            text.push_str(&format!("# TYPE {name} gauge\n# HELP {name} {says}\n{lines}"));
        }
    }
    Ok(text + "# EOF\n")
}

/// The median of each metric over the blocks, with its interval where there is one, by variant and
/// cell, as JSON. Percentiles within a run are metrics of its family.
///
/// # Errors
/// As [`crate::report`].
pub fn medians_json(frame: &Frame, families: &[&dyn FamilyReport]) -> Result<String, ReportError> {
    let family = family_of(frame, families)?;
    let study = Study::of(frame, family);
    let of_cell = |variant: &str, cell: &Cell| {
        let reading = |metric: &Metric| {
            let one = Reading::level(&study.series(variant, cell, metric.name), metric.unit)?;
            let (low, high) = one.low_high.unzip();
            let numbers = json!({ "median": one.estimate, "low": low, "high": high, "n": one.n });
            Some((metric.name.to_owned(), numbers))
        };
        let metrics: Map<String, Value> = family.metrics().iter().filter_map(reading).collect();
        json!({ "variant": variant, "cell": cell, "metrics": metrics })
    };
    let variants = study.measured_variants().into_iter();
    let cells = variants.flat_map(|variant| {
        study.cells(variant).into_iter().map(|cell| of_cell(variant, cell)).collect::<Vec<_>>()
    });
    let cells: Vec<Value> = cells.collect();
    let experiment = &frame.run_file.experiment;
    let whole = json!({ "experiment": experiment, "family": family.name(), "cells": cells });
    Ok(format!("{whole:#}\n"))
}

fn label(name: &str, value: &str) -> String {
    format!("{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
