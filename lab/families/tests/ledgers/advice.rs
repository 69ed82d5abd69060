//! Advice by class of load, from sweeps whose truth is known.

use super::sweep::{Sweep, report};
use proof_kit::world::{field, number};

const LOADS: [&str; 3] = ["one stream", "up to 100 streams", "over 100 streams"];

fn workers(sweep: &Sweep, variant: &str) -> [String; 3] {
    let report = report(&sweep.frame());
    LOADS.map(|load| {
        field(&report, "advice.tsv", &[("load", load), ("variant", variant)], "workers")
    })
}

#[test]
fn each_class_of_load_has_the_count_that_was_planted() {
    // A second worker costs 20 µs, which one stream has nothing to win by.
    assert_eq!(workers(&Sweep::default(), "dashmap"), ["1", "2", "2"]);
    assert_eq!(workers(&Sweep::default(), "owned"), ["1", "2", "2"]);
}

#[test]
fn of_counts_that_tie_the_smallest_is_advised() {
    let flat = Sweep { extra_worker_ns: 0.0, second_worker_ns: 0.0, ..Sweep::default() };
    let report = report(&flat.frame());
    for load in &LOADS[1..] {
        let keys = [("load", *load), ("variant", "dashmap")];
        assert_eq!(field(&report, "advice.tsv", &keys, "workers"), "2");
    }
}

#[test]
fn advice_says_where_it_holds_and_what_it_costs_elsewhere() {
    let report = Sweep::default().report();
    let keys = [("load", "over 100 streams"), ("variant", "dashmap")];
    let of = |column: &str| number(&report, "advice.tsv", &keys, column);
    assert_eq!(of("best_in"), of("cells"));
    assert!((1.0..1.01).contains(&of("over_best_max")), "{}", of("over_best_max"));
    let said = "Workers to begin with on `dashmap`: one stream: 1 (best or tied in";
    assert!(report.whole().contains(said), "{}", report.whole());
}

#[test]
fn one_block_and_unequal_twins_are_no_ground_for_advice() {
    let short = Sweep { blocks: 1, ..Sweep::default() };
    let unequal = Sweep { twin_factor: 1.02, ..Sweep::default() };
    for sweep in [short, unequal] {
        assert!(!sweep.report().tables.contains_key("advice.tsv"));
    }
}

#[test]
fn no_advice_stands_where_nothing_is_told_apart_or_beside_a_contrast_against_it() {
    // Every number of workers takes the same time.
    let equal =
        Sweep { lanes: 1.0, extra_worker_ns: 0.0, second_worker_ns: 0.0, ..Sweep::default() };
    let report = equal.report();
    let said = "up to 100 streams: none, for no number of workers is told from another";
    assert!(report.whole().contains(said), "{}", report.whole());
    // One worker is best in two small cells of three, and not in the one that a contrast is about.
    let small = Sweep { little_work: true, second_worker_ns: 100_000.0, ..Sweep::default() };
    let report = small.report();
    let said = "up to 100 streams: none, for the contrast `eight_against_one` shows that another";
    assert!(report.whole().contains(said), "{}", report.whole());
    assert!(!report.tables["advice.tsv"].contains("up to 100 streams\tdashmap"));
}

#[test]
fn the_answer_begins_with_the_factor_that_the_question_names() {
    let report = Sweep::default().report();
    let answer = report.answer.unwrap();
    assert!(answer.starts_with("With workers 8 `dashmap` takes "), "{answer}");
    assert!(
        answer.contains(" than with workers 1. No difference in elapsed time from "),
        "{answer}"
    );
}
