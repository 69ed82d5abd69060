//! Claims joined to our own committed reports: what our runs make of them. A table is read by its
//! `outcome` column, or as numbers; a word or a number that is not there is an error, never a
//! verdict.

use std::collections::BTreeMap;

use lab_stats::outcome::Outcome as Found;
use serde::Serialize;

use crate::{Claim, OneOrMore, Test};

/// What our runs make of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// They show the same.
    Reproduced,
    /// They show that it does not hold here.
    Refuted,
    /// They leave it open.
    CannotTell,
    /// No run of ours can, or does, test it.
    NotTestable,
}

impl Outcome {
    /// The words of the page.
    pub fn words(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Refuted => "refuted",
            Self::CannotTell => "cannot tell",
            Self::NotTestable => "not testable here",
        }
    }
}

/// An outcome with its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What came out.
    pub outcome: Outcome,
    /// What of our runs decided, or why nothing can.
    pub why: String,
}

/// A claim whose test cannot be read from our tables.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("claim `{claim}`: {message}")]
pub struct JoinError {
    /// The claim's id.
    pub claim: String,
    /// What is wrong, with the table and the column.
    pub message: String,
}

/// The tables of our committed reports: the text of each TSV by `REPORT/TABLE`.
pub type Tables = BTreeMap<String, String>;

/// What our runs make of a claim. A claim without a test has no experiment of ours yet.
///
/// # Errors
/// Names the claim, the table and the column whose value is no outcome or no number.
pub fn verdict(claim: &Claim, tables: &Tables) -> Result<Verdict, JoinError> {
    if let Some(why) = &claim.untestable {
        return Ok(Verdict { outcome: Outcome::NotTestable, why: why.clone() });
    }
    if claim.test.is_empty() {
        let why = "no experiment of ours yet".to_owned();
        return Ok(Verdict { outcome: Outcome::NotTestable, why });
    }
    let mut parts: Vec<Part> = Vec::new();
    for test in &claim.test {
        let results =
            run(test, tables).map_err(|message| JoinError { claim: claim.id.clone(), message })?;
        parts.extend(results);
    }
    let mut said: Vec<Said> = Vec::new();
    for part in &parts {
        match said.iter_mut().find(|said| (&said.what, &said.place) == (&part.what, &part.place)) {
            Some(said) => said.add(part),
            None => said.push(Said::of(part)),
        }
    }
    let why: Vec<String> = said.iter().map(Said::text).collect();
    Ok(Verdict { outcome: together(&parts), why: why.join("; ") })
}

/// What one row of a table makes of a claim.
struct Part {
    report: String,
    outcome: Outcome,
    /// What is read, or why nothing is.
    what: String,
    /// `REPORT/TABLE`; empty where nothing is read.
    place: String,
    value: String,
    /// The difference that would have been found.
    detectable: Option<String>,
}

/// What several rows of one table say of the same thing.
struct Said {
    what: String,
    place: String,
    values: Vec<String>,
    detectable: Vec<String>,
}

impl Said {
    fn of(part: &Part) -> Self {
        let (what, place) = (part.what.clone(), part.place.clone());
        let mut said = Self { what, place, values: Vec::new(), detectable: Vec::new() };
        said.add(part);
        said
    }

    fn add(&mut self, part: &Part) {
        let of_value = self.values.iter().position(|value| *value == part.value);
        let is_new = |detectable: &&String| !self.detectable.contains(detectable);
        let detectable = part.detectable.as_ref().filter(is_new).cloned();
        if of_value.is_none() || detectable.is_some() {
            self.values.push(part.value.clone());
        }
        self.detectable.extend(detectable);
    }

    /// "what: 1.5, 1.7 (report/table, detectable 0.3)".
    fn text(&self) -> String {
        let Self { what, place, .. } = self;
        if place.is_empty() {
            return what.clone();
        }
        let detectable = match self.detectable.is_empty() {
            true => String::new(),
            false => format!(", detectable {}", self.detectable.join(", ")),
        };
        format!("{what}: {} ({place}{detectable})", self.values.join(", "))
    }
}

