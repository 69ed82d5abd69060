//! Declared questions in rounds: measured by themselves until they are answered, and no longer.

use std::collections::{BTreeMap, BTreeSet};

use lab_record::{Rounds, Run};
use lab_report::{Forecast, Frame, Planned, Row, forecast};
use proof_kit::toys::Toys;

use crate::{
    checkout::{Checkout, alone, field, outcome, swept},
    sixth_family::EXPERIMENT,
};

const BLOCKS: u32 = 8;
const MOST: u32 = 900;

/// The experiment, its questions in at most [`MOST`] rounds each.
pub(crate) fn in_rounds() -> String {
    let bounds = "at_least = ";
    let rounds = EXPERIMENT.replace(bounds, &format!("rounds = true\n{bounds}"));
    let questions = "[[analysis.comparisons]]";
    let budget = format!("[analysis.rounds]\nbudget_s = 600\nmost = {MOST}\n");
    rounds.replacen(questions, &format!("{budget}{questions}"), 1)
}

fn is_control(runs: &[(u64, &str)]) -> bool {
    runs.iter().any(|(_, variant)| *variant == "fast_twin")
}

/// The variants of each round, by block, in the order in which they ran, less what washed it.
fn rounds(frame: &Frame) -> BTreeMap<u32, Vec<(u64, &str)>> {
    let mut rounds: BTreeMap<u32, Vec<(u64, &str)>> = BTreeMap::new();
    for row in frame.rows.iter().filter(|row| row.run.block > BLOCKS && !row.run.warmup) {
        let run = (row.run.start_ns, row.run.variant.as_str());
        rounds.entry(row.run.block).or_default().push(run);
    }
    rounds.values_mut().for_each(|runs| runs.sort_unstable());
    rounds
}

#[test]
fn a_twin_is_a_file_of_its_own() {
    let programs = Checkout::of(&in_rounds(), &["fast", "slow"]).programs();
    let [fast, slow, twin] = &programs[..] else { panic!("{programs:?}") };
    assert_eq!((&*slow.variant, twin.twin_of.as_deref()), ("slow", Some("fast")));
    assert_eq!(fast.sha256, twin.sha256);
    assert_ne!(fast.path, twin.path);
    assert_ne!(fast.inode, twin.inode);
}

#[test]
fn a_question_is_asked_until_it_is_answered() {
    let (frame, report) = swept(&in_rounds(), &["fast", "slow", "equal", "uneven"]);
    assert_eq!(outcome(&report, "differences-1.tsv", "slow"), "slower");
    assert_eq!(outcome(&report, "differences-1.tsv", "equal"), "equivalent");
    assert_eq!(field(&report, "verdicts-1.tsv", "slow", "margin_value"), "0.05");
    let detectable = field(&report, "verdicts-1.tsv", "slow", "detectable_value");
    assert!(detectable.parse::<f64>().unwrap() > 0.0, "{detectable}");
    assert_eq!(outcome(&report, "contrasts.tsv", "thousand_against_ten"), "equivalent");
    assert_eq!(outcome(&report, "expectations.tsv", "slow_costs_half_more"), "holds");
    assert_eq!(outcome(&report, "expectations.tsv", "slow_costs_double"), "fails");
    assert_eq!(outcome(&report, "expectations.tsv", "equal_rates"), "holds");
    let pairs = |table: &str, id: &str| field(&report, table, id, "n").parse::<u32>().unwrap();
    let [slow, uneven] = ["slow", "uneven"].map(|name| pairs("differences-1.tsv", name));
    // Half as much again is told as soon as the control is known; what varies takes a while.
    assert!(slow < 60 && 70 < uneven && uneven < MOST, "{slow} {uneven}");
    // The slow one is left out as soon as it is known.
    let of_slow = |runs: &&Vec<(u64, &str)>| runs.iter().any(|(_, variant)| *variant == "slow");
    let first = BLOCKS + 1..BLOCKS + 1 + MOST;
    let rounds = rounds(&frame);
    let (controls, of_question): (Vec<_>, Vec<_>) =
        rounds.range(first).map(|(_, runs)| runs).partition(|runs| is_control(runs));
    let of_question = || of_question.iter().copied();
    assert_eq!(of_question().count() as u32, uneven);
    assert_eq!(of_question().take_while(|runs| of_slow(runs)).count() as u32, slow);
    assert!(!of_question().skip(slow as usize).any(|runs| of_slow(&runs)));
    assert_eq!(controls.len().to_string(), field(&report, "aa-1.tsv", "fast_twin", "n"));
    assert!(report.whole().contains("in rounds, at most 600 s"));
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
    let first = rounds.range(BLOCKS + 1..BLOCKS + 1 + MOST).map(|(_, runs)| runs);
    let (controls, question): (Vec<_>, Vec<_>) = first.partition(|runs| is_control(runs));
    for (kind, second) in [(question, "slow"), (controls, "fast_twin")] {
        let orders: BTreeSet<Vec<&str>> =
            kind.iter().map(|runs| runs.iter().map(|(_, variant)| *variant).collect()).collect();
        let expected = [vec!["fast", second], vec![second, "fast"]];
        assert_eq!(orders, BTreeSet::from(expected));
    }
}

