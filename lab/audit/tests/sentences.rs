//! Sentences with numbers beside the tables that they are of.

mod changed;

use changed::{found, only_when_changed};

const ENGINES: &str = "\
# Engines

## Results

| Engine | Latency (ms) | Throughput (ops/s) |
| --- | ---: | ---: |
| alder | 12.5 | 820.4 |
| birch | 15.8 | 641.9 |
| cedar | 31.0 | 310.2 |

SENTENCE
";

/// The check that a sentence below the table fails.
fn below(sentence: &str) -> Option<String> {
    found(&ENGINES.replace("SENTENCE", sentence)).first().map(|(check, _)| check.clone())
}

#[test]
fn bounds_of_all_rows() {
    assert_eq!(below("All engines stay below 32 ms latency.").as_deref(), None);
    let wrong = below("All engines have a latency below 30 ms.");
    assert_eq!(wrong.as_deref(), Some("bound_of_all_rows"));
    assert_eq!(below("No engine exceeds 32 ms of latency.").as_deref(), None);
    assert_eq!(below("No engine exceeds 30 ms of latency.").as_deref(), Some("bound_of_all_rows"));
    // Wishes and exceptions.
    assert_eq!(below("All engines should stay below 30 ms."), None);
    assert_eq!(below("All engines except cedar stay below 30 ms."), None);
}

#[test]
fn ranges_of_rows() {
    assert_eq!(below("Latency ranges from 12.5 to 31.0 ms."), None);
    assert_eq!(below("Latency ranges from 12.5 to 15.8 ms.").as_deref(), Some("range_of_rows"));
    // Neither end is of the table.
    assert_eq!(below("Latency ranges from 2.0 to 3.0 ms in other work."), None);
    assert_eq!(below("All latencies are within 20 ms of each other."), None);
    let wrong = below("All latencies are within 9 ms of each other.");
    assert_eq!(wrong.as_deref(), Some("range_of_rows"));
}

#[test]
fn the_highest_and_the_lowest_number() {
    assert_eq!(below("The highest throughput is 820.4 ops/s."), None);
    let wrong = below("The highest throughput is 641.9 ops/s.");
    assert_eq!(wrong.as_deref(), Some("superlative"));
    assert_eq!(below("Lowest latency: 12.5 ms"), None);
    assert_eq!(below("Lowest latency: 15.8 ms").as_deref(), Some("superlative"));
    // Of some, and a number that the column does not have.
    assert_eq!(below("The second highest throughput is 641.9 ops/s."), None);
    assert_eq!(below("The highest throughput is 900 ops/s."), None);
}

#[test]
fn numbers_beside_names() {
    assert_eq!(below("Latency is 12.5 ms for alder against 15.8 ms for birch."), None);
    let wrong = below("Latency is 12.5 ms for alder against 18.8 ms for birch.");
    assert_eq!(wrong.as_deref(), Some("stated_twice"));
    // Another state, and a difference.
    assert_eq!(below("When cold, latency is 18.8 ms for birch."), None);
    assert_eq!(below("Latency is 3.3 ms higher for birch."), None);
}

#[test]
fn comparisons_of_columns() {
    let text = "\
## Comparison

| Metric | alder | birch |
| --- | --- | --- |
| Mean latency | 12.5 ms | 15.0 ms |
| Memory | 40.0 MB | 22.7 MB |

Alder is 20% faster than birch.
";
    only_when_changed(text, ("is 20%", "is 35%"), "compared_with", &[8]);
}

#[test]
fn the_best_row_by_its_settings() {
    let text = "\
## Sweep

| Size | Depth | Throughput (ops/s) |
| --- | --- | --- |
| 128 | 2 | 410.5 |
| 256 | 2 | 520.8 |
| 256 | 4 | 498.1 |
| 512 | 4 | 470.9 |

Best: SIZE=256, DEPTH=2 with 520.8 ops/s
";
    let changed = ("DEPTH=2 with 520.8", "DEPTH=4 with 498.1");
    only_when_changed(text, changed, "superlative", &[10]);
}

#[test]
fn one_value_of_a_setting() {
    let text = "\
## Sweep

| Size | Depth | Throughput (ops/s) |
| --- | --- | --- |
| 128 | 2 | 410.5 |
| 256 | 2 | 520.8 |
| 128 | 4 | 398.1 |
| 256 | 4 | 470.9 |

SIZE=256 improves throughput by 18-27% across all depths.
";
    only_when_changed(text, ("470.9", "370.9"), "claim_of_all_rows", &[10]);
}

#[test]
fn p_values_and_what_is_said_of_them() {
    assert_eq!(below("The difference is significant (p = 0.012)."), None);
    let wrong = below("The difference is significant (p = 0.12).");
    assert_eq!(wrong.as_deref(), Some("p_and_words"));
    let wrong = below("The difference is not significant (p < 0.001).");
    assert_eq!(wrong.as_deref(), Some("p_and_words"));
    assert_eq!(below("Marginally significant (p = 0.08)."), None);
    let table = "\
| Pair | p-value | Significant |
| --- | --- | --- |
| alder vs birch | 0.012 | Yes |
| alder vs cedar | 0.310 | No |
";
    only_when_changed(table, ("0.310 | No", "0.310 | Yes"), "p_and_words", &[4]);
}

#[test]
fn p_values_of_counts() {
    let text = "\
## Success

| Engine | Passed |
| --- | --- |
| alder | 20/30 |
| birch | 12/30 |

Chi-square test: p < 0.05
";
    only_when_changed(text, ("p < 0.05", "p < 0.01"), "p_of_counts", &[8]);
}

#[test]
fn two_units_and_counted_names() {
    assert_eq!(below("The whole run took 90 minutes (1.5 h)."), None);
    assert_eq!(below("The whole run took 90 minutes (1.8 h).").as_deref(), Some("two_units"));
    assert_eq!(below("We ran three engines (alder, birch, cedar)."), None);
    let wrong = below("We ran four engines (alder, birch, cedar).");
    assert_eq!(wrong.as_deref(), Some("count_of_names"));
    assert_eq!(below("It is 2-5x steadier (1.0% vs 2-5%)."), None);
    assert_eq!(below("It is 4-9x steadier (1.0% vs 2-5%).").as_deref(), Some("change_of_two"));
}

#[test]
fn p_values_of_two_samples_whose_size_is_said() {
    let text = "\
## Difference

Each engine ran with n = 30.

| Engine | Mean (ms) | SD (ms) |
| --- | --- | --- |
| alder | 50.00 | 4.00 |
| birch | 52.00 | 4.00 |

Welch's t-test: p = 0.057
";
    only_when_changed(text, ("p = 0.057", "p = 0.31"), "test_of_samples", &[10]);
    let turned = "\
## Difference

Each engine ran with n = 30.

| Statistic | alder | birch |
| --- | --- | --- |
| Mean (ms) | 50.00 | 52.00 |
| SD (ms) | 4.00 | 4.00 |

Welch's t-test: p = 0.057
";
    only_when_changed(turned, ("p = 0.057", "p = 0.31"), "test_of_samples", &[10]);
}
