//! Relations within tables and between them: true ones pass, one changed number is found.

mod changed;

use lab_audit::{Document, Mapping, Severity, audit_document};

use changed::{found, only_when_changed};

#[test]
fn ranks_below_a_heading_that_groups() {
    let text = "\
## Throughput by engine

| Rank | Engine | Threads | Throughput (ops/s) |
| --- | --- | --- | --- |
| 1 | alder | 8 | 981.4 |
| 2 | birch | 8 | 902.7 |
| 3 | cedar | 4 | 871.1 |
| 4 | elm | 4 | 640.2 |
| 5 | fir | 4 | 512.9 |
";
    only_when_changed(text, ("902.7", "860.7"), "rank_order", &[7]);
}

#[test]
fn means_lie_between_what_their_percentiles_leave_room_for() {
    let text = "\
| Engine | Mean (ms) | P25 (ms) | P50 (ms) | P75 (ms) | P95 (ms) | Max (ms) |
| --- | --- | --- | --- | --- | --- | --- |
| alder | 5.3 | 4.6 | 5.1 | 5.9 | 7.0 | 9.4 |
| birch | 6.1 | 5.2 | 6.0 | 6.8 | 8.1 | 9.9 |
";
    only_when_changed(text, ("| 5.3 |", "| 8.8 |"), "mean_beyond_percentiles", &[3]);
}

#[test]
fn rows_of_geometric_means_and_of_all() {
    let text = "\
| Engine | Small (ms) | Large (ms) |
| --- | --- | --- |
| alder | 2.00 | 40.0 |
| birch | 4.00 | 90.0 |
| cedar | 8.00 | 60.0 |
| Geomean | 4.00 | 60.0 |
";
    only_when_changed(text, ("| Geomean | 4.00", "| Geomean | 4.67"), "average_row", &[6]);
    let text = "\
| Phase | Passed (%) |
| --- | --- |
| one | 81.0% |
| two | 88.5% |
| three | 90.2% |
| Overall | 86.0% |
";
    only_when_changed(text, ("86.0%", "91.4%"), "overall_row", &[6]);
}

#[test]
fn shares_of_a_whole_add_up() {
    let text = "\
| Step | Time (ms) | Share of time |
| --- | --- | --- |
| parse | 5.0 | 25.0% |
| plan | 3.0 | 15.0% |
| run | 12.0 | 60.0% |
| Total | 20.0 | 100% |
";
    assert_eq!(found(text), []);
    let breakdown = "\
## Breakdown

| Step | Percentage |
| --- | --- |
| parse | 27% |
| plan | 14% |
| run | 59% |
";
    only_when_changed(breakdown, ("59%", "64%"), "parts_of_whole", &[7]);
}

#[test]
fn rates_follow_from_counts() {
    let text = "\
| Engine | Passed | Success rate |
| --- | --- | --- |
| alder | 20/30 | 66.7% |
| birch | 12/30 | 40.0% |
| cedar | 15/30 | 50.0% |
";
    only_when_changed(text, ("40.0%", "45.0%"), "rate_of_counts", &[4]);
    let text = "\
| Engine | Passed | Total | Success rate |
| --- | --- | --- | --- |
| alder | 20 | 30 | 66.7% |
| birch | 12 | 30 | 40.0% |
| cedar | 15 | 30 | 50.0% |
";
    only_when_changed(text, ("40.0%", "45.0%"), "rate_of_counts", &[4]);
}

#[test]
fn changes_beside_arrows() {
    let text = "\
| Engine | Latency | Change |
| --- | --- | --- |
| alder | 12.0 ms → 9.0 ms | -25.0% |
| birch | 40.0 ms → 30.0 ms | -25.0% |
| cedar | 8.0 ms → 10.0 ms | +25.0% |
";
    only_when_changed(
        text,
        ("40.0 ms → 30.0 ms | -25.0%", "40.0 ms → 30.0 ms | -35.0%"),
        "ratio",
        &[4],
    );
}

#[test]
fn extremes_of_so_few_values() {
    let text = "\
All 24 configurations were run.

| Engine | Mean (ms) | Min (ms) | Max (ms) | Std Dev (ms) |
| --- | --- | --- | --- | --- |
| alder | 50.0 | 31.0 | 71.0 | 9.10 |
| birch | 60.0 | 42.0 | 81.0 | 8.80 |
";
    only_when_changed(text, ("8.80", "3.10"), "extreme_too_far", &[6]);
}

#[test]
fn deviations_of_yes_and_no() {
    let text = "\
| Engine | Mean success | SD success | n |
| --- | --- | --- | --- |
| alder | 0.667 | 0.479 | 30 |
| birch | 0.400 | 0.498 | 30 |
";
    only_when_changed(text, ("0.479", "0.312"), "sd_of_outcomes", &[3]);
}