/// All parts must hold; where one report bears the claim out and another one does not, we cannot
/// tell.
fn together(parts: &[Part]) -> Outcome {
    let reports = |wanted: Outcome| -> Vec<&str> {
        let of = parts.iter().filter(|part| part.outcome == wanted);
        of.map(|part| part.report.as_str()).collect()
    };
    let (refuted, reproduced) = (reports(Outcome::Refuted), reports(Outcome::Reproduced));
    if parts.iter().any(|part| part.outcome == Outcome::NotTestable) {
        return Outcome::NotTestable;
    }
    if !refuted.is_empty() {
        let elsewhere = reproduced.iter().any(|report| !refuted.contains(report));
        return if elsewhere { Outcome::CannotTell } else { Outcome::Refuted };
    }
    match reproduced.len() == parts.len() {
        true => Outcome::Reproduced,
        false => Outcome::CannotTell,
    }
}

type Row = BTreeMap<String, String>;

fn run(test: &Test, tables: &Tables) -> Result<Vec<Part>, String> {
    let place = format!("{}/{}", test.report, test.table);
    let nothing = |what: String| Part {
        report: test.report.clone(),
        outcome: Outcome::NotTestable,
        what,
        place: String::new(),
        value: String::new(),
        detectable: None,
    };
    let Some(text) = tables.get(&place) else {
        return Ok(vec![nothing(format!("reports/{place}.tsv is not there yet"))]);
    };
    let rows = rows(text);
    let picked: Vec<&Row> = rows.iter().filter(|row| matches(row, &test.row)).collect();
    if picked.is_empty() {
        return Ok(vec![nothing(format!("reports/{place}.tsv has no such row"))]);
    }
    let base = test.minus.as_ref().map(|minus| {
        let found = rows.iter().find(|row| matches(row, minus));
        found.ok_or_else(|| format!("reports/{place}.tsv has no row {minus:?} to subtract"))
    });
    let base = base.transpose()?;
    picked.into_iter().map(|row| judge(test, row, base, &place)).collect()
}

/// The rows of tab-separated text by column.
fn rows(text: &str) -> Vec<Row> {
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let row = |line: &str| {
        let cells = columns.iter().zip(line.split('\t'));
        cells.map(|(column, cell)| ((*column).to_owned(), cell.to_owned())).collect()
    };
    lines.map(row).collect()
}

fn matches(row: &Row, wanted: &BTreeMap<String, OneOrMore>) -> bool {
    wanted
        .iter()
        .all(|(column, texts)| row.get(column).is_some_and(|cell| texts.names().contains(cell)))
}

fn judge(test: &Test, row: &Row, base: Option<&Row>, place: &str) -> Result<Part, String> {
    let cell = row
        .get(&test.column)
        .ok_or_else(|| format!("reports/{place}.tsv has no column `{}`", test.column))?;
    let who: Vec<&str> =
        test.row.keys().filter_map(|column| row.get(column)).map(String::as_str).collect();
    let what = if test.says.is_empty() { who.join(" ") } else { test.says.clone() };
    let detectable = test.detectable.as_ref().and_then(|column| row.get(column));
    let detectable = detectable.filter(|text| !["", "nan"].contains(&text.as_str()));
    let detectable = detectable.map(|text| text.parse().map_or(text.clone(), short));
    let part = |outcome, value: String| Part {
        report: test.report.clone(),
        outcome,
        what: what.clone(),
        place: place.to_owned(),
        value,
        detectable: detectable.clone(),
    };
    if let Some(wanted) = &test.expect.is {
        let outcome = of_word(cell, wanted).map_err(|why| format!("reports/{place}.tsv: {why}"))?;
        return Ok(part(outcome, cell.clone()));
    }
    if let Some(outcome) = without_a_number(row, test) {
        return Ok(part(outcome, row[OUTCOME].clone()));
    }
    let number = |row: &Row, column: &str| {
        let cell = row.get(column).map_or("", String::as_str);
        let value = cell.parse::<f64>().ok().filter(|value| value.is_finite());
        value.ok_or_else(|| {
            format!("reports/{place}.tsv: column `{column}` of {what} is `{cell}`, not a number")
        })
    };
    let less = base.map_or(Ok(0.0), |base| number(base, &test.column))?;
    let value = number(row, &test.column)? - less;
    let end = |column: &Option<String>| {
        column.as_deref().map_or(Ok(value), |column| Ok::<_, String>(number(row, column)? - less))
    };
    let (low, high) = (end(&test.low)?, end(&test.high)?);
    let outcome = within(test, low.min(high), low.max(high));
    Ok(part(outcome, short(value)))
}

