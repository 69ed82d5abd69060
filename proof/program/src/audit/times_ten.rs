//! One number of a table multiplied by ten: is it noticed at its line?

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use lab_audit::{Document, Finding, Mapping, Printed, Severity, Table, audit_document};

use super::corpus::Part;

/// Numbers changed in one table, evenly spaced over its cells.
const A_TABLE: usize = 6;

/// How many changes were noticed.
#[derive(Default, Clone, Copy)]
struct Count {
    noticed: usize,
    tried: usize,
}

/// The share of changes that are noticed, by table or by part.
///
/// # Errors
/// A document or a table of the list is missing.
pub(crate) fn report(dir: &Path, list: &str, by_table: bool) -> Result<String> {
    let mut rows = "table\tnoticed\tof\tredundancy\n".to_owned();
    let mut parts = Part::ALL.map(|part| (part, Vec::new()));
    for row in list.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let [file, line, what] = cells[..] else { bail!("redundant.tsv: {row}") };
        let content = fs::read(dir.join("docs").join(file)).context(file.to_owned())?;
        let content = String::from_utf8_lossy(&content).into_owned();
        let count = of_table(file, &content, line.parse()?)?;
        let _ = writeln!(rows, "{file}:{line}\t{}\t{}\t{what}", count.noticed, count.tried);
        for (part, counts) in &mut parts {
            if Part::of(file) == *part {
                counts.push(count);
            }
        }
    }
    if by_table {
        return Ok(rows);
    }
    let mut text = String::new();
    for (part, counts) in &parts {
        let share = |count: &Count| count.noticed as f64 / count.tried.max(1) as f64;
        let mean = 100.0 * counts.iter().map(share).sum::<f64>() / counts.len().max(1) as f64;
        let most = counts.iter().filter(|count| 2 * count.noticed >= count.tried).count();
        let _ = writeln!(
            text,
            "\n{part:?}: {mean:.0} % of the changes in {} tables are noticed at their line; in \
             {most} tables half of them or more.",
            counts.len()
        );
    }
    Ok(text)
}

fn of_table(file: &str, text: &str, line: usize) -> Result<Count> {
    let document = Document::parse(file, text);
    let table = document.tables.iter().find(|table| table.line == line);
    let table = table.with_context(|| format!("{file}:{line} is no table"))?;
    let known = findings(file, text);
    let spots = spots(table);
    let step = spots.len().div_ceil(A_TABLE).max(1);
    let mut count = Count::default();
    for (line, number) in spots.into_iter().step_by(step) {
        let Some(changed) = changed(text, line, &number) else { continue };
        count.tried += 1;
        let new = |finding: &Finding| !known.iter().any(|one| one.sentence == finding.sentence);
        let here = |finding: &Finding| finding.place.line == Some(line);
        let noticed = findings(file, &changed).into_iter().any(|one| here(&one) && new(&one));
        count.noticed += usize::from(noticed);
    }
    Ok(count)
}

fn findings(file: &str, text: &str) -> Vec<Finding> {
    let document = Document::parse(file, text);
    let audit = audit_document(&document, &[], &Mapping::default());
    audit.findings.into_iter().filter(|one| one.severity < Severity::Doubtful).collect()
}

/// The measured numbers of a table: those with a point or a unit, outside of the first column.
fn spots(table: &Table) -> Vec<(usize, Printed)> {
    let cells = table.rows.iter().flat_map(|row| {
        row.cells.iter().skip(1).filter_map(|cell| Some((row.line, cell.number.clone()?)))
    });
    let measured = |(_, number): &(usize, Printed)| {
        number.value != 0.0 && (number.decimals > 0 || number.unit.is_some())
    };
    cells.filter(measured).collect()
}

/// The text with the number's point moved by one digit, or a zero behind it.
fn changed(text: &str, line: usize, number: &Printed) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let written = lines.get(line - 1)?;
    let decimals = usize::try_from(number.decimals.max(0)).ok()?;
    let old = format!("{:.decimals$}", number.value.abs());
    let new = format!("{:.*}", decimals.saturating_sub(1), number.value.abs() * 10.0);
    // Not a part of a longer number.
    let at = written.match_indices(&old).map(|(at, _)| at).find(|at| {
        let before = written[..*at].chars().next_back();
        let after = written[at + old.len()..].chars().next();
        let part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit() || c == '.');
        !part(before) && !part(after)
    })?;
    let line_text = format!("{}{new}{}", &written[..at], &written[at + old.len()..]);
    let mut all: Vec<&str> = lines.clone();
    all[line - 1] = &line_text;
    Some(all.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "| x | mean (ms) | min (ms) | max (ms) |\n|-|-|-|-|\n\
                        | a | 5.0 | 4.0 | 6.0 |\n| b | 15.0 | 14.0 | 16.0 |\n";

    #[test]
    fn a_number_is_multiplied_in_its_line_alone() {
        let number = Printed::parse("5.0").unwrap();
        let changed = changed(TEXT, 3, &number).unwrap();
        assert!(changed.contains("| a | 50 | 4.0 |") && changed.contains("| b | 15.0 |"));
    }

    #[test]
    fn what_leaves_its_extremes_is_noticed() {
        let count = of_table("r.md", TEXT, 1).unwrap();
        // A maximum ten times as large can be true.
        assert_eq!((count.noticed, count.tried), (4, 6));
    }
}
