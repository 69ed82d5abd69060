//! The universal scalability law: throughput over the number of workers.

use crate::usable;

/// Parameters of the law: a fit needs more measured counts than these.
pub const PARAMETERS: usize = 3;

/// Steps of the search; a fit that needs more has not converged.
const MOST_STEPS: usize = 200;

/// A fitted law, X(N) = lambda N / (1 + sigma (N - 1) + kappa N (N - 1)).
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Throughput of one worker, in the unit of the throughputs.
    pub lambda: f64,
    /// Contention: the share of the work that is done one at a time. Below 0 where throughput rises
    /// faster than the workers.
    pub sigma: f64,
    /// Coherency: the cost that grows with the pairs of workers.
    pub kappa: f64,
    /// Measured minus fitted, in the unit of the throughputs, in the order given.
    pub residuals: Vec<f64>,
}

impl Fit {
    /// What the law says of `workers`; `None` where its denominator is not positive.
    pub fn throughput(&self, workers: f64) -> Option<f64> {
        law([self.lambda, self.sigma, self.kappa], workers)
    }

    /// The number of workers at which throughput peaks, sqrt((1 - sigma) / kappa); `None` where the
    /// law has no peak.
    pub fn peak(&self) -> Option<f64> {
        let peak = ((1.0 - self.sigma) / self.kappa).sqrt();
        (self.kappa > 0.0 && peak.is_finite()).then_some(peak)
    }
}

/// Fits the law to throughputs at numbers of workers by least squares: the linear form
/// N / X(N) = (1 + sigma (N - 1) + kappa N (N - 1)) / lambda gives the start, damped Gauss-Newton
/// steps (Levenberg and Marquardt) on the throughputs themselves the rest.
/// Source: Gunther (2007), Guerrilla Capacity Planning, chapter 4 (the law), section 5.5 (its
/// linear form); Marquardt (1963), Journal of the SIAM 11(2), pp. 431-441.
///
/// `None` where the columns differ in length or are unusable, where a value is not positive, where
/// there are not more different counts than the three parameters, and where the search has no end.
pub fn fit(workers: &[f64], throughputs: &[f64]) -> Option<Fit> {
    let positive = |values: &[f64]| usable(values) && values.iter().all(|value| *value > 0.0);
    if workers.len() != throughputs.len() || !positive(workers) || !positive(throughputs) {
        return None;
    }
    let mut counts = workers.to_vec();
    counts.sort_unstable_by(f64::total_cmp);
    counts.dedup();
    if counts.len() <= PARAMETERS {
        return None;
    }
    // In units of the largest throughput, so that lambda is no stranger in size to the others.
    let unit = throughputs.iter().copied().fold(0.0, f64::max);
    let scaled: Vec<f64> = throughputs.iter().map(|value| value / unit).collect();
    let [lambda, sigma, kappa] = search(start(workers, &scaled)?, workers, &scaled)?;
    let found = Fit { lambda: lambda * unit, sigma, kappa, residuals: Vec::new() };
    let residual = |(n, x): (&f64, &f64)| Some(x - found.throughput(*n)?);
    let residuals = workers.iter().zip(throughputs).map(residual).collect::<Option<_>>()?;
    Some(Fit { residuals, ..found })
}

fn law([lambda, sigma, kappa]: [f64; 3], n: f64) -> Option<f64> {
    let denominator = 1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0);
    let value = lambda * n / denominator;
    (denominator > 0.0 && value.is_finite()).then_some(value)
}

/// The linear form's solution, or no contention at all where it has no meaning.
fn start(workers: &[f64], throughputs: &[f64]) -> Option<[f64; 3]> {
    let mut normal = Normal::default();
    for (n, x) in workers.iter().zip(throughputs) {
        // Weighted by x² / n, for the error of n / x is that of x times n / x².
        normal.add([1.0, n - 1.0, n * (n - 1.0)], n / x, (x * x / n).powi(2));
    }
    let rate = workers.iter().zip(throughputs).map(|(n, x)| x / n).fold(0.0, f64::max);
    let [inverse, contention, coherency] = normal.solve(0.0)?;
    let linear = [1.0 / inverse, contention / inverse, coherency / inverse];
    let sound = inverse > 0.0 && cost(linear, workers, throughputs).is_some();
    Some(if sound { linear } else { [rate, 0.0, 0.0] })
}

fn search(from: [f64; 3], workers: &[f64], throughputs: &[f64]) -> Option<[f64; 3]> {
    let mut at = from;
    let mut best = cost(at, workers, throughputs)?;
    let mut damping = 1e-3;
    for _ in 0..MOST_STEPS {
        let Some(step) = normal_at(at, workers, throughputs)?.solve(damping) else { break };
        let next = [0, 1, 2].map(|i| at[i] + step[i]);
        match cost(next, workers, throughputs).filter(|cost| *cost <= best) {
            Some(cost) => {
                // Throughputs are of the order of 1 here: what is left is rounding.
                let settled = best - cost <= 1e-12 * best + 1e-28;
                (at, best, damping) = (next, cost, (damping / 10.0).max(1e-12));
                if settled {
                    return Some(at);
                }
            }
            None => damping *= 10.0,
        }
        if damping > 1e12 {
            return Some(at); // No step is downhill any more: this is the bottom.
        }
    }
    None
}