/// The column of verdicts, in every table that has any.
const OUTCOME: &str = "outcome";

/// What is left to say of a row whose verdict says that its numbers are none: withheld, never
/// measured, or too few pairs for them.
fn without_a_number(row: &Row, test: &Test) -> Option<Outcome> {
    let read = [Some(&test.column), test.low.as_ref(), test.high.as_ref()];
    let is_none = |column: &String| row.get(column).is_some_and(|cell| cell == "nan");
    let lacks = read.into_iter().flatten().any(is_none);
    match row.get(OUTCOME)?.parse::<Found>().ok()? {
        Found::Withheld | Found::NotMeasured => Some(Outcome::CannotTell),
        Found::CannotTell if lacks => Some(Outcome::CannotTell),
        Found::NotTestable => Some(Outcome::NotTestable),
        _ => None,
    }
}

/// What a word of an `outcome` column makes of a claim that expects one of `wanted`.
fn of_word(word: &str, wanted: &OneOrMore) -> Result<Outcome, String> {
    let parse = |word: &str| word.parse::<Found>().map_err(|error| error.to_string());
    let found = parse(word)?;
    let wanted: Vec<Found> =
        wanted.names().iter().map(|word| parse(word)).collect::<Result<_, _>>()?;
    Ok(match found {
        _ if wanted.contains(&found) => Outcome::Reproduced,
        Found::Holds | Found::Fails | Found::Faster | Found::Slower | Found::Equivalent => {
            Outcome::Refuted
        }
        Found::CannotTell | Found::Withheld | Found::NotMeasured => Outcome::CannotTell,
        Found::NotTestable => Outcome::NotTestable,
    })
}

/// Where an interval (or a point) stands to what is expected.
fn within(test: &Test, low: f64, high: f64) -> Outcome {
    let mut least = test.expect.above.unwrap_or(f64::NEG_INFINITY);
    let mut most = test.expect.below.unwrap_or(f64::INFINITY);
    if let Some(value) = test.expect.equals {
        let margin = test.expect.within.unwrap_or(0.0);
        least = least.max(value - margin);
        most = most.min(value + margin);
    }
    if low >= least && high <= most {
        Outcome::Reproduced
    } else if high < least || low > most || low == high {
        Outcome::Refuted
    } else {
        Outcome::CannotTell
    }
}

