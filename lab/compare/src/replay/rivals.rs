//! The rules by which other tools, or people at them, call two commands different. Each looks at
//! runs of one program here, so that whatever it finds is false.

use lab_stats::unpaired::welch_t;

/// Whether a rule calls two columns of run times different.
pub type Rule = fn(&[[f64; 2]]) -> bool;

/// Rules that people ask again and again while they measure.
pub const PEEKED: [(&str, Rule); 3] = [
    ("Welch's t-test, p < 0.05", welch),
    ("Mann-Whitney, p < 0.05", mann_whitney),
    ("perfgate's paired interval", perfgate_paired),
];

/// Rules that are asked once, at the end.
pub const ONCE: [(&str, Rule); 4] = [
    ("Welch's t-test, p < 0.05", welch),
    ("hyperfine's mean ± SD apart", hyperfine_overlap),
    ("perfgate's budget of 20 %", perfgate_budget),
    ("criterion's rule", criterion),
];

/// The level at which these rules are used.
const ALPHA: f64 = 0.05;
/// The pairs before somebody looks for the first time.
const FIRST_LOOK: usize = 5;

/// Whether a rule, asked after every pair, ever calls the two columns different.
pub fn ever(pairs: &[[f64; 2]], rule: Rule) -> bool {
    (FIRST_LOOK..=pairs.len()).any(|looked_at| rule(&pairs[..looked_at]))
}

/// Welch's t-test at 5 %.
fn welch(pairs: &[[f64; 2]]) -> bool {
    let [a, b] = columns(pairs);
    welch_t(&a, &b).is_some_and(|welch| welch.p < ALPHA)
}

/// The Mann-Whitney test at 5 %, by its normal approximation. Times in whole microseconds have few
/// ties, and one counts half.
fn mann_whitney(pairs: &[[f64; 2]]) -> bool {
    let [mut a, mut b] = columns(pairs);
    a.sort_unstable_by(f64::total_cmp);
    b.sort_unstable_by(f64::total_cmp);
    let (mut below, mut up_to) = (0, 0);
    let mut wins = 0.0;
    for value in &a {
        below += b[below..].iter().take_while(|other| *other < value).count();
        up_to = up_to.max(below);
        up_to += b[up_to..].iter().take_while(|other| *other <= value).count();
        wins += below.midpoint(up_to) as f64 + 0.5 * ((below + up_to) % 2) as f64;
    }
    let n = pairs.len() as f64;
    let sd = (n * n * (2.0 * n + 1.0) / 12.0).sqrt();
    (wins - n * n / 2.0).abs() > 1.96 * sd
}

/// Reading hyperfine: "mean ± standard deviation" of the two do not overlap.
fn hyperfine_overlap(pairs: &[[f64; 2]]) -> bool {
    let [a, b] = columns(pairs).map(|column| mean_and_variance(&column));
    (a.0 - b.0).abs() > a.1.sqrt() + b.1.sqrt()
}

/// perfgate's paired mode: the 95 % interval of the mean difference, with 2.0 for Student's t below
/// 30 pairs and 1.96 from there on, does not hold 0 (perfgate-paired 0.15).
fn perfgate_paired(pairs: &[[f64; 2]]) -> bool {
    let differences: Vec<f64> = pairs.iter().map(|[a, b]| b - a).collect();
    let (mean, variance) = mean_and_variance(&differences);
    let t = if pairs.len() < 30 { 2.0 } else { 1.96 };
    mean.abs() > t * (variance / pairs.len() as f64).sqrt()
}

/// perfgate's budget: the medians differ by more than 20 %, for the worse.
fn perfgate_budget(pairs: &[[f64; 2]]) -> bool {
    let [a, b] = columns(pairs).map(|column| lab_stats::describe::median(&column));
    a.zip(b).is_some_and(|(a, b)| b > 1.2 * a)
}

/// criterion: a t-test at 5 %, and the 95 % interval of the relative change of the mean beyond its
/// noise threshold of 1 %. Its bootstrap is replaced by the normal distribution.
fn criterion(pairs: &[[f64; 2]]) -> bool {
    let [a, b] = columns(pairs).map(|column| mean_and_variance(&column));
    let change = b.0 / a.0 - 1.0;
    let relative = (a.1 / (a.0 * a.0) + b.1 / (b.0 * b.0)) / pairs.len() as f64;
    let error = 1.96 * (1.0 + change) * relative.sqrt();
    welch(pairs) && (change - error > 0.01 || change + error < -0.01)
}

fn columns(pairs: &[[f64; 2]]) -> [Vec<f64>; 2] {
    [0, 1].map(|column| pairs.iter().map(|pair| pair[column]).collect())
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0))
}
