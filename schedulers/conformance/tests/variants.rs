//! Every policy through the door that the driver takes: standard input, standard output, exit
//! code.

use std::collections::BTreeSet;
use std::fs;

use lab_protocol::offload::{
    Decide, Load, Part, Replay, Stream, Test, Wake, Workload, stream_answer,
};
use lab_protocol::{Identity, PROTOCOL, RunOutcome, RunSpec, Status, exit};
use schedulers_conformance::{Variant, run, schedulers_dir, variants};

fn workload(tokio_workers: u32, rayon_threads: u32, test: Test) -> Workload {
    Workload { seed: 7, tokio_workers, rayon_threads, test }
}

fn line(workload: &Workload) -> String {
    let spec = RunSpec { protocol: PROTOCOL, run: "test".to_owned(), workload: workload.clone() };
    format!("{}\n", serde_json::to_string(&spec).unwrap())
}

/// The outcome of a run that has to succeed.
#[track_caller]
fn outcome(variant: &Variant, workload: &Workload) -> RunOutcome {
    let name = &variant.manifest.name;
    let finished = run(variant, &[], &line(workload));
    assert_eq!(finished.stdout.lines().count(), 1, "{name}: {finished:?}");
    let outcome: RunOutcome = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(finished.code, Some(exit::DONE), "{name}: {}", finished.stderr);
    assert_eq!((outcome.run.as_str(), outcome.status), ("test", Status::Ok), "{name}: {outcome:?}");
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
    let lock = fs::read_to_string(schedulers_dir().join("../Cargo.lock")).ok();
    for variant in variants() {
        let manifest = &variant.manifest;
        let finished = run(&variant, &["--describe"], "");
        let expected = Identity {
            protocol: PROTOCOL,
            family: manifest.family.clone(),
            variant: manifest.name.clone(),
            measures: manifest.measures.clone(),
            version: manifest.version.clone(),
            features: manifest.features.clone(),
        };
        let found: Identity = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!((found, finished.code), (expected, Some(exit::DONE)));
        let package =
            format!("name = \"{}\"\nversion = \"{}\"\n", manifest.measures, manifest.version);
        // Bazel may run this test without the lock.
        assert!(lock.as_ref().is_none_or(|lock| lock.contains(&package)), "{package}");
    }
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
    let cases: [(&[&str], String, &str); 11] = [
        (&[], String::new(), "standard input ended before a run spec"),
        (&[], good.replacen("\"run\"", "\"hurry\":1,\"run\"", 1), "unknown field `hurry`"),
        (&[], good.replace("\"seed\"", "\"colour\":1,\"seed\""), "unknown field `colour`"),
        (&[], good.replace("\"protocol\":1", "\"protocol\":9"), "protocol 9"),
        (&[], good.replace("\"tokio_workers\":1", "\"tokio_workers\":0"), "tokio_workers is 0"),
        (&[], good.replace("\"inline_ns\":[5,5]", "\"inline_ns\":[5]"), "inline_ns has 1 rows"),
        (&[], spec(Test::Decide(choose)), "warmup_batches is 0"),
        (&[], spec(Test::Stream(no_class)), "the number of classes is 0"),
        (&[], spec(Test::Stream(stream(0, true))), "concurrency is 0"),
        (&[], spec(wake(never)), "every_us is 0"),
        (&["--fast"], good.clone(), "the only arguments are --describe and --help"),
    ];
    for variant in variants() {
        for (arguments, input, sentence) in &cases {
            let finished = run(&variant, arguments, input);
            assert_eq!(finished.code, Some(exit::BAD_SPEC), "{finished:?}");
            assert_eq!(finished.stdout, "");
            assert!(finished.stderr.contains(sentence), "{}", finished.stderr);
        }
    }
}

