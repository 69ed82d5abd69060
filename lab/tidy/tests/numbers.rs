//! Every number with a unit in README.md and docs/*.md has a row in docs/numbers.tsv: where it
//! stands in a report or another file of the repository, or why no record gives it.
//!
//! Columns: `page`, `number` as the page has it, `source`, `says`. A source is a file that holds
//! the text of `says`, of which one number, rounded, is that of the page; or it is one of
//! [`NO_RECORD`], and then `says` tells what the number is.

use std::collections::{BTreeMap, BTreeSet};

use lab_tidy::repository::Repository;

const TABLE: &str = "docs/numbers.tsv";
/// Its numbers are counted by a test of its own, `coverage.rs`.
const COUNTED: &str = "docs/COVERAGE.md";
/// Sources that are no file: a limit or setting of ours; an example of how something is written;
/// what others state; what follows from other numbers; what was measured without a record.
const NO_RECORD: [&str; 5] = ["rule", "example", "outside", "arithmetic", "by hand"];
/// By unit what it is in, and how many of that it is.
const UNITS: [(&str, &str, f64); 20] = [
    ("%", "%", 1.0),
    ("pp", "pp", 1.0),
    ("×", "times", 1.0),
    ("times", "times", 1.0),
    ("ns", "s", 1e-9),
    ("µs", "s", 1e-6),
    ("ms", "s", 1e-3),
    ("s", "s", 1.0),
    ("min", "s", 60.0),
    ("minute", "s", 60.0),
    ("minutes", "s", 60.0),
    ("h", "s", 3_600.0),
    ("hour", "s", 3_600.0),
    ("hours", "s", 3_600.0),
    ("KiB", "B", 1_024.0),
    ("MiB", "B", 1_048_576.0),
    ("GiB", "B", 1_073_741_824.0),
    ("kB", "B", 1e3),
    ("MB", "B", 1e6),
    ("GB", "B", 1e9),
];

/// A number of a page or of a source.
#[derive(Debug, Clone, PartialEq)]
struct Number {
    /// Without its sign: "5.6 %".
    text: String,
    value: f64,
    decimals: usize,
    /// `None` of a bare number of a table for programs.
    unit: Option<&'static (&'static str, &'static str, f64)>,
}

impl Number {
    /// Of one word without its unit; the sign is not part of it.
    fn of(word: &str) -> Option<Self> {
        let digits = word.trim_start_matches(|c| "([|*\"“~±+-−".contains(c));
        let digits = digits.trim_end_matches(|c| ",;:)]|*\"”".contains(c)).trim_end_matches('.');
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let value = digits.replace(',', "").parse().ok()?;
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Some(Self { text: digits.to_owned(), value, decimals, unit: None })
    }

    fn with(mut self, unit: &'static (&'static str, &'static str, f64)) -> Self {
        self.text = format!("{} {}", self.text, unit.0);
        self.unit = Some(unit);
        self
    }

    /// Whether this number of a source, rounded, is that one of a page.
    fn gives(&self, page: &Self) -> bool {
        let Some((_, what, scale)) = page.unit else { return false };
        let candidates = match self.unit {
            Some((_, own, factor)) if own == what => vec![self.value * factor / scale],
            // "+583 %" is 6.83 times.
            Some((_, "%", _)) if *what == "times" => vec![1.0 + self.value / 100.0],
            Some((_, "times", _)) if *what == "%" => vec![100.0 * (self.value - 1.0)],
            Some(_) => Vec::new(),
            // In tables for programs shares are fractions, and times nanoseconds or seconds.
            None if *what == "%" => vec![self.value, 100.0 * self.value],
            None if *what == "s" => vec![self.value * 1e-9 / scale, self.value / scale],
            None => vec![self.value],
        };
        let half = 0.5 * 0.1_f64.powi(i32::try_from(page.decimals).unwrap_or(0));
        candidates.iter().any(|value| (value - page.value).abs() <= half + 1e-9)
    }
}

fn unit(word: &str) -> Option<&'static (&'static str, &'static str, f64)> {
    let word = word.trim_end_matches(|c| ".,;:)]|*\"”".contains(c));
    UNITS.iter().find(|(name, ..)| *name == word)
}

/// Both ends of "0.2-0.3", or the one number.
fn ends(word: &str) -> Vec<Number> {
    match word.split_once('-').map(|(low, high)| (Number::of(low), Number::of(high))) {
        Some((Some(low), Some(high))) => vec![low, high],
        _ => Number::of(word).into_iter().collect(),
    }
}

/// The numbers with a unit in a text: "5 %", "1.5 to 59 %".
fn with_units(text: &str) -> Vec<Number> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let at = |place: usize| words.get(place).copied().unwrap_or_default();
    let mut found = Vec::new();
    for place in 0..words.len() {
        let after = match at(place + 1) {
            "to" | "…" if !ends(at(place + 2)).is_empty() => at(place + 3),
            after => after,
        };
        let Some(unit) = unit(after) else { continue };
        found.extend(ends(at(place)).into_iter().map(|number| number.with(unit)));
    }
    found
}

/// All numbers of a source; on a page one without a unit has that of the one before, as in
/// "5 % (4 … 6)".
fn of_source(source: &str, text: &str) -> Vec<Number> {
    let is_page = !source.ends_with(".tsv");
    let text = text.replace('×', " ×");
    let words: Vec<&str> = text.split_whitespace().collect();
    let (mut found, mut last) = (Vec::new(), None);
    for (place, word) in words.iter().enumerate() {
        let own = words.get(place + 1).and_then(|after| unit(after));
        last = own.or(last.filter(|_| is_page));
        let number = |number: Number| last.map_or(number.clone(), |unit| number.with(unit));
        found.extend(ends(word).into_iter().map(number));
    }
    found
}