/// Whether each block of the rounds began with a run that does not count, in the order in which
/// they ran.
fn washed(frame: &Frame) -> Vec<(u32, bool)> {
    let of_rounds = frame.rows.iter().filter(|row| row.run.block > BLOCKS);
    let mut runs: Vec<&Run> = of_rounds.map(|row| &row.run).collect();
    runs.sort_by_key(|run| run.start_ns);
    let blocks = runs.chunk_by(|one, next| one.block == next.block);
    blocks.map(|runs| (runs[0].block, runs[0].warmup)).collect()
}

#[test]
fn a_round_after_one_of_something_else_is_washed_by_any_of_its_own() {
    let (frame, report) = swept(&in_rounds(), &["fast", "slow"]);
    let rounds = rounds(&frame);
    let kind = |block: u32| (frame.run_file.question_of(block), is_control(&rounds[&block]));
    let mut last = None;
    for (block, is_washed) in washed(&frame) {
        assert_eq!(is_washed, last.replace(kind(block)) != Some(kind(block)), "{block}");
    }
    let washes: Vec<&Run> =
        frame.rows.iter().map(|row| &row.run).filter(|run| run.warmup).collect();
    let washes = || washes.iter().filter(|run| run.block > BLOCKS);
    for wash in washes() {
        let of_round = |row: &&Row| row.run.block == wash.block && !row.run.warmup;
        let own = frame.rows.iter().filter(of_round).map(|row| (&row.run.variant, &row.run.cell));
        assert!(own.into_iter().any(|own| own == (&wash.variant, &wash.cell)), "{wash:?}");
    }
    // By seed and block alone: of each of the three, in some round.
    let of_comparison = washes().filter(|wash| wash.block <= BLOCKS + MOST);
    let variants: BTreeSet<&str> = of_comparison.map(|wash| wash.variant.as_str()).collect();
    assert_eq!(variants, BTreeSet::from(["fast", "fast_twin", "slow"]));
    // No pair has a run of them.
    let pairs = field(&report, "differences-1.tsv", "slow", "n").parse::<usize>().unwrap();
    let of_slow = |runs: &&Vec<(u64, &str)>| runs.iter().any(|(_, variant)| *variant == "slow");
    assert_eq!(rounds.range(..=BLOCKS + MOST).filter(|(_, runs)| of_slow(runs)).count(), pairs);
}

