//! Items of real work through a stream.

use std::sync::Arc;

use lab_protocol::schedulers::names;
use lab_protocol::schedulers::{Stream, Workload, stream_answer};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{RngCore, SeedableRng};

use crate::clock::{cpu_ns, now_ns};
use crate::measure::{Decisions, Measured};
use crate::work::Work;
use crate::{Bench, Done, Item, Policy, RunError, Setup};

pub(crate) fn run<P: Policy>(workload: &Workload, stream: &Stream) -> Result<Measured, RunError> {
    let calibrated: Vec<(Work, u64)> =
        stream.class_work_ns.iter().map(|&work_ns| Work::calibrate(work_ns)).collect();
    let items = items(workload.seed, stream, &calibrated);
    let bench = Bench::new(workload)?;
    let round_trip_ns = bench.round_trip_ns();
    let setup = Setup { workload, offload_round_trip_ns: Some(round_trip_ns) };
    let policy = Arc::new(P::new(&setup)?);
    let mut measured = Measured::default();
    let mut decisions = Decisions::default();
    let mut last = Vec::new();
    for repetition in 0..stream.warmup_repetitions + stream.repetitions {
        let own = items.clone();
        bench.machine().load_starts();
        let (cpu_before, start) = (cpu_ns(), now_ns());
        last = policy.map(&bench, own, stream);
        let elapsed_ns = now_ns() - start;
        let cpu_ns = cpu_ns() - cpu_before;
        let answer = check(repetition, &mut last, stream)?;
        let made: Decisions = last.iter().map(|done| done.arm).collect();
        decisions += made;
        if repetition >= stream.warmup_repetitions {
            measured.column(names::ELAPSED_NS, [elapsed_ns]);
            measured.column(names::CPU_NS, [cpu_ns]);
            measured.column(names::INLINE_ITEMS, [made.inline]);
            measured.column(names::OFFLOAD_ITEMS, [made.offload]);
            measured.column(names::ANSWER, [answer]);
        }
    }
    measured.column(names::ITEM_CLASS, items.iter().map(|item| item.class));
    measured.column(names::ITEM_WORK_NS, last.iter().map(|done| done.work_ns));
    measured.column(names::ITEM_ARM, last.iter().map(|done| done.arm));
    measured.count(names::OFFLOAD_ROUND_TRIP_NS, round_trip_ns);
    measured.count(names::WORK_MEASURED_NS, calibrated[0].1);
    measured.count_decisions(decisions);
    measured.count_policy(&*policy);
    Ok(measured)
}

fn items(seed: u64, stream: &Stream, calibrated: &[(Work, u64)]) -> Vec<Item> {
    let mut draws = Pcg64::seed_from_u64(seed);
    let item = |number| {
        // The bias of a remainder by a few classes is below 2^-60.
        let class = (draws.next_u64() % calibrated.len() as u64) as u32;
        let (work, expected_ns) = calibrated[class as usize];
        Item { number, class, work, expected_ns }
    };
    (0..stream.items).map(item).collect()
}

/// The answer of a repetition; leaves what came out in order of the items.
fn check(repetition: u32, done: &mut [Done], stream: &Stream) -> Result<i64, RunError> {
    if !stream.ordered {
        done.sort_unstable_by_key(|done| done.number);
    }
    let found = stream_answer(done.iter().map(|done| done.number));
    let expected = stream_answer(0..stream.items);
    if found != expected {
        return Err(RunError::failed(format!(
            "repetition {repetition} of the stream came to {found}, every item once to {expected}"
        )));
    }
    Ok(found)
}
