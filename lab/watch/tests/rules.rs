//! When rules fire: against a definition that looks at everything at once, and on the thresholds
//! that TR115 publishes.

use lab_watch::{
    ALL, Call, Change, Ending, Event, Moment, Round, Rule, Seen, Severity, Watch, published, rules,
};
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

fn call(first_token_s: f64) -> Seen {
    Seen::Call(Call {
        outcome: Ending::Answered,
        reason: None,
        first_token_s: Some(first_token_s),
        first_answer_s: Some(first_token_s),
        thought: false,
        streaming_s: 1.0,
        tokens: 101,
        prompt_tokens: None,
        cached_tokens: None,
        gaps_s: vec![],
    })
}

fn at(second: u64, subject: &str, seen: Seen) -> Moment {
    Moment { at_ns: second * SECOND, seen: vec![(subject.to_owned(), seen)] }
}

fn rule(window_s: u64, for_s: u64) -> Rule {
    let text = format!(
        "[[rule]]\nmetric = \"error_rate\"\nover = 0.4\nwindow_s = {window_s}\nfor_s = {for_s}\n"
    );
    rules("r.toml", &text).unwrap().remove(0)
}

fn answered(is_good: bool) -> Seen {
    if is_good { call(0.1) } else { Seen::Call(Call::failed(Ending::Failed, "no")) }
}

/// The share of failures among the requests of the last `window_s` seconds, at each of them.
fn values(requests: &[(u64, bool)], window_s: u64) -> Vec<f64> {
    let value = |now: u64| {
        let within = requests.iter().filter(|(at, _)| *at <= now && now - at < window_s);
        let (all, bad) =
            within.fold((0, 0), |(all, bad), (_, is_good)| (all + 1, bad + u32::from(!is_good)));
        f64::from(bad) / f64::from(all)
    };
    requests.iter().map(|(at, _)| value(*at)).collect()
}

/// Whether an alert is up at each request: one of the looks before had the value crossed, and so
/// had all since, and the first of these is long enough ago, at one of them.
fn up(requests: &[(u64, bool)], window_s: u64, for_s: u64) -> Vec<bool> {
    let crossed: Vec<bool> =
        values(requests, window_s).into_iter().map(|value| value > 0.4).collect();
    let is_up = |place: usize| {
        (0..=place).any(|first| {
            crossed[first..=place].iter().all(|one| *one)
                && requests[place].0 - requests[first].0 >= for_s
        })
    };
    (0..requests.len()).map(is_up).collect()
}

proptest! {
    #[test]
    fn a_rule_fires_exactly_where_the_windows_value_is_crossed_for_long_enough(
        steps in prop::collection::vec((1_u64..40, any::<bool>()), 1..60),
        window_s in 1_u64..100,
        for_s in 0_u64..100,
    ) {
        let mut now = 0;
        let requests: Vec<(u64, bool)> = steps
            .iter()
            .map(|(step, is_good)| {
                now += step;
                (now, *is_good)
            })
            .collect();
        let expected = up(&requests, window_s, for_s);
        let ever = expected.contains(&true);
        let mut watch = Watch::new(vec![rule(window_s, for_s)]);
        let mut is_up = false;
        for ((second, is_good), expected) in requests.iter().zip(expected) {
            for event in watch.take(&at(*second, "s", answered(*is_good))) {
                match event.state {
                    Change::Firing => {
                        prop_assert!(!is_up, "fired twice");
                        prop_assert!(event.value > 0.4);
                        is_up = true;
                    }
                    Change::Resolved => {
                        prop_assert!(is_up, "resolved what did not fire");
                        prop_assert!(event.value <= 0.4);
                        is_up = false;
                    }
                    Change::Pending => prop_assert!(!is_up),
                }
            }
            prop_assert_eq!(is_up, expected, "at {}", second);
        }
        prop_assert_eq!(watch.fired(Severity::Alert).count() > 0, ever);
    }
}

#[test]
fn silence_is_neither_trouble_nor_recovery() {
    let text = "[[rule]]\nmetric = \"ttft_p50_s\"\nover = 1\nwindow_s = 5\nfor_s = 10\n";
    // A failed request has no first token: five seconds later the window is empty.
    let failed = || Seen::Call(Call::failed(Ending::Failed, "no"));
    let mut watch = Watch::new(rules("r.toml", text).unwrap());
    let mut states = |seconds: &[(u64, Seen)]| -> Vec<Change> {
        let taken =
            seconds.iter().flat_map(|(second, seen)| watch.take(&at(*second, "s", seen.clone())));
        taken.map(|event| event.state).collect()
    };
    assert!(states(&[(0, failed()), (10, failed())]).is_empty());
    assert_eq!(states(&[(20, call(2.0)), (29, failed())]), [Change::Pending]);
    assert_eq!(states(&[(31, call(2.0))]), [Change::Firing]);
    assert!(states(&[(40, failed()), (50, call(2.0))]).is_empty(), "it still fires");
    assert_eq!(states(&[(60, call(0.5))]), [Change::Resolved]);
}