#[test]
fn rows_of_differences() {
    let text = "\
| Engine | Mean (ms) | Memory (MB) |
| --- | --- | --- |
| alder | 12.5 | 40.0 |
| birch | 15.0 | 22.0 |
| Delta | +2.5 | -45.0% |
";
    only_when_changed(text, ("+2.5", "+4.5"), "ratio", &[5]);
}

#[test]
fn rows_of_ratios_of_two_named_rows() {
    let text = "\
| Engine | Small | Large |
| --- | --- | --- |
| alder | 560 ops/s | 321 ops/s |
| cedar | 480 ops/s | 261 ops/s |
| birch | 251 ops/s | 162 ops/s |
| alder / birch ratio | 2.23x | 1.98x |
";
    only_when_changed(text, ("1.98x", "2.18x"), "ratio", &[6]);
}

#[test]
fn ranges_beside_their_ends() {
    let text = "\
| Engine | Mean (ms) | Min (ms) | Max (ms) | Range (ms) |
| --- | --- | --- | --- | --- |
| alder | 12.5 | 11.0 | 14.5 | 3.5 |
| birch | 15.0 | 13.0 | 18.0 | 5.0 |
";
    only_when_changed(text, ("| 3.5 |", "| 4.5 |"), "range_of_extremes", &[3]);
    let list = "\
## Spread

- Q1: 98.4 ops/s
- Q3: 99.2 ops/s
- IQR: 0.8 ops/s
";
    only_when_changed(list, ("0.8", "1.8"), "range_of_extremes", &[5]);
}

#[test]
fn standard_errors_beside_their_deviations() {
    let text = "\
| Engine | Mean (ms) | SD (ms) | SE (ms) | n |
| --- | --- | --- | --- | --- |
| alder | 50.0 | 2.00 | 0.40 | 25 |
| birch | 60.0 | 3.00 | 0.60 | 25 |
";
    only_when_changed(text, ("| 0.40 |", "| 0.90 |"), "standard_error_of_sd", &[3]);
}

#[test]
fn products_and_quotients_by_name() {
    let text = "\
| Engine | N | Per-agent rate (ops/s) | Baseline rate (ops/s) | Total rate (ops/s) | Efficiency |
| --- | --- | --- | --- | --- | --- |
| alder | 1 | 200.0 | 200.0 | 200.0 | 1.000 |
| alder | 2 | 180.0 | 200.0 | 360.0 | 0.900 |
| alder | 4 | 150.0 | 200.0 | 600.0 | 0.750 |
| alder | 8 | 101.0 | 200.0 | 808.0 | 0.505 |
";
    only_when_changed(text, ("600.0", "690.0"), "product_of_columns", &[5]);
    let text = "\
| Engine | Wall (ms) | Work (ms) | Overhead (ms) | Overhead % |
| --- | --- | --- | --- | --- |
| alder | 200.0 | 190.0 | 10.0 | 5.0% |
| birch | 300.0 | 270.0 | 30.0 | 10.0% |
| cedar | 400.0 | 300.0 | 100.0 | 25.0% |
| elm | 500.0 | 440.0 | 60.0 | 12.0% |
";
    only_when_changed(text, ("12.0%", "21.0%"), "percent_of_column", &[6]);
}

#[test]
fn differences_of_columns_that_differ_in_one_word() {
    let text = "\
| Pair | Time A (ms) | Time B (ms) | Cohen d | Diff (ms) |
| --- | --- | --- | --- | --- |
| one | 12.5 | 10.0 | 0.8 | 2.5 |
| two | 15.0 | 11.0 | 1.1 | 4.0 |
| three | 31.0 | 30.0 | 0.2 | 1.0 |
";
    let changed = text.replace("| 4.0 |", "| 9.0 |");
    assert_eq!(found(text), []);
    assert_eq!(found(&changed), [("ratio".to_owned(), 4)]);
}

#[test]
fn intervals_for_a_number_that_no_header_names() {
    let text = "\
| Engine | Slope | R2 | 95% CI lower | 95% CI upper | Points |
| --- | --- | --- | --- | --- | --- |
| alder | 0.512 | 0.91 | 0.401 | 0.622 | 7 |
| birch | 0.318 | 0.88 | 0.250 | 0.386 | 7 |
| cedar | 0.105 | 0.93 | 0.061 | 0.149 | 7 |
";
    let changed = ("0.318 | 0.88", "0.218 | 0.88");
    only_when_changed(text, changed, "interval_excludes_estimate", &[4]);
}