/// Four digits that matter.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    format!("{value:.*}", usize::try_from(digits.clamp(0, 9)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(test: &str) -> Result<(Outcome, String), String> {
        let claim = format!(
            "id = \"c\"\nsays = \"s\"\nsection = \"1\"\nline = 1\ncomparator = \"says\"\n\
             [[test]]\nreport = \"r\"\ntable = \"t\"\n{test}"
        );
        let claim: Claim = toml::from_str(&claim).unwrap();
        let table = "variant\tmean\tlow\thigh\toutcome\tdetectable\n\
                     a\t1.5\t1.2\t1.8\tslower\t0.3\nb\t0.5\t-0.1\t1.1\tcannot tell\t0.8\n\
                     u\tnan\tnan\tnan\tnot testable\tnan\nw\t1\t1\t1\twithheld\tnan\n\
                     x\t1\t1\t1\tsupported\tnan\nn\tnan\tnan\tnan\tslower\tnan\n\
                     f\t1.5\tnan\tnan\tcannot tell\tnan\n";
        let tables = Tables::from([("r/t".to_owned(), table.to_owned())]);
        let verdict = verdict(&claim, &tables).map_err(|error| error.to_string())?;
        Ok((verdict.outcome, verdict.why))
    }

    fn outcome(variant: &str, rest: &str) -> Outcome {
        joined(&format!("row = {{ variant = \"{variant}\" }}\n{rest}")).unwrap().0
    }

    #[test]
    fn words_numbers_and_intervals_decide() {
        let of = |rest: &str| outcome("a", rest);
        assert_eq!(of("column = \"outcome\"\nexpect = { is = \"slower\" }"), Outcome::Reproduced);
        assert_eq!(of("column = \"outcome\"\nexpect = { is = \"faster\" }"), Outcome::Refuted);
        assert_eq!(of("column = \"mean\"\nexpect = { above = 1 }"), Outcome::Reproduced);
        let ends = "low = \"low\"\nhigh = \"high\"\n";
        let mean = format!("column = \"mean\"\n{ends}");
        assert_eq!(of(&format!("{mean}expect = {{ above = 1.4 }}")), Outcome::CannotTell);
        assert_eq!(of(&format!("{mean}expect = {{ below = 1.0 }}")), Outcome::Refuted);
        let equals = "expect = { equals = 1, within = 0.1 }";
        assert_eq!(
            of(&format!("column = \"mean\"\nminus = {{ variant = \"b\" }}\n{equals}")),
            Outcome::Reproduced
        );
    }

    #[test]
    fn what_could_have_been_found_is_said() {
        let (outcome, why) = joined(
            "row = { variant = \"b\" }\ncolumn = \"outcome\"\ndetectable = \"detectable\"\n\
             expect = { is = \"slower\" }",
        )
        .unwrap();
        assert_eq!(outcome, Outcome::CannotTell);
        assert_eq!(why, "b: cannot tell (r/t, detectable 0.8000)");
    }

    #[test]
    fn a_report_that_judges_nothing_refutes_nothing() {
        let of =
            |variant: &str| outcome(variant, "column = \"outcome\"\nexpect = { is = \"slower\" }");
        assert_eq!((of("u"), of("w")), (Outcome::NotTestable, Outcome::CannotTell));
    }

    #[test]
    fn a_size_is_not_read_where_the_report_gives_none() {
        let size = "column = \"mean\"\nlow = \"low\"\nhigh = \"high\"\n\
                    expect = { equals = 1, within = 0.1 }";
        let of = |variant: &str| outcome(variant, size);
        assert_eq!((of("u"), of("w")), (Outcome::NotTestable, Outcome::CannotTell));
        // Too few pairs for an interval.
        assert_eq!((of("f"), of("a")), (Outcome::CannotTell, Outcome::Refuted));
    }

    #[test]
    fn an_unknown_word_or_a_nan_is_an_error_and_no_verdict() {
        let of = |variant: &str, rest: &str| {
            joined(&format!("row = {{ variant = \"{variant}\" }}\n{rest}")).unwrap_err()
        };
        let word = of("x", "column = \"outcome\"\nexpect = { is = \"holds\" }");
        assert!(
            word.starts_with("claim `c`: reports/r/t.tsv: `supported` is no outcome"),
            "{word}"
        );
        let wanted = of("a", "column = \"outcome\"\nexpect = { is = \"reproduced\" }");
        assert!(wanted.contains("`reproduced` is no outcome"), "{wanted}");
        let nan = of("n", "column = \"mean\"\nexpect = { above = 1 }");
        assert_eq!(nan, "claim `c`: reports/r/t.tsv: column `mean` of n is `nan`, not a number");
        let column = of("a", "column = \"verdict\"\nexpect = { is = \"holds\" }");
        assert_eq!(column, "claim `c`: reports/r/t.tsv has no column `verdict`");
    }

    #[test]
    fn what_is_not_there_is_not_testable() {
        let (outcome, why) =
            joined("row = { variant = \"z\" }\ncolumn = \"mean\"\nexpect = {}").unwrap();
        assert_eq!(
            (outcome, why.as_str()),
            (Outcome::NotTestable, "reports/r/t.tsv has no such row")
        );
    }
}
