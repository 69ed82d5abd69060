//! Searches among commits whose times are known.

use lab_compare::bisect::{
    Bisect, BisectSettings, Compared, Confirmation, End, Side, Step, most_comparisons,
};

/// What a commit is: its time, and the program's identity; `None` does not build.
type Commit = Option<(f64, String)>;

/// Commits with programs of their own, slower from one of them on.
fn commits(count: usize, slow_from: usize, factor: f64) -> Vec<Commit> {
    let time = |at| if at >= slow_from { factor } else { 1.0 };
    (0..=count).map(|at| Some((time(at), at.to_string()))).collect()
}

/// Noise around 0 that repeats, less than 1 % of a run.
fn noise(at: usize) -> f64 {
    0.01 * (((at * 7919) % 101) as f64 / 50.0 - 1.0)
}

fn search(commits: &[Commit], settings: BisectSettings) -> (End, Vec<Compared>) {
    let mut bisect = Bisect::new(commits.len() - 1, settings).unwrap();
    for pair in 0..100_000 {
        match bisect.step() {
            Step::Build(commit) => match &commits[commit] {
                Some((_, identity)) => bisect.built(commit, identity),
                None => bisect.broken(commit),
            },
            Step::Pair { reference, candidate } => {
                let time = |commit: usize| commits[commit].as_ref().unwrap().0;
                let times = [time(reference), time(candidate) * (1.0 + noise(pair))];
                bisect.pair(times, pair % 2 == 0, 0.0);
            }
            Step::End(end) => return (end, bisect.compared().to_vec()),
        }
    }
    panic!("the search has no end");
}

fn found(after: usize, commit: usize) -> End {
    End::Found { after, commit, confirmation: Confirmation::Shown }
}

#[test]
fn every_commit_is_found_with_as_many_comparisons_as_are_allowed_for() {
    for count in [1, 2, 3, 7, 8, 9, 33] {
        for slow_from in 1..=count {
            let (end, compared) =
                search(&commits(count, slow_from, 1.05), BisectSettings::default());
            assert_eq!(end, found(slow_from - 1, slow_from), "{count} commits");
            assert!(compared.len() <= most_comparisons(count), "{count}: {}", compared.len());
        }
    }
}

#[test]
fn good_and_bad_are_not_compared_again_where_nothing_lies_between() {
    let mut broken = commits(3, 2, 1.05);
    (broken[1], broken[2]) = (None, None);
    for (commits, end) in [(commits(1, 1, 1.05), found(0, 1)), (broken, found(0, 3))] {
        let (ended, compared) = search(&commits, BisectSettings::default());
        assert_eq!((ended, compared.len()), (end, 1));
    }
}

#[test]
fn the_last_comparison_is_of_the_found_commit_with_its_parent() {
    let (_, compared) = search(&commits(20, 13, 1.05), BisectSettings::default());
    let last = &compared[compared.len() - 1];
    assert_eq!((last.reference, last.candidate, last.side), (12, 13, Some(Side::Bad)));
    let [low, high] = last.estimate.as_ref().unwrap().interval.unwrap();
    assert!(0.0 < low && low <= 1.05_f64.ln() && 1.05_f64.ln() <= high);
}

#[test]
fn commits_that_do_not_build_are_passed_by_and_a_range_is_named_where_they_hide_the_change() {
    let mut some = commits(20, 13, 1.05);
    for commit in [5, 10, 11, 15] {
        some[commit] = None;
    }
    assert_eq!(search(&some, BisectSettings::default()).0, found(12, 13));
    for commit in [12, 13, 14] {
        some[commit] = None;
    }
    assert_eq!(search(&some, BisectSettings::default()).0, found(9, 16));
    // Whether the two ends build is the first question.
    some[20] = None;
    let end = search(&some, BisectSettings::default()).0;
    assert_eq!(end, End::Unknown { after: 0, until: 20 });
}

#[test]
fn equal_bytes_are_not_run() {
    let mut same = commits(32, 20, 1.05);
    for (at, commit) in same.iter_mut().enumerate() {
        commit.as_mut().unwrap().1 = if at >= 20 { "new" } else { "old" }.to_owned();
    }
    let (end, compared) = search(&same, BisectSettings::default());
    assert_eq!(end, found(19, 20));
    let run = compared.iter().filter(|compared| !compared.same_bytes).count();
    // Good with bad, and the found commit with its parent.
    assert_eq!(run, 2);
    for commit in &mut same {
        commit.as_mut().unwrap().1 = "one".to_owned();
    }
    let (end, compared) = search(&same, BisectSettings::default());
    assert_eq!((end, compared[0].same_bytes), (End::NoChange, true));
}

#[test]
fn only_the_direction_that_is_asked_for_is_a_change() {
    let faster = BisectSettings { faster: true, ..BisectSettings::default() };
    let (end, compared) = search(&commits(10, 4, 0.95), faster.clone());
    assert_eq!(end, found(3, 4));
    let whole = compared[0].estimate.as_ref().unwrap();
    let [low, high] = whole.interval.unwrap();
    assert!(low < whole.shift && whole.shift < high && high < 0.0, "{whole:?}");
    assert_eq!(search(&commits(10, 4, 0.95), BisectSettings::default()).0, End::NoChange);
    assert_eq!(search(&commits(10, 4, 1.05), faster).0, End::NoChange);
}