/// A page without its blocks of code and what stands between backticks.
fn prose(page: &str) -> String {
    let outside: String = page.split("\n```").step_by(2).collect();
    outside.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Debug)]
struct Row {
    page: String,
    number: String,
    source: String,
    says: String,
}

fn rows(table: &str) -> Vec<Row> {
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("page\tnumber\tsource\tsays"), "the header of {TABLE}");
    let row = |line: &str| {
        let [page, number, source, says] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{TABLE}: four columns are needed: {line}");
        };
        let [page, number, source, says] = [page, number, source, says].map(str::to_owned);
        Row { page, number, source, says }
    };
    lines.map(row).collect()
}

/// What is wrong with a row, by the files of the repository.
fn complaint(row: &Row, read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let Row { page, number, source, says } = row;
    let wrong = |what: String| Some(format!("{TABLE}: {number} of {page}: {what}"));
    if NO_RECORD.contains(&source.as_str()) {
        let is_said = !says.trim().is_empty();
        return if is_said { None } else { wrong(format!("{source} without a reason")) };
    }
    let Some(text) = read(source) else {
        return wrong(format!("{source} is neither a file nor one of {}", NO_RECORD.join(", ")));
    };
    if !in_one_line(&text).contains(&in_one_line(says)) {
        return wrong(format!("{source} does not say `{says}`"));
    }
    let [asked] = &with_units(number)[..] else {
        return wrong("is no number with a unit".to_owned());
    };
    match of_source(source, says).iter().any(|one| one.gives(asked)) {
        true => None,
        false => wrong(format!("{source} says `{says}`")),
    }
}

#[test]
fn every_number_of_our_pages_comes_from_somewhere() {
    let ours = Repository::of_package(env!("CARGO_MANIFEST_DIR"));
    let rows = rows(&ours.read(TABLE));
    let read = |path: &str| ours.has(path).then(|| ours.read(path));
    let mut complaints: Vec<String> = rows.iter().filter_map(|row| complaint(row, &read)).collect();
    let files = ours.files();
    let is_page = |path: &str| {
        path == "README.md"
            || (path.starts_with("docs/") && path.ends_with(".md") && path != COUNTED)
    };
    let mut said: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for page in files.iter().filter(|path| is_page(path)) {
        let numbers = with_units(&prose(&ours.read(page)));
        said.insert(page, numbers.into_iter().map(|number| number.text).collect());
    }
    let known: BTreeSet<(&str, &str)> =
        rows.iter().map(|row| (row.page.as_str(), row.number.as_str())).collect();
    for (page, numbers) in &said {
        let unknown = numbers.iter().filter(|number| !known.contains(&(*page, number.as_str())));
        complaints.extend(unknown.map(|number| format!("{page}: {number} has no row in {TABLE}")));
    }
    let is_gone = |row: &&Row| {
        said.get(row.page.as_str()).is_none_or(|numbers| !numbers.contains(&row.number))
    };
    let gone = rows.iter().filter(is_gone);
    complaints.extend(gone.map(|row| format!("{TABLE}: {} is not on {}", row.number, row.page)));
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
    let of_records = rows.iter().filter(|row| row.source.starts_with("reports/")).count();
    assert!(of_records >= 15, "only {of_records} numbers come from records");
}

#[test]
fn numbers_are_read_with_their_units() {
    let page =
        "From 1.5 to 59 %, ±5.6\n% (1,500 times), 0.2-0.3 s; `7 ms` 4B, 8 of 9.\n```\n9 s\n```\n";
    let texts: Vec<String> = with_units(&prose(page)).into_iter().map(|one| one.text).collect();
    assert_eq!(texts, ["1.5 %", "59 %", "5.6 %", "1,500 times", "0.2 s", "0.3 s"]);
}

#[test]
fn a_number_that_its_source_does_not_give_is_found() {
    let read = |path: &str| {
        (path == "reports/a/report.md").then(|| {
            "`b` takes 48.0 % (31.8 … 62.8) less\ntime, `c` +583.4 %, 840.3 ms | `c` | 6.83× |"
                .to_owned()
        })
    };
    let check = |number: &str, source: &str, says: &str| {
        let [page, number, source, says] = ["README.md", number, source, says].map(str::to_owned);
        complaint(&Row { page, number, source, says }, &read)
    };
    let file = "reports/a/report.md";
    for (number, says) in [
        ("48 %", "`b` takes 48.0 %"),
        ("63 %", "48.0 % (31.8 … 62.8) less time"),
        ("6.8 times", "`c` +583.4 %"),
        ("6.8 times", "| `c` | 6.83× |"),
        ("0.84 s", "840.3 ms"),
    ] {
        assert_eq!(check(number, file, says), None, "{number}");
    }
    assert_eq!(check("5 %", "rule", "the level"), None);
    let wrong = [
        ("84 %", file, "`b` takes 48.0 %", "says"),
        ("48 %", file, "`b` takes 49.0 %", "does not say"),
        ("0.85 s", file, "840.3 ms", "says"),
        ("48 %", "reports/b/report.md", "48", "neither a file"),
        ("5 %", "rule", " ", "without a reason"),
    ];
    for (number, source, says, part) in wrong {
        assert!(check(number, source, says).unwrap().contains(part), "{number}");
    }
}
