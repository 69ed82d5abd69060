use super::*;

/// Noise that repeats and holds every kind: around `middle`, with hiccups to one side.
fn differences(middle: f64, count: usize) -> impl Iterator<Item = f64> {
    let noise = |at: usize| ((at * 7919) % 101) as f64 / 50.0 - 1.0;
    let hiccup = |at: usize| if at % 37 == 5 { 40.0 } else { 0.0 };
    (0..count).map(move |at| middle + 0.01 * (noise(at) + hiccup(at)))
}

fn filled(middle: f64, count: usize) -> Sequence {
    of(differences(middle, count))
}

fn of(differences: impl Iterator<Item = f64>) -> Sequence {
    let mut sequence = Sequence::new(0.01, &[0.0, 0.5, 0.0213]).unwrap();
    differences.for_each(|difference| assert!(sequence.push(difference)));
    sequence
}

/// ln M⁺ and ln M⁻ as the module's text defines them, with none of the shortcuts.
fn log_m(differences: &[f64], shift: f64) -> [f64; 2] {
    let weights = [3.0, 5.0, 9.0, 16.0, 21.0, 18.0, 12.0, 8.0, 8.0].map(|weight| weight / 100.0);
    let increment = |at: usize| {
        let mut earlier = differences[..at].to_vec();
        earlier.sort_by(f64::total_cmp);
        let residual = differences[at] - shift;
        let sign = if residual == 0.0 { 0.0 } else { residual.signum() };
        if at < 4 {
            return 0.674_489_750_196_081_7 * sign;
        }
        let scale = (earlier[at - 1 - at / 4] - earlier[at / 4]) / 1.348_979_500_392_163_4;
        (residual / scale).clamp(-3.0, 3.0)
    };
    let increments: Vec<f64> = (0..differences.len()).map(increment).collect();
    [1.0, -1.0].map(|sign| {
        let bets = weights.iter().enumerate().map(|(power, weight)| {
            let bet = sign * 2_f64.powi(power as i32 - 6);
            let log = |x: &f64| bet * x - (bet * x).cosh().ln();
            0.5 * weight * increments.iter().map(log).sum::<f64>().exp()
        });
        bets.sum::<f64>().ln()
    })
}

#[test]
fn the_evidence_is_the_formulas() {
    let differences: Vec<f64> = differences(0.02, 100).collect();
    let sequence = of(differences.iter().copied());
    for shift in [0.0, 0.5, 0.02, 0.0213, -0.3] {
        let [plus, minus] = log_m(&differences, shift);
        let found = sequence.log_evidence(shift);
        assert!((found / plus.max(minus) - 1.0).abs() < 1e-9, "{shift}: {found} {plus} {minus}");
    }
}

#[test]
fn a_fair_coin_gives_both_sides_a_half_on_average() {
    // All 2^12 signs of twelve magnitudes, at their true shift.
    let magnitude = |at: usize| 0.01 * (1.0 + ((at * 7919) % 101) as f64);
    let mut total = 0.0;
    for signs in 0..1_u32 << 12 {
        let sign = |at: usize| if signs >> at & 1 == 1 { 1.0 } else { -1.0 };
        let differences: Vec<f64> = (0..12).map(|at| 0.3 + sign(at) * magnitude(at)).collect();
        let sequence = of(differences.iter().copied());
        let evidence = sequence.evidence(0.3);
        total += [1.0, -1.0].map(|side| evidence.log_against(side, 1.0).exp()).iter().sum::<f64>();
    }
    let mean = total / 4_096.0;
    assert!((mean - 1.0).abs() < 1e-9, "{mean}");
}

