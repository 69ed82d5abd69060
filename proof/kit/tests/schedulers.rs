//! Every policy through the door that the driver takes: standard input, standard output, exit
//! code.

use std::collections::BTreeSet;

use lab_protocol::schedulers::{
    Decide, Load, Part, Replay, Stream, Test, Wake, Workload, stream_answer,
};
use lab_protocol::{RunOutcome, Status};
use proof_kit::programs::{
    Variant, check_identities, check_refusals, line, outcome, tagged, variants,
};

/// The family's folder.
const FAMILY: &str = "schedulers";

fn workload(tokio_workers: u32, rayon_threads: u32, test: Test) -> Workload {
    Workload { seed: 7, tokio_workers, rayon_threads, pinned: false, test }
}

/// The outcome of a run that has to succeed.
#[track_caller]
fn done(variant: &Variant, workload: &Workload) -> RunOutcome {
    let outcome = outcome(variant, workload);
    assert_eq!(outcome.status, Status::Ok, "{}: {outcome:?}", variant.name);
    outcome
}

/// The outcome's columns have these names and lengths, and no others are there.
#[track_caller]
fn check_columns(name: &str, outcome: &RunOutcome, expected: &[(&str, usize)]) {
    let found: BTreeSet<(&str, usize)> =
        outcome.samples.iter().map(|(column, rows)| (column.as_str(), rows.len())).collect();
    assert_eq!(found, expected.iter().copied().collect(), "{name}");
    for key in ["cpu_total_ns", "rss_high_water_bytes"] {
        assert!(outcome.counters[key] > 0, "{name}: {key}");
    }
}

fn decisions(outcome: &RunOutcome) -> u64 {
    outcome.counters["decisions_inline"] + outcome.counters["decisions_offload"]
}

#[test]
fn a_variant_is_what_its_manifest_and_the_lock_say() {
    check_identities(FAMILY);
}

fn replay(steps: usize, inline_ns: u64, offload_ns: u64) -> Test {
    Test::Replay(Replay {
        site: vec![1; steps],
        size: vec![0; steps],
        inline_ns: vec![inline_ns; steps],
        offload_ns: vec![offload_ns; steps],
    })
}

fn decide(part: Part, deciders: u32) -> Decide {
    Decide { part, deciders, calls: 200, batches: 5, warmup_batches: 2, keys: 6 }
}

fn stream(concurrency: u32, ordered: bool) -> Stream {
    Stream {
        class_work_ns: vec![2_000, 30_000],
        items: 40,
        concurrency,
        ordered,
        warmup_repetitions: 1,
        repetitions: 3,
    }
}

fn wake(load: Load) -> Test {
    Test::Wake(Wake { duration_ms: 60, tick_us: 500, load })
}

#[test]
fn a_bad_spec_is_refused_before_anything_runs() {
    let good = line(&workload(1, 1, replay(2, 5, 6)));
    let spec = |test| line(&workload(1, 1, test));
    let choose = Decide { warmup_batches: 0, ..decide(Part::Choose, 1) };
    let no_class = Stream { class_work_ns: Vec::new(), ..stream(1, true) };
    let never = Load::Open { work_ns: 5, every_us: 0 };
    let cases = [
        (good.replace("\"seed\"", "\"colour\":1,\"seed\""), "unknown field `colour`"),
        (good.replace("\"tokio_workers\":1", "\"tokio_workers\":0"), "tokio_workers is 0"),
        (good.replace("\"inline_ns\":[5,5]", "\"inline_ns\":[5]"), "inline_ns has 1 rows"),
        (spec(Test::Decide(choose)), "warmup_batches is 0"),
        (spec(Test::Stream(no_class)), "the number of classes is 0"),
        (spec(Test::Stream(stream(0, true))), "concurrency is 0"),
        (spec(wake(never)), "every_us is 0"),
    ];
    check_refusals(FAMILY, &good, &cases);
}

#[test]
fn every_policy_is_timed_in_batches() {
    for variant in variants(FAMILY) {
        let name = &variant.name;
        for part in [Part::Choose, Part::Cycle, Part::Cold] {
            for deciders in [1, 3] {
                let test = Test::Decide(decide(part, deciders));
                let outcome = outcome(&variant, &workload(2, 2, test));
                // Not every language has threads that decide at once.
                if deciders > 1 && outcome.status == Status::Unsupported {
                    continue;
                }
                assert_eq!(outcome.status, Status::Ok, "{name}: {outcome:?}");
                let rows = deciders as usize * 5;
                let columns = [("decider", rows), ("calls", rows), ("batch_ns", rows)];
                check_columns(name, &outcome, &columns);
                assert_eq!(decisions(&outcome), u64::from(deciders) * 7 * 200, "{name}");
                let each = (0..i64::from(deciders)).flat_map(|decider| [decider; 5]);
                assert!(outcome.samples["decider"].iter().copied().eq(each), "{name}");
                assert_eq!(outcome.samples["calls"], vec![200; rows], "{name}");
            }
        }
    }
}

