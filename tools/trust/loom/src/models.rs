//! What must hold in every order. Each model has two threads; its panic tells what did not hold.

use loom::{
    sync::{Arc, atomic::Ordering::Relaxed},
    thread,
};

use crate::{
    belief::Belief,
    decision::{Arm, Cost, Reason},
    lease::{SHARED, give_back, take},
    pressure::PressureGauge,
    site::{Hot, PROBE_INLINE, PROBE_OFFLOAD, STRUCK, Site, WARM},
    state::{Call, Outcome, State},
    stripe::Stripes,
    sync::AtomicU64,
    table::Table,
};

/// A model of two threads.
#[derive(Debug)]
pub(crate) struct Model {
    /// What holds.
    pub name: &'static str,
    /// One order of it.
    pub run: fn(),
}

/// All of them.
pub(crate) const MODELS: &[Model] = &[
    Model { name: "counts_on_the_shared_stripe_are_not_lost", run: shared_counts },
    Model { name: "counts_of_a_stripe_outlive_its_owner", run: handed_over },
    Model { name: "a_sum_never_goes_back", run: sums },
    Model { name: "two_threads_never_own_one_stripe", run: leases },
    Model { name: "a_stripe_that_is_given_back_is_free", run: returns },
    Model { name: "two_stripes_never_have_one_seed", run: seeds },
    Model { name: "a_key_has_one_place", run: one_key },
    Model { name: "two_keys_have_two_places", run: two_keys },
    Model { name: "a_probe_is_taken_once", run: probes },
    Model { name: "a_flag_is_not_lost_beside_a_probe_that_is_taken", run: flags },
    Model { name: "a_strike_takes_back_the_probe_and_no_other_flag", run: strikes },
    Model { name: "a_pardon_loses_no_other_flag", run: pardons },
    Model { name: "thresholds_are_those_of_one_call", run: thresholds },
    Model { name: "estimates_are_values_that_were_stored", run: estimates },
    Model { name: "calls_in_flight_come_back_to_zero", run: in_flight },
    Model { name: "a_recent_mean_lies_within_what_was_measured", run: means },
];

/// Does both at once to something shared, and then has it alone.
fn both<S, A, B>(
    shared: S,
    one: impl FnOnce(&S) -> A + 'static,
    other: impl FnOnce(&S) -> B,
) -> (Arc<S>, A, B)
where
    S: 'static,
    A: 'static,
{
    let shared = Arc::new(shared);
    let theirs = Arc::clone(&shared);
    let thread = thread::spawn(move || one(&theirs));
    let second = other(&shared);
    let first = thread.join().expect("a panic has ended the program");
    (shared, first, second)
}

/// Any of a stripe's counters.
const COUNTER: usize = 3;

fn shared_counts() {
    let count = |stripes: &Stripes| (0..2).for_each(|_| stripes.of(SHARED).count(COUNTER));
    let (stripes, (), ()) = both(Stripes::new(1), count, count);
    assert_eq!(stripes.sum(COUNTER), 4, "a count was lost");
}

fn handed_over() {
    let count = |(stripes, leased): &(Stripes, AtomicU64)| {
        let slot = take(leased);
        stripes.of(slot).count(COUNTER);
        give_back(leased, slot);
    };
    let (shared, (), ()) = both((Stripes::new(1), AtomicU64::new(0)), count, count);
    assert_eq!(shared.0.sum(COUNTER), 2, "a count was lost");
}

fn sums() {
    let count = |stripes: &Stripes| (0..2).for_each(|_| stripes.of(0).count(COUNTER));
    let read = |stripes: &Stripes| [0; 2].map(|_| stripes.sum(COUNTER));
    // The reader is the second thread: of a reader that runs first loom tries one order alone,
    // because it remembers one access to a place, and the writer's own load comes between.
    let (_, [first, second], ()) = both(Stripes::new(1), read, count);
    assert!(first <= second && second <= 2, "a sum went from {first} to {second}");
}

fn leases() {
    let (leased, first, second) = both(AtomicU64::new(0), take, take);
    assert_ne!(first, second, "two threads own one stripe");
    assert_eq!(leased.load(Relaxed), 0b11, "a lease was lost");
}

fn returns() {
    let leased = AtomicU64::new(0);
    let (mine, theirs) = (take(&leased), take(&leased));
    let back = move |slot| move |leased: &AtomicU64| give_back(leased, slot);
    let (leased, (), ()) = both(leased, back(theirs), back(mine));
    assert_eq!(leased.load(Relaxed), 0, "a stripe is owned by nobody and never free");
}

fn seeds() {
    let draw = |slot| move |stripes: &Stripes| stripes.of(slot).draw();
    let alone = Stripes::new(7);
    let expected = [draw(0)(&alone), draw(1)(&alone)];
    let (_, first, second) = both(Stripes::new(7), draw(0), draw(1));
    let in_order = [first, second] == expected || [second, first] == expected;
    assert!(in_order && first != second, "two stripes have one seed");
}

