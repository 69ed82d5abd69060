//! What must hold for any numbers: invariances, bounds, and no NaN whatever comes in.

use lab_stats::correlation::{pearson, spearman};
use lab_stats::describe::{median, quantile, summarize};
use lab_stats::equivalence::equivalent;
use lab_stats::interval::{Interval, median_interval};
use lab_stats::multiple::holm;
use lab_stats::paired::{hodges_lehmann, sign_flip_test};
use lab_stats::unpaired::welch_t;
use lab_stats::variance::{Observation, shares};
use proptest::prelude::*;

/// Whole numbers, so that sums are exact and ties are common.
fn whole(sizes: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-50_i32..50).prop_map(f64::from), sizes)
}

/// Anything a broken run could hand over.
fn anything() -> impl Strategy<Value = Vec<f64>> {
    let odd = prop_oneof![
        8 => -1e3..1e3,
        1 => Just(0.0),
        1 => any::<f64>(),
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::MAX), Just(5e-324)],
    ];
    prop_oneof![prop::collection::vec(odd, 0..30), prop::collection::vec(-1e150..1e150, 0..30)]
}

fn map(values: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    values.iter().map(|value| f(*value)).collect()
}

fn finite_interval(interval: Interval) -> bool {
    interval.low <= interval.high && interval.low.is_finite() && interval.high.is_finite()
}