#[test]
fn a_ratio_of_two_numbers_of_one_run_is_asked_of_that_run_alone() {
    let within = "[[expect]]\nid = \"within_a_run\"\nkind = \"check\"\nsays = \"time over rate\"\n\
                  cells = { numbers = \"1000\" }\nvalue = { variant = \"slow\", metric = \
                  \"elapsed_ns\" }\nover = { metric = \"numbers_per_s\" }\nrounds = true\n\
                  at_least = 1e-12\n";
    let text = in_rounds().replace("[toys.defaults]", &format!("{within}[toys.defaults]"));
    let (frame, report) = swept(&text, &["fast", "slow"]);
    assert_eq!(outcome(&report, "expectations.tsv", "within_a_run"), "holds");
    let of_slow =
        rounds(&frame).into_values().filter(|runs| runs.iter().all(|run| run.1 == "slow"));
    assert!(of_slow.count() >= 6, "rounds of one run each");
}

#[test]
fn a_stopped_question_goes_on_where_it_was() {
    let _alone = alone();
    let whole = Checkout::of(&in_rounds(), &["fast", "slow"]);
    assert!(whole.sweep(false, usize::MAX).finished);
    let (whole, expected) = whole.report();
    let stopped = Checkout::of(&in_rounds(), &["fast", "slow"]);
    // In the blocks, in the middle of a round, and in a later question.
    for (resume, runs) in [(false, 20), (true, 60 + 17), (true, 60 + 1)] {
        assert!(!stopped.sweep(resume, runs).finished);
    }
    assert!(stopped.sweep(true, usize::MAX).finished);
    let (stopped, found) = stopped.report();
    let counted = |frame: &Frame| {
        let rows = frame.in_plan_order().into_iter().filter(|row| !row.run.warmup);
        rows.map(|row| row.run.order).collect::<Vec<u64>>()
    };
    assert_eq!(counted(&stopped), counted(&whole));
    // A session that goes on within rounds begins with a wash, maybe of a round that had one.
    let washes = |frame: &Frame| {
        let washes = frame.rows.iter().filter(|row| row.run.warmup && row.run.block > BLOCKS);
        washes.map(|row| (row.run.order, row.run.attempt)).collect::<Vec<_>>()
    };
    let (of_stopped, of_whole) = (washes(&stopped), washes(&whole));
    assert!(of_stopped.len() > of_whole.len(), "{of_stopped:?}");
    assert_eq!(of_stopped.iter().collect::<BTreeSet<_>>().len(), of_stopped.len());
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
    let text = in_rounds().replace(&format!("most = {MOST}"), "most = 5");
    let (frame, report) = swept(&text, &["fast", "slow"]);
    let rounds = rounds(&frame);
    let of_comparison = rounds.range(..=BLOCKS + 5).filter(|(_, runs)| !is_control(runs)).count();
    let why = |table: &str, id: &str| field(&report, table, id, "why");
    assert_eq!(outcome(&report, "expectations.tsv", "slow_costs_half_more"), "cannot tell");
    let more = why("expectations.tsv", "slow_costs_half_more");
    assert!(more.contains(" more rounds"), "{more}");
    let few = format!("{of_comparison} pairs are too few");
    let why = why("differences-1.tsv", "slow");
    assert!(why.starts_with(&few), "{why}");
}

/// What a sweep promises of the same questions in so many blocks, and in rounds of so many seconds.
fn forecasts(frame: &Frame, blocks: u32, budget_s: Option<u32>) -> Vec<Forecast> {
    let mut analysis = frame.run_file.analysis.clone();
    analysis.rounds = budget_s.map(|budget_s| Rounds { budget_s, most: MOST });
    let mut expectations = frame.run_file.expectations.clone();
    expectations.iter_mut().for_each(|one| one.rounds = one.over.is_some());
    let planned = Planned { analysis: &analysis, expectations: &expectations, blocks };
    forecast(frame.clone(), &planned, &[&Toys]).unwrap()
}

/// The same with the comparison left to the blocks, and a second contrast beside the first.
fn partly_in_rounds() -> String {
    let comparison = "margin = 0.05\n[[analysis.contrasts]]";
    let left = "margin = 0.05\nrounds = false\n[[analysis.contrasts]]";
    let contrast = "id = \"slow_thousand\"\nvariant = \"slow\"\nmetric = \"elapsed_ns\"\n\
        factor = \"numbers\"\nlevel = \"1000\"\nreference = \"10\"\ncells = {}\n\
        scale = \"ratio\"\nmargin = 0.05\nrounds = false\n[[analysis.contrasts]]";
    in_rounds().replacen(comparison, &format!("{left}\n{contrast}"), 1)
}