#[test]
fn a_shift_is_excluded_where_it_lies_outside_the_interval() {
    for count in [12, 40, 200, 1_000] {
        let sequence = filled(0.02, count);
        let hull = sequence.interval().unwrap();
        let error = sequence.standard_error().unwrap();
        for (end, outwards) in [(hull.low, -1.0), (hull.high, 1.0)] {
            assert!(sequence.excludes(end));
            assert!(!sequence.excludes(end - outwards * 0.02 * error), "{count} {hull:?}");
            for further in [0.01, 1.0, 30.0, 1e6] {
                assert!(sequence.excludes(end + outwards * further), "{count} {further}");
            }
        }
        assert!(hull.holds(sequence.estimate().unwrap()));
        assert!(!sequence.excludes(sequence.estimate().unwrap()));
    }
}

#[test]
fn no_pair_is_lost_and_the_fewest_pairs_are_told() {
    let fewest = fewest_pairs(0.01).unwrap();
    assert!(fewest <= 10, "{fewest}");
    for (pairs, known) in [(fewest - 1, false), (fewest, true)] {
        // Each larger than all before, so that every increment is the largest.
        let growing = (0..pairs).map(|at| 10_f64.powi(at as i32));
        assert_eq!(of(growing).excludes(0.0), known, "{pairs}");
    }
    // A difference far beyond the noise takes hardly more.
    assert!(filled(0.7, 12).excludes(0.0) && !filled(0.7, fewest - 1).excludes(0.0));
    assert_eq!(filled(0.7, fewest - 1).interval(), None);
    assert_eq!(filled(0.0, 0).estimate(), None);
    assert_eq!([0.0, 1.0, f64::NAN].map(fewest_pairs), [None; 3]);
    assert!(fewest_pairs(0.05) < fewest_pairs(0.001));
}

#[test]
fn exchanging_both_programs_changes_the_sign_alone() {
    let (ours, theirs) = (filled(0.004, 80), of(differences(0.004, 80).map(|d| -d)));
    let (a, b) = (ours.interval().unwrap(), theirs.interval().unwrap());
    assert!((a.low + b.high).abs() < 1e-6 && (a.high + b.low).abs() < 1e-6, "{a:?} {b:?}");
    assert!((ours.log_evidence(0.0) - theirs.log_evidence(0.0)).abs() < 1e-9);
}

#[test]
fn equal_differences_are_known_exactly() {
    let mut sequence = Sequence::new(0.01, &[]).unwrap();
    (0..60).for_each(|_| assert!(sequence.push(0.05)));
    let hull = sequence.interval().unwrap();
    assert!(hull.holds(0.05) && hull.half_width() < 1e-8 && sequence.excludes(0.0), "{hull:?}");
    assert_eq!(sequence.standard_error(), Some(0.0));
}

#[test]
fn one_hiccup_moves_no_end_by_more_than_the_clip() {
    let calm: Vec<f64> = (0..99).map(|at| 0.01 * ((at * 7919) % 101) as f64).collect();
    let ends = |hiccup: f64| of(calm.iter().copied().chain([hiccup])).interval().unwrap();
    let (near, far) = (ends(9.0), ends(9e9));
    assert!((near.low - far.low).abs() < 1e-3 && (near.high - far.high).abs() < 1e-3);
}

#[test]
fn what_is_expected_of_more_pairs_is_what_they_bring() {
    let expected = filled(0.02, 210).half_width_after(1_000).unwrap();
    let found = filled(0.02, 1_000).interval().unwrap().half_width();
    assert!((expected / found - 1.0).abs() < 0.2, "{expected} {found}");
    let pairs = filled(0.02, 210).pairs_until(expected).unwrap();
    assert!((990..=1_001).contains(&pairs), "{pairs}");
    let now = filled(0.02, 210);
    let hull = now.interval().unwrap();
    let estimate = now.estimate().unwrap();
    let further = (hull.high - estimate).max(estimate - hull.low);
    assert!((now.half_width_after(210).unwrap() / further - 1.0).abs() < 1e-9);
    assert_eq!(now.half_width_after(5), None);
    assert_eq!(Sequence::new(0.01, &[]).unwrap().pairs_until(0.1), None);
}