/// No file of past failures: a test writes nothing beside its source.
fn config() -> ProptestConfig {
    ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn one_sample_gives_finite_numbers_or_none(values in anything(), level in any::<f64>()) {
        for confidence in [level, 0.95] {
            prop_assert!(median_interval(&values, confidence).is_none_or(finite_interval));
            let shift = hodges_lehmann(&values, confidence);
            prop_assert!(shift.is_none_or(|s| s.estimate.is_finite()
                && s.interval.is_none_or(finite_interval)));
            prop_assert!(equivalent(&values, confidence, 0.05)
                .is_none_or(|e| (0.0..=1.0).contains(&e.p)));
        }
        prop_assert!(quantile(&values, level).is_none_or(f64::is_finite));
        if let Some(s) = summarize(&values) {
            let quantiles = [s.min, s.p5, s.p25, s.median, s.p75, s.p95, s.max];
            prop_assert!(quantiles.is_sorted());
            prop_assert!(s.mean.is_finite() && s.sd.is_none_or(|sd| sd.is_finite() && sd >= 0.0));
            prop_assert!(s.cv.is_none_or(|cv| cv.is_finite() && cv >= 0.0));
        }
    }

    #[test]
    fn two_samples_give_finite_numbers_or_none(a in anything(), b in anything()) {
        prop_assert!(welch_t(&a, &b).is_none_or(|w| w.t.is_finite() && w.df > 0.0
            && (0.0..=1.0).contains(&w.p)));
        let n = a.len().min(b.len());
        for r in [pearson(&a[..n], &b[..n]), spearman(&a[..n], &b[..n])] {
            prop_assert!(r.is_none_or(|r| (-1.0..=1.0).contains(&r)));
        }
    }

    #[test]
    fn estimates_follow_shift_and_scale(values in whole(6..40), by in -99_i32..99) {
        let by = f64::from(by);
        let (shifted, scaled) = (map(&values, |x| x + by), map(&values, |x| -4.0 * x));
        prop_assert_eq!(median(&shifted).unwrap(), median(&values).unwrap() + by);
        let plain = hodges_lehmann(&values, 0.9).unwrap();
        let moved = hodges_lehmann(&shifted, 0.9).unwrap();
        let mirrored = hodges_lehmann(&scaled, 0.9).unwrap();
        prop_assert_eq!(moved.estimate, plain.estimate + by);
        prop_assert_eq!(mirrored.estimate, -4.0 * plain.estimate);
        let (plain, mirrored) = (plain.interval.unwrap(), mirrored.interval.unwrap());
        prop_assert_eq!((mirrored.low, mirrored.high), (-4.0 * plain.high, -4.0 * plain.low));
    }

    #[test]
    fn the_flip_test_ignores_sign_scale_and_zeros(values in whole(1..14)) {
        let p = sign_flip_test(&values, 0).unwrap();
        prop_assert!(p > 0.0 && p <= 1.0);
        prop_assert_eq!(sign_flip_test(&map(&values, |x| -0.1 * x), 1), Some(p));
        let mut longer = values.clone();
        longer.reverse();
        longer.extend([0.0; 3]);
        prop_assert_eq!(sign_flip_test(&longer, 2), Some(p));
    }

    #[test]
    fn exchanging_two_samples_changes_the_sign(a in whole(6..20), b in whole(6..20)) {
        if let (Some(forth), Some(back)) = (welch_t(&a, &b), welch_t(&b, &a)) {
            prop_assert!((forth.t + back.t).abs() < 1e-9 && (forth.p - back.p).abs() < 1e-9);
        }
    }

    /// The two ways to say equivalence, by p-value and by interval, agree.
    #[test]
    fn equivalence_by_p_and_by_interval(values in whole(6..30), margin in 1_i32..60) {
        let found = equivalent(&values, f64::from(margin), 0.05).unwrap();
        prop_assert_eq!(found.holds, found.p <= 0.05);
        let mirrored = equivalent(&map(&values, |x| -x), f64::from(margin), 0.05).unwrap();
        prop_assert_eq!(found.p, mirrored.p);
    }

    #[test]
    fn holm_raises_keeps_the_order_and_stays_a_probability(
        p_values in prop::collection::vec(0.0..=1.0, 0..20),
    ) {
        let adjusted = holm(&p_values).unwrap();
        for (i, p) in p_values.iter().enumerate() {
            prop_assert!(*p <= adjusted[i] && adjusted[i] <= 1.0);
            for (j, q) in p_values.iter().enumerate() {
                prop_assert!(p > q || adjusted[i] <= adjusted[j]);
            }
        }
    }

    /// Missing runs, nested factors, anything: the shares are a partition.
    #[test]
    fn variance_shares_sum_to_one(
        rows in prop::collection::vec((-1e3..1e3, 0_usize..4, 0_usize..3), 2..60),
    ) {
        const LEVELS: [&str; 4] = ["a", "b", "c", "d"];
        let observation = |&(value, variant, block): &(f64, usize, usize)| Observation {
            value,
            levels: vec![("block", LEVELS[block]), ("variant", LEVELS[variant])],
        };
        let observations: Vec<Observation> = rows.iter().map(observation).collect();
        let found = shares(&observations).unwrap();
        let explained: f64 = found.factors.iter().map(|factor| factor.share).sum();
        prop_assert!((explained + found.residue - 1.0).abs() < 1e-9);
        prop_assert!(found.factors.iter().all(|factor| factor.share >= 0.0));
        let df: usize = found.factors.iter().map(|factor| factor.df).sum();
        prop_assert_eq!(df + found.residue_df + 1, rows.len());
    }

    #[test]
    fn correlation_ignores_shift_and_positive_scale(
        rows in prop::collection::vec((-50_i32..50, -50_i32..50), 2..30),
    ) {
        let x: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
        let y: Vec<f64> = rows.iter().map(|row| f64::from(row.1)).collect();
        let moved = map(&x, |value| 2.5 * value + 7.0);
        match (pearson(&x, &y), pearson(&moved, &y)) {
            (Some(plain), Some(moved)) => prop_assert!((plain - moved).abs() < 1e-9),
            (plain, moved) => prop_assert_eq!(plain, moved),
        }
        // Ranks follow any increasing function.
        let curved = map(&x, |value| value.powi(3));
        prop_assert_eq!(spearman(&x, &y), spearman(&curved, &y));
    }
}