/// Squares and products of the derivatives, and of the derivatives with the residuals.
fn normal_at(at: [f64; 3], workers: &[f64], throughputs: &[f64]) -> Option<Normal> {
    let [lambda, sigma, kappa] = at;
    let mut normal = Normal::default();
    for (n, x) in workers.iter().zip(throughputs) {
        let denominator = 1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0);
        let by_denominator = -lambda * n / (denominator * denominator);
        let slopes = [n / denominator, by_denominator * (n - 1.0), by_denominator * n * (n - 1.0)];
        normal.add(slopes, x - law(at, *n)?, 1.0);
    }
    Some(normal)
}

fn cost(at: [f64; 3], workers: &[f64], throughputs: &[f64]) -> Option<f64> {
    let squares = workers.iter().zip(throughputs).map(|(n, x)| Some((x - law(at, *n)?).powi(2)));
    squares.sum()
}

/// Normal equations of three unknowns.
#[derive(Default)]
struct Normal {
    matrix: [[f64; 3]; 3],
    right: [f64; 3],
}

impl Normal {
    fn add(&mut self, slopes: [f64; 3], value: f64, weight: f64) {
        for (i, slope) in slopes.iter().enumerate() {
            self.right[i] += weight * slope * value;
            for (j, other) in slopes.iter().enumerate() {
                self.matrix[i][j] += weight * slope * other;
            }
        }
    }

    /// By Gauss with the largest pivot; `damping` times its own size is added to each diagonal.
    fn solve(&self, damping: f64) -> Option<[f64; 3]> {
        let (mut m, mut r) = (self.matrix, self.right);
        for (i, row) in m.iter_mut().enumerate() {
            row[i] *= 1.0 + damping;
        }
        for i in 0..3 {
            let pivot = (i..3).max_by(|a, b| m[*a][i].abs().total_cmp(&m[*b][i].abs()))?;
            m.swap(i, pivot);
            r.swap(i, pivot);
            if m[i][i].abs() < 1e-300 {
                return None;
            }
            for j in i + 1..3 {
                let factor = m[j][i] / m[i][i];
                let above = m[i];
                m[j].iter_mut().zip(above).for_each(|(low, high)| *low -= factor * high);
                r[j] -= factor * r[i];
            }
        }
        let mut x = [0.0; 3];
        for i in (0..3).rev() {
            let known: f64 = (i + 1..3).map(|k| m[i][k] * x[k]).sum();
            x[i] = (r[i] - known) / m[i][i];
        }
        x.iter().all(|value| value.is_finite()).then_some(x)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COUNTS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    fn exact(parameters: [f64; 3], counts: &[f64]) -> Vec<f64> {
        counts.iter().map(|n| law(parameters, *n).unwrap()).collect()
    }

    #[test]
    fn known_parameters_are_found_again() {
        let found = fit(&COUNTS, &exact([2e6, 0.05, 0.002], &COUNTS)).unwrap();
        assert!((found.lambda / 2e6 - 1.0).abs() < 1e-6, "{found:?}");
        assert!((found.sigma - 0.05).abs() < 1e-6, "{found:?}");
        assert!((found.kappa - 0.002).abs() < 1e-8, "{found:?}");
        assert!(found.residuals.iter().all(|residual| residual.abs() < 1.0), "{found:?}");
        // sqrt(0.95 / 0.002)
        assert!((found.peak().unwrap() - 21.794).abs() < 1e-2, "{found:?}");
    }

    #[test]
    fn the_fit_is_least_squares_of_throughput() {
        let mut throughputs = exact([100.0, 0.1, 0.001], &COUNTS);
        for (position, value) in throughputs.iter_mut().enumerate() {
            *value *= if position % 2 == 0 { 1.03 } else { 0.97 };
        }
        let found = fit(&COUNTS, &throughputs).unwrap();
        let at = [found.lambda, found.sigma, found.kappa];
        let best = cost(at, &COUNTS, &throughputs).unwrap();
        for (i, size) in [(0, 0.01), (1, 1e-4), (2, 1e-6)] {
            for direction in [-1.0, 1.0] {
                let mut aside = at;
                aside[i] += direction * size;
                assert!(cost(aside, &COUNTS, &throughputs).unwrap() >= best, "{i} {found:?}");
            }
        }
    }

    /// Solved apart, with fractions.
    #[test]
    fn the_start_is_the_weighted_fit_of_the_linear_form() {
        let at = start(&COUNTS[..5], &[0.2, 0.38, 0.6, 1.0, 0.95]).unwrap();
        let expected = [0.182_315_823_567_314, 0.003_100_688_830_154_6, 0.008_341_711_144_682_7];
        for (at, expected) in at.iter().zip(expected) {
            assert!((at - expected).abs() < 1e-12, "{at} {expected}");
        }
        // A denominator or a rate below 0 has no meaning.
        assert_eq!(start(&COUNTS[..4], &[0.05, 1.0, 0.05, 0.1]), Some([0.5, 0.0, 0.0]));
        assert_eq!(start(&COUNTS[..4], &[0.2, 1.0, 0.4, 1.0]), Some([0.5, 0.0, 0.0]));
    }

    /// Three equations whose largest pivots stand below, solved apart with fractions.
    #[test]
    fn equations_are_solved_with_the_diagonal_grown_by_the_damping() {
        let matrix = [[0.0, 2.0, 1.0], [2.0, 1.0, 0.0], [1.0, 0.0, 3.0]];
        let normal = Normal { matrix, right: [7.0, 4.0, 10.0] };
        for (damping, expected) in
            [(0.0, [1.0, 2.0, 3.0]), (0.5, [5.0 / 26.0, 94.0 / 39.0, 85.0 / 39.0])]
        {
            let found = normal.solve(damping).unwrap();
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
        }
        let twice = [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]];
        assert_eq!(Normal { matrix: twice, right: [1.0; 3] }.solve(0.0), None);
    }

