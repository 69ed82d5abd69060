//! How often the judge is wrong about samples that differ in nothing, over hundreds of files.

use lab_import::{
    Benchmark, Source,
    judge::{Settings, against},
    read,
};
use lab_stats::outcome::Outcome;
use rand::{Rng, SeedableRng};
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

/// Of files of each side.
fn outcomes_of(sides: [Vec<String>; 2], alpha: f64) -> Vec<Outcome> {
    let side = |files: &Vec<String>| -> Vec<Benchmark> {
        let named = files.iter().enumerate().map(|(at, text)| (format!("{at}.txt"), text));
        let read = |(file, text): (String, &String)| {
            read(&Source { file: &file, text, beside: None }).unwrap().benchmarks
        };
        named.flat_map(read).collect()
    };
    let [old, new] = sides.each_ref().map(side);
    let settings = Settings { alpha, margin: 0.01, seed: 1 };
    let judged = against(&old, &new, &settings).unwrap();
    judged.iter().map(|judged| judged.outcome).collect()
}

fn outcomes(files: [String; 2], alpha: f64) -> Vec<Outcome> {
    outcomes_of(files.map(|file| vec![file]), alpha)
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
    assert_eq!(outcomes(close(40, &mut rng), 0.01), [Outcome::Equivalent; 3]);
}

/// Each file is a process with a layout of its own, which all of its samples share.
#[test]
fn samples_that_share_a_process_are_not_taken_for_more() {
    let mut rng = Pcg64::seed_from_u64(8);
    let layout = Normal::new(0.0, 0.02).unwrap();
    let tries = TRIES / 2;
    let wrong = (0..tries).filter(|_| {
        let mut side = || -> Vec<String> {
            (0..7).map(|_| file(10, 0.003, layout.sample(&mut rng), &mut rng)).collect()
        };
        let sides = [side(), side()];
        outcomes_of(sides, 0.05).iter().any(is_difference)
    });
    let share = wrong.count() as f64 / tries as f64;
    assert!(share <= 0.05 + 3.0 * (0.05 * 0.95 / tries as f64).sqrt(), "{share}");
}

/// Eight benchmarks of six samples: regroupings alone could show nothing.
#[test]
fn few_samples_of_many_benchmarks_keep_the_level_too() {
    let mut rng = Pcg64::seed_from_u64(6);
    let noise = Normal::new(0.0, 0.01).unwrap();
    let mut file = |is_two_modes: bool, shift: f64| -> String {
        let mut time = || {
            let mode = if is_two_modes && rng.random::<bool>() { 0.2 } else { 0.0 };
            1_000.0 * (mode + shift + noise.sample(&mut rng)).exp()
        };
        let line = |at: usize, ns: f64| format!("Benchmark{}-8 100 {ns} ns/op\n", at % 8);
        (0..48).map(|at| line(at, time())).collect()
    };
    assert_eq!(outcomes([file(false, 0.0), file(false, 0.2)], 0.01), [Outcome::Slower; 8]);
    for is_two_modes in [false, true] {
        let wrong = (0..TRIES).filter(|_| {
            let files = [file(is_two_modes, 0.0), file(is_two_modes, 0.0)];
            outcomes(files, 0.01).iter().any(is_difference)
        });
        let share = wrong.count() as f64 / TRIES as f64;
        assert!(share <= 0.01 + 3.0 * (0.01 * 0.99 / TRIES as f64).sqrt(), "{share}");
    }
}
