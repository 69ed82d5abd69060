//! A report for other programs: question, answer and every table in one JSON object.

use serde_json::{Map, Value, json};

use crate::Report;
use crate::frame::Frame;
use crate::opening::question;

/// Of the object's form: it grows where a key changes its meaning or goes.
const VERSION: u32 = 1;

/// The report as one object: `version`, `experiment`, `question`, `answer` (null where there is
/// none), `commit` (null where it is not known), `started_unix_s`, and `tables` by name, each an
/// array of rows by column. Numbers are unrounded; what a row has not is null.
pub fn json(frame: &Frame, report: &Report) -> Value {
    let file = &frame.run_file;
    let table = |(name, text): (&String, &String)| {
        (name.trim_end_matches(".tsv").to_owned(), Value::Array(rows(text)))
    };
    json!({
        "version": VERSION,
        "experiment": file.experiment,
        "question": question(file),
        "answer": report.answer,
        "commit": file.git.as_ref().map(|git| &git.commit),
        "started_unix_s": file.started_unix_s,
        "tables": report.tables.iter().map(table).collect::<Map<_, _>>(),
    })
}

/// The rows of a tab-separated table below its header line.
fn rows(text: &str) -> Vec<Value> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let row = |line: &str| {
        let cells = columns.iter().zip(line.split('\t'));
        Value::Object(cells.map(|(name, cell)| ((*name).to_owned(), value(cell))).collect())
    };
    lines.map(row).collect()
}

/// A cell as a number where it is one.
fn value(cell: &str) -> Value {
    match (cell, cell.parse::<i64>(), cell.parse::<f64>()) {
        ("" | "nan", ..) => Value::Null,
        (_, Ok(integer), _) => integer.into(),
        (_, _, Ok(number)) if number.is_finite() => number.into(),
        _ => cell.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbers_texts_or_nothing() {
        let expected = json!([
            {"variant": "a", "n": 3, "low": -0.5, "high": null},
            {"variant": "b c", "n": null, "low": "inf", "high": 1e-3},
        ]);
        let text = "variant\tn\tlow\thigh\na\t3\t-0.5\tnan\nb c\t\tinf\t0.001\n";
        assert_eq!(Value::Array(rows(text)), expected);
        assert!(rows("variant\n").is_empty() && rows("").is_empty());
    }
}
