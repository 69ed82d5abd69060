//! Refusing a workload that no policy can do.

use lab_protocol::schedulers::names;
use lab_protocol::schedulers::{Decide, Load, Part, Replay, Stream, Test, Wake, Workload};
use lab_variant::at_least_one;

/// Refuses a workload that no policy can do.
///
/// # Errors
/// A sentence that names the key.
pub(crate) fn workload(workload: &Workload) -> Result<(), String> {
    at_least_one([
        ("tokio_workers", workload.tokio_workers),
        ("rayon_threads", workload.rayon_threads),
    ])?;
    match &workload.test {
        Test::Decide(decide) => check_decide(decide),
        Test::Replay(replay) => check_replay(replay),
        Test::Stream(stream) => check_stream(stream),
        Test::Wake(wake) => check_wake(wake),
    }
}

fn check_decide(decide: &Decide) -> Result<(), String> {
    at_least_one([
        ("deciders", decide.deciders),
        (names::CALLS, decide.calls),
        ("batches", decide.batches),
        ("keys", decide.keys),
    ])?;
    if decide.deciders.checked_mul(decide.calls).is_none() {
        return Err("deciders times calls is more than 32 bits".to_owned());
    }
    if decide.part == Part::Choose && decide.warmup_batches == 0 {
        return Err("warmup_batches is 0: a policy learns the keys in at least 1".to_owned());
    }
    Ok(())
}

fn check_replay(replay: &Replay) -> Result<(), String> {
    let steps = replay.site.len();
    at_least_one([("the number of steps", steps as u64)])?;
    for (key, length) in [
        ("size", replay.size.len()),
        ("inline_ns", replay.inline_ns.len()),
        ("offload_ns", replay.offload_ns.len()),
    ] {
        if length != steps {
            return Err(format!("{key} has {length} rows and site {steps}"));
        }
    }
    Ok(())
}

fn check_stream(stream: &Stream) -> Result<(), String> {
    at_least_one([
        ("the number of classes", stream.class_work_ns.len() as u64),
        ("items", stream.items.into()),
        ("concurrency", stream.concurrency.into()),
        ("repetitions", u64::from(stream.repetitions)),
    ])
}

fn check_wake(wake: &Wake) -> Result<(), String> {
    at_least_one([("duration_ms", wake.duration_ms), ("tick_us", wake.tick_us)])?;
    match wake.load {
        Load::Idle => Ok(()),
        Load::Open { every_us, .. } => at_least_one([("every_us", every_us)]),
        Load::Bursts { low_ns, high_ns, jobs, every_us } => {
            if jobs < 2 || low_ns == 0 || high_ns < low_ns {
                return Err("a burst needs two jobs, from low_ns above 0 to high_ns".to_owned());
            }
            at_least_one([("every_us", every_us)])
        }
        Load::Closed { in_flight, .. } => at_least_one([("in_flight", in_flight)]),
    }
}
