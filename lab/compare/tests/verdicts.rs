//! Rounds whose truth is known, and what may be said of them.

use lab_compare::{
    Comparison, Missing, Next, Question, Settings, SettingsError, Size, State, TailSide,
};
use lab_stats::outcome::Outcome;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Runs of about 1 that vary by ±2 %.
fn noisy(rng: &mut Pcg64, factor: f64) -> Vec<f64> {
    vec![factor * rng.random_range(0.98..1.02)]
}

/// Rounds of 0.1 s until the comparison ends: candidates take `factors` of the reference, the
/// control `control`.
fn rounds(settings: &Settings, factors: &[f64], control: f64, seed: u64) -> Comparison {
    let mut comparison = Comparison::new(settings.clone(), &["wall"]).unwrap();
    let mut rng = Pcg64::seed_from_u64(seed);
    for round in 1.. {
        let mut runs = vec![noisy(&mut rng, 1.0)];
        runs.extend(factors.iter().map(|factor| noisy(&mut rng, *factor)));
        if settings.control {
            runs.push(noisy(&mut rng, control));
        }
        if comparison.add(&[], &runs, f64::from(round) * 0.1).unwrap() != Next::Round {
            break;
        }
    }
    comparison
}

fn ended(settings: &Settings, factors: &[f64]) -> State {
    rounds(settings, factors, 1.0, 3).state()
}

fn one() -> Settings {
    Settings::default()
}

#[test]
fn a_difference_is_found_in_its_direction_and_size() {
    for (factor, outcome) in [(1.1, Outcome::Slower), (0.9, Outcome::Faster)] {
        let state = ended(&one(), &[factor]);
        let candidate = &state.candidates[0];
        assert_eq!((state.next, candidate.verdict.outcome), (Next::Decided, outcome));
        assert_eq!(candidate.verdict.size, Some(Size::Beyond), "{state:?}");
        let [low, high] = candidate.metrics[0].estimate.as_ref().unwrap().interval.unwrap();
        assert!(low < f64::ln(factor) && f64::ln(factor) < high);
    }
}

#[test]
fn a_small_difference_is_slower_and_within_the_margin() {
    let precision = Some(0.005);
    let settings = Settings { question: Question::Size, margin: 0.05, precision, ..one() };
    let state = ended(&settings, &[1.012]);
    assert_eq!(state.candidates[0].verdict.to_string(), "slower, within the margin");
    assert_eq!(state.candidates[0].slower_beyond_margin, Some(false));
}

#[test]
fn equal_commands_are_equivalent_whatever_is_known_of_the_tail() {
    let noise = |rng: &mut Pcg64| vec![rng.random_range(0.99..1.01)];
    let mut comparison = Comparison::new(one(), &["wall"]).unwrap();
    let mut rng = Pcg64::seed_from_u64(3);
    while comparison.add(&[], &[noise(&mut rng), noise(&mut rng)], 0.0).unwrap() == Next::Round {}
    let state = comparison.state();
    let candidate = &state.candidates[0];
    assert_eq!(candidate.verdict.outcome, Outcome::Equivalent, "{state:?}");
    // One hundred pairs and more tell that no run is slow.
    assert!(state.rounds < 110 && candidate.tail.side == TailSide::Open, "{state:?}");
}

/// Every tenth run of the candidate takes half as long again: the typical run is the same.
#[test]
fn more_slow_runs_are_told_beside_a_typical_run_that_is_equivalent() {
    let gate = Settings { question: Question::Tail, budget_s: 1e9, ..one() };
    let ended = |settings: &Settings, every: usize| {
        let mut comparison = Comparison::new(settings.clone(), &["wall"]).unwrap();
        let mut rng = Pcg64::seed_from_u64(4);
        for round in 1.. {
            let slow = if round % every == 0 { 1.5 } else { 1.0 };
            let runs = [noisy(&mut rng, 1.0), noisy(&mut rng, slow)];
            if comparison.add(&[], &runs, round as f64).unwrap() != Next::Round {
                break;
            }
        }
        comparison.state()
    };
    let more = ended(&gate, 5);
    assert_eq!((more.next, more.candidates[0].more_slow_runs), (Next::Decided, Some(true)));
    assert_eq!(more.candidates[0].tail.side, TailSide::More);
    let none = ended(&gate, usize::MAX);
    assert_eq!((none.next, none.candidates[0].more_slow_runs), (Next::Decided, Some(false)));
    assert!(none.rounds <= 120, "{none:?}");
    let coarse = ended(&Settings { tail: 0.3, ..gate }, 5);
    assert_eq!(coarse.candidates[0].more_slow_runs, Some(false));
}

