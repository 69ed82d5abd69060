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
fn two_units() {
    assert_eq!(below("The whole run took 90 minutes (1.5 h)."), None);
    assert_eq!(below("The whole run took 90 minutes (1.8 h).").as_deref(), Some("two_units"));
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
