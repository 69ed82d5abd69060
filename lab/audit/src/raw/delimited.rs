//! CSV and its relatives.

use super::table::Builder;
use super::{Raw, RawError, Value};
use crate::Printed;

const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// Reads delimited text with a header line; a first line of numbers alone is data.
pub(super) fn read(name: &str, text: &str) -> Result<Raw, RawError> {
    let body = without_comments(text);
    let first = body.lines().next().unwrap_or_default();
    let delimiter = sniff(first);
    let lone = delimiter.is_none();
    let delimiter = delimiter.unwrap_or(',');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(u8::try_from(delimiter).unwrap_or(b','))
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(body.as_bytes());
    let invalid =
        |error: csv::Error| RawError::Csv { name: name.to_owned(), reason: error.to_string() };
    let mut records = reader.records();
    let Some(head) = records.next().transpose().map_err(invalid)? else {
        return Err(RawError::Empty { name: name.to_owned() });
    };
    let comma = delimiter == ';';
    let number = |text: &str| matches!(value(text, comma), Value::Number(_));
    let headless = head.iter().all(|field| number(field) || field.is_empty());
    let mut columns = names(&head, headless);
    let mut table = Builder::new(name);
    let mut numbers = false;
    let rows = headless.then_some(Ok(head)).into_iter().chain(records);
    for record in rows {
        let record = record.map_err(invalid)?;
        while columns.len() < record.len() {
            columns.push(format!("column {}", columns.len() + 1));
        }
        let values: Vec<Value> = record.iter().map(|field| value(field, comma)).collect();
        numbers |= values.iter().any(|value| matches!(value, Value::Number(_)));
        let missing = std::iter::repeat(Value::Missing);
        table.push(columns.iter().zip(values.into_iter().chain(missing)))?;
    }
    if lone && !numbers {
        return Err(RawError::Columns { name: name.to_owned() });
    }
    let mut raw = table.finish();
    if raw.rows == 0 {
        return Err(RawError::NoRows { name: name.to_owned() });
    }
    units(&mut raw);
    Ok(raw)
}

/// Columns whose every value is a number with one unit (`1.234 ms`, as BenchmarkDotNet writes)
/// become numbers, and their names say the unit.
fn units(raw: &mut Raw) {
    for index in 0..raw.order.len() {
        let column = raw.order[index].clone();
        let read = |value: &Value| match value {
            Value::Text(text) => Printed::parse(text).filter(|number| number.unit.is_some()),
            _ => None,
        };
        let numbers: Vec<Option<Printed>> = raw.values(&column).iter().map(read).collect();
        let Some(unit) = numbers.iter().flatten().find_map(|number| number.unit.clone()) else {
            continue;
        };
        let same = |number: &Option<Printed>| {
            number.as_ref().is_some_and(|number| number.unit.as_deref() == Some(&unit))
        };
        let name = format!("{column} ({unit})");
        if !numbers.iter().all(same) || raw.columns.contains_key(&name) {
            continue;
        }
        let values = numbers.into_iter().flatten().map(|number| Value::Number(number.value));
        raw.columns.remove(&column);
        raw.columns.insert(name.clone(), values.collect());
        raw.order[index] = name;
    }
}

/// Lines that start with `#` before the header are remarks.
fn without_comments(text: &str) -> &str {
    let mut rest = text;
    while rest.starts_with('#') {
        rest = rest.split_once('\n').map_or("", |(_, after)| after).trim_start();
    }
    rest
}

/// The delimiter that stands most often outside quotes in the first line.
fn sniff(line: &str) -> Option<char> {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut quoted = false;
    for c in line.chars() {
        quoted ^= c == '"';
        if let Some(index) = DELIMITERS.iter().position(|d| *d == c && !quoted) {
            counts[index] += 1;
        }
    }
    let (index, count) = counts.iter().enumerate().max_by_key(|(index, n)| (**n, 9 - index))?;
    (*count > 0).then_some(DELIMITERS[index])
}

/// Header names, made distinct.
fn names(head: &csv::StringRecord, headless: bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for (index, field) in head.iter().enumerate() {
        let blank = headless || field.is_empty();
        let base = if blank { format!("column {}", index + 1) } else { field.to_owned() };
        let mut name = base.clone();
        if !seen.insert(name.clone()) {
            name = format!("{base} ({})", index + 1);
            seen.insert(name.clone());
        }
        names.push(name);
    }
    names
}

/// A field; with `;` between fields the comma is a decimal point.
fn value(field: &str, comma: bool) -> Value {
    match Value::read(field) {
        Value::Text(text) if comma && text.matches(',').count() == 1 => {
            match Value::read(&text.replace(',', ".")) {
                Value::Number(number) => Value::Number(number),
                _ => Value::Text(text),
            }
        }
        value => value,
    }
}