#[test]
fn after_the_direction_it_goes_on_until_the_size_is_known() {
    let size = Settings { question: Question::Size, budget_s: 1e9, margin: 0.01, ..one() };
    let half_width = |state: &State| {
        let estimate = state.candidates[0].metrics[0].estimate.clone().unwrap();
        let [low, high] = estimate.interval.unwrap();
        (high - low) / 2.0
    };
    let direction = ended(&Settings { question: Question::Direction, ..size.clone() }, &[1.012]);
    let sized = ended(&size, &[1.012]);
    assert!(sized.rounds > direction.rounds && sized.candidates[0].answered, "{sized:?}");
    assert!(half_width(&sized) <= 0.01 && half_width(&direction) > half_width(&sized));
    // A precision of its own is all that is asked for, once the direction is known.
    let precise = ended(&Settings { precision: Some(0.003), ..size.clone() }, &[1.1]);
    let coarse = ended(&Settings { precision: Some(0.5), ..size.clone() }, &[1.1]);
    assert!(half_width(&precise) <= 0.003 && precise.rounds > coarse.rounds, "{precise:?}");
    // What the budget leaves open has its direction all the same.
    let few = Settings { most_rounds: Some(direction.rounds), ..size };
    let open = ended(&few, &[1.012]);
    assert_eq!(open.candidates[0].verdict.outcome, Outcome::Slower);
    assert_eq!((open.next, open.candidates[0].answered), (Next::OutOfBudget, false));
}

#[test]
fn a_control_that_differs_withholds_every_verdict() {
    let two = Settings { candidates: 2, control: true, ..one() };
    let state = rounds(&two, &[1.1, 1.0], 1.05, 3).state();
    let outcomes = state.candidates.iter().map(|candidate| candidate.verdict.outcome);
    assert!(outcomes.eq([Outcome::Withheld; 2]), "{state:?}");
    assert_eq!((state.next, state.candidates[0].slower_beyond_margin), (Next::Decided, None));
}

/// The candidate's own runs are quiet and those of the reference's copy are not.
#[test]
fn a_verdict_waits_for_a_control_that_is_known_well_enough() {
    let mut comparison = Comparison::new(Settings { control: true, ..one() }, &["wall"]).unwrap();
    let mut rng = Pcg64::seed_from_u64(5);
    for round in 1..=60 {
        let reference = rng.random_range(0.999..1.001);
        let control = if rng.random() { 2.0 } else { 0.5 };
        let runs = [vec![reference], vec![1.02], vec![control]];
        comparison.add(&[], &runs, f64::from(round)).unwrap();
    }
    let verdict = comparison.verdict(0);
    assert!(
        verdict.outcome == Outcome::CannotTell && verdict.missing == Some(Missing::Control),
        "{verdict:?}"
    );
    assert_eq!(comparison.slower_beyond_margin(0), None);
}

#[test]
fn a_gate_goes_on_until_the_side_of_the_margin_is_known() {
    let gate = Settings { question: Question::Margin, margin: 0.02, budget_s: 600.0, ..one() };
    for (factor, slower) in [(1.0, false), (0.9, false), (1.01, false), (1.03, true)] {
        let state = ended(&gate, &[factor]);
        assert_eq!(state.next, Next::Decided, "{factor}");
        assert_eq!(state.candidates[0].slower_beyond_margin, Some(slower), "{factor}");
    }
}

#[test]
fn many_candidates_share_the_level() {
    let alone = ended(&one(), &[1.0]);
    let five = Settings { candidates: 5, most_rounds: Some(alone.rounds), ..one() };
    let width = |state: &State| {
        let estimate = state.candidates[0].metrics[0].estimate.clone();
        let [low, high] = estimate.unwrap().interval.unwrap();
        high - low
    };
    let many = rounds(&five, &[1.0; 5], 1.0, 3).state();
    assert!(width(&many) > 1.05 * width(&alone), "{many:?}");
}

#[test]
fn the_budget_ends_it_but_not_before_the_least_rounds() {
    let hopeless = |budget_s| Settings { budget_s, margin: 0.000_1, ..one() };
    assert_eq!(ended(&hopeless(0.0), &[1.0]).rounds, one().least_rounds);
    assert_eq!(ended(&hopeless(5.0), &[1.0]).rounds, 50);
    let most = Settings { most_rounds: Some(7), ..hopeless(5.0) };
    let state = ended(&most, &[1.0]);
    assert_eq!((state.rounds, state.next), (7, Next::OutOfBudget));
    assert_eq!(state.candidates[0].verdict.outcome, Outcome::CannotTell);
}

