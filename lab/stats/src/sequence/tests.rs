use super::*;

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

/// Differences that repeat and hold every kind: around `middle`, with hiccups to one side.
fn differences(middle: f64, count: usize) -> impl Iterator<Item = f64> {
    let noise = |at: usize| ((at * 7919) % 101) as f64 / 50.0 - 1.0;
    let hiccup = |at: usize| if at % 37 == 5 { 40.0 } else { 0.0 };
    (0..count).map(move |at| middle + 0.01 * (noise(at) + hiccup(at)))
}

fn filled(middle: f64, count: usize) -> Sequence {
    let mut sequence = Sequence::new(0.01, &[0.0, 0.5, 0.0213]).unwrap();
    differences(middle, count).for_each(|difference| assert!(sequence.push(difference)));
    sequence
}

/// M as the module's text defines it, with none of the shortcuts.
fn log_m(sequence: &Sequence, shift: f64) -> f64 {
    let clip = |at: usize| sequence.clips.iter().rfind(|(from, _)| *from <= at).unwrap().1;
    let counted = sequence.differences.iter().enumerate().skip(UNCOUNTED);
    let increments: Vec<f64> =
        counted.map(|(at, d)| (d - shift).clamp(-clip(at), clip(at))).collect();
    let s: f64 = increments.iter().sum();
    let v: f64 = increments.iter().map(|x| x * x).sum();
    let rho = sequence.rho;
    ((rho / (rho + v)).sqrt() * (s * s / (2.0 * (rho + v))).exp()).ln()
}

#[test]
fn the_evidence_is_the_formulas() {
    let sequence = filled(0.02, 100);
    for shift in [0.0, 0.5, 0.02, 0.0213, -0.3] {
        let (found, expected) = (sequence.log_evidence(shift), log_m(&sequence, shift));
        assert!((found - expected).abs() < 1e-9, "{shift}: {found} {expected}");
    }
}

#[test]
fn noise_is_the_median_deviation_or_the_mean_one_where_most_values_are_equal() {
    assert_eq!(robust_sd(&[1.0, 2.0, 3.0, 4.0, 100.0]), NORMAL_SD_PER_MAD);
    assert_eq!(robust_sd(&[7.0, 7.0, 7.0, 11.0]), NORMAL_SD_PER_MEAN_DEVIATION);
}

#[test]
fn the_mixture_is_the_tightest_where_its_equation_says() {
    for log_threshold in [0.7, 4.6, 12.0] {
        let ratio = tuning(log_threshold);
        assert!((ratio - ratio.ln_1p() - 2.0 * log_threshold).abs() < 1e-9, "{ratio}");
    }
}

#[test]
fn the_clip_comes_from_earlier_pairs_alone() {
    let mut sequence = filled(0.0, 50);
    let before = sequence.clips.clone();
    assert_eq!(before.iter().map(|(from, _)| *from).collect::<Vec<_>>(), [10, 20, 40]);
    (0..29).for_each(|_| assert!(sequence.push(1e6)));
    assert_eq!(sequence.clips, before);
    // What comes with the 80th pair is used from the 81st on.
    sequence.push(0.0);
    assert_eq!(sequence.clips[3].0, 80);
}

#[test]
fn the_interval_is_the_set_that_a_fine_grid_finds() {
    for count in [40, 200, 1_000] {
        let sequence = filled(0.02, count);
        let hull = sequence.interval().unwrap();
        let grid = (-20_000..20_000).map(|at| f64::from(at) * 5e-6);
        let inside: Vec<f64> =
            grid.filter(|shift| log_m(&sequence, *shift) < 100_f64.ln()).collect();
        assert!(hull.low <= inside[0] && inside[inside.len() - 1] <= hull.high, "{hull:?}");
        assert!(inside[0] - hull.low < 4e-5 && hull.high - inside[inside.len() - 1] < 4e-5);
        assert!(hull.holds(sequence.estimate().unwrap()));
    }
}

/// A thousandth of the clip over the root of the pairs is far below what they can tell.
#[test]
fn the_ends_of_many_pairs_are_looked_up_more_finely() {
    let sequence = filled(0.02, 10_000);
    let Hull { low, high } = sequence.interval().unwrap();
    let fine = 1.01e-3 * sequence.clips.last().unwrap().1 / 9_990_f64.sqrt();
    let threshold = 100_f64.ln();
    for (end, inwards) in [(low, fine), (high, -fine)] {
        assert!(log_m(&sequence, end) >= threshold);
        assert!(log_m(&sequence, end + inwards) < threshold);
    }
}

