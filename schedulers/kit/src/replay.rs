//! Decisions on given costs.

use lab_protocol::schedulers::names;
use lab_protocol::schedulers::{Replay, Workload};

use crate::measure::{Decisions, Measured};
use crate::{Arm, Ask, Cost, Policy, RunError, Setup, Truth};

pub(crate) fn run<P: Policy>(workload: &Workload, replay: &Replay) -> Result<Measured, RunError> {
    let policy = P::new(&Setup { workload, offload_round_trip_ns: None })?;
    let mut arms = Vec::with_capacity(replay.site.len());
    for step in 0..replay.site.len() {
        let truth = truth(replay, step);
        let (site, size) = (replay.site[step], replay.size[step]);
        let (arm, pending) = policy.choose(&P::ask(&calm(workload, site, size, truth)));
        policy.finish(pending, cost(truth, arm));
        arms.push(arm);
    }
    let mut measured = Measured::default();
    measured.count_decisions(arms.iter().copied().collect::<Decisions>());
    measured.count_policy(&policy);
    let taken = |(step, &arm): (usize, &Arm)| cost(truth(replay, step), arm).total_ns;
    measured.column(names::COST_NS, arms.iter().enumerate().map(taken));
    let regret = |(step, &arm): (usize, &Arm)| {
        let truth = truth(replay, step);
        taken((step, &arm)) - cost(truth, truth.best()).total_ns
    };
    measured.column(names::REGRET_NS, arms.iter().enumerate().map(regret));
    measured.column(names::ARM, arms);
    Ok(measured)
}

fn truth(replay: &Replay, step: usize) -> Truth {
    Truth { inline_ns: replay.inline_ns[step], offload_ns: replay.offload_ns[step] }
}

/// A question on a machine that does nothing else.
pub(crate) fn calm(workload: &Workload, site: u32, size: u64, truth: Truth) -> Ask {
    Ask {
        site,
        size,
        tokio_workers: workload.tokio_workers,
        in_flight: 1,
        rayon_threads: workload.rayon_threads,
        truth: Some(truth),
        ..Ask::default()
    }
}

/// What a given cost tells: inline, all of it is the function; of what was offloaded nobody knows
/// how much was.
pub(crate) fn cost(truth: Truth, arm: Arm) -> Cost {
    match arm {
        Arm::Inline => Cost { total_ns: truth.inline_ns, function_ns: Some(truth.inline_ns) },
        Arm::Offload => Cost { total_ns: truth.offload_ns, function_ns: None },
    }
}