#[test]
fn subjects_are_judged_apart() {
    let mut watch = Watch::new(vec![rule(10, 0)]);
    let seen = vec![("a".to_owned(), answered(true)), ("b".to_owned(), answered(false))];
    let events = watch.take(&Moment { at_ns: 0, seen });
    let subjects: Vec<&str> = events.iter().map(|event| event.subject.as_str()).collect();
    assert_eq!(subjects, ["b"]);
}

/// Two requests at once, so much of them at once and of this length alone.
fn round(together_s: f64, late: bool) -> Seen {
    Seen::Round(Round { together_s: vec![together_s; 2], alone_s: None, wall_s: 1.0, late })
}

fn slow() -> Seen {
    let Seen::Call(call) = call(0.1) else { unreachable!("a call") };
    Seen::Call(Call { streaming_s: 10.0, ..call })
}

/// What fires when this is seen every ten seconds for twenty minutes.
fn fired(mut seen: impl FnMut(u64) -> Seen) -> Vec<Event> {
    let mut watch = Watch::new(published());
    let events = (0..120).flat_map(|turn| watch.take(&at(10 * turn, ALL, seen(turn))));
    events.filter(|event| event.state == Change::Firing).collect()
}

/// Every `n`-th time the first, else the second.
fn every(n: u64, bad: impl Fn() -> Seen, good: impl Fn() -> Seen) -> impl FnMut(u64) -> Seen {
    move |turn| if turn % n == 0 { bad() } else { good() }
}

#[test]
fn every_published_threshold_fires_where_it_is_crossed_and_nowhere_else() {
    let good = || call(0.1);
    let failed = |outcome| Seen::Call(Call::failed(outcome, "no"));
    let names = |events: Vec<Event>| -> Vec<String> {
        let mut names: Vec<_> = events.into_iter().map(|event| event.rule).collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(names(fired(|_| good())), [""; 0]);
    assert_eq!(names(fired(|_| round(0.99, false))), [""; 0]);
    assert_eq!(
        names(fired(|_| round(0.96, false))),
        ["efficiency_as_published_under_0.98", "speed_up_as_published_under_1.95"]
    );
    assert_eq!(
        names(fired(|_| round(0.94, false))),
        [
            "efficiency_as_published_under_0.95",
            "efficiency_as_published_under_0.98",
            "speed_up_as_published_under_1.95",
        ]
    );
    let late = every(10, || round(0.99, true), || round(0.99, false));
    assert_eq!(names(fired(late)), ["contention_rate_over_0.01", "contention_rate_over_0.05"]);
    assert_eq!(names(fired(|_| call(2.5))), ["ttft_p95_s_over_2"]);
    assert_eq!(names(fired(|_| call(3.5))), ["ttft_p95_s_over_2", "ttft_p95_s_over_3"]);
    assert_eq!(names(fired(|_| slow())), ["tokens_per_s_under_40"]);
    let errors = every(50, move || failed(Ending::Failed), good);
    assert_eq!(names(fired(errors)), ["error_rate_over_0.001", "error_rate_over_0.01"]);
    let timeouts = every(50, move || failed(Ending::TimedOut), good);
    assert_eq!(
        names(fired(timeouts)),
        ["error_rate_over_0.001", "error_rate_over_0.01", "timeout_rate_over_0.005"]
    );
}

#[test]
fn low_efficiency_is_an_alarm_after_ten_minutes_and_not_before() {
    let events = fired(|_| round(0.9, false));
    let alarm = events.iter().find(|event| event.severity == Severity::Alert).unwrap();
    assert_eq!((alarm.metric, alarm.at_s), ("efficiency_as_published", 600.0));
    let line = alarm.to_string();
    let expected = "+600.0 s firing alert: efficiency_as_published of all is 90.0 %, under 95 % \
                    (window 60 s, for 600 s): see that agents run at once";
    assert!(line.starts_with(expected), "{line}");
    // Nine minutes of it, again and again, are none.
    let nine = fired(|turn| round(if turn % 60 < 54 { 0.9 } else { 1.0 }, false));
    assert!(nine.iter().all(|event| event.severity == Severity::Warning), "{nine:?}");
}
