//! Whatever is thrown at it, the audit gives findings or one sentence, and never panics.

use lab_audit::{Document, Mapping, Raw, audit_document};
use proptest::prelude::*;

const REPORTS: [&str; 6] = [
    include_str!("corpus/example.md"),
    include_str!("corpus/odd.md"),
    include_str!("corpus/clean/transposed.md"),
    include_str!("corpus/clean/load_test.md"),
    include_str!("corpus/clean/totals.md"),
    include_str!("corpus/clean/ranking.md"),
];

const RAWS: [&str; 4] = [
    include_str!("corpus/odd.csv"),
    include_str!("corpus/odd.jsonl"),
    include_str!("corpus/hyperfine.json"),
    include_str!("corpus/sample.json"),
];

/// Audits a text as a report and as raw data, each beside a file of the corpus.
fn audit(text: &str) {
    let document = Document::parse("fuzz.md", text);
    let mapping = Mapping::parse("fuzz.toml", text).unwrap_or_default();
    let raws: Vec<Raw> = RAWS.iter().flat_map(|raw| Raw::tables("corpus", raw).unwrap()).collect();
    audit_document(&document, &raws, &mapping);
    if let Ok(raws) = Raw::tables("fuzz", text) {
        for report in REPORTS {
            audit_document(&Document::parse("corpus.md", report), &raws, &Mapping::default());
        }
    }
}

/// Where bytes fall out of a text, are doubled, or are replaced.
#[derive(Debug, Clone)]
enum Change {
    Cut(usize),
    Drop(usize, usize),
    Double(usize, usize),
    Put(usize, String),
}

fn change() -> impl Strategy<Value = Change> {
    let odd = prop_oneof![
        Just("|".to_owned()),
        Just("-".to_owned()),
        Just("\n".to_owned()),
        Just("1e308".to_owned()),
        Just("9".repeat(60)),
        Just("±".to_owned()),
        Just("0".to_owned()),
        Just("NaN".to_owned()),
        Just("%".to_owned()),
        "\\PC{1,4}",
    ];
    prop_oneof![
        any::<usize>().prop_map(Change::Cut),
        (any::<usize>(), 1_usize..40).prop_map(|(at, length)| Change::Drop(at, length)),
        (any::<usize>(), 1_usize..40).prop_map(|(at, length)| Change::Double(at, length)),
        (any::<usize>(), odd).prop_map(|(at, text)| Change::Put(at, text)),
    ]
}

fn changed(text: &str, changes: &[Change]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for change in changes {
        let length = chars.len();
        let place = |at: usize| at % (length + 1);
        match change {
            Change::Cut(at) => chars.truncate(place(*at)),
            Change::Drop(at, count) => {
                let (from, to) = (place(*at), (place(*at) + count).min(length));
                chars.drain(from..to);
            }
            Change::Double(at, count) => {
                let (from, to) = (place(*at), (place(*at) + count).min(length));
                let copy = chars[from..to].to_vec();
                chars.splice(to..to, copy);
            }
            Change::Put(at, text) => {
                let at = place(*at);
                chars.splice(at..at, text.chars());
            }
        }
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "\\PC{0,400}") {
        audit(&text);
    }

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        audit(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn tables_of_anything(
        cells in proptest::collection::vec("[-+~<±%.,0-9a-zµ×|\\[\\]() ]{0,9}", 0..60),
    ) {
        let head = "| x | run 1 | run 2 | mean (ms) | max | P95 | speedup |\n|-|-|-|-|-|-|-|\n";
        let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rows: String = cells.chunks(7).map(row).collect();
        audit(&format!("{head}{rows}"));
    }

    #[test]
    fn reports_with_changes(
        which in 0..REPORTS.len(),
        changes in proptest::collection::vec(change(), 1..8),
    ) {
        audit(&changed(REPORTS[which], &changes));
    }

    #[test]
    fn raw_files_with_changes(
        which in 0..RAWS.len(),
        changes in proptest::collection::vec(change(), 1..8),
    ) {
        audit(&changed(RAWS[which], &changes));
    }
}

#[test]
fn the_corpus_is_survived() {
    for text in REPORTS.iter().chain(&RAWS) {
        audit(text);
    }
}

#[test]
fn deep_and_wide_inputs_are_survived() {
    audit(&"[".repeat(100_000));
    audit(&"{\"a\":".repeat(10_000));
    audit(&"> ".repeat(5_000));
    let wide = "|a".repeat(3_000);
    audit(&format!("{wide}|\n{}|\n{wide}|\n", "|-".repeat(3_000)));
    let lines: String = (0..3_000).map(|row| format!("{{\"k{row}\":{row}}}\n")).collect();
    audit(&lines);
    let tall: String = (0..5_000).map(|row| format!("| {row} | {row}.5 | 2x |\n")).collect();
    audit(&format!("| n | mean | speedup |\n|-|-|-|\n{tall}"));
}
