//! JSON, JSON Lines, and the exports of hyperfine and Criterion.

use serde_json::{Map, Value as Json};

use super::table::Builder;
use super::{Raw, RawError, Value};

/// Names under which tools keep their rows.
const ROWS: [&str; 8] =
    ["results", "runs", "benchmarks", "data", "rows", "samples", "records", "measurements"];

/// Reads a text that starts with a bracket.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<Raw>, RawError> {
    let shape = || RawError::Shape { name: name.to_owned() };
    let json = match parsed(text) {
        Ok(json) => json,
        Err(error) => lines(text)
            .ok_or_else(|| RawError::Json { name: name.to_owned(), reason: error.to_string() })?,
    };
    if let Some(sample) = criterion(name, &json)? {
        return Ok(vec![sample]);
    }
    let rows = rows(json).filter(|rows| !rows.is_empty()).ok_or_else(shape)?;
    let flat: Vec<Flat> = rows.into_iter().map(flatten).collect();
    let repeated = flat.iter().any(|row| !row.repeats.is_empty());
    let summaries = scalars(name, &flat)?;
    if !repeated {
        if summaries.columns.is_empty() {
            return Err(shape());
        }
        return Ok(vec![summaries]);
    }
    Ok(vec![exploded(name, &flat)?, summaries])
}

/// A value; what JSON has no number for is `null`.
pub(super) fn parsed(text: &str) -> Result<Json, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match lab_import::without_nan(text) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    })
}

/// One JSON value a line; `None` where a line is none.
fn lines(text: &str) -> Option<Json> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let values: Option<Vec<Json>> = lines.map(|line| parsed(line).ok()).collect();
    values.filter(|values| values.len() > 1).map(Json::Array)
}

/// Criterion's sample.json: `times[i]` is the time of `iters[i]` iterations, in nanoseconds.
fn criterion(name: &str, json: &Json) -> Result<Option<Raw>, RawError> {
    let numbers = |key: &str| -> Option<Vec<f64>> {
        json.get(key)?.as_array()?.iter().map(Json::as_f64).collect()
    };
    let (Some(iters), Some(times)) = (numbers("iters"), numbers("times")) else {
        return Ok(None);
    };
    let mut table = Builder::new(name);
    for (iters, time) in iters.iter().zip(&times) {
        let each = time / iters;
        let each = if each.is_finite() { Value::Number(each) } else { Value::Missing };
        table.push([
            ("iters".to_owned(), Value::Number(*iters)),
            ("times".to_owned(), Value::Number(*time)),
            ("time_ns".to_owned(), each),
        ])?;
    }
    Ok(Some(table.finish()))
}

/// Where the rows are: the value itself, or the array of objects inside it.
fn rows(json: Json) -> Option<Vec<Json>> {
    match json {
        Json::Array(values) => Some(values),
        Json::Object(mut map) => {
            let is_rows = |value: &Json| {
                value.as_array().is_some_and(|v| v.first().is_some_and(Json::is_object))
            };
            let named = ROWS.iter().find(|key| map.get(**key).is_some_and(is_rows));
            let key = match named {
                Some(key) => Some((*key).to_owned()),
                None => map.iter().find(|(_, value)| is_rows(value)).map(|(key, _)| key.clone()),
            };
            match key {
                Some(key) => map.remove(&key).and_then(|rows| match rows {
                    Json::Array(rows) => Some(rows),
                    _ => None,
                }),
                None => Some(vec![Json::Object(map)]),
            }
        }
        _ => None,
    }
}

/// A row with dotted names; arrays of numbers are repeats.
#[derive(Default)]
struct Flat {
    scalars: Vec<(String, Value)>,
    repeats: Vec<(String, Vec<Value>)>,
}

fn flatten(row: Json) -> Flat {
    let mut flat = Flat::default();
    match row {
        Json::Object(map) => object("", map, &mut flat),
        // Rows without names: their cells are columns by position.
        Json::Array(cells) => {
            let name = |index: usize| format!("column {}", index + 1);
            let cells = cells.into_iter().enumerate();
            flat.scalars = cells.map(|(index, cell)| (name(index), scalar(&cell))).collect();
        }
        other => flat.scalars.push(("value".to_owned(), scalar(&other))),
    }
    flat
}

fn object(prefix: &str, map: Map<String, Json>, flat: &mut Flat) {
    for (key, value) in map {
        let name = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        match value {
            Json::Object(inner) => object(&name, inner, flat),
            Json::Array(items) => {
                let numeric = !items.is_empty()
                    && items.iter().all(|item| item.is_number() || item.is_null())
                    && items.iter().any(Json::is_number);
                if numeric {
                    flat.repeats.push((name, items.iter().map(scalar).collect()));
                }
            }
            value => flat.scalars.push((name, scalar(&value))),
        }
    }
}

fn scalar(value: &Json) -> Value {
    match value {
        Json::Number(number) => number.as_f64().map_or(Value::Missing, Value::Number),
        Json::String(text) => Value::read(text),
        Json::Bool(flag) => Value::Text(flag.to_string()),
        _ => Value::Missing,
    }
}

fn scalars(name: &str, rows: &[Flat]) -> Result<Raw, RawError> {
    let mut table = Builder::new(name);
    for row in rows {
        table.push(row.scalars.iter().cloned())?;
    }
    Ok(table.finish())
}

/// One row a repeat. Numbers that stand once a row are its summaries and are left out; texts name
/// what was measured. hyperfine's `times` become `time`, in its seconds.
fn exploded(name: &str, rows: &[Flat]) -> Result<Raw, RawError> {
    let mut table = Builder::new(name);
    for row in rows {
        let named = |(column, value): &&(String, Value)| {
            matches!(value, Value::Text(_)) || column.starts_with("parameters.")
        };
        let names: Vec<_> = row.scalars.iter().filter(named).cloned().collect();
        let longest = row.repeats.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
        for run in 0..longest {
            let repeats = row.repeats.iter().map(|(column, values)| {
                let column = if column == "times" { "time" } else { column };
                (column.to_owned(), values.get(run).cloned().unwrap_or(Value::Missing))
            });
            let run = ("run".to_owned(), Value::Number(run as f64 + 1.0));
            table.push(names.iter().cloned().chain([run]).chain(repeats))?;
        }
    }
    Ok(table.finish())
}
