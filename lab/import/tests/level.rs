//! How often the judge is wrong about samples that differ in nothing, over hundreds of files.

use lab_import::{
    Source,
    judge::{Settings, against},
    read,
};
use lab_stats::outcome::Outcome;
use rand::SeedableRng;
use rand_distr::{Distribution, Normal};
use rand_pcg::Pcg64;

const TRIES: usize = 150;

/// Text of `go test -bench`: three benchmarks of `count` samples, whose logarithms vary by `sd`.
fn file(count: usize, sd: f64, shift: f64, rng: &mut Pcg64) -> String {
    let noise = Normal::new(shift, sd).unwrap();
    let line = |name: &str, rng: &mut Pcg64| {
        let ns = 1_000.0 * noise.sample(rng).exp();
        format!("Benchmark{name}-8 100 {ns} ns/op\n")
    };
    (0..3 * count).map(|sample| line(["A", "B", "C"][sample % 3], rng)).collect()
}

fn outcomes(files: [String; 2], alpha: f64) -> Vec<Outcome> {
    let read = |text: &String| read(&Source { file: "f", text, beside: None }).unwrap();
    let [old, new] = files.each_ref().map(read);
    let settings = Settings { alpha, margin: 0.01, seed: 1 };
    let judged = against(&old, &new, &settings).unwrap();
    judged.iter().map(|judged| judged.outcome).collect()
}

fn is_difference(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Faster | Outcome::Slower)
}

/// The share of files in which any of three benchmarks is called faster or slower, at 5 %.
fn wrong(old: (usize, f64), new: (usize, f64)) -> f64 {
    let mut rng = Pcg64::seed_from_u64((old.0 * new.0) as u64);
    let wrong = (0..TRIES).filter(|_| {
        let files = [file(old.0, old.1, 0.0, &mut rng), file(new.0, new.1, 0.0, &mut rng)];
        outcomes(files, 0.05).iter().any(is_difference)
    });
    wrong.count() as f64 / TRIES as f64
}

/// Three standard errors of a share of 5 %.
fn most() -> f64 {
    0.05 + 3.0 * (0.05 * 0.95 / TRIES as f64).sqrt()
}

#[test]
fn equal_files_are_called_different_no_more_often_than_allowed() {
    let share = wrong((8, 0.05), (8, 0.05));
    assert!(share <= most(), "{share}");
}

#[test]
fn so_are_files_of_unequal_size_and_noise() {
    for (old, new) in [((7, 0.09), (21, 0.03)), ((21, 0.03), (7, 0.09))] {
        let share = wrong(old, new);
        assert!(share <= most(), "{old:?} {new:?}: {share}");
    }
}

#[test]
fn a_difference_is_found_and_has_its_direction() {
    let mut rng = Pcg64::seed_from_u64(1);
    for (shift, expected) in [(0.2, Outcome::Slower), (-0.2, Outcome::Faster)] {
        let files = [file(8, 0.02, 0.0, &mut rng), file(8, 0.02, shift, &mut rng)];
        assert_eq!(outcomes(files, 0.01), [expected; 3]);
    }
    let close = |count, rng: &mut Pcg64| [(); 2].map(|()| file(count, 0.002, 0.0, rng));
    assert_eq!(outcomes(close(200, &mut rng), 0.01), [Outcome::Equivalent; 3]);
    // Of so few nobody knows how many are slow.
    assert_eq!(outcomes(close(40, &mut rng), 0.01), [Outcome::CannotTell; 3]);
}
