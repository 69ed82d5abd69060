//! Reading Markdown: tables with their places, numbers as printed, text that was decoded wrongly.

use lab_audit::{Bound, Document, Printed, SentenceKind};

fn printed(text: &str) -> (f64, i32, Option<String>) {
    let number = Printed::parse(text).unwrap_or_else(|| panic!("{text} is a number"));
    (number.value, number.decimals, number.unit)
}

fn unit(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn numbers_keep_value_digits_and_unit() {
    assert_eq!(printed("12.50%"), (12.5, 2, unit("%")));
    assert_eq!(printed("−1.1 %"), (-1.1, 1, unit("%")));
    assert_eq!(printed("+12.86pp"), (12.86, 2, unit("pp")));
    assert_eq!(printed("596 µs"), (596.0, 0, unit("us")));
    assert_eq!(printed("1,234ms"), (1234.0, 0, unit("ms")));
    assert_eq!(printed("1 234 567"), (1_234_567.0, 0, None));
    assert_eq!(printed("1_234"), (1234.0, 0, None));
    assert_eq!(printed("1.234,5"), (1234.5, 1, None));
    assert_eq!(printed("12,5 ms"), (12.5, 1, unit("ms")));
    assert_eq!(printed("16.8M tx/sec"), (16_800_000.0, -5, unit("tx/sec")));
    assert_eq!(printed("12k"), (12_000.0, -3, None));
    assert_eq!(printed("1.15×"), (1.15, 2, unit("x")));
    assert_eq!(printed("2.5 GB/s"), (2.5, 1, unit("GB/s")));
    assert_eq!(printed("331/s"), (331.0, 0, unit("/s")));
    assert_eq!(printed("3.4e-05"), (3.4e-5, 6, None));
    assert_eq!(printed("3.4 × 10⁵ ns"), (3.4e5, -4, unit("ns")));
    assert_eq!(printed("$0.25"), (0.25, 2, unit("$")));
    assert!(Printed::parse("~12k").is_some_and(|number| number.approximate));
}

#[test]
fn names_dates_and_versions_are_no_numbers() {
    let none =
        ["2026-01-23", "1.2.3", "22:13", "60c0bbd4", "p95", "", "1:15", "8080, 8081", "2nd_x"];
    for text in none {
        assert_eq!(Printed::parse(text), None, "{text}");
    }
    let prose = "Commit 60c0bbd4 of 2026-01-23 (v1.2.3, p95, ctx2048) took 255-258ms, ~5% more.";
    let found: Vec<f64> = Printed::all(prose).iter().map(|number| number.value).collect();
    assert_eq!(found, [255.0, 258.0, 5.0]);
}

const REPORT: &str = "\
# Report

Some words. The mean is **12.5 ms** (n = 30).

## Times

| Engine | Mean (ms) | Range | p |
|:-------|----------:|-------|---|
| **a** 🏆 | **12.5** ✅ | 11.9-13.1 | <0.001 |
| | 13.5 ± 0.4* | 1.94–1.96x | n/a |
| b | ~1,234<sup>1</sup> | [98.8, 99.7] | 12% (worst) |
| c | 12 s | - | 8 threads |
";

#[test]
fn tables_come_with_lines_headings_units_and_cells() {
    let document = Document::parse("r.md", REPORT);
    let table = &document.tables[0];
    assert_eq!((table.line, table.section().as_str()), (7, "Report > Times"));
    assert_eq!(table.columns, ["Engine", "Mean (ms)", "Range", "p"]);
    assert_eq!(table.units[1].as_deref(), Some("ms"));
    assert_eq!(table.row_names(), ["a", "a", "b", "c"]);
    assert_eq!(table.rows[1].line, 10);

    let number = |row: usize, column: usize| table.rows[row].cells[column].number.clone();
    assert_eq!(number(0, 1).map(|n| (n.value, n.unit)), Some((12.5, unit("ms"))));
    let second = table.rows[1].cells[1].plus_minus.as_ref().map(|n| n.value);
    assert_eq!((number(1, 1).map(|n| n.value), second), (Some(13.5), Some(0.4)));
    assert_eq!(number(2, 1).map(|n| (n.value, n.approximate)), Some((1234.0, true)));
    assert_eq!(number(3, 1).and_then(|n| n.unit), unit("s"));
    assert_eq!(number(3, 3).map(|n| n.value), Some(8.0));
    assert_eq!(number(2, 3).map(|n| n.value), Some(12.0));
}

#[test]
fn ranges_and_bounds_are_no_single_number() {
    let table = &Document::parse("r.md", REPORT).tables[0];
    let range = |row: usize| {
        let cell = &table.rows[row].cells[2];
        assert_eq!(cell.number, None);
        cell.range.as_ref().map(|(low, high)| (low.value, high.value, high.unit.clone()))
    };
    assert_eq!(range(0), Some((11.9, 13.1, None)));
    assert_eq!(range(1), Some((1.94, 1.96, unit("x"))));
    assert_eq!(range(2), Some((98.8, 99.7, None)));
    assert_eq!(range(3), None);
    let p = &table.rows[0].cells[3];
    assert_eq!((p.bound, p.number.clone(), p.numbers[0].value), (Some(Bound::Below), None, 0.001));
}

#[test]
fn prose_comes_as_sentences_with_lines() {
    let document = Document::parse("r.md", REPORT);
    let found: Vec<(usize, &str)> =
        document.prose.iter().map(|s| (s.line, s.text.as_str())).collect();
    let expected =
        [(1, "Report"), (3, "Some words."), (3, "The mean is 12.5 ms (n = 30)."), (5, "Times")];
    assert_eq!(found, expected);
    assert_eq!(document.prose[0].kind, SentenceKind::Heading);
    assert_eq!(document.prose[2].headings, ["Report"]);
}

#[test]
fn utf8_that_was_read_as_another_encoding_is_repaired() {
    let mac = "| A | B |\n|---|---|\n| 5 ‚Üí 6 üèÜ | 1.2 ¬± 0.1 ¬µs |\n";
    let windows = "| A | B |\n|---|---|\n| 5 â†’ 6 | 1.2 Â± 0.1 Âµs |\n";
    for text in [mac, windows] {
        let table = &Document::parse("m.md", text).tables[0];
        assert!(table.rows[0].cells[0].text.contains("5 → 6"), "{text}");
        let cell = &table.rows[0].cells[1];
        let number = cell.number.as_ref().map(|n| (n.value, n.unit.clone()));
        assert_eq!(number, Some((1.2, unit("us"))));
        assert_eq!(cell.plus_minus.as_ref().map(|n| n.value), Some(0.1));
    }
    let fine = "| Größe | Zeit |\n|---|---|\n| café | 5 µs |\n";
    assert_eq!(Document::parse("f.md", fine).tables[0].columns, ["Größe", "Zeit"]);
}

#[test]
fn a_table_without_a_blank_line_above_it_is_seen() {
    let text = "Results follow:\n| a | b |\n|---|---|\n| x | 1 |\n";
    let document = Document::parse("t.md", text);
    assert_eq!(document.tables.len(), 1);
    assert_eq!(document.tables[0].line, 2);
}