#[test]
fn a_replay_costs_what_the_taken_arm_costs() {
    // Two sites of opposite costs, one of them by size, and a change half way.
    let steps = 0..400_u64;
    let test = Replay {
        site: steps.clone().map(|step| (step % 2) as u32).collect(),
        size: steps.clone().map(|step| 1 << (step % 20)).collect(),
        inline_ns: steps.clone().map(|step| 10_000 + (step % 7) * 1_000 * (step / 50)).collect(),
        offload_ns: steps.clone().map(|step| 20_000 + (step % 3) * 500).collect(),
    };
    for variant in variants(FAMILY) {
        let name = &variant.name;
        let outcome = done(&variant, &workload(2, 2, Test::Replay(test.clone())));
        check_columns(name, &outcome, &[("arm", 400), ("cost_ns", 400), ("regret_ns", 400)]);
        let column = |key: &str| outcome.samples[key].as_slice();
        for step in steps.clone().map(|step| step as usize) {
            let costs = [test.inline_ns[step], test.offload_ns[step]].map(u64::cast_signed);
            // Any other number is no arm and panics.
            let cost = costs[column("arm")[step] as usize];
            let regret = cost - costs[0].min(costs[1]);
            assert_eq!((column("cost_ns")[step], column("regret_ns")[step]), (cost, regret));
        }
        let offloaded: i64 = column("arm").iter().sum();
        assert_eq!(outcome.counters["decisions_offload"], offloaded.unsigned_abs(), "{name}");
        assert_eq!(decisions(&outcome), 400, "{name}");
    }
}

/// Inline decisions of 2,000 where inline costs 240 µs and offloading 30 µs.
fn dear_inline(variant: &Variant) -> u64 {
    let outcome = done(variant, &workload(4, 2, replay(2_000, 240_000, 30_000)));
    let inline = outcome.counters["decisions_inline"];
    let regret: i64 = outcome.samples["regret_ns"].iter().sum();
    assert_eq!(regret, inline.cast_signed() * 210_000, "{}", variant.name);
    inline
}

#[test]
fn a_policy_that_learns_finds_that_the_pool_is_cheaper() {
    for variant in tagged(FAMILY, "learns") {
        let inline = dear_inline(&variant);
        assert!(inline <= 50, "{}: {inline}", variant.name);
    }
}

/// The published shift: 200 observations of 20 µs, then 200 of 500 µs.
#[test]
fn a_policy_that_learns_follows_the_published_shift_within_counted_observations() {
    let test = Replay {
        site: vec![1; 400],
        size: vec![0; 400],
        inline_ns: [vec![20_000; 200], vec![500_000; 200]].concat(),
        offload_ns: vec![60_000; 400],
    };
    for variant in tagged(FAMILY, "learns") {
        let outcome = done(&variant, &workload(4, 2, Test::Replay(test.clone())));
        let arms = &outcome.samples["arm"];
        assert!(arms[180..200].iter().sum::<i64>() <= 2, "{}: {arms:?}", variant.name);
        let settled = |next: &[i64]| next.iter().sum::<i64>() >= 18;
        let observations = arms[200..].windows(20).position(settled);
        eprintln!("{}: {observations:?} observations until the switch", variant.name);
        assert!(observations.is_some_and(|count| count <= 60), "{}: {arms:?}", variant.name);
    }
}

#[test]
fn a_policy_that_is_fixed_takes_one_arm_whatever_it_costs() {
    for variant in tagged(FAMILY, "fixed") {
        let inline = dear_inline(&variant);
        assert!([0, 2_000].contains(&inline), "{}: {inline}", variant.name);
        // The floor does nothing but the work.
        assert!(inline == 2_000 || !variant.is("floor"), "{}", variant.name);
        let streamed = done(&variant, &workload(1, 1, Test::Stream(stream(1, true))));
        let offloaded: i64 = streamed.samples["item_arm"].iter().sum();
        assert_eq!(offloaded, if inline == 0 { 40 } else { 0 }, "{}", variant.name);
    }
}

