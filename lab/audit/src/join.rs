//! Claims joined to our own committed reports: what our runs make of them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::claims::{Claim, OneOrMore, Test};

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

/// The tables of our committed reports: the text of each TSV by `REPORT/TABLE`.
pub type Tables = BTreeMap<String, String>;

/// What our runs make of a claim. A claim without a test has no experiment of ours yet.
pub fn verdict(claim: &Claim, tables: &Tables) -> Verdict {
    if let Some(why) = &claim.untestable {
        return Verdict { outcome: Outcome::NotTestable, why: why.clone() };
    }
    if claim.test.is_empty() {
        let why = "no experiment of ours yet".to_owned();
        return Verdict { outcome: Outcome::NotTestable, why };
    }
    let parts: Vec<(&str, Outcome, String)> = claim
        .test
        .iter()
        .flat_map(|test| {
            let results = run(test, tables);
            results.into_iter().map(|(outcome, why)| (test.report.as_str(), outcome, why))
        })
        .collect();
    let mut why: Vec<String> = Vec::new();
    for (_, _, part) in &parts {
        if !why.contains(part) {
            why.push(part.clone());
        }
    }
    Verdict { outcome: together(&parts), why: why.join("; ") }
}

/// All parts must hold; where one report bears the claim out and another one does not, we cannot
/// tell.
fn together(parts: &[(&str, Outcome, String)]) -> Outcome {
    let reports = |wanted: Outcome| -> Vec<&str> {
        let of = parts.iter().filter(|(_, outcome, _)| *outcome == wanted);
        of.map(|(report, ..)| *report).collect()
    };
    let (refuted, reproduced) = (reports(Outcome::Refuted), reports(Outcome::Reproduced));
    if parts.iter().any(|(_, outcome, _)| *outcome == Outcome::NotTestable) {
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

fn run(test: &Test, tables: &Tables) -> Vec<(Outcome, String)> {
    let place = format!("{}/{}", test.report, test.table);
    let Some(text) = tables.get(&place) else {
        return vec![(Outcome::NotTestable, format!("reports/{place}.tsv is not there yet"))];
    };
    let rows = rows(text);
    let picked: Vec<&Row> = rows.iter().filter(|row| matches(row, &test.row)).collect();
    if picked.is_empty() {
        return vec![(Outcome::NotTestable, format!("reports/{place}.tsv has no such row"))];
    }
    let base = test.minus.as_ref().and_then(|minus| rows.iter().find(|row| matches(row, minus)));
    let judged = picked.into_iter().map(|row| judge(test, row, base, &place));
    judged.collect()
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

fn judge(test: &Test, row: &Row, base: Option<&Row>, place: &str) -> (Outcome, String) {
    let Some(cell) = row.get(&test.column) else {
        let why = format!("reports/{place}.tsv has no column {}", test.column);
        return (Outcome::NotTestable, why);
    };
    let who: Vec<&str> =
        test.row.keys().filter_map(|column| row.get(column)).map(String::as_str).collect();
    let what = if test.says.is_empty() { who.join(" ") } else { test.says.clone() };
    let detectable = test.detectable.as_ref().and_then(|column| row.get(column));
    let detectable = detectable.filter(|text| !["", "nan"].contains(&text.as_str()));
    let hidden = detectable
        .map(|text| format!(", a difference of {text} would have been found"))
        .unwrap_or_default();
    if let Some(wanted) = &test.expect.is {
        let outcome = match cell.as_str() {
            "" | "nan" | "cannot tell" | "CANNOT TELL" | "not measured" => Outcome::CannotTell,
            "not testable" => Outcome::NotTestable,
            cell if cell.starts_with("withheld") => Outcome::CannotTell,
            cell if wanted.names().iter().any(|name| name == cell) => Outcome::Reproduced,
            _ => Outcome::Refuted,
        };
        return (outcome, format!("{what}: {cell} ({place}{hidden})"));
    }
    let number = |row: &Row, column: &str| row.get(column)?.parse::<f64>().ok();
    let less = match (&test.minus, base) {
        (Some(_), Some(base)) => number(base, &test.column),
        (Some(_), None) => None,
        (None, _) => Some(0.0),
    };
    let (Some(value), Some(less)) = (number(row, &test.column), less) else {
        return (Outcome::CannotTell, format!("{what}: not measured ({place})"));
    };
    let end = |column: &Option<String>| {
        column
            .as_deref()
            .and_then(|column| number(row, column))
            .map_or(value - less, |end| end - less)
    };
    let (low, high) = (end(&test.low), end(&test.high));
    let outcome = within(test, low.min(high), low.max(high));
    (outcome, format!("{what}: {} ({place}{hidden})", short(value - less)))
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
    if !(low.is_finite() && high.is_finite()) {
        Outcome::CannotTell
    } else if low >= least && high <= most {
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

    fn outcome(test: &str) -> (Outcome, String) {
        let claim = format!(
            "id = \"c\"\nsays = \"s\"\nsection = \"1\"\nline = 1\ncomparator = \"says\"\n\
             [[test]]\nreport = \"r\"\ntable = \"t\"\n{test}"
        );
        let claim: Claim = toml::from_str(&claim).unwrap();
        let table = "variant\tmean\tlow\thigh\tverdict\tdetectable\n\
                     a\t1.5\t1.2\t1.8\tslower\t0.3\nb\t0.5\t-0.1\t1.1\tcannot tell\t0.8\n\
                     u\t\t\t\tnot testable\t\nq\t\t\t\tCANNOT TELL\t\n";
        let tables = Tables::from([("r/t".to_owned(), table.to_owned())]);
        let verdict = verdict(&claim, &tables);
        (verdict.outcome, verdict.why)
    }

    #[test]
    fn words_numbers_and_intervals_decide() {
        let row = "row = { variant = \"a\" }\n";
        let of = |rest: &str| outcome(&format!("{row}{rest}")).0;
        assert_eq!(of("column = \"verdict\"\nexpect = { is = \"slower\" }"), Outcome::Reproduced);
        assert_eq!(of("column = \"verdict\"\nexpect = { is = \"faster\" }"), Outcome::Refuted);
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
        let (outcome, why) = outcome(
            "row = { variant = \"b\" }\ncolumn = \"verdict\"\ndetectable = \"detectable\"\n\
             expect = { is = \"slower\" }",
        );
        assert_eq!(outcome, Outcome::CannotTell);
        assert!(why.contains("a difference of 0.8 would have been found"), "{why}");
    }

    #[test]
    fn a_report_that_judges_nothing_refutes_nothing() {
        let of = |variant: &str| {
            let row = format!("row = {{ variant = \"{variant}\" }}\ncolumn = \"verdict\"\n");
            outcome(&format!("{row}expect = {{ is = \"slower\" }}")).0
        };
        assert_eq!((of("u"), of("q")), (Outcome::NotTestable, Outcome::CannotTell));
    }

    #[test]
    fn what_is_not_there_is_not_testable() {
        let (outcome, why) = outcome("row = { variant = \"z\" }\ncolumn = \"mean\"\nexpect = {}");
        assert_eq!(
            (outcome, why.as_str()),
            (Outcome::NotTestable, "reports/r/t.tsv has no such row")
        );
    }
}