#[test]
fn every_policy_is_timed_in_batches() {
    for variant in variants() {
        let name = &variant.manifest.name;
        for part in [Part::Choose, Part::Cycle, Part::Cold] {
            for deciders in [1, 3] {
                let test = Test::Decide(decide(part, deciders));
                let outcome = outcome(&variant, &workload(2, 2, test));
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
    for variant in variants() {
        let name = &variant.manifest.name;
        let outcome = outcome(&variant, &workload(2, 2, Test::Replay(test.clone())));
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

/// Inline decisions of 2,000 where inline costs 240 µs and offloading 30 µs, and the regret.
fn dear_inline(name: &str) -> (u64, i64) {
    let variant = variants().into_iter().find(|variant| variant.manifest.name == name).unwrap();
    let outcome = outcome(&variant, &workload(4, 2, replay(2_000, 240_000, 30_000)));
    (outcome.counters["decisions_inline"], outcome.samples["regret_ns"].iter().sum())
}

#[test]
fn policies_learn_that_the_pool_is_cheaper() {
    assert_eq!(dear_inline("oracle"), (0, 0));
    assert_eq!(dear_inline("always_offload"), (0, 0));
    assert_eq!(dear_inline("always_inline"), (2_000, 2_000 * 210_000));
    // Below its bound.
    assert_eq!(dear_inline("threshold").0, 2_000);
    // One to learn, and one in 128 to try again.
    assert_eq!(dear_inline("ewma").0, 1 + 2_000 / 128);
    assert!(dear_inline("thompson").0 <= 50, "{:?}", dear_inline("thompson"));
    // As its authors have it: the way to the pool is multiplied, not added.
    assert!(dear_inline("loom_rs").0 > 1_900, "{:?}", dear_inline("loom_rs"));
}

#[test]
fn a_stream_gives_every_item_once_in_order() {
    let columns = ["elapsed_ns", "cpu_ns", "inline_items", "offload_items", "answer"];
    let expected: Vec<(&str, usize)> = columns.map(|column| (column, 3)).to_vec();
    let items = ["item_class", "item_work_ns", "item_arm"].map(|column| (column, 40));
    for variant in variants() {
        let name = &variant.manifest.name;
        for (concurrency, ordered) in [(1, true), (4, true), (4, false)] {
            let test = Test::Stream(stream(concurrency, ordered));
            // One worker and one thread: of more, loom-rs wants as many processors.
            let outcome = outcome(&variant, &workload(1, 1, test));
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
            match name.as_str() {
                "always_inline" => assert_eq!(offloaded, 0),
                "always_offload" => assert_eq!(offloaded, 40),
                _ => {}
            }
        }
    }
}

#[test]
fn a_wake_has_a_row_for_every_intended_tick_and_job() {
    let open = Load::Open { work_ns: 100_000, every_us: 2_000 };
    let closed = Load::Closed { work_ns: 100_000, in_flight: 2 };
    for variant in variants() {
        let name = &variant.manifest.name;
        for load in [Load::Idle, open, closed] {
            let outcome = outcome(&variant, &workload(2, 1, wake(load)));
            let jobs = outcome.counters["jobs_started"] as usize;
            let columns = ["job_latency_ns", "job_work_ns", "job_arm"].map(|key| (key, jobs));
            check_columns(name, &outcome, &[&columns[..], &[("tick_latency_ns", 120)]].concat());
            assert_eq!(outcome.counters["ticks_intended"], 120, "{name}");
            // 200 ms of warm-up.
            let (expected, made) = match load {
                Load::Idle => (0, 0),
                Load::Open { .. } => (30, 130),
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
fn what_a_policy_cannot_do_is_unsupported_with_a_reason() {
    let variant = variants().into_iter().find(|variant| variant.manifest.name == "loom_rs");
    let test = Test::Stream(stream(1, true));
    let finished = run(&variant.unwrap(), &[], &line(&workload(512, 1, test)));
    let outcome: RunOutcome = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!((outcome.status, finished.code), (Status::Unsupported, Some(exit::DONE)));
    assert!(outcome.reason.unwrap().contains("more threads than processors"));
}
