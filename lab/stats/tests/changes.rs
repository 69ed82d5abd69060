//! Changes of a sequence: answers that are known, and what must hold for any numbers.

use lab_stats::changes::{Change, changes};
use proptest::prelude::*;
use rand_distr::{Distribution, StandardNormal};

/// Segments of the same value, one after the other.
fn steps(segments: &[(f64, usize)]) -> Vec<f64> {
    segments.iter().flat_map(|(value, count)| vec![*value; *count]).collect()
}

fn places(values: &[f64], level: f64) -> Vec<usize> {
    changes(values, 3, level, 1).unwrap().iter().map(|change| change.at).collect()
}

fn normal(count: usize, seed: u64) -> Vec<f64> {
    let mut rng: rand_pcg::Pcg64 = rand::SeedableRng::seed_from_u64(seed);
    (0..count).map(|_| StandardNormal.sample(&mut rng)).collect()
}

#[test]
fn a_step_has_the_statistic_that_one_can_compute_by_hand() {
    // Every distance across is 1 and every one within is 0: 10 · 10 / (10 + 10) · 2.
    let values = steps(&[(0.0, 10), (1.0, 10)]);
    let expected = Change { at: 10, statistic: 10.0, p: 0.001 };
    assert_eq!(changes(&values, 3, 0.01, 1), Some(vec![expected]));
    // A change at the level itself is one.
    assert_eq!(changes(&values, 3, 0.001, 1), Some(vec![expected]));
    // Two of six orders are as far apart, this one and its mirror image.
    let found = changes(&[0.0, 0.0, 1.0, 1.0], 2, 0.999, 1).unwrap();
    assert!(found[0].at == 2 && (0.28..0.39).contains(&found[0].p), "{found:?}");
    // Three of the six pairs before it are 3 apart, and the eight pairs across 7 on average.
    let values = [0.0, 0.0, 0.0, 3.0, 7.75, 7.75];
    let found = changes(&values, 2, 0.999, 1).unwrap();
    let first = found.iter().find(|change| change.at == 4).unwrap();
    let expected = 4.0 * 2.0 / 6.0 * (2.0 * 7.0 - 3.0 * 3.0 / 6.0);
    assert!((first.statistic - expected).abs() < 1e-12, "{found:?}");
}

#[test]
fn several_changes_are_found_in_their_order() {
    let noise = normal(36, 5);
    let levels = steps(&[(0.0, 12), (9.0, 12), (3.0, 12)]);
    let values: Vec<f64> = levels.iter().zip(noise).map(|(level, one)| level + one / 4.0).collect();
    assert_eq!(places(&values, 0.01), [12, 24]);
}

#[test]
fn a_change_of_the_spread_alone_is_one() {
    let narrow = (0..25).map(|place| if place % 2 == 0 { 0.1 } else { -0.1 });
    let wide = (0..25).map(|place| if place % 2 == 0 { 5.0 } else { -5.0 });
    let found = places(&narrow.chain(wide).collect::<Vec<_>>(), 0.01);
    assert!(found.len() == 1 && (23..=27).contains(&found[0]), "{found:?}");
}

#[test]
fn a_sequence_without_a_change_seldom_has_one() {
    let has_one = |seed: &u64| !places(&normal(24, *seed), 0.05).is_empty();
    let alarms = (0..200).filter(has_one).count();
    // Of 200 at 5 %, and three standard deviations of the count more.
    assert!(alarms <= 19, "{alarms}");
}

#[test]
fn what_cannot_be_answered_is_not_answered() {
    let long = vec![1.0; 501];
    assert_eq!(changes(&long[1..], 250, 0.05, 1), Some(Vec::new()));
    for values in [&[][..], &[1.0, f64::NAN], &[f64::INFINITY; 9], &[1e200; 9], &long[..]] {
        assert_eq!(changes(values, 3, 0.05, 1), None);
    }
    let values = steps(&[(0.0, 9), (1.0, 9)]);
    for (fewest, level) in [(1, 0.05), (3, 0.0), (3, 1.0), (3, f64::NAN)] {
        assert_eq!(changes(&values, fewest, level, 1), None, "{fewest} {level}");
    }
    // Too few for two segments, or all alike.
    for values in [&[0.0, 0.0, 9.0, 9.0, 9.0][..], &[7.0; 30], &[7.0]] {
        assert_eq!(changes(values, 3, 0.05, 1), Some(Vec::new()));
    }
}

proptest! {
    // No file of past failures: a test writes nothing beside its source.
    #![proptest_config(ProptestConfig {
        cases: 40, failure_persistence: None, ..ProptestConfig::default()
    })]

    /// Whole numbers, so that the sums are exact and the same orders are as large.
    #[test]
    fn changes_follow_shift_scale_and_sign(
        values in prop::collection::vec((-9_i32..9).prop_map(f64::from), 1..24),
        by in -99_i32..99,
    ) {
        let plain = changes(&values, 2, 0.2, 3).unwrap();
        let moved: Vec<f64> = values.iter().map(|value| f64::from(by) - 4.0 * value).collect();
        let moved = changes(&moved, 2, 0.2, 3).unwrap();
        prop_assert_eq!(plain.len(), moved.len());
        for (plain, moved) in plain.iter().zip(&moved) {
            prop_assert_eq!((plain.at, plain.p), (moved.at, moved.p));
            prop_assert_eq!(4.0 * plain.statistic, moved.statistic);
            prop_assert!(plain.p > 0.0 && plain.p <= 0.2);
        }
        let places = plain.iter().map(|change| change.at);
        let borders: Vec<usize> = [0].into_iter().chain(places).chain([values.len()]).collect();
        prop_assert!(plain.is_empty() || borders.windows(2).all(|ends| ends[1] - ends[0] >= 2));
    }
}
