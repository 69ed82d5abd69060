//! What a run leaves to the next treats all commands alike: every schedule gives each command the
//! same share of runs after itself, after any other, and in each place.

use std::collections::{BTreeMap, BTreeSet};

use lab_compare::{Design, RoundPlan, Schedule, Settings};

const ROUNDS: usize = 40_000;

/// The share of a program's runs that follow one of the same program, by enumeration of all pairs
/// of orders, and how often it has each place; programs by command.
fn shares(orders: &BTreeSet<Vec<usize>>, program: impl Fn(usize) -> usize) -> Vec<(f64, Vec<f64>)> {
    let size = orders.first().unwrap().len();
    let programs: BTreeSet<usize> =
        orders.first().unwrap().iter().map(|command| program(*command)).collect();
    let mut after = BTreeMap::<usize, usize>::new();
    let mut places = BTreeMap::<usize, Vec<usize>>::new();
    for before in orders {
        for order in orders {
            let previous = before.last().into_iter().chain(order);
            for (place, (previous, command)) in previous.zip(order).enumerate() {
                let own = program(*command);
                *after.entry(own).or_default() += usize::from(program(*previous) == own);
                places.entry(own).or_insert_with(|| vec![0; size])[place] += 1;
            }
        }
    }
    let share = |own: &usize| {
        let runs: usize = places[own].iter().sum();
        let share = |count: &usize| *count as f64 / runs as f64;
        (share(after.get(own).unwrap_or(&0)), places[own].iter().map(share).collect())
    };
    programs.iter().map(share).collect()
}

/// The orders of each set of commands that is asked side by side.
fn by_question(rounds: &[RoundPlan]) -> BTreeMap<BTreeSet<usize>, Vec<&RoundPlan>> {
    let mut questions = BTreeMap::<_, Vec<_>>::new();
    for round in rounds {
        questions.entry(round.order.iter().copied().collect()).or_default().push(round);
    }
    questions
}

fn designs() -> Vec<Design> {
    let settings = |candidates, control, apart, duet| {
        Settings { candidates, control, apart, duet, ..Settings::default() }.design()
    };
    vec![
        settings(1, false, false, false),
        settings(1, true, false, false),
        settings(2, false, false, false),
        settings(3, true, false, false),
        settings(3, true, true, false),
        settings(1, true, false, true),
    ]
}

#[test]
fn every_order_is_drawn_as_often_and_each_command_once() {
    for design in designs() {
        let rounds: Vec<RoundPlan> = Schedule::of(7, design.clone()).take(ROUNDS).collect();
        for (commands, rounds) in by_question(&rounds) {
            let orders: usize = (1..=commands.len()).product();
            let mut counts = BTreeMap::<_, usize>::new();
            for round in &rounds {
                assert_eq!(round.order.len(), commands.len(), "each once: {round:?}");
                *counts.entry(round.order.clone()).or_default() += 1;
            }
            assert_eq!(counts.len(), orders, "{design:?}");
            let expected = rounds.len() as f64 / orders as f64;
            for (order, count) in counts {
                // Five standard errors.
                let away = (count as f64 - expected).abs();
                assert!(away < 5.0 * expected.sqrt(), "{order:?}: {count} of {expected}");
            }
        }
    }
}

#[test]
fn each_command_has_the_same_share_of_runs_after_itself_and_of_places() {
    for design in designs() {
        let rounds: Vec<RoundPlan> = Schedule::of(7, design.clone()).take(ROUNDS).collect();
        for rounds in by_question(&rounds).values() {
            let orders = rounds.iter().map(|round| round.order.clone()).collect();
            let shares = shares(&orders, |command| command);
            assert!(shares.iter().all(|share| *share == shares[0]), "{design:?}: {shares:?}");
        }
    }
}

/// The check itself: what a round was until version 3 of the recordings.
#[test]
fn a_reference_twice_in_a_round_would_be_told() {
    let orders = Schedule::new(1, 3).take(1_000).map(|round| round.order).collect();
    let shares = shares(&orders, |command| command % 2);
    assert!((shares[0].0 - 5.0 / 9.0).abs() < 1e-12, "{shares:?}");
    assert!((shares[1].0 - 1.0 / 9.0).abs() < 1e-12, "{shares:?}");
}

#[test]
fn a_wash_is_each_command_of_its_round_as_often_and_tells_nothing_of_the_order() {
    for design in designs() {
        let rounds: Vec<RoundPlan> = Schedule::of(9, design.clone()).take(ROUNDS).collect();
        for (commands, rounds) in by_question(&rounds) {
            let washed: Vec<_> = rounds.iter().filter(|round| !round.wash.is_empty()).collect();
            // Where there is but one question only its first round is washed.
            let expected = washed.len() as f64 / (commands.len() * commands.len()) as f64;
            if expected < 100.0 {
                continue;
            }
            for wash in &commands {
                for first in &commands {
                    let is =
                        |round: &&&&RoundPlan| (round.wash[0], round.order[0]) == (*wash, *first);
                    let count = washed.iter().filter(is).count() as f64;
                    let away = (count - expected).abs();
                    assert!(away < 5.0 * expected.sqrt(), "{wash} {first}: {count} of {expected}");
                }
            }
        }
    }
}