#[test]
fn a_budget_ends_a_search_with_what_is_known() {
    let few = |most| BisectSettings { most_pairs: Some(most), ..BisectSettings::default() };
    assert_eq!(search(&commits(10, 4, 1.002), few(30)).0, End::NoChange);
    // The whole is shown by its budget's end, and the middle lies at the threshold for ever.
    let mut steps = commits(2, 2, 1.03);
    steps[1].as_mut().unwrap().0 = 1.015;
    assert_eq!(search(&steps, few(400)).0, End::Unknown { after: 0, until: 2 });
    let seconds = BisectSettings { budget_s: 0.0, ..BisectSettings::default() };
    assert_eq!(search(&commits(10, 4, 1.002), seconds).0, End::NoChange);
}

#[test]
fn a_slowdown_in_many_steps_is_not_confirmed_as_one() {
    let slope: Vec<Commit> =
        (0..=16).map(|at| Some((1.05_f64.powf(at as f64 / 16.0), at.to_string()))).collect();
    // Where the middle lies on the threshold it cannot be told on which side it is.
    let settings = BisectSettings { most_pairs: Some(3_000), ..BisectSettings::default() };
    match search(&slope, settings).0 {
        End::Found { after, commit, confirmation } => {
            assert!((4..12).contains(&after) && commit == after + 1);
            assert_ne!(confirmation, Confirmation::Open);
        }
        End::Unknown { after, until } => assert!(after < 12 && 4 < until),
        End::NoChange => panic!("the whole is 5 %"),
    }
}

/// The found commit is just above half of the whole, and its parent just below.
#[test]
fn a_commit_that_adds_a_tenth_of_the_whole_is_too_small() {
    let times = [1.0, 1.022, 1.027, 1.05, 1.05];
    let steps: Vec<Commit> =
        times.iter().enumerate().map(|(at, time)| Some((*time, at.to_string()))).collect();
    let (end, compared) = search(&steps, BisectSettings::default());
    let too_small = Confirmation::TooSmall;
    assert_eq!(end, End::Found { after: 1, commit: 2, confirmation: too_small });
    assert_eq!(compared[compared.len() - 1].side, None);
}

/// Goes on until so many comparisons have ended.
fn until(bisect: &mut Bisect, commits: &[Commit], compared: usize) {
    for pair in 0..100_000 {
        match bisect.step() {
            Step::Build(commit) => bisect.built(commit, &commit.to_string()),
            Step::Pair { reference, candidate } => {
                let running = bisect.running().unwrap();
                assert_eq!((running.reference, running.candidate), (reference, candidate));
                let time = |commit: usize| commits[commit].as_ref().unwrap().0;
                let times = [time(reference), time(candidate) * (1.0 + noise(pair))];
                bisect.pair(times, pair % 2 == 0, 0.0);
            }
            Step::End(_) => panic!("there are more comparisons"),
        }
        if bisect.compared().len() == compared {
            return;
        }
    }
    panic!("the comparison has no end");
}

#[test]
fn a_search_tells_what_it_knows_while_it_goes_on() {
    for (factor, sign) in [(1.05, 1.0), (0.95, -1.0)] {
        let some = commits(8, 6, factor);
        let settings = BisectSettings { faster: factor < 1.0, ..BisectSettings::default() };
        let mut bisect = Bisect::new(8, settings).unwrap();
        assert_eq!((bisect.known(), bisect.threshold(), bisect.running()), ([0, 8], None, None));
        until(&mut bisect, &some, 1);
        let half = f64::ln(factor) / 2.0;
        let threshold = bisect.threshold().unwrap();
        assert!((threshold - half).abs() < 0.003 && threshold * sign > 0.0, "{threshold} {half}");
        assert_eq!((bisect.known(), bisect.compared()[0].side), ([0, 8], Some(Side::Bad)));
        until(&mut bisect, &some, 2);
        assert_eq!((bisect.known(), bisect.compared()[1].side), ([4, 8], Some(Side::Good)));
        until(&mut bisect, &some, 3);
        assert_eq!((bisect.known(), bisect.compared()[2].side), ([4, 6], Some(Side::Bad)));
    }
}

#[test]
fn there_is_no_search_without_a_commit_or_a_level() {
    let alpha = |alpha| BisectSettings { alpha, ..BisectSettings::default() };
    assert!(Bisect::new(0, BisectSettings::default()).is_none());
    assert!(Bisect::new(3, alpha(0.0)).is_none() && Bisect::new(3, alpha(f64::NAN)).is_none());
    assert_eq!([1, 2, 3, 64, 65].map(most_comparisons), [2, 3, 4, 8, 9]);
}

/// The first pairs can exclude the threshold before there is an interval, and are no answer then.
#[test]
fn a_disturbed_start_of_the_last_comparison_decides_nothing() {
    let some = commits(2, 2, 10.0);
    for seed in 1..=1000_u64 {
        let mut bisect = Bisect::new(2, BisectSettings::default()).unwrap();
        let mut random = seed;
        let end = loop {
            match bisect.step() {
                Step::Build(commit) => bisect.built(commit, &commit.to_string()),
                Step::Pair { reference, candidate } => {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed);
                    let disturbed = match (reference, (random >> 60) % 4) {
                        (1, 0) => 8.0,
                        (1, 1) => 2.0,
                        _ => 1.0,
                    };
                    let time = |commit: usize| some[commit].as_ref().unwrap().0;
                    let slow = 1.0 + (random >> 40) as f64 / (1_u64 << 24) as f64 / 10.0;
                    let times = [time(reference) * disturbed, time(candidate) * slow];
                    bisect.pair(times, random >> 63 == 0, 0.0);
                }
                Step::End(end) => break end,
            }
        };
        assert_eq!(end, found(1, 2), "seed {seed}");
        let last = bisect.compared().last().unwrap().estimate.as_ref().unwrap();
        assert!(last.interval.is_some_and(|[low, _]| low > 0.0), "seed {seed}: {last:?}");
    }
}