/// After 40 rounds of 0.1 s it is told how long the answer takes, and it does take about as long.
#[test]
fn the_time_that_an_answer_takes_is_foretold() {
    let factor = 1.002;
    let short = Settings { most_rounds: Some(40), budget_s: 1e6, ..one() };
    let foretold: Vec<f64> = (0..20)
        .filter_map(|seed| rounds(&short, &[factor], 1.0, seed).state().candidates[0].seconds_to_go)
        .collect();
    let long = Settings { most_rounds: None, ..short };
    let took: Vec<f64> =
        (0..20).map(|seed| rounds(&long, &[factor], 1.0, seed).state().elapsed_s - 4.0).collect();
    let median = |values: &[f64]| lab_stats::describe::median(values).unwrap();
    let (foretold, took) = (median(&foretold), median(&took));
    assert!(foretold > took / 4.0 && foretold < took * 4.0, "{foretold} {took}");
}

#[test]
fn zeros_and_counts_are_compared_too() {
    let mut comparison =
        Comparison::new(Settings { most_rounds: Some(40), ..one() }, &["wall", "faults", "blocks"])
            .unwrap();
    for round in 1..=40 {
        let runs = [vec![1.0, 100.0, 0.0], vec![1.0, 110.0, 0.0]];
        comparison.add(&[], &runs, f64::from(round)).unwrap();
    }
    let state = comparison.state();
    let shift = |metric: usize| {
        state.candidates[0].metrics[metric].estimate.as_ref().map(|estimate| estimate.shift)
    };
    assert!((shift(1).unwrap() - f64::ln(1.1)).abs() < 1e-4 && shift(2).unwrap().abs() < 1e-4);
}

#[test]
fn what_does_not_fit_is_refused_in_a_sentence() {
    let refused = |settings: Settings| Comparison::new(settings, &["wall"]).err().unwrap();
    assert_eq!(refused(Settings { margin: 0.0, ..one() }), SettingsError::Margin(0.0));
    assert_eq!(refused(Settings { alpha: 1.0, ..one() }), SettingsError::Alpha(1.0));
    assert_eq!(refused(Settings { tail: 1.0, ..one() }), SettingsError::Tail(1.0));
    let precision = Some(0.0);
    assert_eq!(refused(Settings { precision, ..one() }), SettingsError::Precision(0.0));
    assert_eq!(refused(Settings { candidates: 0, ..one() }), SettingsError::NoCandidate);
    let mut comparison = Comparison::new(one(), &["wall"]).unwrap();
    let mut refused = |runs: &[Vec<f64>]| comparison.add(&[], runs, 1.0).unwrap_err().to_string();
    assert_eq!(
        refused(&[vec![1.0]]),
        "a round has places for 1 runs where 2 commands are compared"
    );
    assert_eq!(
        refused(&[vec![1.0], vec![1.0, 2.0]]),
        "a run has 2 values where 1 metrics are measured"
    );
    for runs in [[vec![], vec![1.0]], [vec![1.0], vec![]]] {
        assert!(refused(&runs).starts_with("a round without the first command, or with it alone"));
    }
}

/// Candidates asked apart, and the control in rounds of its own: each has its own rounds.
#[test]
fn a_round_is_of_whom_it_holds() {
    let settings =
        Settings { candidates: 2, control: true, most_rounds: Some(40), budget_s: 1e9, ..one() };
    let mut comparison = Comparison::new(settings, &["wall"]).unwrap();
    let mut rng = Pcg64::seed_from_u64(8);
    let mut run = |factor: f64| noisy(&mut rng, factor);
    for round in 1.. {
        let reference = run(1.0);
        let (order, runs) = match round % 4 {
            0 => ([3, 0], [reference, vec![], vec![], run(1.0)]),
            1 | 2 => ([0, 1], [reference, run(1.1), vec![], vec![]]),
            _ => ([0, 2], [reference, vec![], run(1.0), vec![]]),
        };
        if comparison.add(&order, &runs, f64::from(round)).unwrap() != Next::Round {
            break;
        }
    }
    let state = comparison.state();
    let rounds: Vec<usize> = state.candidates.iter().map(|candidate| candidate.rounds).collect();
    assert_eq!((rounds, state.rounds, state.next), (vec![80, 40], 40, Next::OutOfBudget));
    assert_eq!(state.candidates[0].verdict.outcome, Outcome::Slower, "{state:?}");
    assert!(state.control.is_some_and(|control| control.pairs == 39));
}

/// Rounds of before held the reference twice; they give what they gave.
#[test]
fn rounds_with_the_control_in_them_are_read_as_ever() {
    let settings = Settings { control: true, most_rounds: Some(60), ..one() };
    let state = rounds(&settings, &[1.1], 1.0, 3).state();
    assert_eq!(state.candidates[0].verdict.outcome, Outcome::Slower, "{state:?}");
    let pairs = |estimate: &Option<lab_compare::Estimate>| estimate.as_ref().unwrap().pairs;
    assert_eq!(pairs(&state.control), pairs(&state.candidates[0].metrics[0].estimate));
}