#[test]
fn what_could_have_been_found_lies_beyond_the_half_width() {
    let sequence = filled(0.02, 400);
    let half_width = sequence.interval().unwrap().half_width();
    let [even, likely] = [0.5, 0.8].map(|power| sequence.detectable(power).unwrap());
    assert!((even / half_width - 1.0).abs() < 1e-9, "{even} {half_width}");
    assert!(1.1 * half_width < likely && likely < 1.5 * half_width, "{likely} {half_width}");
    assert_eq!(filled(0.0, 5).detectable(0.8), None);
    assert_eq!(sequence.detectable(1.0), None);
    // Of four times the pairs half of the standard error; 0.8416 is the normal quantile of 80 %.
    let error = sequence.standard_error().unwrap() / 2.0;
    let expected = sequence.half_width_after(1_600).unwrap() + 0.841_621_2 * error;
    let found = sequence.detectable_after(1_600, 0.8).unwrap();
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
}

#[test]
fn the_standard_error_of_calm_noise_is_the_means() {
    let sequence = of((0..1_010).map(|at| ((at * 7919) % 101) as f64));
    // Evenly spread over 101 values: none is clipped.
    let expected = (101_f64.powi(2) / 12.0 / 1_010.0).sqrt();
    assert!((sequence.standard_error().unwrap() / expected - 1.0).abs() < 0.01);
}

#[test]
fn what_the_later_place_adds_is_taken_off_whichever_runs_last() {
    let pairs: Vec<f64> = differences(0.03, 400).collect();
    let mut without = Sequence::new(0.01, &[0.0]).unwrap();
    let mut with = without.clone();
    for (at, difference) in pairs.into_iter().enumerate() {
        // A fair coin's turns, and 20 % more in the later place.
        let b_ran_last = (at * 6_701) % 89 < 44;
        let more = if b_ran_last { 0.2 } else { -0.2 };
        assert!(without.push(difference + more));
        assert!(with.push_ordered(difference + more, b_ran_last));
    }
    assert!((with.estimate().unwrap() - 0.03).abs() < 0.01, "{:?}", with.estimate());
    assert!(with.excludes(0.0) && !without.excludes(0.0));
    let widths = [&with, &without].map(|one| one.interval().unwrap().half_width());
    assert!(widths[0] < widths[1] / 3.0, "{widths:?}");
    assert!(!with.push_ordered(f64::NAN, true));
}

#[test]
fn a_place_that_adds_no_more_than_noise_adds_nothing_however_large_the_difference() {
    let ordered = |middle: f64, more: f64| -> Vec<(f64, f64)> {
        let coin = |at: usize| if (at * 6_701) % 89 < 44 { 1.0 } else { -1.0 };
        let pairs = differences(middle, 200).enumerate();
        pairs.map(|(at, difference)| (difference + coin(at) * more, coin(at))).collect()
    };
    for middle in [0.0, 2.3, -9.0] {
        assert_eq!(place_effect(&ordered(middle, 0.0)), 0.0, "{middle}");
        let found = place_effect(&ordered(middle, 0.02));
        assert!((found - 0.02).abs() < 0.004, "{middle}: {found}");
    }
}

#[test]
fn noise_is_the_median_deviation_or_the_mean_one_where_most_values_are_equal() {
    assert_eq!(robust_sd(&[1.0, 2.0, 3.0, 4.0, 100.0]), NORMAL_SD_PER_MAD);
    assert_eq!(robust_sd(&[7.0, 7.0, 7.0, 11.0]), NORMAL_SD_PER_MEAN_DEVIATION);
}

#[test]
fn refuses_what_is_no_number_and_no_level() {
    assert!(Sequence::new(0.0, &[]).is_none() && Sequence::new(f64::NAN, &[]).is_none());
    let mut sequence = filled(0.0, 30);
    let before = sequence.interval();
    assert!(!sequence.push(f64::NAN) && !sequence.push(f64::INFINITY));
    assert_eq!(sequence.interval(), before);
}
