//! Numbers that follow from tables, near and far: counts, means, shares, definitions, repeats.

mod changed;

use changed::{found, only_when_changed};

const COUNTS: &str = "\
# Report

Of all runs 7% (2/30) had a failure.

## First

| Nodes | Depth | Failures |
| --- | --- | --- |
| 2 | 8 | 0/5 |
| 4 | 8 | 0/5 |
| 4 | 9 | 1/5 |

In this part 1/15 runs counted failures.

## Second

| Nodes | Depth | Failures |
| --- | --- | --- |
| 6 | 8 | 0/5 |
| 8 | 8 | 0/5 |
| 8 | 9 | 1/5 |

Rate of failures: 1/15 runs.
";

#[test]
fn counts_add_up() {
    only_when_changed(COUNTS, ("1/15 runs counted", "2/15 runs counted"), "sum_of_counts", &[13]);
    only_when_changed(COUNTS, ("7% (2/30)", "10% (3/30)"), "sum_of_counts", &[3]);
}

const DETAIL: &str = "\
# Report

## Overview

| Engine | Mean latency (ms) | P95 latency (ms) |
| --- | ---: | ---: |
| ash_v2 | 21.0 | 29.6 |
| elm_v2 | 40.0 | 44.0 |

## Requests (ash_v2)

| Request | Latency (ms) |
| --- | ---: |
| a | 14.0 |
| b | 19.0 |
| c | 30.0 |
";

#[test]
fn statistics_of_the_table_that_they_are_of() {
    only_when_changed(DETAIL, ("29.6", "38.6"), "statistic_of_rows", &[7]);
}

const NAMED: &str = "\
# Report

## Load

| Engine | Mean throughput (req/s) | P95 throughput (req/s) |
| --- | ---: | ---: |
| ash_v2 | 210.0 | 230.0 |
| elm_v2 | 140.0 | 155.0 |

## Size

| Engine | Peak throughput (req/s) | Latency (s) |
| --- | ---: | ---: |
| ash_v2 | 236.5 | 0.10 |
| elm_v2 | 160.0 | 0.12 |

## The engine ash_v2

| Metric | Value |
| --- | --- |
| Mean latency (warm) | 0.11 s |

## Start

Latency at the start:

```
ash_v2:
- Cold: 0.55 s
- Warm: 0.11 s
```
";

#[test]
fn one_quantity_in_two_places() {
    only_when_changed(NAMED, ("236.5", "226.5"), "extreme_exceeded", &[14]);
    only_when_changed(NAMED, ("0.11 s |", "0.17 s |"), "same_quantity", &[21]);
}

#[test]
fn cells_of_other_cells() {
    let text = "\
## Peers

| Input | ash | elm |
| --- | ---: | ---: |
| small | 10.0 ms (1.00x) | 20.5 ms (2.05x) |
| large | 44.0 ms (1.10x) | 40.0 ms (1.00x) |
| huge | 90.0 ms (1.00x) | 270.0 ms (3.00x) |
";
    only_when_changed(text, ("(3.00x)", "(2.40x)"), "relative_cell", &[7]);
}

#[test]
fn columns_that_follow_from_others() {
    let text = "\
## Times

| Case | Time (ns/op) | Rate (ops/s) |
| --- | ---: | ---: |
| a | 50.0 | 20000000 |
| b | 125.0 | 8000000 |
| c | 200.0 | 5000000 |
";
    only_when_changed(text, ("8000000", "9500000"), "inverse", &[6]);
    let text = "\
## Tests

| Suite | Passed | Failed | Total |
| --- | ---: | ---: | ---: |
| a | 51 | 4 | 55 |
| b | 12 | 0 | 12 |
| c | 33 | 8 | 41 |
";
    only_when_changed(text, ("| 41 |", "| 47 |"), "total_of_columns", &[7]);
    let text = "\
## Time by part

| Part | Time (s) | Share |
| --- | ---: | ---: |
| read | 4.0 | 40% |
| parse | 5.0 | 50% |
| write | 1.0 | 10% |
";
    only_when_changed(text, ("| 10% |", "| 19% |"), "share_of_total", &[7]);
}

#[test]
fn definitions_of_columns() {
    let text = "\
## Metrics

- Fill = used space / whole space × 100%

## Disks

| Disk | Used space (GB) | Whole space (GB) | Fill |
| --- | ---: | ---: | ---: |
| a | 120 | 480 | 25% |
| b | 333 | 444 | 75% |
";
    only_when_changed(text, ("| 75% |", "| 66% |"), "definition", &[10]);
}

#[test]
fn repeats_of_what_is_wrong() {
    let text = "\
# Report

We saw a 42% lower tail latency (100 ms → 80 ms) under load.

Customers get a 42% lower tail latency as well.
";
    assert_eq!(found(&text.replace("42%", "20%")), []);
    let wrong = [("change_of_two".to_owned(), 3), ("change_of_two".to_owned(), 5)];
    assert_eq!(found(text), wrong);
}

#[test]
fn ratios_within_groups() {
    let text = "\
## Times

| Method | Size | Mean (ns) | Ratio |
| --- | ---: | ---: | ---: |
| base | 10 | 100.0 | 1.00 |
| new | 10 | 50.0 | 0.50 |
| base | 20 | 400.0 | 1.00 |
| new | 20 | 100.0 | 0.25 |
";
    only_when_changed(text, ("0.25", "0.75"), "ratio", &[8]);
}

#[test]
fn deviations_of_shares() {
    let text = "\
## Runs

| Model | Mean accuracy (%) | SD accuracy (%) | n |
| --- | ---: | ---: | ---: |
| ash | 90.0 | 29.0 | 20 |
| elm | 50.0 | 12.0 | 20 |
";
    only_when_changed(text, ("| 29.0 |", "| 39.0 |"), "sd_beyond_shares", &[5]);
}

/// One ratio is 1 by chance: its interval says that it was measured, so that it is no base.
const MEASURED_RATIOS: &str = "\
# Report

| expected | measured | n | detectable |
|---|---|---:|---|
| one thread is faster than several | 0.997× (0.990 … 1.004) | 714 | +0.85 % |
| a bound channel is as fast as an unbounded one | 0.998× (0.991 … 1.004) | 877 | +0.79 % |
| room for results is as fast as none | 1.000× (0.995 … 1.004) | 1283 | +0.60 % |
";

#[test]
fn ratios_with_intervals_are_of_nothing_else_in_their_table() {
    assert_eq!(found(MEASURED_RATIOS), []);
}