#[test]
fn two_runs_that_share_what_does_not_vary() {
    let text = "\
## First machine

| Engine | Latency (ms) | Allocated (KB) |
| --- | --- | --- |
| alder | 12.51 | 40.11 |
| birch | 15.82 | 22.72 |
| cedar | 31.07 | 35.43 |

## Second machine

| Engine | Latency (ms) | Allocated (KB) |
| --- | --- | --- |
| alder | 22.58 | 40.11 |
| birch | 25.81 | 22.72 |
| cedar | 41.06 | 38.43 |
";
    assert_eq!(found(text), []);
}

#[test]
fn one_spread_has_one_name() {
    let text = "\
## Latency

| Engine | Mean ± SD (ms) |
| --- | --- |
| alder | 12.51 ± 0.42 |
| birch | 15.82 ± 0.57 |

## Appendix

Standard deviations of all engines:

| Engine | Latency (ms) | Memory (MB) |
| --- | --- | --- |
| alder | 12.51 ± 0.42 | 40.1 |
| birch | 15.8 ± 0.57 | 22.7 |
";
    let check = "spread_named_twice";
    only_when_changed(text, ("Standard deviations", "95% confidence intervals"), check, &[14, 15]);
    // Other numbers are of another run, and an interval of these may be as it says.
    let other = text.replace("Standard deviations", "95% confidence intervals");
    let other = other.replace("12.51 ± 0.42 | 40", "12.51 ± 0.61 | 40").replace("15.8 ±", "15.9 ±");
    assert_eq!(found(&other), []);
}

#[test]
fn means_of_other_kinds_are_what_they_are() {
    let rows = |header: &str, mean: &str| {
        format!(
            "| Engine | Run 1 (ms) | Run 2 (ms) | Run 3 (ms) | {header} |\n|-|-|-|-|-|\n\
             | alder | 1.0 | 2.0 | 12.0 | {mean} |\n"
        )
    };
    // Of 1, 2 and 12: arithmetic 5, geometric 2.88, harmonic 1.89, the middle one 2.
    for (header, mean) in [
        ("Mean (ms)", "5.0"),
        ("Geometric mean (ms)", "2.88"),
        ("Geomean (ms)", "2.9"),
        ("Harmonic mean (ms)", "1.89"),
        ("Trimmed mean (ms)", "2.0"),
        ("Weighted mean (ms)", "3.1"),
    ] {
        assert_eq!(found(&rows(header, mean)), [], "{header}");
    }
    for header in ["Mean (ms)", "Geometric mean (ms)", "Harmonic mean (ms)"] {
        assert_eq!(found(&rows(header, "4.1")), [("mean_of_runs".to_owned(), 3)], "{header}");
    }
    assert_eq!(found(&rows("Trimmed mean (ms)", "13.0")), [("mean_of_runs".to_owned(), 3)]);
    let told = format!("The means are geometric means.\n\n{}", rows("Mean (ms)", "2.88"));
    assert_eq!(found(&told), []);
    let weighted = "| Class | Traces | Saved |\n|-|-|-|\n| build | 3,100 | 21.0 % |\n\
                    | test | 4,098 | 12.4 % |\n| Average | | 16.1 % |\n";
    assert_eq!(found(weighted), []);
}

#[test]
fn ratios_of_sizes_are_of_no_speeds() {
    let text = "\
| Codec | Ratio | Compress (MB/s) | Decompress (MB/s) |
| --- | --- | --- | --- |
| alder | 2.887 | 510 | 1580 |
| birch | 2.743 | 380 | 400 |
| cedar | 2.101 | 660 | 4850 |
";
    assert_eq!(found(text), []);
}

#[test]
fn averages_of_changes_depend_on_their_base() {
    let text = "\
| Query | Before (tx/s) | After (tx/s) | Change |
| --- | --- | --- | --- |
| Q1 | 10 | 110 | +1000 % |
| Q2 | 100 | 10 | -90 % |
| Average | | | +455 % |
";
    let document = Document::parse("r.md", text);
    let all = audit_document(&document, &[], &Mapping::default()).findings;
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((all[0].severity, all[0].place.line), (Severity::Doubtful, Some(5)));
    assert!(all[0].sentence.contains("+4.9 %"), "{}", all[0].sentence);
}

#[test]
fn the_tail_of_a_test_is_that_of_its_alternative() {
    let of =
        |text: &str| found(&format!("It is faster (one-sided t-test for *greater*, {text}).\n"));
    assert_eq!(of("t(18) = -1.86, p = .96"), []);
    assert_eq!(of("t(18) = 1.86, p = .04"), []);
    assert_eq!(of("t(18) = -1.86, p = .04"), [("p_of_test".to_owned(), 1)]);
    // Without the alternative either side may be meant.
    assert_eq!(found("One-tailed test, t(40) = 1.80, p < .04.\n"), []);
}
