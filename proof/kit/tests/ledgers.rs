//! Every variant through the door that the driver takes: standard input, standard output, exit
//! code.

use std::collections::BTreeMap;

use lab_protocol::ledgers::{Contention, Data, Kinds, Spawn, Workers, Workload};
use lab_protocol::{RunOutcome, Status};
use proof_kit::programs::{
    Variant, check_identities, check_refusals, line, outcome, tagged, variants,
};

/// The family's folder.
const FAMILY: &str = "ledgers";

/// A workload that every variant can do.
fn plain(data: Data) -> Workload {
    Workload {
        data,
        work_ns: 0,
        workers: Workers::Count(1),
        pinned: false,
        spawn: Spawn::Stream,
        shards: None,
        watch_locks: false,
        warmup_repetitions: 1,
        repetitions: 3,
    }
}

fn data(contention: Contention, kinds: Kinds) -> Data {
    Data { seed: 7, streams: 12, transactions: 50, contention, kinds }
}

/// The variants that keep accounts.
fn ledgers() -> Vec<Variant> {
    variants(FAMILY).into_iter().filter(|variant| !variant.is("harness")).collect()
}

#[test]
fn a_variant_is_what_its_manifest_and_the_lock_say() {
    check_identities(FAMILY);
}

#[test]
fn a_bad_spec_is_refused_before_anything_runs() {
    let good = line(&plain(data(Contention::Hot, Kinds::Deposits)));
    let cases = [
        (good.replace("\"seed\"", "\"colour\":1,\"seed\""), "unknown field `colour`"),
        (good.replace("\"streams\":12", "\"streams\":0"), "data.streams is 0"),
        (good.replace("\"streams\":12", "\"streams\":90000000"), "32 bits"),
        (good.replace("{\"count\":1}", "{\"count\":0}"), "workers.count is 0"),
        (good.replace("\"shards\":null", "\"shards\":12"), "shards is 12"),
    ];
    check_refusals(FAMILY, &good, &cases);
}

/// Levels around the plain workload: all of them must leave the same answer.
fn levels(data: &Data) -> Vec<Workload> {
    let plain = plain(data.clone());
    let mut levels = vec![
        plain.clone(),
        Workload { workers: Workers::CurrentThread, ..plain.clone() },
        Workload { workers: Workers::Default, ..plain.clone() },
        Workload { work_ns: 200, ..plain.clone() },
        Workload { pinned: true, ..plain.clone() },
    ];
    for workers in [2, 5].map(Workers::Count) {
        for spawn in [Spawn::Stream, Spawn::Batch] {
            levels.push(Workload { workers, spawn, ..plain.clone() });
        }
        levels.push(Workload { workers, pinned: true, ..plain.clone() });
        levels.push(Workload { workers, shards: Some(2), watch_locks: true, ..plain.clone() });
    }
    levels
}

#[test]
fn every_variant_leaves_the_same_answer_at_every_level() {
    for contention in [Contention::Disjoint, Contention::Hot, Contention::Zipf] {
        for kinds in [Kinds::Deposits, Kinds::Mixed] {
            let data = data(contention, kinds);
            let mut answers = BTreeMap::new();
            for variant in ledgers() {
                for workload in levels(&data) {
                    let name = &variant.name;
                    let outcome = outcome(&variant, &workload);
                    if outcome.status == Status::Ok {
                        let answer = answer(&outcome);
                        answers.entry(answer).or_insert_with(Vec::new).push(name.clone());
                        check_columns(name, &workload, &outcome);
                    } else {
                        assert_eq!(outcome.status, Status::Unsupported, "{name}: {outcome:?}");
                    }
                }
            }
            assert_eq!(answers.len(), 1, "{answers:?}");
            let names = answers.values().next().unwrap();
            assert!(ledgers().iter().all(|v| names.contains(&v.name)), "{names:?}");
        }
    }
}

#[test]
fn every_store_is_asked_by_itself_without_transactions() {
    let data = data(Contention::Disjoint, Kinds::Storage);
    let mut answers = BTreeMap::new();
    for variant in ledgers() {
        let outcome = outcome(&variant, &plain(data.clone()));
        assert_eq!(outcome.status, Status::Ok, "{}: {outcome:?}", variant.name);
        // Every other of 50 puts a record, in 12 streams with an account each.
        assert_eq!(outcome.samples["answer_records"], [300; 3], "{}", variant.name);
        assert_eq!(outcome.samples["answer_accounts"], [12; 3], "{}", variant.name);
        assert_eq!(outcome.samples["answer_deposited"], [0; 3], "{}", variant.name);
        answers.entry(answer(&outcome)).or_insert_with(Vec::new).push(variant.name.clone());
    }
    assert_eq!(answers.len(), 1, "{answers:?}");
}

