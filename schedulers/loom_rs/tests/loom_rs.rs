//! What is known of loom-rs alone: how it decides, and what it refuses.

use std::path::Path;

use proof_kit::programs::{RunOutcome, Status, outcome, variant};
use schedulers_kit::{Replay, Stream, Test, Workload};

fn run(tokio_workers: u32, test: Test) -> RunOutcome {
    let workload = Workload { seed: 7, tokio_workers, rayon_threads: 2, pinned: false, test };
    outcome(&variant(Path::new(env!("CARGO_MANIFEST_DIR"))), &workload)
}

/// As its authors have it: the way to the pool is multiplied, not added.
#[test]
fn it_stays_inline_where_the_pool_is_eight_times_cheaper() {
    let (site, size) = (vec![1; 2_000], vec![0; 2_000]);
    let (inline_ns, offload_ns) = (vec![240_000; 2_000], vec![30_000; 2_000]);
    let outcome = run(4, Test::Replay(Replay { site, size, inline_ns, offload_ns }));
    assert!(outcome.counters["decisions_inline"] > 1_900, "{:?}", outcome.counters);
}

#[test]
fn it_refuses_more_threads_than_processors() {
    let stream = Stream {
        class_work_ns: vec![2_000],
        items: 4,
        concurrency: 1,
        ordered: true,
        warmup_repetitions: 1,
        repetitions: 1,
    };
    let outcome = run(512, Test::Stream(stream));
    assert_eq!(outcome.status, Status::Unsupported);
    assert!(outcome.reason.unwrap().contains("more threads than processors"));
}
