//! Declared questions in rounds: measured by themselves until they are answered, and no longer.

use std::collections::{BTreeMap, BTreeSet};

use lab_report::Frame;

use crate::{
    checkout::{Checkout, alone, field, outcome, swept},
    sixth_family::EXPERIMENT,
};

const BLOCKS: u32 = 8;

/// The experiment, its questions in at most 400 rounds each.
fn in_rounds() -> String {
    let bounds = "at_least = ";
    let rounds = EXPERIMENT.replace(bounds, &format!("rounds = true\n{bounds}"));
    let questions = "[[analysis.comparisons]]";
    let budget = "[analysis.rounds]\nbudget_s = 600\nmost = 400\n";
    rounds.replacen(questions, &format!("{budget}{questions}"), 1)
}

/// The variants of each round, by block, in the order in which they ran.
fn rounds(frame: &Frame) -> BTreeMap<u32, Vec<(u64, &str)>> {
    let mut rounds: BTreeMap<u32, Vec<(u64, &str)>> = BTreeMap::new();
    for row in frame.rows.iter().filter(|row| row.run.block > BLOCKS) {
        let run = (row.run.start_ns, row.run.variant.as_str());
        rounds.entry(row.run.block).or_default().push(run);
    }
    rounds.values_mut().for_each(|runs| runs.sort_unstable());
    rounds
}

#[test]
fn a_question_is_asked_until_it_is_answered() {
    let (frame, report) = swept(&in_rounds(), &["fast", "slow", "equal"]);
    assert_eq!(outcome(&report, "differences-1.tsv", "slow"), "slower");
    assert_eq!(outcome(&report, "differences-1.tsv", "equal"), "equivalent");
    assert_eq!(outcome(&report, "contrasts.tsv", "thousand_against_ten"), "equivalent");
    assert_eq!(outcome(&report, "expectations.tsv", "slow_costs_half_more"), "holds");
    assert_eq!(outcome(&report, "expectations.tsv", "slow_costs_double"), "fails");
    assert_eq!(outcome(&report, "expectations.tsv", "equal_rates"), "holds");
    let pairs = |table: &str, id: &str| field(&report, table, id, "n").parse::<u32>().unwrap();
    let (slow, equal) = (pairs("differences-1.tsv", "slow"), pairs("differences-1.tsv", "equal"));
    // Half as much again is told at once; that tails are equal takes a while.
    assert!(slow < 30 && 70 < equal && equal < 400, "{slow} {equal}");
    // The slow one is left out as soon as it is known.
    let of_slow = |runs: &&Vec<(u64, &str)>| runs.iter().any(|(_, variant)| *variant == "slow");
    let first = BLOCKS + 1..BLOCKS + 1 + 400;
    let rounds = rounds(&frame);
    let of_question = || rounds.range(first.clone()).map(|(_, runs)| runs);
    assert_eq!(of_question().count() as u32, equal);
    assert_eq!(of_question().take_while(|runs| of_slow(runs)).count() as u32, slow);
    assert!(!of_question().skip(slow as usize).any(|runs| of_slow(&runs)));
    assert!(report.whole().contains("each comparison in rounds of its own"));
    assert!(
        report.tables["times.tsv"].contains("fast\t1000\t8\t"),
        "{}",
        report.tables["times.tsv"]
    );
}

#[test]
fn a_round_has_everybody_side_by_side_and_a_coin_decides_the_order() {
    let (frame, _) = swept(&in_rounds(), &["fast", "slow"]);
    let rounds = rounds(&frame);
    let full: Vec<Vec<&str>> = rounds
        .values()
        .filter(|runs| runs.iter().any(|(_, variant)| *variant == "fast_twin"))
        .map(|runs| runs.iter().map(|(_, variant)| *variant).collect())
        .collect();
    assert!(full.iter().all(|runs| runs.contains(&"fast") && runs.len() <= 3), "{full:?}");
    let firsts: BTreeSet<&str> = full.iter().map(|runs| runs[0]).collect();
    assert_eq!(firsts.len(), 3, "{full:?}");
}

#[test]
fn a_stopped_question_goes_on_where_it_was() {
    let _alone = alone();
    let whole = Checkout::of(&in_rounds(), &["fast", "slow"]);
    assert!(whole.sweep(false, usize::MAX).finished);
    let (whole, expected) = whole.report();
    let stopped = Checkout::of(&in_rounds(), &["fast", "slow"]);
    // In the blocks, in the middle of a round, and in a later question.
    for (resume, runs) in [(false, 20), (true, 60 + 17), (true, 60 + 200)] {
        assert!(!stopped.sweep(resume, runs).finished);
    }
    assert!(stopped.sweep(true, usize::MAX).finished);
    let (stopped, found) = stopped.report();
    let orders = |frame: &Frame| {
        let orders: Vec<u64> = frame.in_plan_order().iter().map(|row| row.run.order).collect();
        orders
    };
    assert_eq!(orders(&stopped), orders(&whole));
    for table in ["differences-1.tsv", "contrasts.tsv", "expectations.tsv"] {
        assert_eq!(found.tables[table], expected.tables[table]);
    }
}

#[test]
fn without_time_nothing_is_asked_and_nothing_is_said() {
    let text = in_rounds().replace("budget_s = 600", "budget_s = 0");
    let (frame, report) = swept(&text, &["fast", "slow"]);
    assert!(rounds(&frame).is_empty());
    assert_eq!(outcome(&report, "contrasts.tsv", "thousand_against_ten"), "not measured");
    assert_eq!(outcome(&report, "expectations.tsv", "slow_costs_half_more"), "not measured");
}

#[test]
fn too_few_rounds_are_counted_and_not_called_none() {
    let text = in_rounds().replace("most = 400", "most = 5");
    let (_, report) = swept(&text, &["fast", "slow"]);
    let why = |table: &str, id: &str| field(&report, table, id, "why");
    assert_eq!(outcome(&report, "expectations.tsv", "slow_costs_half_more"), "cannot tell");
    assert_eq!(why("expectations.tsv", "slow_costs_half_more"), "5 pairs are too few");
    assert_eq!(why("differences-1.tsv", "slow"), "5 pairs are too few");
}
