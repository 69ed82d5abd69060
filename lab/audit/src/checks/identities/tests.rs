use rand::Rng;
use rand_pcg::Pcg64;

use super::*;

fn draws(seed: u64, n: usize, low: f64, high: f64) -> Vec<f64> {
    let mut random = Pcg64::new(u128::from(seed), 1);
    (0..n).map(|_| random.random_range(low..high)).collect()
}

fn rounded(values: &[f64], decimals: i32) -> Vec<f64> {
    let scale = 10f64.powi(decimals);
    values.iter().map(|value| (value * scale).round() / scale).collect()
}

/// Two tasks at once: the wall is the longer one and a little more.
fn runs(n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>) {
    let (a, b, gap) = (draws(1, n, 40.0, 60.0), draws(2, n, 40.0, 60.0), draws(3, n, 0.0, 0.002));
    let wall: Vec<f64> = (0..n).map(|row| a[row].max(b[row]) + gap[row]).collect();
    let efficiency = (0..n).map(|row| 100.0 * (a[row] + b[row]) / (2.0 * wall[row])).collect();
    (rounded(&a, 7), rounded(&b, 7), rounded(&wall, 7), efficiency)
}

#[test]
fn efficiency_is_the_balance_of_two_durations() {
    let (a, b, wall, efficiency) = runs(30);
    let tokens = draws(4, 30, 900.0, 1100.0);
    let columns = [("a", &a[..]), ("b", &b), ("wall", &wall), ("tokens", &tokens)];
    let found = find(&efficiency, &columns);
    assert_eq!(found[0].formula, "50 · (a + b) / wall");
    assert!(found[0].exact);
    let balance = found.iter().find(|identity| identity.formula == "50 · (a + b) / max(a, b)");
    let balance = balance.expect("the balance");
    assert!(!balance.exact && balance.unexplained < 0.001, "{balance:?}");
    assert!(found.iter().all(|identity| !identity.columns.contains(&"tokens".to_owned())));
}

#[test]
fn a_throughput_is_a_count_over_a_time() {
    let count: Vec<f64> = draws(5, 12, 100.0, 900.0).iter().map(|count| count.round()).collect();
    let time = rounded(&draws(6, 12, 1.0, 9.0), 2);
    let rate: Vec<f64> = count.iter().zip(&time).map(|(count, time)| count / time).collect();
    let rate = rounded(&rate, 1);
    let found = find(&rate, &[("time", &time), ("count", &count)]);
    assert_eq!((found[0].formula.as_str(), found[0].exact), ("count / time", true));
    // The same in another unit.
    let milliseconds: Vec<f64> = time.iter().map(|time| time * 1e3).collect();
    let found = find(&rate, &[("ms", &milliseconds), ("count", &count)]);
    assert_eq!(found[0].formula, "1000 · count / ms");
}

#[test]
fn unrelated_columns_give_nothing() {
    for seed in 0..40 {
        let n = 5 + seed as usize;
        let metric = rounded(&draws(100 + seed, n, 10.0, 20.0), 1);
        let inputs: Vec<Vec<f64>> =
            (0..8).map(|index| rounded(&draws(1_000 * index + seed, n, 5.0, 50.0), 1)).collect();
        let columns: Vec<(&str, &[f64])> =
            inputs.iter().map(|values| ("x", values.as_slice())).collect();
        assert_eq!(find(&metric, &columns), [], "seed {seed}");
    }
}

#[test]
fn a_constant_metric_is_no_identity() {
    let (a, b, _, _) = runs(10);
    assert_eq!(find(&[50.0; 10], &[("a", &a), ("b", &b)]), []);
}

#[test]
fn odd_input_gives_nothing() {
    assert_eq!(find(&[], &[]), []);
    assert_eq!(find(&[f64::NAN; 9], &[("a", &[1.0; 9])]), []);
    assert_eq!(find(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[("a", &[0.0; 6]), ("b", &[1.0])]), []);
}
