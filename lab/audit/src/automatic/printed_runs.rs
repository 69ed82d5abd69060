//! Tables of single runs, as raw files: an appendix is the data of the tables before it.

use std::collections::BTreeMap;

use super::grid::{Grid, Record};
use super::role::Role;
use crate::{Raw, Value};

/// Runs that a table must print for it to be data.
const FEWEST: usize = 6;

/// Every table of runs in a document, with its index: one row a run, the columns of labels and
/// one of values.
pub(crate) fn raws(grids: &[Grid<'_>]) -> Vec<(usize, Raw)> {
    grids.iter().enumerate().filter_map(|(index, grid)| Some((index, raw(grid)?))).collect()
}

fn raw(grid: &Grid<'_>) -> Option<Raw> {
    let runs = |record: &Record<'_>| -> Vec<f64> {
        let runs = record.stats.iter().filter(|stat| matches!(stat.role, Role::Run(_)));
        runs.map(|stat| stat.number.value).collect()
    };
    let mut units = grid.records.iter().flat_map(|record| &record.stats);
    let unit = units.find(|stat| matches!(stat.role, Role::Run(_)))?.number.unit.clone();
    let headers: Vec<String> =
        grid.records.first()?.labels.iter().map(|(header, _)| header.clone()).collect();
    let value = match unit {
        Some(unit) => format!("printed runs ({unit})"),
        None => "printed runs".to_owned(),
    };
    let mut columns: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut rows = 0;
    for record in &grid.records {
        for run in runs(record) {
            rows += 1;
            for (header, text) in &record.labels {
                columns.entry(header.clone()).or_default().push(Value::Text(text.clone()));
            }
            columns.entry(value.clone()).or_default().push(Value::Number(run));
        }
    }
    let order: Vec<String> = headers.into_iter().chain([value]).collect();
    // Two columns of one name would share their values.
    let whole = order.iter().all(|name| columns.get(name).is_some_and(|c| c.len() == rows));
    let name = format!("{}, table in line {}", grid.document, grid.table.line);
    (whole && rows >= FEWEST && grid.records.len() >= 2).then_some(Raw {
        name,
        rows,
        columns,
        order,
    })
}