#[test]
fn a_tenth_of_the_pairs_within_the_clip_are_too_few_to_expect_from() {
    let expected = |inside: usize| {
        let outside = (0..100 - inside).map(|at| if at % 2 == 0 { 9.0 } else { -9.0 });
        let differences = std::iter::repeat_n(0.0, UNCOUNTED + inside).chain(outside);
        let empty = Sequence::new(0.01, &[]).unwrap();
        let sequence = Sequence {
            differences: differences.collect(),
            clips: vec![(UNCOUNTED, 1.0)],
            rho: 1.0,
            ..empty
        };
        sequence.half_width_after(200)
    };
    assert_eq!(expected(10), None);
    // Of 200 pairs 176 are clipped to 1, and 24 bring their half-width.
    let squares = 176.0_f64;
    let growth = 2.0 * 100_f64.ln() + squares.ln_1p();
    let half_width = ((1.0 + squares) * growth).sqrt() / 24.0;
    assert!((expected(12).unwrap() / half_width - 1.0).abs() < 1e-3);
}

#[test]
fn there_is_no_interval_before_it_can_have_ends() {
    assert_eq!(filled(0.0, UNCOUNTED).interval(), None);
    assert_eq!(filled(0.0, UNCOUNTED).estimate(), None);
    assert_eq!(filled(0.0, UNCOUNTED + 12).interval(), None);
    assert!(filled(0.0, UNCOUNTED + 15).interval().is_some());
    assert!(!filled(9.0, UNCOUNTED).excludes(0.0));
}

#[test]
fn equal_differences_are_known_exactly() {
    let mut sequence = Sequence::new(0.01, &[]).unwrap();
    (0..60).for_each(|_| assert!(sequence.push(0.05)));
    let hull = sequence.interval().unwrap();
    assert!(hull.holds(0.05) && hull.half_width() < 1e-4 && sequence.excludes(0.0), "{hull:?}");
}

#[test]
fn what_is_expected_of_more_pairs_is_what_they_bring() {
    let expected = filled(0.02, 210).half_width_after(1_000).unwrap();
    let found = filled(0.02, 1_010).interval().unwrap().half_width();
    assert!((expected / found - 1.0).abs() < 0.15, "{expected} {found}");
    let pairs = filled(0.02, 210).pairs_until(expected).unwrap();
    assert!((950..=1_000).contains(&pairs), "{pairs}");
    assert_eq!(Sequence::new(0.01, &[]).unwrap().pairs_until(0.1), None);
}

#[test]
fn what_could_have_been_found_lies_beyond_the_half_width() {
    let sequence = filled(0.02, 400);
    let half_width = sequence.interval().unwrap().half_width();
    let [even, likely] = [0.5, 0.8].map(|power| sequence.detectable(power).unwrap());
    assert!((even / half_width - 1.0).abs() < 1e-9, "{even} {half_width}");
    assert!(1.1 * half_width < likely && likely < 1.4 * half_width, "{likely} {half_width}");
    assert_eq!(filled(0.0, UNCOUNTED).detectable(0.8), None);
    assert_eq!(sequence.detectable(1.0), None);
    // Of more pairs, V grows in proportion to them; 0.8416 is the normal quantile of 80 %.
    let now = sequence.sums(sequence.estimate().unwrap()).squares;
    let growth = sequence.growth(now / sequence.counted() as f64 * 1_000.0);
    let expected = sequence.half_width_after(1_000).unwrap() * (1.0 + 0.841_621_2 / growth.sqrt());
    let found = sequence.detectable_after(1_000, 0.8).unwrap();
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
}

#[test]
fn refuses_what_is_no_number_and_no_level() {
    assert!(Sequence::new(0.0, &[]).is_none() && Sequence::new(f64::NAN, &[]).is_none());
    let mut sequence = filled(0.0, 30);
    let before = sequence.interval();
    assert!(!sequence.push(f64::NAN) && !sequence.push(f64::INFINITY));
    assert_eq!(sequence.interval(), before);
}