fn answer(outcome: &RunOutcome) -> Vec<(String, i64)> {
    let columns = outcome.samples.iter().filter(|(name, _)| name.starts_with("answer_"));
    columns.map(|(name, rows)| (name.clone(), rows[0])).collect()
}

fn check_columns(name: &str, workload: &Workload, outcome: &RunOutcome) {
    for (column, rows) in &outcome.samples {
        assert_eq!(rows.len(), 3, "{name}: {column}");
        let same = rows.iter().all(|row| row == &rows[0]);
        assert!(same || !column.starts_with("answer_"), "{name}: {column}: {rows:?}");
    }
    let column = |key: &str| outcome.samples[key][0];
    for key in ["elapsed_ns", "teardown_ns", "cpu_ns"] {
        assert!(column(key) > 0, "{name}: {key}");
    }
    for key in ["voluntary_switches", "involuntary_switches"] {
        assert!(column(key) >= 0, "{name}: {key}");
    }
    let gone = column("answer_withdrawn") + column("answer_charged_back");
    let (total, left) = (column("answer_total"), column("answer_deposited") - gone);
    let at = format!("{name} with {:?} workers, shards {:?}", workload.workers, workload.shards);
    assert_eq!(total, left, "{at}: answer_total is not what was deposited less what is gone");
    let watched = ["lock_waits", "lock_wait_ns"];
    let has = watched.map(|key| outcome.samples.contains_key(key));
    assert_eq!(has, [workload.watch_locks; 2], "{name}");
    if let Some(shards) = workload.shards {
        assert_eq!(outcome.counters["shards"], u64::from(shards), "{name}");
    }
    let workers = outcome.counters["workers"];
    match workload.workers {
        Workers::Count(count) => assert_eq!(workers, u64::from(count), "{name}"),
        Workers::CurrentThread => assert_eq!(workers, 1, "{name}"),
        Workers::Default => assert!(workers >= 1, "{name}"),
    }
    assert_eq!(outcome.counters["work_measured_ps"] > 0, workload.work_ns > 0, "{name}");
    for key in ["rss_high_water_bytes", "cpu_total_ns"] {
        assert!(outcome.counters[key] > 0, "{name}: {key}");
    }
}

#[test]
fn the_known_answer_of_deposits_is_found() {
    for variant in ledgers() {
        for (contention, accounts) in [(Contention::Disjoint, 12), (Contention::Hot, 1)] {
            let outcome = outcome(&variant, &plain(data(contention, Kinds::Deposits)));
            let column = |key: &str| outcome.samples[key].clone();
            let name = &variant.name;
            // 600 deposits of one unit, which is 10,000.
            for (key, right) in [
                ("answer_accounts", accounts),
                ("answer_records", 600),
                ("answer_total", 6_000_000),
                ("answer_deposited", 6_000_000),
                ("answer_held", 0),
            ] {
                assert_eq!(column(key), [right; 3], "{name}, {contention:?}: {key}");
            }
        }
    }
}

#[test]
fn what_makes_no_sense_is_unsupported_with_a_reason() {
    let plain = plain(data(Contention::Zipf, Kinds::Mixed));
    let two = Workload { workers: Workers::Count(2), ..plain.clone() };
    let shards = Workload { shards: Some(4), ..plain.clone() };
    let one_shard = Workload { shards: Some(1), ..plain.clone() };
    let locks = Workload { watch_locks: true, ..plain.clone() };
    let no_threads = Workload { workers: Workers::CurrentThread, ..plain.clone() };
    for variant in variants(FAMILY) {
        let name = &variant.name;
        for workload in [&two, &shards, &one_shard, &locks, &no_threads] {
            let outcome = outcome(&variant, workload);
            let is_unsupported = outcome.status == Status::Unsupported;
            assert!(is_unsupported || outcome.status == Status::Ok, "{name}: {outcome:?}");
            let is_empty = outcome.samples.is_empty() && outcome.counters.is_empty();
            assert_eq!(is_empty, is_unsupported, "{name}");
            let reason = outcome.reason.unwrap_or_default();
            if workload == &shards || workload == &locks {
                assert_eq!(is_unsupported, !variant.is("shards"), "{name}: {reason}");
                let words = ["no shards", "no locks"];
                assert!(!is_unsupported || words.iter().any(|word| reason.contains(word)));
            } else if workload == &two && variant.is("floor") {
                assert!(reason.contains("has one thread"), "{name}: {reason}");
            }
        }
    }
}

#[test]
fn the_harness_alone_has_costs_and_no_answer() {
    for variant in tagged(FAMILY, "harness") {
        let outcome = outcome(&variant, &plain(data(Contention::Zipf, Kinds::Mixed)));
        assert_eq!(outcome.status, Status::Ok);
        assert_eq!(outcome.samples["elapsed_ns"].len(), 3);
        assert!(answer(&outcome).is_empty());
    }
}
