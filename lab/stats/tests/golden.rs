//! Answers of SciPy and of R on the same samples. `tools/trust/golden.py` and `golden.R` have
//! written them.

use lab_stats::{
    correlation::{pearson, spearman},
    equivalence::equivalent,
    multiple::holm,
    paired::{hodges_lehmann, sign_flip_test},
    studentised::Studentised,
    tail::of_differences,
    unpaired::welch_t,
};
use serde_json::Value;

const SCIPY: &str = include_str!("golden/scipy.json");
const R: &str = include_str!("golden/r.tsv");

fn cases() -> Vec<Value> {
    let stored: Value = serde_json::from_str(SCIPY).unwrap();
    stored["cases"].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn close(ours: f64, theirs: f64, what: &str) {
    let far = (ours - theirs).abs() / theirs.abs().max(1e-12);
    assert!(far < 1e-7, "{what}: ours {ours}, theirs {theirs}");
}

#[test]
fn as_scipy_says() {
    for (index, case) in cases().iter().enumerate() {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        let says = |key: &str| case[key].as_f64().unwrap();
        let what = |key: &str| format!("case {index}, {key}");
        close(sign_flip_test(&a, 0).unwrap(), says("sign_flip_p"), &what("sign flips"));
        let welch = welch_t(&a, &b).unwrap();
        let [t, p] = numbers(&case["welch"])[..] else { panic!("{}", case["welch"]) };
        close(welch.t, t, &what("t"));
        close(welch.p, p, &what("p of t"));
        let ours = Studentised::new(&a, &b, 0.05, 0).unwrap().p_value(0.0);
        close(ours, says("studentised_p").max(p), &what("studentised"));
        let pairs = a.len().min(b.len());
        let (x, y) = (&a[..pairs], &b[..pairs]);
        close(pearson(x, y).unwrap(), says("pearson"), &what("Pearson"));
        close(spearman(x, y).unwrap(), says("spearman"), &what("Spearman"));
        let mean = of_differences(&a, 1.0, 0.05).unwrap().mean;
        let [low, high] = numbers(&case["mean_interval_90"])[..] else { panic!("two ends") };
        close(mean.low, low, &what("low end"));
        close(mean.high, high, &what("high end"));
    }
}

#[test]
fn as_r_says() {
    let cases = cases();
    let rows = R.lines().skip(2).map(|line| line.split('\t').map(str::parse::<f64>));
    let rows: Vec<Vec<f64>> = rows.map(|row| row.collect::<Result<_, _>>().unwrap()).collect();
    assert!(rows.len() >= 8, "{}", rows.len());
    for row in rows {
        let [case, estimate, low, high, margin, tost, holm_max, holm_min] = row[..] else {
            panic!("{row:?}")
        };
        let a = numbers(&cases[case as usize]["a"]);
        let what = |key: &str| format!("case {case}, {key}");
        let shift = hodges_lehmann(&a, 0.9).unwrap();
        let interval = shift.interval.unwrap();
        close(shift.estimate, estimate, &what("estimate"));
        close(interval.low, low, &what("low end"));
        close(interval.high, high, &what("high end"));
        close(equivalent(&a, margin, 0.05).unwrap().p, tost, &what("equivalence"));
        let largest = a.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        let p: Vec<f64> = a.iter().map(|value| value.abs() / largest / 4.0).collect();
        let adjusted = holm(&p).unwrap();
        close(adjusted.iter().copied().fold(0.0, f64::max), holm_max, &what("Holm, largest"));
        close(adjusted.iter().copied().fold(1.0, f64::min), holm_min, &what("Holm, smallest"));
    }
}