    #[test]
    fn the_normal_equations_are_the_costs_derivatives() {
        let (at, throughputs) = ([0.3, 0.08, 0.004], [0.3, 0.5, 0.8, 1.0, 0.9, 0.7, 0.3]);
        let normal = normal_at(at, &COUNTS, &throughputs).unwrap();
        let aside = |i: usize, by: f64| {
            let mut aside = at;
            aside[i] += by;
            aside
        };
        for i in 0..3 {
            let h = 1e-5 * at[i];
            let cost = |by| cost(aside(i, by), &COUNTS, &throughputs).unwrap();
            let slope = (cost(h) - cost(-h)) / (2.0 * h);
            assert!((-2.0 * normal.right[i] / slope - 1.0).abs() < 1e-5, "{i} {slope}");
            for j in 0..3 {
                // Sums of products of the law's slopes, by differences.
                let slope = |i: usize, n: f64| {
                    let h = 1e-5 * at[i];
                    let [up, down] = [h, -h].map(|by| law(aside(i, by), n).unwrap());
                    (up - down) / (2.0 * h)
                };
                let expected: f64 = COUNTS.iter().map(|n| slope(i, *n) * slope(j, *n)).sum();
                assert!((normal.matrix[i][j] / expected - 1.0).abs() < 1e-5, "{i} {j}");
            }
        }
    }

    #[test]
    fn perfect_scaling_has_no_peak() {
        let found = fit(&COUNTS, &COUNTS.map(|n| 7.0 * n)).unwrap();
        assert!((found.lambda - 7.0).abs() < 1e-6 && found.sigma.abs() < 1e-6, "{found:?}");
        assert!(found.peak().is_none_or(|peak| peak > 1e3), "{found:?}");
    }

    #[test]
    fn as_many_counts_as_parameters_are_too_few() {
        assert_eq!(fit(&[1.0, 2.0, 4.0], &[1.0, 1.9, 3.4]), None);
        assert_eq!(fit(&[1.0, 2.0, 4.0, 4.0], &[1.0, 1.9, 3.4, 3.5]), None);
        assert_eq!(fit(&[1.0, 2.0, 4.0, 8.0], &[1.0, 1.9, f64::NAN, 3.5]), None);
        assert_eq!(fit(&[1.0, 2.0, 4.0, 8.0], &[1.0, 1.9, 0.0, 3.5]), None);
        assert_eq!(fit(&COUNTS, &[1.0]), None);
    }

    #[test]
    fn columns_of_two_lengths_and_values_that_are_not_above_0_are_refused() {
        let throughputs = [1.0, 1.9, 3.4, 5.0, 6.0];
        assert!(fit(&COUNTS[..5], &throughputs).is_some());
        assert_eq!(fit(&COUNTS, &throughputs), None);
        assert_eq!(fit(&[0.0, 1.0, 2.0, 4.0, 8.0], &throughputs), None);
        assert_eq!(fit(&COUNTS[..5], &[1.0, 1.9, 3.4, 5.0, -6.0]), None);
    }

    proptest! {
        #[test]
        fn any_law_is_found_again(
            lambda in 1.0..1e9, sigma in 0.0..0.9, kappa in 0.0..0.05
        ) {
            let found = fit(&COUNTS, &exact([lambda, sigma, kappa], &COUNTS)).unwrap();
            prop_assert!((found.lambda / lambda - 1.0).abs() < 1e-3, "{:?}", found);
            prop_assert!((found.sigma - sigma).abs() < 1e-3, "{:?}", found);
            prop_assert!((found.kappa - kappa).abs() < 1e-4, "{:?}", found);
        }
    }
}