#[test]
fn what_is_left_to_the_blocks_is_judged_by_them_beside_rounds() {
    let (frame, report) = swept(&partly_in_rounds(), &["fast", "slow", "equal"]);
    let of_slow = |column| field(&report, "verdicts-1.tsv", "slow", column);
    assert_eq!((of_slow("n"), of_slow("outcome")), (BLOCKS.to_string(), "slower".to_owned()));
    assert_ne!(of_slow("p_holm"), "nan");
    assert!(report.whole().contains("numbers 1000. *By blocks.* 8 pairs"), "{}", report.whole());
    let of = |id, column| field(&report, "contrasts.tsv", id, column);
    let left = (of("slow_thousand", "n"), of("slow_thousand", "p_holm"));
    assert!(left.0 == BLOCKS.to_string() && left.1 != "nan", "{left:?}");
    let asked = (of("thousand_against_ten", "n"), of("thousand_against_ten", "p_holm"));
    assert!(asked.0.parse::<u32>().unwrap() > BLOCKS && asked.1 == "nan", "{asked:?}");
    // No run of a round is about the comparison: they have no twin.
    let rounds = rounds(&frame);
    assert!(rounds.values().flatten().all(|(_, variant)| *variant != "fast_twin"), "{rounds:?}");
    // A forecast has all questions, those of the blocks last.
    let found = forecasts(&frame, BLOCKS, Some(600));
    let left: Vec<_> = found.iter().map(|one| (&*one.question, one.left_to_blocks)).collect();
    assert_eq!(left[0], ("thousand_against_ten", false));
    assert_eq!(left[left.len() - 2..], [("elapsed_ns 1000", true), ("slow_thousand", true)]);
    assert!(found.iter().all(|one| one.detectable.is_some()), "{found:?}");
}

#[test]
fn rounds_promise_what_rounds_of_the_same_questions_will_know() {
    let (frame, _) = swept(&in_rounds(), &["fast", "slow", "equal"]);
    let found = forecasts(&frame, BLOCKS, Some(600));
    let asked: Vec<&str> = found.iter().map(|one| one.question.as_str()).collect();
    let contrast = "thousand_against_ten";
    let expected = ["slow_costs_half_more", "slow_costs_double"];
    assert_eq!(asked[..2], ["elapsed_ns 1000", contrast]);
    assert_eq!(asked[2..], expected);
    for one in &found {
        assert!(!one.apart && one.seconds > 0.0 && one.seconds <= 600.0, "{one:?}");
        let (least, most) = one.detectable.unwrap();
        assert!(0.0 < least && least <= most, "{one:?}");
    }
    // No time for anything: nothing will be known.
    let without = forecasts(&frame, BLOCKS, Some(0));
    assert!(without.iter().all(|one| one.detectable.is_none() && one.seconds == 0.0));
}

#[test]
fn blocks_stand_for_rounds_that_never_were_and_four_times_as_many_halve_what_is_detectable() {
    let (frame, _) = swept(EXPERIMENT, &["fast", "slow", "equal"]);
    let in_rounds = forecasts(&frame, BLOCKS, Some(600));
    assert_eq!(in_rounds.len(), 4);
    assert!(in_rounds.iter().all(|one| one.apart), "{in_rounds:?}");
    let [once, four_times] = [1, 4].map(|times| forecasts(&frame, times * BLOCKS, None));
    assert_eq!(once.len(), 2);
    for (one, four) in once.iter().zip(&four_times) {
        let (less, more) = (four.detectable.unwrap().1, one.detectable.unwrap().1);
        assert!((2.0 * less - more).abs() <= 1e-12 * more, "{one:?} {four:?}");
        assert!((four.seconds - 4.0 * one.seconds).abs() < 1e-9 * four.seconds);
    }
}