fn one_key() {
    let locate = |table: &Table| table.locate(5);
    let (table, first, second) = both(Table::new(2), locate, locate);
    assert_eq!(first, second, "a key has two places");
    assert_eq!(table.taken(), 1, "a key has two places");
}

fn two_keys() {
    // Both would have the first place.
    let (table, first, second) =
        both(Table::new(2), |table| table.locate(2), |table| table.locate(4));
    assert_ne!(first, second, "two keys have one place");
    assert_eq!([table.locate(2), table.locate(4)], [first, second], "a key has moved");
    assert_eq!(table.taken(), 2, "a place was lost");
}

/// A site that gave out a probe.
fn with_probe(arm: Arm) -> Hot {
    let hot = Hot::default();
    hot.apply(&Outcome { probe: Some(arm), ..Outcome::default() });
    hot
}

fn probes() {
    let take = |hot: &Hot| hot.take(PROBE_INLINE);
    let (hot, first, second) = both(with_probe(Arm::Inline), take, take);
    assert!(first != second, "a probe was taken by {} threads", u8::from(first) * 2);
    assert_eq!(hot.flags.load(Relaxed), WARM, "a probe is still there");
}

fn flags() {
    let give = |hot: &Hot| hot.apply(&Outcome { probe: Some(Arm::Offload), ..Outcome::default() });
    let (hot, (), taken) = both(with_probe(Arm::Inline), give, |hot| hot.take(PROBE_INLINE));
    assert!(taken, "a probe was lost");
    assert_eq!(hot.flags.load(Relaxed), WARM | PROBE_OFFLOAD, "a flag was lost, or came back");
}

fn strikes() {
    let strike = |hot: &Hot| hot.apply(&Outcome { strike: true, ..Outcome::default() });
    let give = |hot: &Hot| hot.apply(&Outcome { probe: Some(Arm::Offload), ..Outcome::default() });
    let (hot, (), ()) = both(with_probe(Arm::Inline), strike, give);
    let expected = WARM | STRUCK | PROBE_OFFLOAD;
    assert_eq!(hot.flags.load(Relaxed), expected, "a flag was lost, or a probe outlived a strike");
}

fn pardons() {
    let hot = Hot::default();
    hot.apply(&Outcome { strike: true, ..Outcome::default() });
    let pardon = |hot: &Hot| hot.apply(&Outcome { forgiven: true, ..Outcome::default() });
    let give = |hot: &Hot| hot.apply(&Outcome { probe: Some(Arm::Inline), ..Outcome::default() });
    let (hot, (), ()) = both(hot, pardon, give);
    assert_eq!(hot.flags.load(Relaxed), WARM | PROBE_INLINE, "a flag was lost, or a strike stayed");
}

fn thresholds() {
    let publish = |value: u16| move |hot: &Hot| hot.publish([value; 4], 0.0);
    let (hot, (), ()) = both(Hot::default(), publish(1), publish(2));
    let found = [0, 1, 2, 3].map(|level| hot.threshold(level));
    assert!(found == [1; 4] || found == [2; 4], "thresholds of two calls: {found:?}");
}

fn estimates() {
    let stored = Belief { mean: 10.0, variance: 20.0, weight: 2.0 };
    let state = State { inline: stored, doubt: [3.0, 0.0], ..State::default() };
    let cost = Cost { total_ns: 1, function_ns: None, queued_ns: None };
    let (arm, reason) = (Arm::Inline, Reason::Learned);
    let call = Call { arm, level: 0, reason, struck: false, stands_for: 1.0, cost };
    let store = move |site: &Site| site.store(&state, &call);
    let (_, (), (found, _)) = both(Site::default(), store, |site| site.arm(Arm::Inline));
    for (found, stored) in [
        (found.mean, stored.mean),
        (found.variance, stored.variance),
        (found.weight, stored.weight),
    ] {
        assert!(found == 0.0 || found == stored, "{found} was never stored");
    }
}

fn in_flight() {
    let pass = |gauge: &PressureGauge| {
        gauge.enter();
        gauge.leave();
        gauge.context().in_flight
    };
    let (gauge, first, second) = both(PressureGauge::new(1, 1), pass, pass);
    assert!(first <= 1 && second <= 1, "{first} and {second} calls are under way");
    assert_eq!(gauge.context().in_flight, 0, "a call never left");
}

fn means() {
    let gauge = PressureGauge::new(1, 1);
    gauge.record_queue_delay(100);
    let record = |delay| {
        move |gauge: &PressureGauge| {
            gauge.record_queue_delay(delay);
            gauge.context().queue_delay_ns
        }
    };
    let (gauge, first, second) = both(gauge, record(1000), record(10));
    let all = [first, second, gauge.context().queue_delay_ns];
    assert!(all.iter().all(|mean| (10..=1000).contains(mean)), "a mean outside: {all:?}");
}
