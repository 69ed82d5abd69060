//! What a run leaves to the next: rounds with the reference twice make a difference of it, the new
//! ones do not, and a report says either.

use std::collections::BTreeMap;

use lab_record::{Run, Samples};
use lab_report::{Frame, Report, Row, report};
use proof_kit::toys::Toys;

use crate::{
    checkout::{field, swept},
    rounds::in_rounds,
};

const ROUNDS: u32 = 600;
const ELAPSED_NS: f64 = 1e6;
/// What a run right after its own program takes, of what it takes after another.
const AFTER_ITSELF: f64 = 0.9;

/// Always the same numbers, each below `below`.
struct Draws(u64);

impl Draws {
    fn below(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below
    }

    fn shuffled<'n>(&mut self, names: &[&'n str]) -> Vec<&'n str> {
        let mut names = names.to_vec();
        for place in (1..names.len()).rev() {
            names.swap(place, self.below(place as u64 + 1) as usize);
        }
        names
    }
}

/// A sweep of equal programs that are faster right after themselves, its first question asked in
/// rounds of the groups that `draw` gives: each with the run that washes it, where there is one.
fn made_up(draw: impl Fn(&mut Draws) -> (Vec<&'static str>, Option<&'static str>)) -> Frame {
    let text = in_rounds().replace("budget_s = 600", "budget_s = 0");
    let (mut frame, _) = swept(&text, &["fast", "slow", "equal"]);
    let rounds = frame.run_file.analysis.rounds.unwrap();
    let template = |name: &&str| {
        let is_one = |row: &&Row| row.run.variant == **name && row.run.cell["numbers"] == "1000";
        frame.rows.iter().rfind(is_one).unwrap().run.clone()
    };
    let names = ["fast", "fast_twin", "equal"];
    let templates: BTreeMap<&str, Run> = names.iter().map(|name| (*name, template(name))).collect();
    let (mut draws, mut last, mut at) = (Draws(9), "", 1_u64 << 40);
    for round in 0..ROUNDS {
        let (group, wash) = draw(&mut draws);
        let washed = wash.into_iter().map(|name| (name, true));
        for (name, warmup) in washed.chain(group.into_iter().map(|name| (name, false))) {
            at += 1;
            let program = name.trim_end_matches("_twin");
            let left = if program == last { AFTER_ITSELF } else { 1.0 };
            let noise = 0.98 + 0.04 * draws.below(1_000) as f64 / 1_000.0;
            // What a wash takes must count nowhere.
            let takes = if warmup { 20.0 } else { left };
            last = program;
            let block = rounds.block(frame.run_file.blocks, 0, round);
            let run = Run { warmup, block, order: at, start_ns: at, ..templates[name].clone() };
            let elapsed_ns = vec![(ELAPSED_NS * noise * takes) as i64];
            let samples = Samples::from_raw([("elapsed_ns".to_owned(), elapsed_ns)].into());
            frame.rows.push(Row { run, samples });
        }
    }
    frame
}

fn reported(frame: &Frame) -> Report {
    report(frame, &[&Toys]).unwrap()
}

/// A number of the line of `equal`.
fn number(report: &Report, column: &str) -> f64 {
    let line = report.tables["carry-over.tsv"].lines().find(|line| line.contains("\tequal\t"));
    let keys = report.tables["carry-over.tsv"].lines().next().unwrap();
    let place = keys.split('\t').position(|key| key == column).unwrap();
    line.unwrap().split('\t').nth(place).unwrap().parse().unwrap()
}

fn could_change(report: &Report) -> String {
    field(report, "carry-over.tsv", "elapsed_ns 1000", "could_change")
}

#[test]
fn rounds_with_a_twin_make_a_difference_of_equal_programs_and_the_report_says_so() {
    let frame = made_up(|draws| (draws.shuffled(&["fast", "fast_twin", "equal"]), None));
    let report = reported(&frame);
    assert_eq!(field(&report, "differences-1.tsv", "equal", "outcome"), "slower");
    let near = |column, expected: f64| {
        let found = number(&report, column);
        assert!((found - expected).abs() < 0.01, "{column} is {found}");
    };
    near("after_itself", AFTER_ITSELF.ln());
    near("reference_after_itself", AFTER_ITSELF.ln());
    let shares = [number(&report, "reference_share"), number(&report, "share")];
    assert!((shares[0] - 5.0 / 9.0).abs() < 0.06 && (shares[1] - 1.0 / 9.0).abs() < 0.04);
    near("bias", AFTER_ITSELF.ln() * (1.0 / 9.0 - 5.0 / 9.0));
    near("difference", number(&report, "bias"));
    assert_eq!(could_change(&report), "yes");
    let told = "**1 of 1 verdicts in rounds could be what a run leaves to the next**";
    assert!(report.markdown.contains(told), "{}", report.markdown);
    assert!(report.markdown.contains("To be taken again: `equal`."), "{}", report.markdown);
}

#[test]
fn rounds_without_a_twin_treat_all_alike_and_the_report_says_what_was_found() {
    let frame = made_up(|draws| {
        let group = match draws.below(3) {
            0 => ["fast", "fast_twin"],
            _ => ["fast", "equal"],
        };
        (draws.shuffled(&group), Some(group[draws.below(2) as usize]))
    });
    let report = reported(&frame);
    assert_eq!(field(&report, "differences-1.tsv", "equal", "outcome"), "equivalent");
    assert_eq!(field(&report, "aa-1.tsv", "fast_twin", "told_apart"), "false");
    let pairs = |table, name| field(&report, table, name, "n").parse::<u32>().unwrap();
    let all = pairs("differences-1.tsv", "equal") + pairs("aa-1.tsv", "fast_twin");
    assert_eq!(all, ROUNDS, "a wash is in no pair");
    let shares = [number(&report, "reference_share"), number(&report, "share")];
    assert!(shares.iter().all(|share| (share - 0.25).abs() < 0.07), "{shares:?}");
    assert_eq!(could_change(&report), "no: shares equal");
    let told = "Right after its own program a run has -1";
    assert!(report.markdown.contains(told), "{}", report.markdown);
    let alike = made_up(|draws| (draws.shuffled(&["fast", "equal"]), None));
    let first = alike.rows.iter().filter(|row| row.run.block <= alike.run_file.blocks).cloned();
    let blocks_alone = Frame { rows: first.collect(), ..alike.clone() };
    assert!(!reported(&blocks_alone).tables.contains_key("carry-over.tsv"));
}