#[test]
fn a_stream_gives_every_item_once_in_order() {
    let columns = ["elapsed_ns", "cpu_ns", "inline_items", "offload_items", "answer"];
    let expected: Vec<(&str, usize)> = columns.map(|column| (column, 3)).to_vec();
    let items = ["item_class", "item_work_ns", "item_arm"].map(|column| (column, 40));
    for variant in variants(FAMILY) {
        let name = &variant.name;
        for (concurrency, ordered) in [(1, true), (4, true), (4, false)] {
            let test = Test::Stream(stream(concurrency, ordered));
            // One worker and one thread: of more, loom-rs wants as many processors.
            let outcome = done(&variant, &workload(1, 1, test));
            check_columns(name, &outcome, &[expected.as_slice(), &items].concat());
            let column = |key: &str| outcome.samples[key].as_slice();
            assert_eq!(column("answer"), [stream_answer(0..40); 3], "{name}");
            assert!(column("item_arm").iter().all(|arm| [0, 1].contains(arm)), "{name}");
            assert!(column("item_class").iter().all(|class| [0, 1].contains(class)), "{name}");
            assert!(column("item_work_ns").iter().all(|&work_ns| work_ns > 0), "{name}");
            let both = column("inline_items").iter().zip(column("offload_items"));
            assert!(both.clone().all(|(inline, offload)| inline + offload == 40), "{name}");
            let offloaded: i64 = column("item_arm").iter().sum();
            assert_eq!(column("offload_items")[2], offloaded, "{name}");
            assert_eq!(decisions(&outcome), 4 * 40, "{name}");
            for key in ["offload_round_trip_ns", "work_measured_ns"] {
                assert!(outcome.counters[key] > 0, "{name}: {key}");
            }
        }
    }
}

#[test]
fn a_wake_has_a_row_for_every_intended_tick_and_job() {
    let open = Load::Open { work_ns: 100_000, every_us: 2_000 };
    let bursts = Load::Bursts { low_ns: 50_000, high_ns: 150_000, jobs: 4, every_us: 8_000 };
    let closed = Load::Closed { work_ns: 100_000, in_flight: 2 };
    for variant in variants(FAMILY) {
        let name = &variant.name;
        for load in [Load::Idle, open, bursts, closed] {
            let two = outcome(&variant, &workload(2, 1, wake(load)));
            let outcome = match two.status {
                // One thread is all that a plain loop has.
                Status::Unsupported => done(&variant, &workload(1, 1, wake(load))),
                _ => two,
            };
            assert_eq!(outcome.status, Status::Ok, "{name}: {outcome:?}");
            let jobs = outcome.counters["jobs_started"] as usize;
            let columns = ["job_latency_ns", "job_work_ns", "job_arm"].map(|key| (key, jobs));
            check_columns(name, &outcome, &[&columns[..], &[("tick_latency_ns", 120)]].concat());
            assert_eq!(outcome.counters["ticks_intended"], 120, "{name}");
            // 200 ms of warm-up.
            let (expected, made) = match load {
                Load::Idle => (0, 0),
                Load::Open { .. } => (30, 130),
                // At 200, 208 … 256 ms those that count.
                Load::Bursts { .. } => (4 * 8, 4 * 33),
                Load::Closed { .. } => (jobs, decisions(&outcome)),
            };
            assert_eq!((jobs, decisions(&outcome)), (expected, made), "{name}");
            let arms = &outcome.samples["job_arm"];
            assert!(arms.iter().all(|arm| [0, 1].contains(arm)), "{name}");
            let blocked = outcome.counters["block_longest_ns"] > 0;
            assert_eq!(blocked, arms.contains(&0), "{name}");
            assert!(outcome.samples["tick_latency_ns"].iter().all(|&ns| ns >= 0), "{name}");
        }
    }
}

#[test]
fn threads_with_cpus_of_their_own_give_the_same_answer() {
    for variant in variants(FAMILY) {
        let free = workload(1, 1, Test::Stream(stream(1, true)));
        let outcome = outcome(&variant, &Workload { pinned: true, ..free });
        if outcome.status == Status::Unsupported {
            let reason = outcome.reason.unwrap();
            assert!(reason.contains("want a CPU each"), "{}: {reason}", variant.name);
            continue;
        }
        assert_eq!(outcome.samples["answer"], [stream_answer(0..40); 3], "{}", variant.name);
    }
}

#[test]
fn what_a_policy_cannot_do_is_unsupported_with_a_reason() {
    for variant in variants(FAMILY) {
        // More workers than any machine of ours has processors.
        let outcome = outcome(&variant, &workload(512, 1, Test::Stream(stream(1, true))));
        let is_unsupported = outcome.status == Status::Unsupported;
        assert!(is_unsupported || outcome.status == Status::Ok, "{}: {outcome:?}", variant.name);
        assert_eq!(outcome.samples.is_empty(), is_unsupported, "{}", variant.name);
    }
}
